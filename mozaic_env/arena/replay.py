"""`mozaic replay`: steps through game records and checks them, without any random stream."""

import sys
from argparse import Namespace
from collections.abc import Callable
from contextlib import nullcontext

import numpy as np

from mozaic_env.arena.records import read_records
from mozaic_env.core.game import Game
from mozaic_env.core.record import Record
from mozaic_env.games import game_of_record


def run(arguments: Namespace) -> int:
    """The command; `arguments` as `mozaic_env.cli` reads them.

    Every line is checked. Each that is wrong is reported with its number, and the status is 2 if
    there is any.
    """
    from mozaic_env.arena import console

    if arguments.game is not None and arguments.game < 1:
        raise ValueError(f"--game {arguments.game}; accepted: 1 for the first record, and so on")
    records = list(read_records(arguments.file))
    if not records:
        raise ValueError(f"{arguments.file} holds no records")
    if arguments.game is not None:
        if arguments.game > len(records):
            raise ValueError(f"--game {arguments.game}: {arguments.file} holds {len(records)} records")
        records = records[arguments.game - 1 : arguments.game]
    show = _show_nothing if arguments.quiet else _show_boards if arguments.boards else _show_position
    bad = 0
    bar = console.progress_bar("checking", len(records)) if arguments.quiet else nullcontext(_ignore)
    with bar as progress:
        for done, (line, record) in enumerate(records, 1):
            try:
                if isinstance(record, ValueError):
                    raise record
                _replay(record, None if arguments.quiet else f"line {line}: ", show)
            except ValueError as error:
                bad += 1
                message = " ".join(str(error).split())
                print(f"mozaic replay: {arguments.file} line {line}: {message}", file=sys.stderr)
            progress(done)
    print(f"{len(records) - bad:,} of {len(records):,} records are in order")
    return 2 if bad else 0


def _ignore(done: float) -> None:
    pass


def _replay(record: Record, title: str | None, show: Callable[[Game, int, str, np.void], None]) -> None:
    if title is not None:
        print(title + " ".join(f"{key}={value}" for key, value in record.header.items()))
    game = game_of_record(record)
    for number, (word, row) in enumerate(game.replay(record), 1):
        show(game, number, word, row)


def _show_nothing(game: Game, number: int, word: str, row: np.void) -> None:
    pass


def _show_position(game: Game, number: int, word: str, row: np.void) -> None:
    print(f"{number:4} {word:8} {game.format_position(row)}")


def _show_boards(game: Game, number: int, word: str, row: np.void) -> None:
    print(f"{number:4} {word}\n{game.draw_text(row)}\n")
