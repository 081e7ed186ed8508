"""Reports: a folder with report.md, results.json and pictures."""

import dataclasses
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from mozaic_env.arena.evaluate import results_json
from mozaic_env.arena.exact.regret import RegretResult
from mozaic_env.arena.report import console, plots
from mozaic_env.arena.report.regret_tables import (
    GROUP_COLUMNS,
    group_cells,
    regret_cells,
    regret_columns,
    regret_note,
)
from mozaic_env.arena.report.replayed import OPENING, board_shape, courses, join_courses, openings
from mozaic_env.arena.results import MatchResult
from mozaic_env.arena.statistics.ratings import Rating, choose_anchor, merge_pairs
from mozaic_env.core.game import Game
from mozaic_env.core.storage.files import atomic_write
from mozaic_env.core.storage.outputs import write_json

READING = (
    "The same luck is played from every seat: in pairs of games with the seats exchanged, in rotations where "
    "there are more than two. Intervals are 95% intervals over these: where the one of the points includes 50%, the "
    "games do not tell who is stronger. The margin is the lead at the end."
)


def write_report(
    folder: Path,
    game: Game,
    results: Sequence[MatchResult],
    title: str,
    regret: RegretResult | None = None,
) -> None:
    """The report on matches of one agent.

    Args:
        folder: where to; it exists.
        game: what was played.
        results: of the same first agent, the actions kept.
        title: heading.
        regret: of the same agent, if it was measured.
    """
    played = results if regret is None else [*results, regret.match]
    plots.points_picture(folder / "points.png", played)
    text = [f"# {title}", READING, _matches(game, played), *console.match_notes(played)]
    text += [_pairing_note(played), "![points with intervals](points.png)"]
    if regret is not None:
        text += _regret(regret)
    text += _games_pictures(folder, game, played)
    write_json(folder / "results.json", results_json(results, regret))
    _write_text(folder, text)


def write_ladder_report(
    folder: Path,
    game: Game,
    ratings: Sequence[Rating],
    results: Sequence[MatchResult],
    title: str,
    notes: Sequence[str],
) -> None:
    """The report on a tournament.

    Args:
        folder: where to; it exists.
        game: what was played.
        ratings: the ladder.
        results: all that counts; pictures of games show those that were played just now.
        title: heading.
        notes: sentences to go with the ladder.
    """
    pairs = merge_pairs(results)
    names = [rating.name for rating in ratings]
    anchor = choose_anchor([name for result in results for name in result.players])
    results = [
        result
        if len(result.seats) > 2 or names.index(result.players[0]) <= names.index(result.players[1])
        else result.mirrored()
        for result in results
        if result.players[0] != result.players[1]
    ]
    plots.ladder_picture(folder / "ladder.png", ratings, anchor)
    plots.cross_picture(folder / "cross.png", names, pairs)
    text = [
        f"# {title}",
        *notes,
        _markdown_table(console.LADDER_COLUMNS, map(console.ladder_cells, ratings)),
        "![ladder](ladder.png)",
    ]
    text += [
        "## Who against whom",
        READING,
        _markdown_table(["points %", *names], console.cross_cells(names, pairs)),
        "![cross table](cross.png)",
    ]
    text += [_matches(game, results, with_first=True), _pairing_note(results)]
    fresh = [result for result in results if result.details is not None]
    if fresh:
        text += _games_pictures(folder, game, fresh, names)
    values = results_json(results)
    values["ratings"] = [dataclasses.asdict(rating) for rating in ratings]
    write_json(folder / "results.json", values)
    _write_text(folder, text)


def _games_pictures(folder: Path, game: Game, results: Sequence[MatchResult], order: Sequence[str] = ()) -> list[str]:
    """Draws what the games looked like; returns the paragraphs that show it.

    With an order of the agents, their leads are over all opponents, else against each.
    """
    closest = sorted(results, key=lambda result: abs(result.points - 0.5))
    shown = [result for result in results if result in closest[: plots.MOST_PANELS]]
    plots.margins_picture(folder / "margins.png", shown, game.margin_unit)
    text = ["## Margins", "![histograms of final margins](margins.png)"]
    if len(shown) < len(results):
        text.append(f"The {len(shown)} closest of {len(results)} matches.")
    players: dict[str, list[tuple[MatchResult, int]]] = {}
    for result in results:
        for player, name in enumerate(result.players):
            players.setdefault(name, []).append((result, player))
    if order:
        players = {name: players[name] for name in order if name in players}
        curves = [
            (name, join_courses([courses(game, *match) for match in matches])) for name, matches in players.items()
        ]
        title = "Mean lead over the course of a game, against all others"
    else:
        curves = [(f"against {result.players[1]}", courses(game, result, 0)) for result in results]
        title = f"Mean lead of {results[0].players[0]} over the course of a game"
    plots.course_picture(folder / "course.png", title, curves, game.margin_unit, panels=not order)
    text += ["## Course of the game", "![lead over the course of the game](course.png)"]
    if not order:
        text.append("The bands hold the middle half and the middle 80% of the games.")
    if board_shape(game) is not None:
        boards = [
            (name, np.sum([openings(game, *match) for match in matches], axis=0)) for name, matches in players.items()
        ]
        title = f"Where agents place: their first {OPENING} placements in each game"
        plots.openings_picture(folder / "placements.png", title, boards)
        text += ["## Placements", "![where agents place first](placements.png)"]
    return text


def _write_text(folder: Path, paragraphs: Sequence[str]) -> None:
    with atomic_write(folder / "report.md") as file:
        file.write("\n\n".join(paragraphs) + "\n")


def _markdown_table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A Markdown table, all columns but the first aligned to the right."""
    rows = [head, ["---", *["---:"] * (len(head) - 1)], *lines]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _matches(game: Game, results: Sequence[MatchResult], with_first: bool = False) -> str:
    """A line for each match, with the first agent's name if there are several."""
    head = console.match_columns(game.seat_names, game.margin_unit)
    lines = map(console.match_cells, results)
    if not with_first:
        return _markdown_table(head, lines)
    named = [[result.players[0], *line] for result, line in zip(results, lines, strict=True)]
    return _markdown_table(["agent", *head], named)


def _regret(result: RegretResult) -> list[str]:
    """The paragraphs on an agent's regret."""
    text = ["## Regret", _markdown_table(regret_columns(result), [regret_cells(result)]), regret_note(result)]
    for by, groups in result.groups.items():
        text.append(_markdown_table([by, *GROUP_COLUMNS], group_cells(result, groups)))
    return text


def _pairing_note(results: Sequence[MatchResult]) -> str:
    gains = [
        f"{result.players[0]} – {result.players[1]}: {result.pairing_gain:.2f}"
        for result in results
        if result.pairing_gain is not None
    ]
    return (
        "How many times narrower the interval of the points is than with as many independent games "
        f"(below 1: wider): {'; '.join(gains) or 'unknown, since pairs do not vary'}."
    )
