"""Perft: the kernels give the figures that docs/mosaic-chess.md has, and so does the slow reference."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from mozaic_env.games.mosaic_chess import board
from tests.oracles.chess_games import at
from tests.oracles.chess_reference import ReferenceChess
from tests.oracles.chess_reference import perft as slow_perft

PAGE = Path(__file__).resolve().parents[3] / "docs" / "mosaic-chess.md"
ROW = re.compile(r"^\| `(?P<position>[^`]+)` \| (?P<counts>[\d, |]+) \|$", re.MULTILINE)
FIGURES = [
    (match["position"], tuple(int(count.replace(",", "")) for count in match["counts"].split("|")))
    for match in ROW.finditer(PAGE.read_text(encoding="utf-8"))
]
POSITIONS = [position for position, _ in FIGURES]


def perft(position: str, depth: int) -> int:
    row = at(position)
    before = row.copy()
    found = board.perft(row, depth, np.zeros((depth, board.MOST_MOVES), np.int64), np.zeros((3, depth), np.int64))
    assert row == before
    return int(found)


def test_the_page_has_them() -> None:
    assert len(FIGURES) == 21
    assert len(FIGURES[0][1]) >= 3
    assert all(len(counts) == 2 for _, counts in FIGURES[1:])


@pytest.mark.parametrize("index", range(21))
def test_kernels(index: int) -> None:
    position, counts = FIGURES[index]
    assert tuple(perft(position, depth) for depth in range(1, len(counts) + 1)) == counts


def test_reference() -> None:
    assert slow_perft(ReferenceChess(POSITIONS[0]), 2) == FIGURES[0][1][1]
    for position, counts in FIGURES[1:]:
        assert slow_perft(ReferenceChess(position), 1) == counts[0]


@pytest.mark.slow
def test_reference_to_the_full_depth() -> None:
    assert slow_perft(ReferenceChess(POSITIONS[0]), 3) == FIGURES[0][1][2]
    for position, counts in FIGURES[1:]:
        assert slow_perft(ReferenceChess(position), 2) == counts[1]
