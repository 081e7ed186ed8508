"""What holds in every position of random games."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mozaic_env.core.contract import Integers
from mozaic_env.core.jit import jit
from mozaic_env.games.mosaic_chess import board, rules
from mozaic_env.games.mosaic_chess.board import hash_of, is_attacked, list_moves, make_move, unmake_move
from mozaic_env.testing import rows as on
from tests.oracles.chess_games import GAME, decisions_before_a_move

Rows = Any


@jit
def first_wrong(rows: Rows, twins: Rows, moves: Integers) -> int:
    """The first row in which a move leaves the own king attacked, or is not taken back to the bit, or miscounts."""
    for i in range(len(rows)):
        row, twin = rows[i], twins[i]
        for k in range(list_moves(row, False, moves)):
            token = make_move(row, moves[k])
            if is_attacked(row, np.int64(row.kings[1 - row.mover]), np.int64(row.mover)) or row.hash != hash_of(row):
                return i
            unmake_move(row, moves[k], token)
            if row.hash != twin.hash or row.passed != twin.passed or row.quiet != twin.quiet:
                return i
    return -1


def check(games: int, seed: int) -> None:
    rows = decisions_before_a_move(games, seed)
    twins = rows.copy()
    wrong = first_wrong(rows, twins, np.zeros(board.MOST_MOVES, np.int64))
    assert wrong < 0, GAME.format_position(twins[wrong])
    assert np.array_equal(rows, twins)  # to the bit, whatever was made and taken back
    for row in rows[:: 1 if games > 20 else 7]:
        text = GAME.format_position(row)
        parsed = GAME.parse_position(text)[0]
        for name in ("key", "decisions"):
            parsed[name] = row[name]
        assert parsed == row, text


def test_some_games() -> None:
    check(3, 11)


@pytest.mark.slow
def test_ten_thousand_games() -> None:
    """In parts, since a game has some hundred positions."""
    for part in range(200):
        check(50, 1000 + 50 * part)


def test_what_a_row_counts_follows_from_its_board() -> None:
    rows = decisions_before_a_move(3, 12)
    fresh = rows.copy()
    for row in fresh[::5]:
        before = row.copy()
        for name in ("men", "hash", "material", "kings"):
            row[name] = 0
        rules.count_up(row)
        assert row == before


def test_the_mask_changes_nothing() -> None:
    rows = on.states(GAME, 2, 13)
    rows = rows[on.where(rows) >= 0]
    before = rows.copy()
    masks = np.zeros((len(rows), GAME.num_actions), np.int8)
    on.look(rows, on.where(rows), masks, np.zeros((len(rows), GAME.frame.itemsize), np.uint8))
    assert np.array_equal(rows, before)
