"""Game records of matches: written to a file, read back, checked."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mozaic_env.arena.match import Progress
from mozaic_env.arena.results import Games, MatchResult
from mozaic_env.core.game import Game, Rows
from mozaic_env.core.record import Record, parse_record
from mozaic_env.core.storage.files import append_lines, atomic_write
from mozaic_env.core.stream import keys_from_seeds
from mozaic_env.core.text.files import read_lines
from mozaic_env.simulation.queries import setup_rows
from mozaic_env.simulation.state import FORFEITED, TERMINATED


def first_rows(game: Game, games: Games) -> Rows:
    """The rows that the games of a match began with, set up."""
    rows = game.rows(len(games.seeds))
    rows["key"] = keys_from_seeds(games.seeds)
    setup_rows(rows)
    return rows


def match_records(game: Game, result: MatchResult) -> Iterator[Record]:
    """One record for each game of a match whose actions were kept.

    The header names the agent in each seat and the seed whose luck the game has, and after an
    illegal action with ``forfeit=`` the seat that lost by it.

    Raises:
        ValueError: the actions were not kept.
    """
    games = result.details
    if games is None or games.actions is None:
        raise ValueError("records need the actions of the match; play it with keep_actions=True")
    rows = first_rows(game, games)
    for index, row in enumerate(rows):
        header: dict[str, Any] = {
            seat_name: result.players[min(games.seating[index, seat], 1)]
            for seat, seat_name in enumerate(game.seat_names)
        }
        header["seed"] = games.seeds[index]
        if games.endings[index] == FORFEITED:
            loser = int(np.argmin(games.results[index]))
            header["forfeit"] = game.seat_names[list(games.seating[index]).index(loser)]
        ending = "over" if games.endings[index] == TERMINATED else "truncated"
        actions = games.actions[index, : games.lengths[index]].tolist()
        yield game.write_record(row, actions, header, ending)


def write_records(
    path: str | Path,
    game: Game,
    results: Sequence[MatchResult],
    progress: Progress | None = None,
) -> None:
    """All games of some matches as a file of records, atomically.

    Args:
        path: of the file; an existing one is replaced.
        game: what was played.
        results: matches whose actions were kept.
        progress: called with the number of records written.
    """
    written = 0
    with atomic_write(path) as file:
        for result in results:
            for record in match_records(game, result):
                file.write(f"{record}\n")
                written += 1
                if progress is not None:
                    progress(written)


def append_records(path: str | Path, game: Game, results: Sequence[MatchResult]) -> None:
    """Adds all games of some matches, whose actions were kept, to a file of records."""
    append_lines(path, (str(record) for result in results for record in match_records(game, result)))


def read_records(path: str | Path) -> Iterator[tuple[int, Record | ValueError]]:
    """The records of a file with their line numbers; for a line that is none, why it is none.

    Empty lines are left out.

    Raises:
        ValueError: the file is missing or not a text file.
    """
    try:
        for number, line in read_lines(path):
            yield number, _read_line(line)
    except ValueError as error:
        raise ValueError(f"cannot read {path}: {error}") from None


def _read_line(line: str) -> Record | ValueError:
    try:
        return parse_record(line)
    except ValueError as error:
        return error
