"""Checks that 95% intervals are honest: how often they contain the long-run value.

    python -m benchmarks.coverage --out docs/coverage.md

For each pairing a long match gives the value that a match tends to. Then many small matches of
other seeds are played, and it is counted whose interval contains that value.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from mozaic_env.agents.base import Agent
from mozaic_env.agents.specs import make_agent
from mozaic_env.arena.match import play_match
from mozaic_env.arena.statistics.intervals import NORMAL, PAIR_SCORES
from mozaic_env.core.storage.files import atomic_write
from mozaic_env.games import make_game

BOARDS: dict[str, dict[str, Any]] = {
    "8x8 amethyst": {},
    "4x4 onyx": {"rules": "onyx", "rows": 4, "cols": 4},
}
PAIRINGS = (
    ("8x8 amethyst", "greedy", "random"),
    ("4x4 onyx", "greedy", "random"),
    ("4x4 onyx", "pattern", "greedy"),
    ("4x4 onyx", "pattern", "random"),
)
SIZES = (10, 20, 50, 200)
HEAD = """\
# Do the 95% intervals cover?

Written by `python -m benchmarks.coverage --out docs/coverage.md` in less than a minute.

Each line is about {matches} matches of so many games, in pairs with the seats exchanged, each
match with another seed. *Covered*: in how many of them the 95% interval contained the long-run
value, which one more match of {long:,} games gives. For an honest interval that is about 95%,
and from one experiment of {matches} matches to the next it varies by 1.5 percentage points.
*Plain* is the normal interval over pairs, without the two added pairs of
`mozaic_env.arena.statistics.intervals`: it collapses where few games are lost.

The interval of the points is within 90% to 99% where results are mixed, and too wide rather than
too narrow where there are very few games or nearly all are won: with so few losses to see, no
interval can be both.

"""


@dataclass(frozen=True)
class Coverage:
    """In which share of the matches an interval contained the long-run value."""

    pairing: str
    games: int
    points: float
    margin: float
    points_covered: float
    plain_covered: float
    margin_covered: float


def measure(first: Agent, second: Agent, games: int, matches: int, long: int, pairing: str = "") -> Coverage:
    """Plays a long match and many small ones.

    Args:
        first: an agent.
        second: its opponent.
        games: of each small match.
        matches: how many small ones.
        long: games of the long match.
        pairing: what to call it.
    """
    truth = play_match(first, second, long, seed=10**6)
    hits = [0, 0, 0]
    for seed in range(matches):
        result = play_match(first, second, games, seed)
        intervals = (result.interval, _plain(result.pairs), result.margin_interval)
        for index, value in enumerate((truth.points, truth.points, truth.margin)):
            low, high = intervals[index] or (value, value)
            hits[index] += low <= value <= high
    shares = [number / matches for number in hits]
    return Coverage(pairing, games, truth.points, truth.margin, *shares)


def _plain(pairs: Sequence[int]) -> tuple[float, float]:
    """The normal interval of the mean over pairs."""
    scores = [score for score, number in zip(PAIR_SCORES, pairs, strict=True) for _ in range(number)]
    mean, half = fmean(scores), NORMAL * stdev(scores) / sqrt(len(scores))
    return mean - half, mean + half


def table(lines: Sequence[Coverage], matches: int, long: int) -> str:
    """The report as Markdown."""
    text = HEAD.format(matches=matches, long=long)
    text += (
        "| agents | games | long-run points | covered | plain | long-run margin "
        "| covered |\n|---|---:|---:|---:|---:|---:|---:|\n"
    )
    for line in lines:
        cells = (
            line.pairing,
            f"{line.games}",
            f"{100 * line.points:.2f}%",
            f"{100 * line.points_covered:.1f}%",
            f"{100 * line.plain_covered:.1f}%",
            f"{line.margin:+.2f}",
            f"{100 * line.margin_covered:.1f}%",
        )
        text += f"| {' | '.join(cells)} |\n"
    return text


def main() -> None:
    """Measures all pairings and prints or writes the report."""
    parser = argparse.ArgumentParser(description="How often 95% intervals hold the long-run value.")
    parser.add_argument("--matches", type=int, default=200, help="small matches (%(default)s)")
    parser.add_argument("--long", type=int, default=100_000, help="games of the long match (%(default)s)")
    parser.add_argument("--out", type=Path, help="file to write; default: print")
    options = parser.parse_args()
    lines = []
    for board, *names in PAIRINGS:
        game = make_game("mozaic", **BOARDS[board])
        first, second = (make_agent(name, game) for name in names)
        for games in SIZES:
            pairing = f"{names[0]} – {names[1]}, {board}"
            lines.append(measure(first, second, games, options.matches, options.long, pairing))
    text = table(lines, options.matches, options.long)
    if options.out is None:
        print(text)
        return
    with atomic_write(options.out) as file:
        file.write(text)


if __name__ == "__main__":
    main()
