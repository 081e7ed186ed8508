"""`mozaic replay`: steps through game records, checks and draws them, without any random stream."""

from __future__ import annotations

import argparse
import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from mozaic_env.core.extras import is_installed
from mozaic_env.core.text.messages import one_line
from mozaic_env.games import game_of_record

if TYPE_CHECKING:
    import numpy as np

    from mozaic_env.core.game import Game
    from mozaic_env.core.record import Record

FEW = 5  # lines whose errors are told


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options of the verb."""
    parser.add_argument("file", metavar="FILE", help="game records, one a line")
    parser.add_argument("--game", type=int, metavar="N", help="the N-th record alone")
    parser.add_argument("--quiet", action="store_true", help="check only")
    parser.add_argument("--boards", action="store_true", help="draw the boards")
    parser.add_argument("--gif", metavar="FILE", help="write the game as an animated GIF")
    parser.add_argument("--png", metavar="DIR", help="write a PNG picture after each word")
    parser.add_argument("--svg", metavar="DIR", help="write an SVG picture after each word")


def run(arguments: Namespace) -> int:
    """Checks every line, and shows or draws.

    The first that are wrong are reported with their numbers, all are counted, and the status is
    2 if there is any.
    """
    from mozaic_env.arena.records import read_records

    if arguments.game is not None and arguments.game < 1:
        raise ValueError(f"--game {arguments.game}; accepted: 1 for the first record, and so on")
    records = list(read_records(arguments.file))
    if not records:
        raise ValueError(f"{arguments.file} holds no records")
    if arguments.game is not None:
        if arguments.game > len(records):
            raise ValueError(f"--game {arguments.game}: {arguments.file} holds {len(records)} records")
        records = records[arguments.game - 1 : arguments.game]
    if arguments.gif or arguments.png or arguments.svg:
        return _draw(arguments, records)
    show = _show_nothing if arguments.quiet else _show_boards if arguments.boards else _show_position
    bad = 0
    with _bar(len(records)) if arguments.quiet else nullcontext(_ignore) as progress:
        for done, (line, record) in enumerate(records, 1):
            try:
                if isinstance(record, ValueError):
                    raise record
                _replay(record, None if arguments.quiet else f"line {line}: ", show)
            except ValueError as error:
                bad += 1
                if bad <= FEW:
                    print(f"mozaic replay: {arguments.file} line {line}: {one_line(error)}", file=sys.stderr)
            progress(done)
    if bad > FEW:
        print(f"mozaic replay: and {bad - FEW:,} more lines like these", file=sys.stderr)
    print(f"{len(records) - bad:,} of {len(records):,} records are in order")
    return 2 if bad else 0


def _bar(total: int) -> AbstractContextManager[Callable[[float], None]]:
    """A progress bar, where there is what draws it."""
    if not is_installed("rich"):
        return nullcontext(_ignore)
    from mozaic_env.arena.report import console

    return console.progress_bar("checking", total)


def _draw(arguments: Namespace, records: Sequence[tuple[int, Record | ValueError]]) -> int:
    """Writes the pictures of one game."""
    from mozaic_env.core.storage.outputs import check_output_file
    from mozaic_env.drawing import film

    if len(records) > 1:
        raise ValueError(f"{arguments.file} holds {len(records)} records, and pictures show one: add --game N")
    line, record = records[0]
    if isinstance(record, ValueError):
        raise ValueError(f"{arguments.file} line {line}: {record}")
    if arguments.gif:
        film.check_gif_name(arguments.gif)
        check_output_file(arguments.gif)
    try:
        pictures = film.pictures(game_of_record(record), record)
    except ValueError as error:
        raise ValueError(f"{arguments.file} line {line}: {error}") from None
    if arguments.gif:
        film.write_gif(arguments.gif, pictures)
        print(f"wrote {arguments.gif}, {len(pictures)} frames")
    for kind, folder in (("png", arguments.png), ("svg", arguments.svg)):
        if folder:
            film.write_stills(folder, pictures, kind)
            print(f"wrote {len(pictures)} pictures into {folder}")
    return 0


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
