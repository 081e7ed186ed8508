"""The features that make Mozaic's agents: points on the board and squares in the making.

A heuristic is three weights in points: what a 2 x 2 block is worth that one colour alone has entered with 1, 2
or 3 gems. `greedy` counts points only; `pattern` has weights found by self-play (training/tune_pattern.py).
"""

import numpy as np

from mozaic_env.core.bits import ALL, ONE, Board, count
from mozaic_env.core.contract import OVER, Floats, Integers, Row
from mozaic_env.core.jit import jit
from mozaic_env.mozaic.rules import (
    LAST_FILE,
    BLUE,
    EMERALD,
    empty_tiles,
    mover,
    points_at,
    slide_step,
    slides,
    tiles_of,
)

HEURISTICS = {
    "greedy": (0.0, 0.0, 0.0),
    "pattern": (0.28, 0.66, 1.53),
}


@jit
def potential(own: Board, other: Board, block_corners: Board, cols: int, weights: Floats) -> float:
    """Worth of the unfinished squares of `own` less those of `other`, in points.

    Args:
        own: the seat's gems.
        other: the opponent's gems.
        block_corners: the tiles that are the lower left one of a block.
        cols: files of the board.
        weights: worth of a block that one colour alone has entered with 1, 2, 3 gems.
    """
    one, two, three, entered = _gems_in_blocks(own, cols)
    other_one, other_two, other_three, other_entered = _gems_in_blocks(other, cols)
    free, other_free = block_corners & ~other_entered, block_corners & ~entered
    return (
        weights[0] * (count(one & free) - count(other_one & other_free))
        + weights[1] * (count(two & free) - count(other_two & other_free))
        + weights[2] * (count(three & free) - count(other_three & other_free))
    )


@jit
def _gems_in_blocks(board: Board, cols: int) -> tuple[Board, Board, Board, Board]:
    """Blocks, by lower left tile, with exactly 1, 2, 3 and with any gems: four boards added bit by bit."""
    right = board >> ONE
    up, across = board >> np.uint64(cols), right >> np.uint64(cols)
    low, low_carry = board ^ right, board & right
    high, high_carry = up ^ across, up & across
    odd, carry = low ^ high, low & high
    two_or_three = low_carry ^ high_carry ^ carry
    return odd & ~two_or_three, two_or_three & ~odd, odd & two_or_three, board | right | up | across


@jit
def _block_corners(row: Row) -> Board:
    board = ALL >> np.uint64(64 - tiles_of(row))
    return (board >> np.uint64(row.cols)) & ~LAST_FILE[row.cols]


@jit
def value(row: Row, seat: int, weights: Floats) -> float:
    """Lead in points, and while the game runs the potential of the unfinished squares."""
    lead = np.float64(row.score[seat] - row.score[1 - seat])
    if mover(row) == OVER:
        return lead
    return lead + potential(row.gems[seat], row.gems[1 - seat], _block_corners(row), row.cols, weights)


@jit
def action_values(row: Row, seat: int, weights: Floats, actions: Integers, values: Floats) -> int:
    """Points to be scored by each action, own less opponent's, and what it changes in the potential."""
    own, other = row.gems[seat], row.gems[1 - seat]
    corners, cols, tiles = _block_corners(row), np.int64(row.cols), tiles_of(row)
    before = potential(own, other, corners, cols, weights)
    size = 0
    if row.hand <= BLUE:
        mine = row.hand == seat
        sign = 1 if mine else -1
        empty = empty_tiles(row)
        for tile in range(tiles):
            bit = ONE << np.uint64(tile)
            if empty & bit:
                if mine:
                    after = potential(own | bit, other, corners, cols, weights)
                    points = points_at(own | bit, tile, cols)
                else:
                    after = potential(own, other | bit, corners, cols, weights)
                    points = points_at(other | bit, tile, cols)
                actions[size] = tile
                values[size] = sign * points + after - before
                size += 1
    elif row.hand == EMERALD:
        for direction in range(4):
            board, step = slides(row, direction), slide_step(direction, cols)
            for tile in range(tiles):
                bit = ONE << np.uint64(tile)
                if board & bit:
                    change = bit | (ONE << np.uint64(tile + step))
                    if own & bit:
                        after = potential(own ^ change, other, corners, cols, weights)
                        points = points_at(own ^ change, tile + step, cols)
                    else:
                        after = potential(own, other ^ change, corners, cols, weights)
                        points = -points_at(other ^ change, tile + step, cols)
                    actions[size] = tiles + 4 * tile + direction
                    values[size] = points + after - before
                    size += 1
    else:
        for tile in range(tiles):
            bit = ONE << np.uint64(tile)
            if (own | other) & bit:
                actions[size] = 5 * tiles + tile
                values[size] = potential(own & ~bit, other & ~bit, corners, cols, weights) - before
                size += 1
    return size
