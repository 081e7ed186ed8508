"""Windows of Mozaic's board: the number of what each 2 x 2 and 3 x 3 window holds, and sums over all of them.

A window is seen by who draws next: each tile is empty (0), has a gem of the drawer's colour (1) or of the other's (2).
Its index is these digits to base 3, by ranks. Windows that are mirror images of each other have one feature.

Windows stand in a frame that is two tiles wider than the board, so that each tile has nine 3 x 3 windows and four 2 x 2
ones; those that leave the board have features from DEAD on, whose weights are 0.
"""

from itertools import product

import numpy as np
import numpy.typing as npt

from mozaic_env.core.afterstates import Single, Weights, Workspace
from mozaic_env.core.bits import ONE, Board
from mozaic_env.core.contract import Integers
from mozaic_env.core.jit import jit
from mozaic_env.games.mozaic.threats import THREATS

Both = tuple[np.float32, np.float32]  # sums of the policy's weights and of the critic's


def _classes(side: int) -> npt.NDArray[np.int64]:
    """For each content of a window, as a number to base 3 by ranks, the class of those that are its mirror images."""
    cells = side * side
    digits = np.array(list(product(range(3), repeat=cells)))[:, ::-1].reshape(-1, side, side)
    powers = 3 ** np.arange(cells)
    images = [np.rot90(turned, turns, (1, 2)) for turned in (digits, digits[:, :, ::-1]) for turns in range(4)]
    smallest = np.min([image.reshape(-1, cells) @ powers for image in images], axis=0)
    return np.unique(smallest, return_inverse=True)[1].reshape(-1)


def _lookup(side: int, start: int) -> npt.NDArray[np.uint16]:
    """Feature of each index, from `start` on; behind them those of the indices that a dead one is changed to.

    There is a dead feature for each place, since to add to one and the same nine times takes nine times as long.
    """
    size = 3 ** (side * side)
    change = np.abs(np.arange(2 * size) - size)
    places = np.minimum(np.floor(np.log(np.maximum(change, 1) + 0.5) / np.log(3)), side * side - 1)
    return np.concatenate([start + _classes(side), DEAD + places]).astype(np.uint16)


_SMALL, _LARGE, PLACES = 21, 2862, 9  # contents of a window that are no mirror images of each other; places in one
DEAD = _SMALL + _LARGE  # the first of the features of a phase that count for nothing
OF_WINDOWS = DEAD + PLACES  # features
OF_SMALL, OF_LARGE = _lookup(2, 0), _lookup(3, _SMALL)
_DEAD_SMALL, _DEAD_LARGE = 2 * 3**4, 2 * 3**9  # in the middle of the dead indices

# The frame: 3 x 3 windows from rank and file -2 on in 10 x 10 places, then 2 x 2 windows from -1 on in 9 x 9.
WIDE, NARROW = 10, 9
SMALL_AT = WIDE * WIDE
WINDOWS = SMALL_AT + NARROW * NARROW
_CELLS, _CODES = WINDOWS, WINDOWS + 88  # room for what a window's index is made of
_BOARD = _CODES + 88  # which board the indices are of: size, own gems, other gems
TOTAL = _BOARD + 3  # the count of all threats
# In the sums: of each window, of windows side by side, of all that have a tile; what a gradient takes from each window.
_ROWS_AT, _BOXES_AT, TAKEN_AT = 2 * WINDOWS, 4 * WINDOWS, 6 * WINDOWS
ROOM = (_BOARD + 4, 7 * WINDOWS)  # lengths of the two arrays of a workspace
RANK = np.array([[tile // max(cols, 1) for tile in range(64)] for cols in range(9)], np.int64)


@jit
def _clear_frame(size: int, workspace: Workspace) -> None:
    indices, sums = workspace
    for k in range(SMALL_AT):
        indices[k] = _DEAD_LARGE
    for k in range(SMALL_AT, WINDOWS):
        indices[k] = _DEAD_SMALL
    for k in range(len(sums)):
        sums[k] = 0
    indices[_BOARD] = size
    indices[_BOARD + 1] = indices[_BOARD + 2] = -1  # no board has two gems on each tile


@jit
def find_windows(own: Board, other: Board, rows: int, cols: int, workspace: Workspace) -> None:
    """Writes the index of each window in the frame and the count of threats, unless they are of this board already."""
    indices = workspace.indices
    if indices[_BOARD] != 16 * rows + cols:
        _clear_frame(16 * rows + cols, workspace)
    if indices[_BOARD + 1] == np.int64(own) and indices[_BOARD + 2] == np.int64(other):
        return
    indices[_BOARD + 1], indices[_BOARD + 2] = np.int64(own), np.int64(other)
    for rank in range(rows):
        mine, theirs = own >> np.uint64(cols * rank), other >> np.uint64(cols * rank)
        for file in range(8):
            bit = np.uint64(file)
            indices[_CELLS + 8 * rank + file] = np.int64((mine >> bit) & ONE) + 2 * np.int64((theirs >> bit) & ONE)
    for k in range(8 * rows):
        indices[_CODES + k] = indices[_CELLS + k] + 3 * indices[_CELLS + k + 1]
    total = 0
    for rank in range(rows - 1):
        at, code = SMALL_AT + NARROW * (rank + 1) + 1, _CODES + 8 * rank
        for file in range(cols - 1):
            indices[at + file] = indices[code + file] + 9 * indices[code + 8 + file]
            total += THREATS[np.uint64(indices[at + file])]
    indices[TOTAL] = total
    for k in range(8 * rows):
        indices[_CODES + k] += 9 * indices[_CELLS + k + 2]
    for rank in range(rows - 2):
        at, code = WIDE * (rank + 2) + 2, _CODES + 8 * rank
        for file in range(cols - 2):
            indices[at + file] = indices[code + file] + 27 * indices[code + 8 + file] + 729 * indices[code + 16 + file]


@jit(forceinline=True)
def feature_of(window: int, index: int) -> np.uint64:
    """The feature of a window's index, within a phase."""
    if window < SMALL_AT:
        return np.uint64(OF_LARGE[np.uint64(index)])
    return np.uint64(OF_SMALL[np.uint64(index)])


@jit
def sum_windows(rows: int, cols: int, weights: Weights, begin: np.uint64, workspace: Workspace) -> Both:
    """Both functions of all windows; keeps each window's part in the workspace, and their sums for each tile."""
    indices, parts = workspace
    policy, value = np.float32(0), np.float32(0)
    for rank in range(rows - 2):
        at = WIDE * (rank + 2) + 2
        for window in range(at, at + cols - 2):
            feature = begin + np.uint64(OF_LARGE[np.uint64(indices[window])])
            parts[2 * window], parts[2 * window + 1] = weights[feature].policy, weights[feature].value
            policy += weights[feature].policy
            value += weights[feature].value
    for rank in range(rows - 1):
        at = SMALL_AT + NARROW * (rank + 1) + 1
        for window in range(at, at + cols - 1):
            feature = begin + np.uint64(OF_SMALL[np.uint64(indices[window])])
            parts[2 * window], parts[2 * window + 1] = weights[feature].policy, weights[feature].value
            policy += weights[feature].policy
            value += weights[feature].value
    for k in range(4, 2 * SMALL_AT):
        parts[_ROWS_AT + k] = parts[k] + parts[k - 2] + parts[k - 4]
    for k in range(4 * WIDE, 2 * SMALL_AT):
        at = _ROWS_AT + k
        parts[_BOXES_AT + k] = parts[at] + parts[at - 2 * WIDE] + parts[at - 4 * WIDE]
    for k in range(2 * SMALL_AT + 2, 2 * WINDOWS):
        parts[_ROWS_AT + k] = parts[k] + parts[k - 2]
    for k in range(2 * SMALL_AT + 2 * NARROW, 2 * WINDOWS):
        parts[_BOXES_AT + k] = parts[_ROWS_AT + k] + parts[_ROWS_AT + k - 2 * NARROW]
    return policy, value


@jit(forceinline=True)
def changed_sums(
    tile: int, rank: int, cols: int, change: int, weights: Weights, begin: np.uint64, workspace: Workspace
) -> tuple[np.float32, np.float32, int]:
    """By how much both functions and the count of threats change when a tile's digit changes."""
    indices, parts = workspace
    large = tile + rank * (WIDE - cols) + 2 * WIDE + 2
    small = tile + rank * (NARROW - cols) + SMALL_AT + NARROW + 1
    policy = -(parts[np.uint64(_BOXES_AT + 2 * large)] + parts[np.uint64(_BOXES_AT + 2 * small)])
    value = -(parts[np.uint64(_BOXES_AT + 2 * large + 1)] + parts[np.uint64(_BOXES_AT + 2 * small + 1)])
    step = change
    for i in range(3):
        for j in range(3):
            at = np.uint64(large - WIDE * i - j)
            weight = weights[begin + np.uint64(OF_LARGE[np.uint64(indices[at] + step)])]
            policy += weight.policy
            value += weight.value
            step *= 3
    step, threats = change, 0
    for i in range(2):
        for j in range(2):
            at = np.uint64(small - NARROW * i - j)
            index = np.uint64(indices[at] + step)
            weight = weights[begin + np.uint64(OF_SMALL[index])]
            policy += weight.policy
            value += weight.value
            threats += THREATS[index] - THREATS[np.uint64(indices[at])]
            step *= 3
    return policy, value, threats


@jit(forceinline=True)
def changed_gradient(
    tile: int,
    rank: int,
    cols: int,
    change: int,
    amount: float,
    gradient: Single,
    begin: np.uint64,
    workspace: Workspace,
) -> int:
    """Adds an amount for the features that a change of a tile's digit brings; notes it for those that it takes.

    Returns:
        By how much the count of threats changes.
    """
    indices, taken = workspace.indices, workspace.sums[TAKEN_AT:]
    large = tile + rank * (WIDE - cols) + 2 * WIDE + 2
    small = tile + rank * (NARROW - cols) + SMALL_AT + NARROW + 1
    step = change
    for i in range(3):
        for j in range(3):
            at = np.uint64(large - WIDE * i - j)
            gradient[begin + np.uint64(OF_LARGE[np.uint64(indices[at] + step)])] += amount
            taken[at] += amount
            step *= 3
    step, threats = change, 0
    for i in range(2):
        for j in range(2):
            at = np.uint64(small - NARROW * i - j)
            index = np.uint64(indices[at] + step)
            gradient[begin + np.uint64(OF_SMALL[index])] += amount
            taken[at] += amount
            threats += THREATS[index] - THREATS[np.uint64(indices[at])]
            step *= 3
    return threats


@jit
def change_tile(tile: int, rank: int, cols: int, change: int, indices: Integers) -> None:
    """Changes the indices of all windows that contain a tile."""
    large = tile + rank * (WIDE - cols) + 2 * WIDE + 2
    small = tile + rank * (NARROW - cols) + SMALL_AT + NARROW + 1
    step = change
    for i in range(3):
        for j in range(3):
            indices[large - WIDE * i - j] += step
            step *= 3
    step = change
    for i in range(2):
        for j in range(2):
            indices[small - NARROW * i - j] += step
            step *= 3


@jit
def threats_around(low: int, left: int, indices: Integers) -> int:
    """The count of threats in the nine windows around two tiles that touch by a corner.

    Args:
        low: the lower rank of the two.
        left: the file of the left one.
        indices: of a workspace.
    """
    total = 0
    for i in range(3):
        for j in range(3):
            total += THREATS[np.uint64(indices[SMALL_AT + NARROW * (low + i) + left + j])]
    return total
