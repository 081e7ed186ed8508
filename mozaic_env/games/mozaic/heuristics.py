"""The features that make Mozaic's agents: points on the board and squares in the making.

A heuristic is three weights in points: what a 2 x 2 block is worth that one colour alone has entered with 1, 2
or 3 gems. `greedy` counts points only; `pattern` has weights found by self-play (benchmarks/tune_pattern.py).
"""

import numpy as np

from mozaic_env.core.bits import ALL, ONE, Board, count, first
from mozaic_env.core.contract import OVER, Floats, Integers, Row
from mozaic_env.core.jit import jit
from mozaic_env.games.mozaic.actions import POINTS_PER_SQUARE
from mozaic_env.games.mozaic.rules import BLUE, EMERALD, LAST_FILE, empty_tiles, mover, slide_step, slides, tiles_of

Weights = tuple[float, float, float]
NONE = np.uint64(0)

HEURISTICS = {
    "greedy": (0.0, 0.0, 0.0),
    "pattern": (0.41, 0.87, 1.91),
}


@jit(forceinline=True)
def _gems_in_blocks(board: Board, cols: np.uint64) -> tuple[Board, Board, Board, Board]:
    """Blocks, by lower left tile, with exactly 1, 2, 3 and with any gems: four boards added bit by bit."""
    right = board >> ONE
    up, across = board >> cols, right >> cols
    low, low_carry = board ^ right, board & right
    high, high_carry = up ^ across, up & across
    odd, carry = low ^ high, low & high
    two_or_three = low_carry ^ high_carry ^ carry
    return odd & ~two_or_three, two_or_three & ~odd, odd & two_or_three, board | right | up | across


@jit(forceinline=True)
def potential(own: Board, other: Board, corners: Board, cols: np.uint64, weights: Weights) -> float:
    """Worth of the unfinished squares of `own` less those of `other`, in points.

    Args:
        own: the seat's gems.
        other: the opponent's gems.
        corners: the tiles that are the lower left one of a block.
        cols: files of the board.
        weights: worth of a block that one colour alone has entered with 1, 2, 3 gems.
    """
    one, two, three, entered = _gems_in_blocks(own, cols)
    other_one, other_two, other_three, other_entered = _gems_in_blocks(other, cols)
    free, other_free = corners & ~other_entered, corners & ~entered
    return (
        weights[0] * (count(one & free) - count(other_one & other_free))
        + weights[1] * (count(two & free) - count(other_two & other_free))
        + weights[2] * (count(three & free) - count(other_three & other_free))
    )


@jit(forceinline=True)
def _block_corners(row: Row) -> Board:
    board = ALL >> np.uint64(64 - tiles_of(row))
    return (board >> np.uint64(row.cols)) & ~LAST_FILE[row.cols]


@jit(forceinline=True)
def _squares_at(board: Board, corners: Board, tile: Board, cols: np.uint64) -> int:
    """How many complete squares contain a tile, given as its bit."""
    pairs = board & (board >> ONE)
    around = tile | (tile >> ONE)
    return count(pairs & (pairs >> cols) & corners & (around | (around >> cols)))


@jit(forceinline=True)
def value(row: Row, seat: int, weights: Floats) -> float:
    """Lead in points, and while the game runs the potential of the unfinished squares."""
    lead = np.float64(row.score[seat] - row.score[1 - seat])
    if mover(row) == OVER:
        return lead
    cols, kept = np.uint64(row.cols), (weights[0], weights[1], weights[2])
    return lead + potential(row.gems[seat], row.gems[1 - seat], _block_corners(row), cols, kept)


# Each of the loops below goes over all tiles without a branch, so that it is compiled to vector instructions; what it
# computes for tiles on which the action is illegal is left out afterwards.


@jit(forceinline=True)
def _place_values(own: Board, other: Board, mine: bool, row: Row, weights: Weights, values: Floats) -> None:
    corners, cols = _block_corners(row), np.uint64(row.cols)
    before = potential(own, other, corners, cols, weights)
    owns, others = (ALL, NONE) if mine else (NONE, ALL)
    for tile in range(tiles_of(row)):
        bit = ONE << np.uint64(tile)
        new_own, new_other = own | (bit & owns), other | (bit & others)
        scored = _squares_at(new_own, corners, bit & owns, cols) - _squares_at(new_other, corners, bit & others, cols)
        values[tile] = POINTS_PER_SQUARE * scored + potential(new_own, new_other, corners, cols, weights) - before


@jit(forceinline=True)
def _slide_values(own: Board, other: Board, step: int, row: Row, weights: Weights, values: Floats) -> None:
    corners, cols = _block_corners(row), np.uint64(row.cols)
    before = potential(own, other, corners, cols, weights)
    up, down = np.uint64(max(step, 0)), np.uint64(max(-step, 0))
    for tile in range(tiles_of(row)):
        bit = ONE << np.uint64(tile)
        target = (bit << up) >> down
        owns = NONE - ((own >> np.uint64(tile)) & ONE)
        new_own, new_other = own ^ ((bit | target) & owns), other ^ ((bit | target) & ~owns)
        scored = _squares_at(new_own, corners, target & owns, cols) - _squares_at(
            new_other, corners, target & ~owns, cols
        )
        values[tile] = POINTS_PER_SQUARE * scored + potential(new_own, new_other, corners, cols, weights) - before


@jit(forceinline=True)
def _removal_values(own: Board, other: Board, row: Row, weights: Weights, values: Floats) -> None:
    corners, cols = _block_corners(row), np.uint64(row.cols)
    before = potential(own, other, corners, cols, weights)
    for tile in range(tiles_of(row)):
        bit = ONE << np.uint64(tile)
        values[tile] = potential(own & ~bit, other & ~bit, corners, cols, weights) - before


@jit(forceinline=True)
def _keep(board: Board, first_action: int, step: int, size: int, start: int, actions: Integers, values: Floats) -> int:
    """Moves the values of the board's tiles, which stand at `start`, to behind the first `size` ones."""
    while board != 0:
        tile = first(board)
        board &= board - ONE
        actions[size] = first_action + step * tile
        values[size] = values[start + tile]
        size += 1
    return size


@jit(forceinline=True)
def action_values(row: Row, seat: int, weights: Floats, actions: Integers, values: Floats) -> int:
    """Points to be scored by each action, own less opponent's, and what it changes in the potential."""
    own, other = row.gems[seat], row.gems[1 - seat]
    cols, tiles = np.int64(row.cols), tiles_of(row)
    kept = (weights[0], weights[1], weights[2])
    if row.hand <= BLUE:
        _place_values(own, other, row.hand == seat, row, kept, values)
        return _keep(empty_tiles(row), 0, 1, 0, 0, actions, values)
    if row.hand == EMERALD:
        size = 0
        for direction in range(4):
            # At most `tiles` slides per direction stand in front, so this room is free.
            _slide_values(own, other, slide_step(direction, cols), row, kept, values[tiles * direction :])
            size = _keep(slides(row, direction), tiles + direction, 4, size, tiles * direction, actions, values)
        return size
    _removal_values(own, other, row, kept, values)
    return _keep(own | other, 5 * tiles, 1, 0, 0, actions, values)


@jit
def decision_kind(row: Row) -> int:
    """Who decides with which gem: the tiles are the same for all draws, and nothing else counts."""
    return 8 * np.int64(row.mover) + np.int64(row.hand)  # type: ignore[return-value]
