"""The heuristics against their definition in plain Python."""

from __future__ import annotations

import numpy as np
import pytest

from mozaic_env.games.mozaic import heuristics, rules
from mozaic_env.games.mozaic.game import Mozaic
from tests.oracles.random_games import VARIANTS, random_positions

WEIGHTS = {**heuristics.HEURISTICS, "uneven": (0.25, -0.75, 3.0)}


def blocks(game: Mozaic, row: np.void) -> list[list[str]]:
    """The gems of each 2 x 2 block, '-' for an empty tile."""
    ranks, files = game.board
    letters = ["-"] * (ranks * files)
    for seat, colour in enumerate("yb"):
        for tile in range(ranks * files):
            if int(row["gems"][seat]) >> tile & 1:
                letters[tile] = colour
    return [
        [letters[(rank + up) * files + file + right] for up in (0, 1) for right in (0, 1)]
        for rank in range(ranks - 1)
        for file in range(files - 1)
    ]


def potential(game: Mozaic, row: np.void, seat: int, weights: tuple[float, ...]) -> float:
    """Blocks that one colour alone has entered, by its number of gems; four are worth 0."""
    worth = (0.0, *weights, 0.0)
    total = 0.0
    for block in blocks(game, row):
        numbers = block.count("yb"[seat]), block.count("yb"[1 - seat])
        if 0 in numbers:
            total += worth[numbers[0]] - worth[numbers[1]]
    return total


def lead(row: np.void, seat: int) -> int:
    return int(row["score"][seat]) - int(row["score"][1 - seat])


@pytest.mark.parametrize("name", WEIGHTS)
@pytest.mark.parametrize(("edition", "ranks", "files"), VARIANTS[:7])
def test_values_are_points_and_potential(name: str, edition: str, ranks: int, files: int) -> None:
    game, weights = Mozaic(edition, ranks, files), WEIGHTS[name]
    positions = random_positions(game, 25, seed=4)
    positions = positions[np.random.default_rng(4).permutation(len(positions))[:25]]
    actions, values = np.empty(game.num_actions, np.int64), np.empty(game.num_actions)
    for row in positions:
        for seat in (0, 1):
            expected = float(lead(row, seat))
            if row["plays"]:
                expected += potential(game, row, seat, weights)
            found = heuristics.value(row, seat, np.array(weights))
            assert found == pytest.approx(expected, abs=1e-9)
            if row["plays"] == 0:
                continue
            size = heuristics.action_values(row, seat, np.array(weights), actions, values)
            before = lead(row, seat) + potential(game, row, seat, weights)
            for action, value in zip(actions[:size], values[:size], strict=True):
                after = row.copy()
                rules.apply(after, action)
                gain = lead(after, seat) + potential(game, after, seat, weights) - before
                assert value == pytest.approx(gain, abs=1e-9)


def test_what_blocks_are_worth() -> None:
    game, weights = Mozaic("amethyst", 4, 4), np.array([1.0, 10.0, 100.0])
    for tiles, worth in {
        "4/4/4/y3": 1,  # a corner is in one block
        "4/4/1y2/4": 4,
        "4/4/4/yy2": 11,
        "4/4/y3/yy2": 100 + 1 + 1,
        "4/4/yy2/yy2": 10 + 10 + 1,  # the square itself is worth nothing any more
        "4/4/4/yb2": -1,
        "4/4/1b2/y3": -3,
    }.items():
        left = f"{8 - tiles.count('y')},{7 - tiles.count('b')},1,1,1,1"
        row = game.parse_position(f"{tiles} y b 1 {left} 0-0")[0]
        assert heuristics.value(row, 1, weights) == -heuristics.value(row, 0, weights)
        assert heuristics.value(row, 0, weights) == worth
