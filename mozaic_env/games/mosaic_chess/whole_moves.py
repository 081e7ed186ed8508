"""Mosaic Chess for search: whole moves, and what a position is worth at first sight.

The value is material and small change for where pieces stand: pieces that can promote get more as they advance, all but
the king a little for the middle, the king for staying at home. The numbers are this project's own.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from mozaic_env.core.bits import ONE, first
from mozaic_env.core.contract import Row
from mozaic_env.core.jit import jit
from mozaic_env.core.whole_moves import DRAWN, LOST, ONGOING
from mozaic_env.games.mosaic_chess.board import (
    MOST_QUIET,
    NOWHERE,
    is_attacked,
    men_of,
    size_of,
    victim_of,
)
from mozaic_env.games.mosaic_chess.pieces import KINDS, PAWN
from mozaic_env.games.mosaic_chess.rules import BARE_DRAW, bare_king
from mozaic_env.games.mosaic_chess.tables import (
    CODES,
    HASH_OF_BLACK,
    HASH_OF_PIECE,
    KINGS,
    PROMOTIONS,
    SIZE,
    SQUARES,
    TENTHS,
    WORTH,
)

HUNDREDTHS = 100 // TENTHS  # of a pawn, in a tenth


def _places() -> npt.NDArray[np.int32]:
    """By code and square: what a piece is worth there, in hundredths of a pawn."""
    table = np.zeros((CODES, SQUARES), np.int32)
    for code in range(1, CODES):
        for square in range(SQUARES):
            file, rank = square % SIZE, square // SIZE
            ahead = SIZE - 1 - rank if code > KINDS else rank
            inward = min(file, SIZE - 1 - file) + min(rank, SIZE - 1 - rank)  # 0 in the corner, 10 in the middle
            if code in KINGS:
                table[code, square] = -8 * ahead
            else:
                table[code, square] = HUNDREDTHS * WORTH[code] + 2 * inward
                if PROMOTIONS[code]:
                    table[code, square] += (8 if (code - 1) % KINDS == PAWN else 3) * ahead
    return table


PLACES = _places()


@jit
def position_hash(row: Row) -> np.uint64:
    """See `mozaic_env.core.whole_moves`."""
    return row.hash


@jit
def earlier_hashes(row: Row, hashes: Any) -> Any:
    """See `mozaic_env.core.whole_moves`."""
    found, past = row.hash, np.int64(row.past)
    for k in range(past - 1, -1, -1):
        origin, target = np.int64(row.moves[k]) // SQUARES, np.int64(row.moves[k]) % SQUARES
        piece = row.board[target]
        row.board[target] = 0
        row.board[origin] = piece
        found ^= HASH_OF_PIECE[piece, origin] ^ HASH_OF_PIECE[piece, target] ^ HASH_OF_BLACK
        hashes[k] = found
    for k in range(past):
        origin, target = np.int64(row.moves[k]) // SQUARES, np.int64(row.moves[k]) % SQUARES
        row.board[target] = row.board[origin]
        row.board[origin] = 0
    return past


@jit
def terminal_status(row: Row) -> int:
    """See `mozaic_env.core.whole_moves`."""
    if size_of(men_of(row, np.int64(row.mover))) == 1:
        return DRAWN if bare_king(row) == BARE_DRAW else LOST
    return DRAWN if row.quiet >= MOST_QUIET else ONGOING


@jit
def loses_without_moves(row: Row) -> bool:
    """See `mozaic_env.core.whole_moves`."""
    return is_attacked(row, np.int64(row.kings[row.mover]), 1 - np.int64(row.mover))


@jit
def static_value(row: Row) -> int:
    """See `mozaic_env.core.whole_moves`."""
    total = 0
    for word in range(6):
        left, sign = row.men[word], 1 if word < 3 else -1
        while left != 0:
            square = first(left) + 64 * (word % 3)
            left &= left - ONE
            total += sign * PLACES[row.board[square], square]
    return -total if row.mover == 1 else total


@jit
def move_score(row: Row, move: int) -> int:
    """See `mozaic_env.core.whole_moves`: its gain, less the piece itself where the opponent attacks the target."""
    origin, target = move & 255, (move >> 8) & 255
    piece, side = np.int64(row.board[origin]), np.int64(row.mover)
    gain = np.int64(WORTH[row.board[victim_of(row, origin, target)]])
    if move >> 16:
        gain += WORTH[PROMOTIONS[piece]] - WORTH[piece]
        piece = np.int64(PROMOTIONS[piece])
    if piece != KINGS[side] and gain < WORTH[piece] and is_attacked(row, target, 1 - side):
        gain -= WORTH[piece]
    change = (
        PLACES[piece, target]
        - PLACES[row.board[origin], origin]
        - HUNDREDTHS * (WORTH[piece] - WORTH[row.board[origin]])
    )
    return HUNDREDTHS * gain + change


@jit
def begins_with_choice(row: Row, move: int) -> bool:
    """See `mozaic_env.core.whole_moves`."""
    return row.chosen == NOWHERE or (move & 255) == row.chosen


@jit
def decision_of_move(row: Row, move: int) -> int:
    """See `mozaic_env.core.whole_moves`."""
    if row.chosen == NOWHERE:
        return move & 255
    return SQUARES * (1 + (move >> 16)) + ((move >> 8) & 255)
