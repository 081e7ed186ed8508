"""Expectimax on rows of any game: own action, every chance outcome by its true probability, the reply, and so on.

The value of a decision is the best (for other seats: the worst) over actions of the expected value of what follows;
at the last ply it is the heuristic value after the action. All draws up to the next decision are gone through
(`mozaic_env.agents.search.chance`); states that are still at chance where these are too many count as the heuristic
says.

Depths 1 and 2 try everything. Beyond, each ply tries the best actions by one-ply value. Depth 4 is for those actions
only that are best at depth 3, and it looks further only at what is likely: decisions that are reached with less than
`Plan.least` probability count as at the last ply. So nodes go where they change the value.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mozaic_env.agents.kernels import agent_bits, best
from mozaic_env.agents.search.chance import Draws, Followers, States, gather, make_draws, make_followers
from mozaic_env.core.contract import Floats, Integers, Row, action_values, apply, decision_kind, mover, value
from mozaic_env.core.game import Game
from mozaic_env.core.jit import jit

MAX_DEPTH = 4
PLACE = np.dtype(
    [
        ("state", np.int64),  # which of the states that follow is looked at
        ("states", np.int64),  # how many there are
        ("action", np.int64),  # which of the decision's actions is looked at
        ("actions", np.int64),  # how many of them are
        ("total", np.float64),  # expected value of the states before
        ("reached", np.float64),  # probability of what came before the ply
    ]
)


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
    places: npt.NDArray[np.void]  # where the search stands, by ply, type `PLACE`
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
def _expected_last(row: Row, action: int, seat: int, level: int, weights: Floats, workspace: Workspace) -> float:
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


@jit
def _descend(row: Row, action: int, reached: float, ply: int, workspace: Workspace) -> None:
    """Gathers what can follow an action; nothing of it has been looked at."""
    place, states = workspace.places[ply], workspace.followers.states[ply]
    states[0] = row
    apply(states[0], action)
    place.states = gather(workspace.followers, ply, workspace.draws)
    place.state = place.action = place.actions = 0
    place.total, place.reached = 0.0, reached


@jit
def _next_decision(ply: int, seat: int, weights: Floats, plan: Plan, workspace: Workspace) -> bool:
    """Goes on to the ply's next decision that is searched further, valuing all states up to it; False: none is left."""
    place, states, shares = workspace.places[ply], workspace.followers.states[ply], workspace.followers.shares[ply]
    actions, values = workspace.actions[ply + 1], workspace.values[ply + 1]
    while place.state < place.states:
        state, share = states[place.state], shares[place.state]
        if share != 0.0 and mover(state) < 0:
            place.total += share * value(state, seat, weights)
        elif share != 0.0 and place.reached * share < plan.least:
            place.total += share * _last_value(state, seat, ply + 1, weights, workspace)
        elif share != 0.0:
            size = action_values(state, seat, weights, actions, values)
            place.action, place.actions = 0, _keep_best(actions, values, size, plan.width, mover(state) == seat)
            return True
        place.state += 1
    return False


@jit
def _expected(row: Row, action: int, plies: int, seat: int, weights: Floats, plan: Plan, workspace: Workspace) -> float:
    """The expected value of what follows an action, with so many plies of decisions before the last ones.

    A loop, since compiled functions that call themselves can't be kept on disk; `Workspace.places` is its stack.
    """
    if plies == 0:
        return _expected_last(row, action, seat, 0, weights, workspace)
    ply = 0
    _descend(row, action, 1.0, ply, workspace)
    while True:
        place, actions, values = workspace.places[ply], workspace.actions[ply + 1], workspace.values[ply + 1]
        state, share = workspace.followers.states[ply, place.state], workspace.followers.shares[ply, place.state]
        if place.action < place.actions and ply + 1 < plies:
            _descend(state, actions[place.action], place.reached * share, ply + 1, workspace)
            ply += 1
            continue
        if place.action < place.actions:
            values[place.action] = _expected_last(state, actions[place.action], seat, ply + 1, weights, workspace)
            place.action += 1
            continue
        if place.actions > 0:
            place.total += share * _best(values, place.actions, mover(state) == seat)
            place.state += 1
        if not _next_decision(ply, seat, weights, plan, workspace):
            if ply == 0:
                return place.total
            ply -= 1
            workspace.values[ply + 1, workspace.places[ply].action] = place.total
            workspace.places[ply].action += 1


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
        else:
            values[i] = _expected(row, actions[i], min(depth, MAX_DEPTH - 1) - 2, seat, weights, wide, workspace)
    if depth == MAX_DEPTH:
        size = _keep_best(actions, values, size, deep.width, True)
        for i in range(size):
            values[i] = _expected(row, actions[i], MAX_DEPTH - 2, seat, weights, deep, workspace)
    return size


@jit
def search_rows(
    rows: States,
    depth: int,
    weights: Floats,
    plans: tuple[Plan, Plan],
    agent_seed: np.uint64,
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
        agent_seed: of the agent's chance.
        chosen: written, shape (n,).
        found: written at [row, action], shape (n, actions); or of no columns, then not.
        workspace: as for `search`.
    """
    for i in range(len(rows)):
        if mover(rows[i]) < 0:  # nobody decides
            chosen[i] = -1
            continue
        size = search(rows[i], depth, weights, plans, workspace)
        chosen[i] = workspace.actions[0, best(workspace.values[0], size, agent_bits(rows[i], agent_seed))]
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
        np.zeros(MAX_DEPTH, PLACE),
        np.zeros(game.decision_kinds),
    )
