"""How strong the policy of a training run is: evaluation on the way, the ladder, the last evaluation."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from mozaic_env.arena.report.console import percent_with_interval
from mozaic_env.arena.results import MatchResult
from mozaic_env.games import game_class
from mozaic_env.web.watch.charts import Line, Mark, chart, ladder, number
from mozaic_env.web.watch.run_data import Json, Metrics, RunFolder
from mozaic_env.web.watch.sections import DECISIONS, MOST_POINTS, beginnings, note, section, table


def strength(run: RunFolder) -> str:
    """The sections on matches against evaluation opponents, the regret, and the last evaluation."""
    metrics = run.metrics
    opponents = metrics.names("evaluation/", "/points")
    lines = [_curve(metrics, name) for name in opponents]
    regret = _regret(run)
    if not lines and regret:
        return regret + note(_best(run)) + _matches(run)
    if not lines:
        nothing = "No matches have been played on the way; evaluation.share in the configuration turns them on."
        return section("Strength", note(nothing)) + _matches(run)
    reading = "Share of points (wins + half the draws) in matches against fixed agents, with 95% intervals."
    picture = chart(
        lines,
        "Points against fixed agents over training",
        x_name=DECISIONS,
        unit="%",
        y_range=(0, 100),
        level=50,
        marks=beginnings(metrics),
    )
    return section("Strength", picture, note(reading)) + regret + _ladder(run, opponents) + _matches(run)


def _curve(metrics: Metrics, opponent: str) -> Line:
    line = _measured(metrics, opponent, "points", f"against {opponent}")
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
    picture = chart([line], "Regret over training", x_name=DECISIONS, marks=beginnings(metrics))
    mistakes = metrics.get("evaluation/regret/mistakes")
    reading = (
        f"What the policy gives away in a game against perfect play{', in ' + unit if unit else ''}, by exact values, "
        "with 95% intervals."
    )
    last = f" Decisions that are not best, at the last measure: {100 * mistakes[-1][1]:.1f}%." if mistakes else ""
    return section("Regret", picture, note(reading + last))


def _ladder(run: RunFolder, opponents: Sequence[str]) -> str:
    """The latest measure against each evaluation opponent, the strongest on top."""
    marks, metrics, unit = [], run.metrics, _unit(run)
    for opponent in reversed(opponents):
        points = metrics.get(f"evaluation/{opponent}/points")
        ends = [metrics.get(f"evaluation/{opponent}/{end}") for end in ("low", "high")]
        margins = metrics.get(f"evaluation/{opponent}/margin")
        interval = (ends[0][-1][1], ends[1][-1][1]) if all(ends) else (points[-1][1], points[-1][1])
        text = f"{100 * points[-1][1]:.1f}%" + (f", {margins[-1][1]:+.1f} {unit}" if margins else "")
        marks.append(Mark(opponent, 100 * points[-1][1], (100 * interval[0], 100 * interval[1]), text))
    picture = ladder(
        marks, "Latest points against each agent", x_name="points against it, %", x_range=(0, 100), level=50
    )
    return section("Ladder, at the last measure", picture, note(_best(run)))


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
    return section("Last evaluation", table(head, rows), note(*notes))


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
