"""`mozaic solve`: exact values of a variant that is small enough."""

from __future__ import annotations

import argparse
import contextlib
import math
import time
from argparse import Namespace
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from mozaic_env.cli.options import add_game_options, add_objective, add_threads
from mozaic_env.cli.parser import INTERRUPTED
from mozaic_env.core.extras import need

if TYPE_CHECKING:
    from mozaic_env.arena.exact.solve import Report
    from mozaic_env.core.storage.exact_values import Card

TELL_EVERY = 10.0  # seconds; where there is no bar


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options of the verb."""
    parser.epilog = "example: mozaic solve --rows 4 --cols 4"
    add_objective(parser, "what perfect play is for: the expected lead or the expected result")
    parser.add_argument("--out", metavar="FILE", help="where the values go (default: the cache, where all find them)")
    add_threads(parser, "changes no result")
    add_game_options(parser)


@contextlib.contextmanager
def _progress(unit: str) -> Iterator[Report]:
    """Shows the error, as a bar from 1 down to the tolerance; without a terminal as a line now and then."""
    from mozaic_env.arena.report import console
    from mozaic_env.core.exact import TOLERANCE

    begun = told = time.monotonic()
    out = console.make_console(stderr=True)
    steps = 100
    with console.progress_bar("solving", steps) as bar:

        def report(sweeps: int, error: float) -> None:
            nonlocal told
            bar(steps * min(max(-math.log10(max(error, TOLERANCE)) / -math.log10(TOLERANCE), 0.0), 1.0))
            if not out.is_terminal and time.monotonic() - told > TELL_EVERY:
                told = time.monotonic()
                out.print(f"sweep {sweeps}: error at most {error:.1e} {unit}, {told - begun:.0f} s")

        yield report


def run(arguments: Namespace) -> int:
    """Solves and prints."""
    if arguments.threads < 1:
        raise ValueError(f"--threads {arguments.threads}; accepted: a whole number of at least 1")
    need("this", "rich", "safetensors")
    from mozaic_env.arena.exact.solve import solve
    from mozaic_env.arena.report import console
    from mozaic_env.arena.report.tables import Figures
    from mozaic_env.cli.contestants import make_contestants
    from mozaic_env.core.exact import MARGIN
    from mozaic_env.core.storage import exact_values
    from mozaic_env.core.storage.cache import CACHE_VARIABLE
    from mozaic_env.core.storage.outputs import check_output_file, make_output_folder
    from mozaic_env.core.text.files import user_path

    game, _ = make_contestants([], arguments)
    solver = game.exact_solver(arguments.objective)
    if solver is None:
        raise ValueError(f"{game!r} has no solver")
    if solver.refusal:
        raise ValueError(solver.refusal)
    file = user_path(arguments.out) if arguments.out else exact_values.default_file(game, arguments.objective)
    if file is None:
        raise ValueError(
            f"no folder for exact values: none of HOME, XDG_CACHE_HOME and {CACHE_VARIABLE} names one; name a file "
            "with --out"
        )
    unit = game.margin_unit if arguments.objective == MARGIN else "points of result"
    before = exact_values.read_card(file, game, arguments.objective) if file.is_file() else None
    if before is None or not before["solved"]:  # what is solved already is only read
        if not arguments.out:
            make_output_folder(file.parent)
        check_output_file(file)
    notes = console.make_console(stderr=True)
    if before is not None and not before["solved"]:
        notes.print(f"going on from sweep {before['sweeps']}, error at most {before['error']:.1e} {unit}", markup=False)
    try:
        with _progress(unit) as report:
            card = solve(solver, file, arguments.threads, report)
    except KeyboardInterrupt:
        kept = "nothing is kept yet"
        if file.is_file():
            card = exact_values.read_card(file, game, arguments.objective)
            kept = f"the same command goes on from sweep {card['sweeps']}"
        notes.print(f"interrupted; {kept}", markup=False, soft_wrap=True)
        return INTERRUPTED
    out = console.make_console()
    if before is not None and before["solved"]:
        out.print("already solved", markup=False)
    out.print(Figures(f"{game!r}, {arguments.objective}", ("what", "value"), _facts(card, unit, game.seat_names[0])))
    out.print(f"values: {file}", markup=False, soft_wrap=True)
    return 0


def _facts(card: Card, unit: str, first: str) -> list[tuple[str, str]]:
    facts: list[tuple[str, Any]] = [
        ("boards up to symmetry", f"{card['boards']:,}"),
        (f"value of the start for {first}, {unit}", f"{card['start_value']:+.6f}"),
        ("error of any value at most", f"{card['error']:.1e}"),
        ("sweeps", str(card["sweeps"])),
        ("seconds", f"{card['seconds']:,}"),
        ("sha256 of the values", card["sha256"][:16]),
    ]
    return facts
