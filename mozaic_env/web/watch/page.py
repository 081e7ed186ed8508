"""The page on a training run, all but its game: what stands where, as HTML made of the run's numbers."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any

from mozaic_env.arena.report.console import percent_with_interval
from mozaic_env.arena.results import MatchResult
from mozaic_env.games import game_class
from mozaic_env.web.watch.charts import SMALL, WIDTH, Line, Mark, Point, chart, ladder, number
from mozaic_env.web.watch.run_data import Json, Metrics, RunFolder

DECISIONS = "decisions learnt from"
MOST_POINTS = 240  # of a curve; more are averaged
STALE_S = 600  # without news, after which a run that says it is running may not be; matches on the way take a while
LEARNER = (  # metrics and what they are, in the order of the page
    ("warm_start/agreement", "agreement with the teacher"),
    ("warm_start/policy_loss", "imitation: divergence from the teacher"),
    ("train/explained_variance", "explained variance of the value"),
    ("train/value_loss", "loss of the value"),
    ("train/entropy", "entropy of the policy"),
    ("train/divergence", "divergence from the imitated policy"),
    ("train/approx_kl", "change of the policy in an update (KL)"),
    ("train/clip_fraction", "share of clipped updates"),
    ("train/learning_rate", "learning rate"),
)
EXPLAINED = {
    "mirror": "mirror: itself as of the last update",
    "past": "past: an earlier self",
    "prioritised": "prioritised: an earlier self, the likelier the harder it is to beat",
}


@dataclass(frozen=True)
class Parts:
    """The page's parts as HTML."""

    head: str
    strength: str
    more: str


def parts(run: RunFolder) -> Parts:
    """What there is to show of a run now."""
    run.metrics.read()
    facts = run.facts()
    return Parts(_head(run, facts), _strength(run), _training(run) + _learner(run.metrics))


def _section(title: str, *content: str) -> str:
    return f"<section><h2>{title}</h2>{''.join(content)}</section>"


def _note(*sentences: str) -> str:
    return "".join(f'<p class="note">{escape(sentence)}</p>' for sentence in sentences if sentence)


# --- the head ---------------------------------------------------------------------------------------


def _head(run: RunFolder, facts: Json) -> str:
    metrics = run.metrics
    status = str(facts.get("status", "unknown"))
    said = [f"{number(metrics.decisions)} {DECISIONS}"]
    if metrics.warm_start:
        said.append(f"{number(metrics.warm_start)} of them a teacher's")
    elapsed = metrics.get("time/elapsed")
    if elapsed:
        said.append(f"{_clock(elapsed[-1][1])} of self-play")
    said += [f"{name} {facts[name]}" for name in ("seed", "device", "precision") if name in facts]
    if "started" in facts:
        said.append(f"started {str(facts['started'])[:16].replace('T', ' ')}")
    warnings = []
    modified = run.modified()
    quiet = 0.0 if modified is None else time.time() - modified
    if status == "running" and quiet > STALE_S:
        warnings.append(f"No new numbers for {_clock(quiet)}: the run may have been killed.")
    if "error" in facts:
        warnings.append(str(facts["error"]))
    if metrics.damaged:
        warnings.append(f"{metrics.damaged:,} lines of the metrics are damaged and left out.")
    kind = status if status in ("running", "finished", "interrupted", "failed") else "unknown"
    return (
        f'<h1>{escape(run.name)} <span class="status {kind}">{escape(status)}</span></h1>'
        f"<p>{escape(' · '.join(said))}</p>" + "".join(f'<p class="warning">{escape(text)}</p>' for text in warnings)
    )


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


# --- strength ---------------------------------------------------------------------------------------


def _strength(run: RunFolder) -> str:
    metrics = run.metrics
    anchors = metrics.names("evaluation/", "/points")
    lines = [_curve(metrics, name) for name in anchors]
    regret = _regret(run)
    if not lines and regret:
        return regret + _note(_best(run)) + _matches(run)
    if not lines:
        nothing = "No matches have been played on the way; evaluation.share in the configuration turns them on."
        return _section("Strength", _note(nothing)) + _matches(run)
    reading = "Share of points (wins + half the draws) in matches against fixed agents, with 95% intervals."
    picture = chart(
        lines,
        "Points against fixed agents over training",
        x_name=DECISIONS,
        unit="%",
        y_range=(0, 100),
        level=50,
        marks=_beginnings(metrics),
    )
    return _section("Strength", picture, _note(reading)) + regret + _ladder(run, anchors) + _matches(run)


def _curve(metrics: Metrics, anchor: str) -> Line:
    line = _measured(metrics, anchor, "points", f"against {anchor}")
    band = [(100 * low, 100 * high) for low, high in line.band]
    return replace(line, points=[(x, 100 * y) for x, y in line.points], band=band)


def _measured(metrics: Metrics, of: str, what: str, name: str) -> Line:
    """What matches on the way have measured, with the intervals."""
    low, high = (dict(metrics.get(f"evaluation/{of}/{end}")) for end in ("low", "high"))
    measured = metrics.get(f"evaluation/{of}/{what}")
    every = -(-len(measured) // MOST_POINTS) or 1  # intervals have no mean, so some are left out; the last one is not
    points = measured[(len(measured) - 1) % every :: every]
    return Line(name, points, [(low.get(x, y), high.get(x, y)) for x, y in points], dots=len(points) <= 60)


def _regret(run: RunFolder) -> str:
    """The regret against perfect play, where it is measured on the way."""
    metrics, unit = run.metrics, _unit(run)
    line = _measured(metrics, "regret", "mean", "regret")
    if not line.points:
        return ""
    picture = chart([line], "Regret over training", x_name=DECISIONS, marks=_beginnings(metrics))
    mistakes = metrics.get("evaluation/regret/mistakes")
    reading = (
        f"What the policy gives away in a game against perfect play{', in ' + unit if unit else ''}, by exact values, "
        "with 95% intervals."
    )
    last = f" Decisions that are not best, at the last measure: {100 * mistakes[-1][1]:.1f}%." if mistakes else ""
    return _section("Regret", picture, _note(reading + last))


def _beginnings(metrics: Metrics) -> list[tuple[float, str]]:
    return [(metrics.warm_start, "self-play begins")] if 0 < metrics.warm_start < metrics.decisions else []


def _ladder(run: RunFolder, anchors: Sequence[str]) -> str:
    """The latest measure against each anchor, the strongest anchor on top."""
    marks, metrics, unit = [], run.metrics, _unit(run)
    for anchor in reversed(anchors):
        points = metrics.get(f"evaluation/{anchor}/points")
        ends = [metrics.get(f"evaluation/{anchor}/{end}") for end in ("low", "high")]
        margins = metrics.get(f"evaluation/{anchor}/margin")
        interval = (ends[0][-1][1], ends[1][-1][1]) if all(ends) else (points[-1][1], points[-1][1])
        text = f"{100 * points[-1][1]:.1f}%" + (f", {margins[-1][1]:+.1f} {unit}" if margins else "")
        marks.append(Mark(anchor, 100 * points[-1][1], (100 * interval[0], 100 * interval[1]), text))
    picture = ladder(
        marks, "Latest points against each agent", x_name="points against it, %", x_range=(0, 100), level=50
    )
    return _section("Ladder, at the last measure", picture, _note(_best(run)))


def _best(run: RunFolder) -> str:
    """A sentence on the strongest checkpoint."""
    found = run.best()
    if found is None:
        return ""
    results: Any = found.card.get("results")
    begin = f"The best checkpoint so far, after {number(found.decisions)} decisions"
    try:
        low, high = map(float, results["interval"])
        if "regret" in results:
            return f"{begin}: a regret of {float(results['regret']):.3f} [{low:.3f}, {high:.3f}]."
        points = percent_with_interval(float(results["points"]), (low, high))
        against = results["against"]
    except (TypeError, KeyError, ValueError):
        return ""
    return f"{begin}: {points}% against {against}."


def _unit(run: RunFolder) -> str:
    """What margins are counted in, as far as the run's checkpoints say which game it is."""
    found = run.latest()
    game: Any = {} if found is None else found.card.get("game")
    try:
        return game_class(game["name"]).margin_unit
    except (TypeError, KeyError, ValueError):
        return ""


def _matches(run: RunFolder) -> str:
    """The table of the last evaluation in the run's folder."""
    evaluations = run.evaluations()
    if not evaluations:
        return ""
    rows, regret = [], evaluations[-1].get("regret")
    regret = regret if isinstance(regret, dict) else {}
    for values in (*(evaluations[-1].get("results") or ()), regret.get("match")):
        try:
            result = MatchResult.from_json(values)
        except ValueError:
            continue
        counts = f"{result.wins:,} / {result.draws:,} / {result.losses:,}"
        points = percent_with_interval(result.points, result.interval)
        rows.append((result.players[1], counts, points, f"{result.margin:+.2f}"))
    if not rows:
        return ""
    unit = _unit(run)
    head = ("against", "won / drawn / lost", "points % [95%]", f"margin{', ' + unit if unit else ''}")
    played = str(evaluations[-1].get("time", ""))[:16].replace("T", " ")
    notes = [f"Played {played}." if played else "", _regret_at_the_end(regret)]
    return _section("Last evaluation", _table(head, rows), _note(*notes))


def _regret_at_the_end(regret: Json) -> str:
    """A sentence on the regret of an evaluation, if it was measured."""
    try:
        low, high = map(float, regret["interval"])
        mean, mistakes, unit = float(regret["regret"]), float(regret["mistakes"]), regret["unit"]
    except (TypeError, KeyError, ValueError):
        return ""
    return (
        f"Regret against perfect play: {mean:.3f} [{low:.3f}, {high:.3f}] {unit} a game; "
        f"{100 * mistakes:.1f}% of decisions are not best."
    )


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    def line(cells: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    body = "".join(line(row, "td") for row in rows)
    return f'<div class="scroll"><table><thead>{line(head, "th")}</thead><tbody>{body}</tbody></table></div>'


# --- training ---------------------------------------------------------------------------------------


def _training(run: RunFolder) -> str:
    metrics = run.metrics
    lines, rows = [], []
    for name in metrics.names("opponents/", "/score"):
        scores, games = metrics.get(f"opponents/{name}/score"), metrics.get(f"opponents/{name}/games")
        if len(scores) != len(games):
            continue
        lines.append(Line(name, _thinned([(x, 100 * y) for x, y in scores], [count for _, count in games])))
        rows.append((name, *_scores(scores, games)))
    rate = _rates(metrics)
    if not lines and not any(line.points for line in rate):
        return ""
    content = []
    if lines:
        content.append(
            _section(
                "Games of self-play",
                chart(lines, "Points in training games", x_name=DECISIONS, unit="%", y_range=(0, 100), level=50),
                _table(("opponent", "games", "points %", "in the last tenth"), rows),
                _note(
                    "The learner's points (wins + half the draws) against each opponent; moves are drawn by their "
                    "probabilities. " + "; ".join(EXPLAINED[row[0]] for row in rows if row[0] in EXPLAINED)
                ),
            )
        )
    content.append(_past_selves(metrics))
    speed = chart(rate, "Decisions a second", x_name=DECISIONS, size=(WIDTH, 220), marks=_beginnings(metrics))
    content.append(_section("Throughput", speed, _note("Decisions learnt from a second, updates included.")))
    return "".join(content)


def _past_selves(metrics: Metrics) -> str:
    """How hard the earlier selves are to beat, where the league keeps an eye on it."""
    marks = []
    for name in metrics.names("past_selves/", "/score"):
        score, steps, chance = (metrics.get(f"past_selves/{name}/{what}") for what in ("score", "steps", "chance"))
        if steps and chance and score[-1][0] == metrics.last("past_selves/1/score"):
            value = 100 * score[-1][1]
            text = f"{value:.0f}%, dealt {100 * chance[-1][1]:.0f}%"
            marks.append(Mark(f"after {number(steps[-1][1])}", value, (value, value), text))
    if not marks:
        return ""
    picture = ladder(marks, "Points against earlier selves", x_name="points, %", x_range=(0, 100), level=50)
    note = "The learner's points against its earlier selves, as estimated, and how often each is dealt."
    return _section("Earlier selves", picture, _note(note))


def _scores(scores: Sequence[Point], games: Sequence[Point]) -> tuple[str, str, str]:
    """Number of games, points over all of them, points over the last tenth of the training."""
    begin = scores[0][0] + 0.9 * (scores[-1][0] - scores[0][0])
    texts = [f"{sum(count for _, count in games):,.0f}"]
    for low in (scores[0][0], begin):
        pairs = [(score, count) for (x, score), (_, count) in zip(scores, games, strict=True) if x >= low]
        total = sum(count for _, count in pairs)
        texts.append(f"{100 * sum(score * count for score, count in pairs) / total:.1f}" if total else "–")
    return texts[0], texts[1], texts[2]


def _rates(metrics: Metrics) -> list[Line]:
    """Speed of the warm start and of self-play; the latter from the clock between updates."""
    steps, elapsed = metrics.get("time/steps"), metrics.get("time/elapsed")
    rates = []
    if len(steps) == len(elapsed):
        for before, after, (_, begin), (_, end) in zip(steps, steps[1:], elapsed, elapsed[1:], strict=False):
            if end > begin and after[1] > before[1]:
                rates.append((after[0], (after[1] - before[1]) / (end - begin)))
    warm = metrics.get("warm_start/decisions_per_second")
    return [line for line in (Line("warm start", _thinned(warm)), Line("self-play", _thinned(rates))) if line.points]


def _learner(metrics: Metrics) -> str:
    pictures = []
    for key, text in LEARNER:
        points = _thinned(metrics.get(key))
        if points:
            picture = chart([Line(text, points)], text, x_name=DECISIONS, size=SMALL)
            pictures.append(f"<figure><figcaption>{escape(text)}</figcaption>{picture}</figure>")
    return _section("The learner", f'<div class="small-pictures">{"".join(pictures)}</div>') if pictures else ""


def _thinned(points: Sequence[Point], weights: Sequence[float] | None = None) -> list[Point]:
    """At most `MOST_POINTS` points: the means of equal parts, each at the end of its part."""
    size = -(-len(points) // MOST_POINTS)
    if size <= 1:
        return list(points)
    given: Callable[[int], Any] = (lambda place: 1.0) if weights is None else weights.__getitem__
    kept = []
    for begin in range(0, len(points), size):
        part = range(begin, min(begin + size, len(points)))
        total = sum(given(place) for place in part)
        if total > 0:
            mean = sum(points[place][1] * given(place) for place in part) / total
            kept.append((points[part[-1]][0], mean))
    return kept
