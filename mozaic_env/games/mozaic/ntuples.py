"""Mozaic's sparse features: all 2 x 2 and 3 x 3 windows of the board, and the gems still to come.

A window is seen by who draws next: each tile is empty (0), has a gem of the drawer's colour (1) or of the other's (2).
The other seat reads the same sum with its sign changed. Windows of one shape share a table over all places and the
eight symmetries of a square, so tables fit every board and both editions. There is one for each of 13 phases, by the
number of empty tiles after the move.

Windows stand in a frame that is two tiles wider than the board, so that each tile has nine 3 x 3 windows and four 2 x 2
ones; those that leave the board have features from DEAD on, whose weights are 0.
"""

from itertools import product

import numpy as np
import numpy.typing as npt

from mozaic_env.core.afterstates import WEIGHT, Single, Weights, Workspace
from mozaic_env.core.bits import ONE, Board, count, first
from mozaic_env.core.contract import Integers, Row
from mozaic_env.core.jit import jit
from mozaic_env.games.mozaic.heuristics import HEURISTICS
from mozaic_env.games.mozaic.rules import BLUE, EMERALD, empty_tiles, points_at, slide_step, slides, tiles_of

Both = tuple[np.float32, np.float32]  # sums of the policy's weights and of the critic's

PHASES = (1, 2, 3, 4, 6, 8, 11, 15, 20, 26, 34, 44, 64)  # the most empty tiles of each
MOST_GEMS = 32  # of a colour


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


_SMALL, _LARGE, _PLACES = 21, 2862, 9  # contents of a window that are no mirror images of each other; places in one
DEAD = _SMALL + _LARGE  # the first of the features of a phase that count for nothing
PER_PHASE = DEAD + _PLACES
GEMS = len(PHASES) * PER_PHASE  # the first of the features for the gems to come
FEATURES = GEMS + (MOST_GEMS + 1) ** 2
_OF_SMALL, _OF_LARGE = _lookup(2, 0), _lookup(3, _SMALL)
_DEAD_SMALL, _DEAD_LARGE = 2 * 3**4, 2 * 3**9  # in the middle of the dead indices
_PHASE_START = np.array([PER_PHASE * next(k for k, most in enumerate(PHASES) if n <= most) for n in range(65)])

# The frame: 3 x 3 windows from rank and file -2 on in 10 x 10 places, then 2 x 2 windows from -1 on in 9 x 9.
_WIDE, _NARROW = 10, 9
_SMALL_AT = _WIDE * _WIDE
_WINDOWS = _SMALL_AT + _NARROW * _NARROW
_CELLS, _CODES = _WINDOWS, _WINDOWS + 88  # room for what a window's index is made of
_BOARD = _CODES + 88  # which board the indices are of: size, own gems, other gems
# In the sums: of each window, of windows side by side, of all that have a tile; what a gradient takes from each window.
_ROWS_AT, _BOXES_AT, _TAKEN_AT = 2 * _WINDOWS, 4 * _WINDOWS, 6 * _WINDOWS
ROOM = (_BOARD + 3, 7 * _WINDOWS)
MOST_FEATURES = 36 + 49 + 1  # of a state
_RANK = np.array([[tile // max(cols, 1) for tile in range(64)] for cols in range(9)], np.int64)


def start() -> Weights:
    """The preference of the agent `pattern`, whose weights are for 2 x 2 windows; values of 0."""
    weights = np.zeros(FEATURES, WEIGHT)
    of_small = _OF_SMALL.astype(np.int64)
    for index in range(3**4):
        gems = [index // 3**place % 3 for place in range(4)]
        own, other = gems.count(1), gems.count(2)
        worth = (0.0, *HEURISTICS["pattern"], 0.0)  # a complete square has been paid for
        if not (own and other):
            weights["policy"][of_small[index] + PER_PHASE * np.arange(len(PHASES))] = worth[own] - worth[other]
    return weights


@jit
def _clear_frame(size: int, workspace: Workspace) -> None:
    indices, sums = workspace
    for k in range(_SMALL_AT):
        indices[k] = _DEAD_LARGE
    for k in range(_SMALL_AT, _WINDOWS):
        indices[k] = _DEAD_SMALL
    for k in range(len(sums)):
        sums[k] = 0
    indices[_BOARD] = size
    indices[_BOARD + 1] = indices[_BOARD + 2] = -1  # no board has two gems on each tile


@jit
def _find_windows(own: Board, other: Board, rows: int, cols: int, workspace: Workspace) -> None:
    """Writes the index of each window in the frame, unless they are of this board already."""
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
    for rank in range(rows - 1):
        at, code = _SMALL_AT + _NARROW * (rank + 1) + 1, _CODES + 8 * rank
        for file in range(cols - 1):
            indices[at + file] = indices[code + file] + 9 * indices[code + 8 + file]
    for k in range(8 * rows):
        indices[_CODES + k] += 9 * indices[_CELLS + k + 2]
    for rank in range(rows - 2):
        at, code = _WIDE * (rank + 2) + 2, _CODES + 8 * rank
        for file in range(cols - 2):
            indices[at + file] = indices[code + file] + 27 * indices[code + 8 + file] + 729 * indices[code + 16 + file]


@jit(forceinline=True)
def _feature(window: int, index: int) -> np.uint64:
    """The feature of a window's index, within a phase."""
    if window < _SMALL_AT:
        return np.uint64(_OF_LARGE[np.uint64(index)])
    return np.uint64(_OF_SMALL[np.uint64(index)])


@jit
def _sum_windows(rows: int, cols: int, weights: Weights, begin: np.uint64, workspace: Workspace) -> Both:
    """Both functions of all windows; keeps each window's part in the workspace, and their sums for each tile."""
    indices, parts = workspace
    policy, value = np.float32(0), np.float32(0)
    for rank in range(rows - 2):
        at = _WIDE * (rank + 2) + 2
        for window in range(at, at + cols - 2):
            feature = begin + np.uint64(_OF_LARGE[np.uint64(indices[window])])
            parts[2 * window], parts[2 * window + 1] = weights[feature].policy, weights[feature].value
            policy += weights[feature].policy
            value += weights[feature].value
    for rank in range(rows - 1):
        at = _SMALL_AT + _NARROW * (rank + 1) + 1
        for window in range(at, at + cols - 1):
            feature = begin + np.uint64(_OF_SMALL[np.uint64(indices[window])])
            parts[2 * window], parts[2 * window + 1] = weights[feature].policy, weights[feature].value
            policy += weights[feature].policy
            value += weights[feature].value
    for k in range(4, 2 * _SMALL_AT):
        parts[_ROWS_AT + k] = parts[k] + parts[k - 2] + parts[k - 4]
    for k in range(4 * _WIDE, 2 * _SMALL_AT):
        at = _ROWS_AT + k
        parts[_BOXES_AT + k] = parts[at] + parts[at - 2 * _WIDE] + parts[at - 4 * _WIDE]
    for k in range(2 * _SMALL_AT + 2, 2 * _WINDOWS):
        parts[_ROWS_AT + k] = parts[k] + parts[k - 2]
    for k in range(2 * _SMALL_AT + 2 * _NARROW, 2 * _WINDOWS):
        parts[_BOXES_AT + k] = parts[_ROWS_AT + k] + parts[_ROWS_AT + k - 2 * _NARROW]
    return policy, value


@jit(forceinline=True)
def _changed_sums(
    tile: int, rank: int, cols: int, change: int, weights: Weights, begin: np.uint64, workspace: Workspace
) -> Both:
    """By how much both functions change when a tile's digit changes."""
    indices, parts = workspace
    large = tile + rank * (_WIDE - cols) + 2 * _WIDE + 2
    small = tile + rank * (_NARROW - cols) + _SMALL_AT + _NARROW + 1
    policy = -(parts[np.uint64(_BOXES_AT + 2 * large)] + parts[np.uint64(_BOXES_AT + 2 * small)])
    value = -(parts[np.uint64(_BOXES_AT + 2 * large + 1)] + parts[np.uint64(_BOXES_AT + 2 * small + 1)])
    step = change
    for i in range(3):
        for j in range(3):
            at = np.uint64(large - _WIDE * i - j)
            weight = weights[begin + np.uint64(_OF_LARGE[np.uint64(indices[at] + step)])]
            policy += weight.policy
            value += weight.value
            step *= 3
    step = change
    for i in range(2):
        for j in range(2):
            at = np.uint64(small - _NARROW * i - j)
            weight = weights[begin + np.uint64(_OF_SMALL[np.uint64(indices[at] + step)])]
            policy += weight.policy
            value += weight.value
            step *= 3
    return policy, value


@jit(forceinline=True)
def _changed_gradient(
    tile: int,
    rank: int,
    cols: int,
    change: int,
    amount: float,
    gradient: Single,
    begin: np.uint64,
    workspace: Workspace,
) -> None:
    """Adds an amount for the features that a change of a tile's digit brings; notes it for those that it takes."""
    indices, taken = workspace.indices, workspace.sums[_TAKEN_AT:]
    large = tile + rank * (_WIDE - cols) + 2 * _WIDE + 2
    small = tile + rank * (_NARROW - cols) + _SMALL_AT + _NARROW + 1
    step = change
    for i in range(3):
        for j in range(3):
            at = np.uint64(large - _WIDE * i - j)
            gradient[begin + np.uint64(_OF_LARGE[np.uint64(indices[at] + step)])] += amount
            taken[at] += amount
            step *= 3
    step = change
    for i in range(2):
        for j in range(2):
            at = np.uint64(small - _NARROW * i - j)
            gradient[begin + np.uint64(_OF_SMALL[np.uint64(indices[at] + step)])] += amount
            taken[at] += amount
            step *= 3


@jit
def _change_tile(tile: int, rank: int, cols: int, change: int, indices: Integers) -> None:
    """Changes the indices of all windows that contain a tile."""
    large = tile + rank * (_WIDE - cols) + 2 * _WIDE + 2
    small = tile + rank * (_NARROW - cols) + _SMALL_AT + _NARROW + 1
    step = change
    for i in range(3):
        for j in range(3):
            indices[large - _WIDE * i - j] += step
            step *= 3
    step = change
    for i in range(2):
        for j in range(2):
            indices[small - _NARROW * i - j] += step
            step *= 3


@jit(forceinline=True)
def _drawer(row: Row) -> int:
    """Who draws next after any action at this decision."""
    return np.int64(row.mover) if row.plays > 1 else 1 - np.int64(row.mover)  # type: ignore[return-value]


@jit(forceinline=True)
def _gems_to_come(row: Row, view: int, removed: int) -> np.uint64:
    """The feature for the gems in the bag, after one of a colour has come back; -1: none."""
    own = np.int64(row.bag[view]) + (removed == view)
    other = np.int64(row.bag[1 - view]) + (removed == 1 - view)
    return np.uint64(GEMS + (MOST_GEMS + 1) * own + other)


@jit
def _evaluate_slides(
    row: Row,
    view: int,
    weights: Weights,
    begin: np.uint64,
    actions: Integers,
    points: Single,
    sums: Weights,
    workspace: Workspace,
) -> int:
    """The part of `evaluate_actions` for an emerald; sums are for who draws next, without what slides share."""
    indices, parts = workspace
    cols, tiles, size = np.int64(row.cols), tiles_of(row), 0
    for direction in range(4):
        step, board = slide_step(direction, cols), slides(row, direction)
        while board != 0:
            tile = first(board)
            board &= board - ONE
            target, colour = tile + step, np.int64((row.gems[1] >> np.uint64(tile)) & ONE)
            digit, rank, onto = (1 if colour == view else 2), _RANK[cols, tile], _RANK[cols, tile + step]
            _change_tile(tile, rank, cols, -digit, indices)
            _change_tile(target, onto, cols, digit, indices)
            low, left = min(rank, onto), min(tile - cols * rank, target - cols * onto)
            policy, value = np.float32(0), np.float32(0)
            for i in range(4):  # ranks and files of the windows from two below the lower tile to the upper one
                for j in range(4):
                    window = _WIDE * (low + i) + left + j
                    feature = begin + _feature(window, indices[window])
                    policy += weights[feature].policy - parts[2 * window]
                    value += weights[feature].value - parts[2 * window + 1]
            for i in range(3):
                for j in range(3):
                    window = _SMALL_AT + _NARROW * (low + i) + left + j
                    feature = begin + _feature(window, indices[window])
                    policy += weights[feature].policy - parts[2 * window]
                    value += weights[feature].value - parts[2 * window + 1]
            _change_tile(target, onto, cols, -digit, indices)
            _change_tile(tile, rank, cols, digit, indices)
            gems = row.gems[colour] ^ ((ONE << np.uint64(tile)) | (ONE << np.uint64(target)))
            scored = points_at(gems, target, cols)
            actions[size] = tiles + 4 * tile + direction
            points[size] = scored if colour == row.mover else -scored
            sums[size].policy, sums[size].value = policy, value
            size += 1
    return size


@jit
def evaluate_actions(
    row: Row, weights: Weights, actions: Integers, points: Single, sums: Weights, workspace: Workspace
) -> int:
    """As `mozaic_env.core.afterstates.evaluate_actions`."""
    cols, tiles, gem = np.int64(row.cols), tiles_of(row), np.int64(row.hand)
    empty = empty_tiles(row)
    left = count(empty) + (0 if gem == EMERALD else -1 if gem <= BLUE else 1)
    if left == 0:
        scored = points_at(row.gems[gem] | empty, first(empty), cols)
        actions[0], points[0] = first(empty), (scored if gem == row.mover else -scored)
        sums[0].policy = sums[0].value = np.float32(0)
        return 1
    view = _drawer(row)
    begin = np.uint64(_PHASE_START[left])
    _find_windows(row.gems[view], row.gems[1 - view], np.int64(row.rows), cols, workspace)
    policy, value = _sum_windows(np.int64(row.rows), cols, weights, begin, workspace)
    size = 0
    if gem == EMERALD:
        size = _evaluate_slides(row, view, weights, begin, actions, points, sums, workspace)
    elif gem <= BLUE:
        digit = 1 if gem == view else 2
        while empty != 0:
            tile = first(empty)
            empty &= empty - ONE
            sums[size].policy, sums[size].value = _changed_sums(
                tile, _RANK[cols, tile], cols, digit, weights, begin, workspace
            )
            scored = points_at(row.gems[gem] | (ONE << np.uint64(tile)), tile, cols)
            actions[size] = tile
            points[size] = scored if gem == row.mover else -scored
            size += 1
    else:
        gems = row.gems[0] | row.gems[1]
        while gems != 0:
            tile = first(gems)
            gems &= gems - ONE
            colour = np.int64((row.gems[1] >> np.uint64(tile)) & ONE)
            more = _gems_to_come(row, view, colour)
            changed = _changed_sums(
                tile, _RANK[cols, tile], cols, -1 if colour == view else -2, weights, begin, workspace
            )
            actions[size], points[size] = 5 * tiles + tile, 0
            sums[size].policy, sums[size].value = changed[0] + weights[more].policy, changed[1] + weights[more].value
            size += 1
    if gem <= EMERALD:
        more = _gems_to_come(row, view, -1)
        policy += weights[more].policy
        value += weights[more].value
    sign = np.float32(1 if view == row.mover else -1)
    for k in range(size):
        sums[k].policy = sign * (policy + sums[k].policy)
        sums[k].value = sign * (value + sums[k].value)
    return size


@jit
def _add_slides(
    row: Row, view: int, sign: float, begin: np.uint64, coefficients: Single, gradient: Single, workspace: Workspace
) -> None:
    """The part of `add_gradient` for an emerald: takes all windows around the two tiles, and brings the new ones."""
    indices, taken = workspace.indices, workspace.sums[_TAKEN_AT:]
    cols, k = np.int64(row.cols), 0
    for direction in range(4):
        step, board = slide_step(direction, cols), slides(row, direction)
        while board != 0:
            tile = first(board)
            board &= board - ONE
            amount = sign * coefficients[k]
            k += 1
            if amount == 0:
                continue
            target, colour = tile + step, np.int64((row.gems[1] >> np.uint64(tile)) & ONE)
            digit, rank, onto = (1 if colour == view else 2), _RANK[cols, tile], _RANK[cols, tile + step]
            _change_tile(tile, rank, cols, -digit, indices)
            _change_tile(target, onto, cols, digit, indices)
            low, left = min(rank, onto), min(tile - cols * rank, target - cols * onto)
            for i in range(4):
                for j in range(4):
                    window = _WIDE * (low + i) + left + j
                    gradient[begin + _feature(window, indices[window])] += amount
                    taken[window] += amount
            for i in range(3):
                for j in range(3):
                    window = _SMALL_AT + _NARROW * (low + i) + left + j
                    gradient[begin + _feature(window, indices[window])] += amount
                    taken[window] += amount
            _change_tile(target, onto, cols, -digit, indices)
            _change_tile(tile, rank, cols, digit, indices)


@jit
def add_gradient(row: Row, coefficients: Single, gradient: Single, workspace: Workspace) -> None:
    """As `mozaic_env.core.afterstates.add_gradient`. What the policy takes for impossible costs nothing."""
    indices, taken = workspace.indices, workspace.sums[_TAKEN_AT:]
    cols, gem = np.int64(row.cols), np.int64(row.hand)
    empty = empty_tiles(row)
    left = count(empty) + (0 if gem == EMERALD else -1 if gem <= BLUE else 1)
    if left == 0:
        return
    view = _drawer(row)
    sign = np.float32(1 if view == row.mover else -1)
    begin = np.uint64(_PHASE_START[left])
    _find_windows(row.gems[view], row.gems[1 - view], np.int64(row.rows), cols, workspace)
    for window in range(_WINDOWS):
        taken[window] = 0
    k = 0
    if gem == EMERALD:
        _add_slides(row, view, sign, begin, coefficients, gradient, workspace)
    elif gem <= BLUE:
        digit = 1 if gem == view else 2
        while empty != 0:
            tile = first(empty)
            empty &= empty - ONE
            if coefficients[k] != 0:
                amount = sign * coefficients[k]
                _changed_gradient(tile, _RANK[cols, tile], cols, digit, amount, gradient, begin, workspace)
            k += 1
    else:
        gems = row.gems[0] | row.gems[1]
        while gems != 0:
            tile = first(gems)
            gems &= gems - ONE
            amount, colour = sign * coefficients[k], np.int64((row.gems[1] >> np.uint64(tile)) & ONE)
            digit = 1 if colour == view else 2
            _changed_gradient(tile, _RANK[cols, tile], cols, -digit, amount, gradient, begin, workspace)
            gradient[_gems_to_come(row, view, colour)] += amount
            k += 1
    for rank in range(np.int64(row.rows) - 2):
        at = _WIDE * (rank + 2) + 2
        for window in range(at, at + cols - 2):
            gradient[begin + np.uint64(_OF_LARGE[np.uint64(indices[window])])] -= taken[window]
    for rank in range(np.int64(row.rows) - 1):
        at = _SMALL_AT + _NARROW * (rank + 1) + 1
        for window in range(at, at + cols - 1):
            gradient[begin + np.uint64(_OF_SMALL[np.uint64(indices[window])])] -= taken[window]
    for place in range(_PLACES):
        gradient[begin + np.uint64(DEAD + place)] = 0


@jit
def list_features(row: Row, features: Integers, workspace: Workspace) -> int:
    """As `mozaic_env.core.afterstates.list_features`: at most MOST_FEATURES."""
    view, rows, cols = np.int64(row.mover), np.int64(row.rows), np.int64(row.cols)
    begin = _PHASE_START[count(empty_tiles(row))]
    _find_windows(row.gems[view], row.gems[1 - view], rows, cols, workspace)
    size = 0
    for rank in range(rows - 2):
        for file in range(cols - 2):
            index = workspace.indices[_WIDE * (rank + 2) + file + 2]
            features[size] = begin + np.int64(_OF_LARGE[index])
            size += 1
    for rank in range(rows - 1):
        for file in range(cols - 1):
            index = workspace.indices[_SMALL_AT + _NARROW * (rank + 1) + file + 1]
            features[size] = begin + np.int64(_OF_SMALL[index])
            size += 1
    features[size] = np.int64(_gems_to_come(row, view, -1))
    return size + 1


@jit
def chance_seat(row: Row) -> int:
    """Who draws."""
    return np.int64(row.mover)  # type: ignore[return-value]


@jit
def is_common(row: Row, code: int) -> bool:
    """Whether the gem has a colour."""
    return code <= BLUE
