"""How a training run goes: games of self-play, throughput, the learner's metrics."""

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

from mozaic_env.web.watch.charts import SMALL, WIDTH, Line, Mark, Point, chart, ladder, number
from mozaic_env.web.watch.run_data import Metrics, RunFolder
from mozaic_env.web.watch.sections import DECISIONS, MOST_POINTS, beginnings, note, section, table

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
    "mirror": "mirror: itself in all seats; the score is the first seat's",
    "past": "past: an earlier self",
    "prioritised": "prioritised: an earlier self, the likelier the harder it is to beat",
}


def training(run: RunFolder) -> str:
    """The sections on games of self-play, earlier selves and throughput."""
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
            section(
                "Games of self-play",
                chart(lines, "Points in training games", x_name=DECISIONS, unit="%", y_range=(0, 100), level=50),
                table(("opponent", "games", "points %", "in the last tenth"), rows),
                note(
                    "The learner's points (wins + half the draws) against each opponent; moves are drawn by their "
                    "probabilities. " + "; ".join(EXPLAINED[row[0]] for row in rows if row[0] in EXPLAINED)
                ),
            )
        )
    content.append(_past_selves(metrics))
    speed = chart(rate, "Decisions a second", x_name=DECISIONS, size=(WIDTH, 220), marks=beginnings(metrics))
    content.append(section("Throughput", speed, note("Decisions trained on a second, updates included.")))
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
    told = "The learner's points against its earlier selves, as estimated, and how often each is dealt."
    return section("Earlier selves", picture, note(told))


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


def learner(metrics: Metrics) -> str:
    """The section with a small chart for each metric of the learner."""
    pictures = []
    for key, text in LEARNER:
        points = _thinned(metrics.get(key))
        if points:
            picture = chart([Line(text, points)], text, x_name=DECISIONS, size=SMALL)
            pictures.append(f"<figure><figcaption>{escape(text)}</figcaption>{picture}</figure>")
    return section("The learner", f'<div class="small-pictures">{"".join(pictures)}</div>') if pictures else ""


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
