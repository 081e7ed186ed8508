"""Depth-limited search for any number of players, for games or phases of games without chance.

Two ways to see the other seats. *paranoid*: all of them together try to make the searching seat's value small; with
alpha-beta pruning (D. Knuth, R. Moore, An analysis of alpha-beta pruning, 1975; N. Sturtevant, R. Korf, On pruning
techniques for multi-player games, 2000). *max^n*: each tries to make its own value large (C. Luckhardt, K. Irani, An
algorithmic solution of n-person games, 1986). With two players the two are the same.

Where chance comes next the search stops: the state counts as its heuristic value says. At each ply the best actions by
one-ply value are tried, and at the last ply only that value is looked at.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mozaic_env.agents.kernels import agent_bits, best
from mozaic_env.core.contract import Floats, Integers, Row, action_values, apply, mover, value
from mozaic_env.core.game import Game
from mozaic_env.core.jit import jit

MAX_DEPTH = 8

States = npt.NDArray[Any]


class Workspace(NamedTuple):
    """Workspace of one search at a time, by level but for the root's actions."""

    actions: npt.NDArray[np.int64]  # that are tried
    values: npt.NDArray[np.float64]  # of these
    states: States
    bests: npt.NDArray[np.float64]  # the values found, of each seat
    counts: npt.NDArray[np.int64]  # actions, how many were tried, whose value counts
    bounds: npt.NDArray[np.float64]  # alpha and beta
    root_actions: npt.NDArray[np.int64]
    root_values: npt.NDArray[np.float64]


@jit
def _best_first(actions: Integers, values: Floats, size: int, width: int, largest: bool) -> int:
    """Sorts the `width` best actions to the front."""
    width = min(width, size)
    for i in range(width):
        top = i
        for j in range(i + 1, size):
            if (values[j] > values[top]) if largest else (values[j] < values[top]):
                top = j
        actions[i], actions[top] = actions[top], actions[i]
        values[i], values[top] = values[top], values[i]
    return width


@jit
def _candidates(row: Row, seat: int, weights: Floats, width: int, actions: Integers, values: Floats) -> int:
    """Writes the best actions of a decision by what they add to a seat's value, good for who decides first."""
    size = action_values(row, seat, weights, actions, values)
    return _best_first(actions, values, size, width, mover(row) == seat)


@jit
def _evaluate(row: Row, seat: int, weights: Floats, found: Floats) -> None:
    """Writes the value of a state: of one seat, or where `seat` is negative of each."""
    if seat >= 0:
        found[0] = value(row, seat, weights)
        return
    for other in range(len(found)):
        found[other] = value(row, other, weights)


@jit
def _last(states: States, level: int, seat: int, weights: Floats, workspace: Workspace) -> None:
    """The value of a decision at the last ply, into the level's `best`."""
    actions, values, bests = workspace.actions[level], workspace.values[level], workspace.bests
    decides = mover(states[level])
    view = seat if seat >= 0 else decides
    _candidates(states[level], view, weights, 1, actions, values)
    if seat >= 0:
        bests[level, 0] = value(states[level], seat, weights) + values[0]
        return
    states[level + 1] = states[level]
    apply(states[level + 1], actions[0])
    _evaluate(states[level + 1], seat, weights, bests[level])


@jit
def _open(states: States, level: int, depth: int, seat: int, weights: Floats, width: int, workspace: Workspace) -> bool:
    """Looks at a state: writes its value to the level's `best`, or where it is searched further its actions.

    Returns:
        Whether it is searched further.
    """
    bests, counts = workspace.bests, workspace.counts
    decides = mover(states[level])
    if decides < 0 or level >= depth:
        _evaluate(states[level], seat, weights, bests[level])
        return False
    if level == depth - 1:
        _last(states, level, seat, weights, workspace)
        return False
    view = seat if seat >= 0 else decides
    actions, values = workspace.actions[level], workspace.values[level]
    counts[level, 0], counts[level, 1] = _candidates(states[level], view, weights, width, actions, values), 0
    counts[level, 2] = decides if seat < 0 else decides == seat  # whose value counts, or whether it is to be large
    for other in range(bests.shape[1]):
        bests[level, other] = np.inf if seat >= 0 and decides != seat else -np.inf
    return True


@jit
def _take(level: int, seat: int, workspace: Workspace) -> None:
    """Hands the value of a state up to the one before."""
    bests, counts, bounds = workspace.bests, workspace.counts, workspace.bounds
    above, whose = level - 1, counts[level - 1, 2]
    if seat < 0:
        if bests[level, whose] > bests[above, whose]:
            for other in range(bests.shape[1]):
                bests[above, other] = bests[level, other]
        return
    found = bests[level, 0]
    if whose == 1:
        bests[above, 0] = max(bests[above, 0], found)
        bounds[above, 0] = max(bounds[above, 0], found)
    else:
        bests[above, 0] = min(bests[above, 0], found)
        bounds[above, 1] = min(bounds[above, 1], found)


@jit
def _search_below(depth: int, seat: int, weights: Floats, width: int, workspace: Workspace) -> None:
    """The value of the state at level 0, into its `best`, looking so many decisions further.

    Args:
        depth: in decisions.
        seat: who searches; -1: each seat for itself.
        weights: of the heuristic.
        width: how many actions are tried at each ply.
        workspace: from `make_workspace`.
    """
    states, counts, bounds = workspace.states, workspace.counts, workspace.bounds
    bounds[0, 0], bounds[0, 1] = -np.inf, np.inf
    level = np.int64(0)  # as a literal it would have _open compiled twice
    if not _open(states, level, depth, seat, weights, width, workspace):
        return
    while True:
        done = counts[level, 1] >= counts[level, 0] or (seat >= 0 and bounds[level, 0] >= bounds[level, 1])
        if done:
            if level == 0:
                return
            _take(level, seat, workspace)
            level -= 1
            continue
        states[level + 1] = states[level]
        apply(states[level + 1], workspace.actions[level, counts[level, 1]])
        counts[level, 1] += 1
        level += 1
        bounds[level, 0], bounds[level, 1] = bounds[level - 1, 0], bounds[level - 1, 1]
        if not _open(states, level, depth, seat, weights, width, workspace):
            _take(level, seat, workspace)
            level -= 1


@jit
def look_ahead(row: Row, depth: int, paranoid: bool, weights: Floats, width: int, workspace: Workspace) -> int:
    """Writes the actions of a decision and their values, in points for who decides; returns how many.

    Args:
        row: a state at a decision; not changed.
        depth: in decisions, 1 (greedy) to `MAX_DEPTH`.
        paranoid: whether the others join against who decides.
        weights: of the heuristic.
        width: how many actions are tried at each ply.
        workspace: from `make_workspace`, overwritten; the results are its `root_actions` and `root_values`.
    """
    actions, values = workspace.root_actions, workspace.root_values
    seat = mover(row)
    size = _candidates(row, seat, weights, width, actions, values)
    now = value(row, seat, weights)
    for i in range(size):
        if depth == 1:
            values[i] += now
            continue
        workspace.states[0] = row
        apply(workspace.states[0], actions[i])
        _search_below(depth - 1, seat if paranoid else -1, weights, width, workspace)
        values[i] = workspace.bests[0, 0 if paranoid else seat]
    return size


@jit
def look_ahead_rows(
    rows: States,
    depth: int,
    paranoid: bool,
    weights: Floats,
    width: int,
    agent_seed: np.uint64,
    chosen: Integers,
    found: Floats,
    workspace: Workspace,
) -> None:
    """The search's choice for each row, ties at random, and its values of the actions tried.

    Args:
        rows: states at decisions, shape (n,).
        depth: as for `look_ahead`.
        paranoid: as for `look_ahead`.
        weights: as for `look_ahead`.
        width: as for `look_ahead`.
        agent_seed: of the agent's chance.
        chosen: written, shape (n,).
        found: written at [row, action], shape (n, actions); or of no columns, then not.
        workspace: as for `look_ahead`.
    """
    for i in range(len(rows)):
        if mover(rows[i]) < 0:  # nobody decides
            chosen[i] = -1
            continue
        size = look_ahead(rows[i], depth, paranoid, weights, width, workspace)
        chosen[i] = workspace.root_actions[best(workspace.root_values, size, agent_bits(rows[i], agent_seed))]
        if found.shape[1] > 0:
            for k in range(size):
                found[i, workspace.root_actions[k]] = workspace.root_values[k]


def make_workspace(game: Game) -> Workspace:
    """Workspace of one search at a time."""
    levels = MAX_DEPTH + 1
    return Workspace(
        np.zeros((levels, game.num_actions), np.int64),
        np.zeros((levels, game.num_actions)),
        np.zeros(levels, game.dtype),
        np.zeros((levels, game.num_players)),
        np.zeros((levels, 3), np.int64),
        np.zeros((levels, 2)),
        np.zeros(game.num_actions, np.int64),
        np.zeros(game.num_actions),
    )
