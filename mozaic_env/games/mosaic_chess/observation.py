"""What a seat sees: the board from its own side, own pieces first, and what else decides what can follow."""

import numpy as np

from mozaic_env.core.bits import ONE, Bytes, clear, first
from mozaic_env.core.contract import Row
from mozaic_env.core.game import Field, binary, counts
from mozaic_env.core.jit import jit
from mozaic_env.games.mosaic_chess.board import MOST_QUIET, NOWHERE
from mozaic_env.games.mosaic_chess.pieces import KINDS, LETTERS
from mozaic_env.games.mosaic_chess.rules import MOST_REPEATS
from mozaic_env.games.mosaic_chess.tables import FLIPPED, SIZE, SQUARES

CHOSEN, PASSED = 2 * KINDS, 2 * KINDS + 1  # planes behind those of the pieces
PLANES = PASSED + 1
TURNED = "black"  # the entry that says that the board is turned


def fields() -> tuple[Field, ...]:
    """The entries of the observation."""
    order = "".join(LETTERS)
    return (
        binary(
            "board",
            (PLANES, SIZE, SIZE),
            f"planes: own {order}, the opponent's {order}, the chosen piece's square, the en passant square; "
            "turned for Black, so that the own first rank comes first",
        ),
        counts("quiet", np.uint8, (MOST_QUIET,), "plies since a capture or a pawn move"),
        counts("repeats", np.int8, (MOST_REPEATS,), "how often the position has been there before"),
        binary(TURNED, (1,), "1: the seat is Black and the board is turned; action ids are not"),
    )


@jit
def observe(row: Row, seat: int, frames: Bytes, index: int) -> None:
    """Writes the entries that `fields` lists, in their order."""
    clear(frames, index, 0, PLANES * SQUARES)
    for side in range(2):
        planes = -SQUARES if side == seat else (KINDS - 1) * SQUARES  # code 1 is the first kind
        if side == 1:
            planes -= KINDS * SQUARES  # and Black's codes come behind White's
        for word in range(3):
            left = row.men[3 * side + word]
            while left != 0:
                square = first(left) + 64 * word
                left &= left - ONE
                shown = FLIPPED[square] if seat == 1 else square
                frames[index, planes + SQUARES * np.int64(row.board[square]) + shown] = 1
    if row.chosen != NOWHERE:
        frames[index, CHOSEN * SQUARES + (FLIPPED[row.chosen] if seat == 1 else np.int64(row.chosen))] = 1
    if row.passed != NOWHERE:
        frames[index, PASSED * SQUARES + (FLIPPED[row.passed] if seat == 1 else np.int64(row.passed))] = 1
    at = PLANES * SQUARES
    frames[index, at] = row.quiet
    frames[index, at + 1] = row.repeats
    frames[index, at + 2] = seat
