"""`mozaic bench`: which parts are measured, what is printed, what is written."""

from __future__ import annotations

import argparse
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mozaic_env.cli.options import add_game_options
from mozaic_env.core.extras import is_installed, need

if TYPE_CHECKING:
    from mozaic_env.bench.measure import Row
    from mozaic_env.core.game import Game

TITLES = {
    "kernels": "Bare compiled loops, random legal play",
    "vector": "Vector environment, opponent None unless named, random legal actions",
    "single": "Single environment, opponent None, step alone",
    "sb3": "stable-baselines3, opponent None, the same noted random legal actions, step alone",
    "startup": "Start and memory",
    "peers": "Other libraries, random legal play",
}
SECONDS, QUICK_SECONDS = 1.0, 0.1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options of the verb."""
    parser.add_argument("--only", nargs="+", choices=TITLES, metavar="PART", help=f"some of: {', '.join(TITLES)}")
    parser.add_argument("--seconds", type=float, metavar="S", help="for each row (default: 1, with --quick 0.1)")
    parser.add_argument("--quick", action="store_true", help="short, and without the first compilation")
    parser.add_argument("--json", metavar="FILE", help="write all figures as JSON")
    parser.add_argument("--plot", metavar="FILE", help="draw the rates, as .png, .svg or .pdf")
    add_game_options(parser)


def run(arguments: Namespace) -> int:
    """Measures, prints and writes.

    Raises:
        ValueError: an option is out of range, or a file can't be written; before anything is measured.
    """
    need("this", "rich", *(["matplotlib"] if arguments.plot is not None else []))
    from mozaic_env.arena.report import console
    from mozaic_env.bench import report
    from mozaic_env.bench.peers import missing_peers, peer_versions
    from mozaic_env.cli.contestants import make_contestants
    from mozaic_env.core.storage.outputs import write_json

    seconds = _check(arguments)
    parts = [part for part in TITLES if part in (arguments.only or TITLES)]
    machine, versions = report.machine(), report.versions(peer_versions() if "peers" in parts else {})
    out, (game, _) = console.make_console(), make_contestants([], arguments)
    heading = report.heading(machine, versions)
    out.print(heading, markup=False)
    rows: list[Row] = []
    for part in parts:
        if part == "sb3" and not is_installed("stable_baselines3"):
            out.print("stable_baselines3 is not installed; left out.")
            continue
        measured = _measure(part, game, seconds, arguments.quick)
        out.print(report.table(TITLES[part], measured))
        rows += measured
    if "peers" in parts:
        for name in missing_peers():
            out.print(f"{name} is not installed; left out.")
    if arguments.json is not None:
        values = {"machine": machine, "versions": versions, "game": repr(game), "seconds": seconds}
        write_json(arguments.json, {**values, "rows": [row.to_json() for row in rows]})
    if arguments.plot is not None:
        report.write_plot(arguments.plot, rows, heading)
    return 0


def _check(arguments: Namespace) -> float:
    from mozaic_env.bench.report import PICTURES
    from mozaic_env.core.storage.outputs import check_output_file

    seconds = arguments.seconds
    if seconds is None:
        seconds = QUICK_SECONDS if arguments.quick else SECONDS
    if not 0 < seconds <= 3600:
        raise ValueError(f"--seconds {seconds:g}; accepted: more than 0 and at most 3600")
    if arguments.plot is not None and Path(arguments.plot).suffix.lower() not in PICTURES:
        raise ValueError(f"--plot {arguments.plot}; accepted: a file name that ends in {', '.join(PICTURES)}")
    for path in (arguments.json, arguments.plot):
        if path is not None:
            check_output_file(path)
    return float(seconds)


def _measure(part: str, game: Game, seconds: float, quick: bool) -> list[Row]:
    from mozaic_env.arena.report import console
    from mozaic_env.bench import environments
    from mozaic_env.bench.measure import measure
    from mozaic_env.bench.peers import peers
    from mozaic_env.bench.startup import measure_startup

    with console.progress_bar(f"measuring {part} (%)", 100) as percent:

        def progress(share: float) -> None:
            percent(100 * share)

        if part == "startup":
            return measure_startup(game, progress, quick)
        plans: dict[str, list[Any]] = {
            "kernels": [environments.kernels],
            "vector": [environments.vector, environments.threads],
            "single": [environments.single],
            "sb3": [environments.sb3],
            "peers": [peers],
        }
        rows = []
        for plan in plans[part]:
            cases, ratios = plan(game)
            rows += measure(part, cases, ratios, seconds, progress)
        return rows
