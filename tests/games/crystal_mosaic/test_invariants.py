"""What holds at every moment of every game."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mozaic_env.core import contract
from mozaic_env.core.jit import jit
from mozaic_env.core.stream import AGENT, keys_from_seeds, random_bits
from mozaic_env.games.crystal_mosaic.actions import BOARDS, FACTORIES
from mozaic_env.games.crystal_mosaic.game import CrystalMosaic
from mozaic_env.games.crystal_mosaic.rules import tiles_of
from mozaic_env.testing import rows as on

VARIANTS = [(players, board) for players in FACTORIES for board in BOARDS]


@jit
def faults(row: Any) -> int:
    """Bit 0: tiles lost or made; 1: a score below 0 or beyond the bound; 2: a line too long; 3: a floor too long."""
    found = 0
    for colour in range(5):
        total = tiles_of(row.bag, colour) + tiles_of(row.lid, colour)
        for source in range(10):
            total += tiles_of(row.sources[source], colour)
        for seat in range(row.players):
            total += tiles_of(row.floor[seat], colour)
            for place in range(25):
                total += (row.wall[seat, colour] >> place) & 1
            for line in range(5):
                if row.filled[seat, line] > 0 and row.colour[seat, line] == colour:
                    total += row.filled[seat, line]
        if total != 20:
            found |= 1
    for seat in range(row.players):
        if row.score[seat] < 0 or row.score[seat] > 999:
            found |= 2
        on_floor = 0
        for colour in range(5):
            on_floor += tiles_of(row.floor[seat], colour)
        if on_floor > 7:
            found |= 8
        for line in range(5):
            if row.filled[seat, line] > line + 1:
                found |= 4
    return found


@jit
def play(rows: Any, counts: Any) -> None:
    """Random games to their ends, looked at after every draw and every decision."""
    for i in range(len(rows)):
        row = rows[i]
        contract.setup(row)
        while contract.mover(row) != contract.OVER:
            if contract.mover(row) == contract.CHANCE:
                contract.resolve(row, contract.sample(row))
            else:
                bits = random_bits(row.key, AGENT, row.decisions)
                contract.apply(row, contract.random_action(row, bits))
            counts[0] += 1
            counts[1] |= faults(row)


def check(players: int, board: str, games: int) -> None:
    game, counts = CrystalMosaic(players, board), np.zeros(2, np.int64)
    rows = game.rows(games)
    rows["key"] = keys_from_seeds(range(games))
    play(rows, counts)
    assert counts[1] == 0
    assert counts[0] > 100 * games
    assert (rows["phase"] == 3).all()


@pytest.mark.parametrize(("players", "board"), VARIANTS)
def test_a_hundred_tiles_at_every_moment(players: int, board: str) -> None:
    check(players, board, 300)


@pytest.mark.slow
@pytest.mark.parametrize(("players", "board"), VARIANTS)
def test_a_hundred_tiles_at_every_moment_of_many_games(players: int, board: str) -> None:
    check(players, board, -(-100_000 // len(VARIANTS)))


def test_the_check_notices() -> None:
    """What no test may pass: a tile too few, a score too low, a line or a floor too long."""
    for change, fault in (("bag", 1), ("score", 2), ("filled", 5), ("floor", 9)):
        row = on.seeded(CrystalMosaic(), 1)[0]
        assert faults(row) == 0
        if change == "bag":
            row["bag"] -= np.uint64(1)
        elif change == "floor":
            row["floor"][0] = 8
        else:
            row[change][0] = -1 if change == "score" else [2, 0, 0, 0, 0]
        assert faults(row) == fault
