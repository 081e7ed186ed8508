"""Mozaic's sparse features: all 2 x 2 and 3 x 3 windows of the board, threats, and the gems still to come.

All is seen by who draws next. The other seat reads the same sum with its sign changed. Windows of one shape share a
table over all places and the eight symmetries of a square, so tables fit every board and both editions. There is one
for each of 13 phases, by the number of empty tiles after the move; likewise for the threats of both colours together.
"""

import numpy as np

from mozaic_env.core.afterstates import WEIGHT, Single, Weights, Workspace
from mozaic_env.core.bits import ONE, count, first
from mozaic_env.core.contract import Integers, Row
from mozaic_env.core.jit import jit
from mozaic_env.games.mozaic.heuristics import HEURISTICS
from mozaic_env.games.mozaic.rules import BLUE, EMERALD, empty_tiles, points_at, slide_step, slides, tiles_of
from mozaic_env.games.mozaic.threats import OF_THREATS, threat_feature
from mozaic_env.games.mozaic.windows import (
    DEAD,
    NARROW,
    OF_LARGE,
    OF_SMALL,
    OF_WINDOWS,
    PLACES,
    RANK,
    SMALL_AT,
    TAKEN_AT,
    TOTAL,
    WIDE,
    WINDOWS,
    change_tile,
    changed_gradient,
    changed_sums,
    feature_of,
    find_windows,
    sum_windows,
    threats_around,
)

PHASES = (1, 2, 3, 4, 6, 8, 11, 15, 20, 26, 34, 44, 64)  # the most empty tiles of each
MOST_GEMS = 32  # of a colour
GEMS = len(PHASES) * OF_WINDOWS  # the first of the features for the gems to come; those of the windows come before
THREATS = GEMS + (MOST_GEMS + 1) ** 2  # the first of the features for threats
FEATURES = THREATS + len(PHASES) * OF_THREATS
MOST_FEATURES = 36 + 49 + 2  # of a state
_PHASE = np.array([next(k for k, most in enumerate(PHASES) if n <= most) for n in range(65)])  # by empty tiles


def start() -> Weights:
    """The preference of the agent `pattern`, whose weights are for 2 x 2 windows; values of 0."""
    weights = np.zeros(FEATURES, WEIGHT)
    of_small = OF_SMALL.astype(np.int64)
    for index in range(3**4):
        gems = [index // 3**place % 3 for place in range(4)]
        own, other = gems.count(1), gems.count(2)
        worth = (0.0, *HEURISTICS["pattern"], 0.0)  # a complete square has been paid for
        if not (own and other):
            weights["policy"][of_small[index] + OF_WINDOWS * np.arange(len(PHASES))] = worth[own] - worth[other]
    return weights


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
    threats: np.uint64,
    actions: Integers,
    points: Single,
    sums: Weights,
    workspace: Workspace,
) -> int:
    """The part of `evaluate_actions` for an emerald; sums are for who draws next, without what slides share."""
    indices, parts = workspace
    cols, tiles, size = np.int64(row.cols), tiles_of(row), 0
    total = indices[TOTAL]
    for direction in range(4):
        step, board = slide_step(direction, cols), slides(row, direction)
        while board != 0:
            tile = first(board)
            board &= board - ONE
            target, colour = tile + step, np.int64((row.gems[1] >> np.uint64(tile)) & ONE)
            digit, rank, onto = (1 if colour == view else 2), RANK[cols, tile], RANK[cols, tile + step]
            low, left = min(rank, onto), min(tile - cols * rank, target - cols * onto)
            others = total - threats_around(low, left, indices)
            change_tile(tile, rank, cols, -digit, indices)
            change_tile(target, onto, cols, digit, indices)
            threat = weights[threats + threat_feature(others + threats_around(low, left, indices))]
            policy, value = threat.policy, threat.value
            for i in range(4):  # ranks and files of the windows from two below the lower tile to the upper one
                for j in range(4):
                    window = WIDE * (low + i) + left + j
                    feature = begin + feature_of(window, indices[window])
                    policy += weights[feature].policy - parts[2 * window]
                    value += weights[feature].value - parts[2 * window + 1]
            for i in range(3):
                for j in range(3):
                    window = SMALL_AT + NARROW * (low + i) + left + j
                    feature = begin + feature_of(window, indices[window])
                    policy += weights[feature].policy - parts[2 * window]
                    value += weights[feature].value - parts[2 * window + 1]
            change_tile(target, onto, cols, -digit, indices)
            change_tile(tile, rank, cols, digit, indices)
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
    begin, threats = np.uint64(OF_WINDOWS * _PHASE[left]), np.uint64(THREATS + OF_THREATS * _PHASE[left])
    find_windows(row.gems[view], row.gems[1 - view], np.int64(row.rows), cols, workspace)
    policy, value = sum_windows(np.int64(row.rows), cols, weights, begin, workspace)
    size, total = 0, workspace.indices[TOTAL]
    if gem == EMERALD:
        size = _evaluate_slides(row, view, weights, begin, threats, actions, points, sums, workspace)
    elif gem <= BLUE:
        digit = 1 if gem == view else 2
        while empty != 0:
            tile = first(empty)
            empty &= empty - ONE
            rank = RANK[cols, tile]
            changed = changed_sums(tile, rank, cols, digit, weights, begin, workspace)
            threat = weights[threats + threat_feature(total + changed[2])]
            sums[size].policy, sums[size].value = changed[0] + threat.policy, changed[1] + threat.value
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
            digit, rank = (-1 if colour == view else -2), RANK[cols, tile]
            changed = changed_sums(tile, rank, cols, digit, weights, begin, workspace)
            threat, gems_left = (
                weights[threats + threat_feature(total + changed[2])],
                weights[_gems_to_come(row, view, colour)],
            )
            actions[size], points[size] = 5 * tiles + tile, 0
            sums[size].policy = changed[0] + threat.policy + gems_left.policy
            sums[size].value = changed[1] + threat.value + gems_left.value
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
    row: Row,
    view: int,
    sign: float,
    begin: np.uint64,
    threats: np.uint64,
    coefficients: Single,
    gradient: Single,
    workspace: Workspace,
) -> None:
    """The part of `add_gradient` for an emerald: takes all windows around the two tiles, and brings the new ones."""
    indices, taken = workspace.indices, workspace.sums[TAKEN_AT:]
    cols, k = np.int64(row.cols), 0
    total = indices[TOTAL]
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
            digit, rank, onto = (1 if colour == view else 2), RANK[cols, tile], RANK[cols, tile + step]
            low, left = min(rank, onto), min(tile - cols * rank, target - cols * onto)
            others = total - threats_around(low, left, indices)
            change_tile(tile, rank, cols, -digit, indices)
            change_tile(target, onto, cols, digit, indices)
            gradient[threats + threat_feature(others + threats_around(low, left, indices))] += amount
            for i in range(4):
                for j in range(4):
                    window = WIDE * (low + i) + left + j
                    gradient[begin + feature_of(window, indices[window])] += amount
                    taken[window] += amount
            for i in range(3):
                for j in range(3):
                    window = SMALL_AT + NARROW * (low + i) + left + j
                    gradient[begin + feature_of(window, indices[window])] += amount
                    taken[window] += amount
            change_tile(target, onto, cols, -digit, indices)
            change_tile(tile, rank, cols, digit, indices)


@jit
def add_gradient(row: Row, coefficients: Single, gradient: Single, workspace: Workspace) -> None:
    """As `mozaic_env.core.afterstates.add_gradient`. What the policy takes for impossible costs nothing."""
    indices, taken = workspace.indices, workspace.sums[TAKEN_AT:]
    cols, gem = np.int64(row.cols), np.int64(row.hand)
    empty = empty_tiles(row)
    left = count(empty) + (0 if gem == EMERALD else -1 if gem <= BLUE else 1)
    if left == 0:
        return
    view = _drawer(row)
    sign = np.float32(1 if view == row.mover else -1)
    begin, threats = np.uint64(OF_WINDOWS * _PHASE[left]), np.uint64(THREATS + OF_THREATS * _PHASE[left])
    find_windows(row.gems[view], row.gems[1 - view], np.int64(row.rows), cols, workspace)
    for window in range(WINDOWS):
        taken[window] = 0
    k, total = 0, indices[TOTAL]
    if gem == EMERALD:
        _add_slides(row, view, sign, begin, threats, coefficients, gradient, workspace)
    elif gem <= BLUE:
        digit = 1 if gem == view else 2
        while empty != 0:
            tile = first(empty)
            empty &= empty - ONE
            if coefficients[k] != 0:
                amount = sign * coefficients[k]
                rank = RANK[cols, tile]
                more = changed_gradient(tile, rank, cols, digit, amount, gradient, begin, workspace)
                gradient[threats + threat_feature(total + more)] += amount
            k += 1
    else:
        gems = row.gems[0] | row.gems[1]
        while gems != 0:
            tile = first(gems)
            gems &= gems - ONE
            amount, colour = sign * coefficients[k], np.int64((row.gems[1] >> np.uint64(tile)) & ONE)
            digit, rank = (-1 if colour == view else -2), RANK[cols, tile]
            more = changed_gradient(tile, rank, cols, digit, amount, gradient, begin, workspace)
            gradient[threats + threat_feature(total + more)] += amount
            gradient[_gems_to_come(row, view, colour)] += amount
            k += 1
    for rank in range(np.int64(row.rows) - 2):
        at = WIDE * (rank + 2) + 2
        for window in range(at, at + cols - 2):
            gradient[begin + np.uint64(OF_LARGE[np.uint64(indices[window])])] -= taken[window]
    for rank in range(np.int64(row.rows) - 1):
        at = SMALL_AT + NARROW * (rank + 1) + 1
        for window in range(at, at + cols - 1):
            gradient[begin + np.uint64(OF_SMALL[np.uint64(indices[window])])] -= taken[window]
    for place in range(PLACES):
        gradient[begin + np.uint64(DEAD + place)] = 0


@jit
def list_features(row: Row, features: Integers, workspace: Workspace) -> int:
    """As `mozaic_env.core.afterstates.list_features`: at most MOST_FEATURES."""
    view, rows, cols = np.int64(row.mover), np.int64(row.rows), np.int64(row.cols)
    phase = _PHASE[count(empty_tiles(row))]
    begin = OF_WINDOWS * phase
    find_windows(row.gems[view], row.gems[1 - view], rows, cols, workspace)
    size = 0
    for rank in range(rows - 2):
        for file in range(cols - 2):
            index = workspace.indices[WIDE * (rank + 2) + file + 2]
            features[size] = begin + np.int64(OF_LARGE[index])
            size += 1
    for rank in range(rows - 1):
        for file in range(cols - 1):
            index = workspace.indices[SMALL_AT + NARROW * (rank + 1) + file + 1]
            features[size] = begin + np.int64(OF_SMALL[index])
            size += 1
    features[size] = np.int64(_gems_to_come(row, view, -1))
    total = workspace.indices[TOTAL]
    features[size + 1] = THREATS + OF_THREATS * phase + np.int64(threat_feature(total))
    return size + 2


@jit
def chance_seat(row: Row) -> int:
    """Who draws."""
    return np.int64(row.mover)  # type: ignore[return-value]


@jit
def is_common(row: Row, code: int) -> bool:
    """Whether the gem has a colour."""
    return code <= BLUE
