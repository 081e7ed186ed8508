"""Expectimax on rows of any game: own action, every chance outcome by its true probability, the reply, and so on.

The value of a decision is the best (for other seats: the worst) over actions of the expected value of what follows;
at the last ply it is the heuristic value after the action. All draws up to the next decision are gone through
(`mozaic_env.agents.search.chance`); states that are still at chance where these are too many count as the heuristic
says.

Depths 1 and 2 try everything. Beyond, each ply tries the best actions by one-ply value. Depth 4 is for those actions
only that are best at depth 3, and it looks further only at what is likely: decisions that are reached with less than
`Plan.least` probability count as at the last ply. So nodes go where they change the value.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mozaic_env.agents.kernels import agent_bits, best
from mozaic_env.agents.search.chance import Draws, Followers, States, gather, make_draws, make_followers
from mozaic_env.core.contract import Floats, Integers, Row, action_values, apply, decision_kind, mover, value
from mozaic_env.core.game import Game
from mozaic_env.core.jit import jit

MAX_DEPTH = 4


class Plan(NamedTuple):
    """How widely a search looks.

    Attributes:
        width: how many actions are tried at each ply, the best by one-ply value.
        least: decisions that are reached with less probability are not searched further.
    """

    width: int
    least: float


class Workspace(NamedTuple):
    """Workspace of one search at a time."""

    actions: npt.NDArray[np.int64]  # by ply, shape (plies, actions)
    values: npt.NDArray[np.float64]  # of these
    followers: Followers
    draws: Draws
    kinds: npt.NDArray[np.float64]  # values of the decisions after one action, by their kind; NaN: not known


@jit
def _keep_best(actions: Integers, values: Floats, size: int, width: int, mine: bool) -> int:
    """Moves the `width` best actions to the front, by one-ply value."""
    width = min(width, size)
    for i in range(width):
        top = i
        for j in range(i + 1, size):
            if (values[j] > values[top]) if mine else (values[j] < values[top]):
                top = j
        actions[i], actions[top] = actions[top], actions[i]
        values[i], values[top] = values[top], values[i]
    return width


@jit
def _best(values: Floats, size: int, mine: bool) -> float:
    best = values[0]
    for i in range(1, size):
        best = max(best, values[i]) if mine else min(best, values[i])
    return best


@jit
def _last_value(row: Row, seat: int, level: int, weights: Floats, workspace: Workspace) -> float:
    """The value of a decision at the last ply: the best heuristic value after an action, for the seat."""
    actions, values = workspace.actions[level], workspace.values[level]
    size = action_values(row, seat, weights, actions, values)
    return value(row, seat, weights) + _best(values, size, mover(row) == seat)


@jit
def _expected_last(
    row: Row, action: int, share: float, seat: int, level: int, weights: Floats, plan: Plan, workspace: Workspace
) -> float:
    """The expected value of what follows an action, every next decision being the last.

    States that differ only in what the last ply does not look at share one valuation.
    """
    states, shares, known = (
        workspace.followers.states[level],
        workspace.followers.shares[level],
        workspace.kinds,
    )
    known[:] = np.nan
    states[0] = row
    apply(states[0], action)
    total = 0.0
    for state in range(gather(workspace.followers, level, workspace.draws)):
        if shares[state] == 0.0:
            continue
        if mover(states[state]) < 0:
            total += shares[state] * value(states[state], seat, weights)
            continue
        kind = decision_kind(states[state])
        if not 0 <= kind < len(known):
            total += shares[state] * _last_value(states[state], seat, level + 1, weights, workspace)
            continue
        if np.isnan(known[kind]):
            known[kind] = _last_value(states[state], seat, level + 1, weights, workspace)
        total += shares[state] * known[kind]
    return total


def _one_ply_more(expected: Any) -> Any:
    """What `_expected_last` is, one ply further from the end; `expected` is the function for the ply below."""

    @jit(cached=False)
    def deeper(
        row: Row, action: int, share: float, seat: int, level: int, weights: Floats, plan: Plan, workspace: Workspace
    ) -> float:
        states, shares = workspace.followers.states[level], workspace.followers.shares[level]
        actions, values = workspace.actions[level + 1], workspace.values[level + 1]
        states[0] = row
        apply(states[0], action)
        total = 0.0
        for state in range(gather(workspace.followers, level, workspace.draws)):
            if shares[state] == 0.0:
                continue
            if mover(states[state]) < 0:
                total += shares[state] * value(states[state], seat, weights)
                continue
            reached = share * shares[state]
            if reached < plan.least:
                total += shares[state] * _last_value(states[state], seat, level + 1, weights, workspace)
                continue
            mine = mover(states[state]) == seat
            size = action_values(states[state], seat, weights, actions, values)
            size = _keep_best(actions, values, size, plan.width, mine)
            for i in range(size):
                values[i] = expected(states[state], actions[i], reached, seat, level + 1, weights, plan, workspace)
            total += shares[state] * _best(values, size, mine)
        return total

    return deeper


# A function for each depth, since compiled functions that call themselves can't be kept on disk.
_expected_3 = _one_ply_more(_expected_last)
_expected_4 = _one_ply_more(_expected_3)


@jit
def search(row: Row, depth: int, weights: Floats, plans: tuple[Plan, Plan], workspace: Workspace) -> int:
    """Writes the actions of a decision and their values, in points for who decides; returns how many.

    Args:
        row: a state at a decision; not changed.
        depth: in decisions, 1 (greedy) to `MAX_DEPTH`.
        weights: of the heuristic.
        plans: for depths up to 3, and for depth 4.
        workspace: from `make_workspace`, overwritten; the results are in the first row of its actions and values.
    """
    actions, values = workspace.actions[0], workspace.values[0]
    wide, deep = plans
    seat = mover(row)
    size = action_values(row, seat, weights, actions, values)
    now = value(row, seat, weights)
    size = _keep_best(actions, values, size, wide.width, True)
    for i in range(size):
        if depth == 1:
            values[i] += now
        elif depth == 2:
            values[i] = _expected_last(row, actions[i], 1.0, seat, 0, weights, wide, workspace)
        else:
            values[i] = _expected_3(row, actions[i], 1.0, seat, 0, weights, wide, workspace)
    if depth == MAX_DEPTH:
        size = _keep_best(actions, values, size, deep.width, True)
        for i in range(size):
            values[i] = _expected_4(row, actions[i], 1.0, seat, 0, weights, deep, workspace)
    return size


@jit
def search_rows(
    rows: States,
    depth: int,
    weights: Floats,
    plans: tuple[Plan, Plan],
    salt: np.uint64,
    chosen: Integers,
    found: Floats,
    workspace: Workspace,
) -> None:
    """The search's choice for each row, ties at random, and its values of the actions tried.

    Args:
        rows: states at decisions, shape (n,).
        depth: as for `search`.
        weights: as for `search`.
        plans: as for `search`.
        salt: of the agent's chance.
        chosen: written, shape (n,).
        found: written at [row, action], shape (n, actions); or of no columns, then not.
        workspace: as for `search`.
    """
    for i in range(len(rows)):
        size = search(rows[i], depth, weights, plans, workspace)
        chosen[i] = workspace.actions[0, best(workspace.values[0], size, agent_bits(rows[i], salt))]
        if found.shape[1] > 0:
            for k in range(size):
                found[i, workspace.actions[0, k]] = workspace.values[0, k]


def make_workspace(game: Game) -> Workspace:
    """Workspace of one search at a time."""
    return Workspace(
        np.zeros((MAX_DEPTH, game.num_actions), np.int64),
        np.zeros((MAX_DEPTH, game.num_actions)),
        make_followers(game, MAX_DEPTH),
        make_draws(game),
        np.zeros(game.decision_kinds),
    )
