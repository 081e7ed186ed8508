"""Random games of Mosaic Chess played by the kernels, and what the tests of that game share."""

from __future__ import annotations

from typing import Any

import numpy as np

from mozaic_env.games.mosaic_chess import board, notation
from mozaic_env.games.mosaic_chess.game import MosaicChess
from mozaic_env.testing import rows as on
from tests.oracles.chess_reference import Move, ReferenceChess

GAME = MosaicChess()
Rows = Any


def at(position: str) -> np.void:
    """The row of a position string."""
    row: np.void = GAME.parse_position(position)[0]
    return row


def square(text: str) -> int:
    return "abcdefghijkl".index(text[0]) + 12 * (int(text[1:]) - 1)


def moves_of(row: np.void) -> list[int]:
    """All legal moves by the engine's own interface."""
    buffer = np.zeros(board.MOST_MOVES, np.int64)
    return buffer[: board.list_moves(row, False, buffer)].tolist()


def words_of(row: np.void) -> set[str]:
    return {notation.format_move(row, move) for move in moves_of(row)}


def as_reference(move: int) -> Move:
    origin, target = move & 255, move >> 8 & 255
    return (origin % 12 + 1, origin // 12 + 1), (target % 12 + 1, target // 12 + 1), bool(move >> 16)


def reference_of(row: np.void) -> ReferenceChess:
    """The reference at the same position, without what came before."""
    return ReferenceChess(GAME.format_position(row))


def decisions_before_a_move(games: int, seed: int) -> Rows:
    """The states of random games in which a piece is to be chosen, and their ends."""
    rows = on.states(GAME, games, seed)
    return rows[rows["chosen"] == board.NOWHERE]


def play(row: np.void, *words: str) -> np.void:
    """Makes moves that are given as text."""
    for word in words:
        for action in notation.actions_of_move(notation.parse_move(row, word)):
            mask = np.zeros((1, GAME.num_actions), np.int8)
            on.legal(row, mask, 0)
            assert mask[0, action], f"{word} at {GAME.format_position(row)}"
            on.apply(row, action)
    return row
