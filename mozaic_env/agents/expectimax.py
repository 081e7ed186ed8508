"""Expectimax on rows of any game: own action, every chance outcome by its true probability, the reply, and so on.

The value of a decision is the best (for other seats: the worst) over actions of the expected value of what follows;
at the last ply it is the heuristic value after the action. Chance can go in circles before anyone decides (a missed
turn puts its gem back and the next draw may miss again), so all chance states that can follow each other are gathered
once and the probability is passed along until none is left: exact, not cut off. Several ways to the same decision
count as one.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from mozaic_env.agents.kernels import agent_bits, best
from mozaic_env.core.contract import (
    CHANCE,
    Floats,
    Integers,
    Row,
    action_values,
    apply,
    decision_kind,
    mover,
    outcomes,
    resolve,
    value,
)
from mozaic_env.core.game import Game
from mozaic_env.core.jit import jit

MAX_DEPTH = 4
MAX_STATES = 64  # chance states and decisions that can follow one action before the next decision
MAX_OUTCOMES = 8  # of one chance state
MAX_KINDS = 64  # of decisions that can follow one action
_NO_PROBABILITY = 1e-17

States = npt.NDArray[Any]
Room = tuple[npt.NDArray[Any], ...]


@jit
def _same(words: npt.NDArray[np.uint64], first: int, second: int) -> bool:
    for k in range(words.shape[1] - 1, -1, -1):  # what chance changes tends to stand last
        if words[first, k] != words[second, k]:
            return False
    return True


@jit
def gather(
    states: States, words: npt.NDArray[np.uint64], weights: Floats, links: Integers, chances: Floats, codes: Integers
) -> int:
    """Finds what can follow the state at `states[0]` before the next decision, and how likely each is.

    Args:
        states: room for the states found; type of the game's rows.
        words: the same memory as 64-bit words, shape (states, words of a row).
        weights: written: the probability of ending in each state; 0 for chance states.
        links: room for the states that follow each chance state.
        chances: room for their probabilities.
        codes: room for the outcomes of one chance state.

    Returns:
        How many states were found.
    """
    size, seen = 1, 0
    while seen < size:
        weights[seen] = 0.0
        base, branches = seen * MAX_OUTCOMES, 0
        if mover(states[seen]) == CHANCE and size + MAX_OUTCOMES < MAX_STATES:
            branches = outcomes(states[seen], codes, chances[base:])
        for branch in range(branches):
            states[size] = states[seen]
            resolve(states[size], codes[branch])
            states[size].draws = states[0].draws  # how often was drawn makes no difference
            target = 0
            while not _same(words, target, size):
                target += 1
            links[base + branch] = target
            size += target == size
        if branches < MAX_OUTCOMES:
            chances[base + branches] = 0.0
        seen += 1
    _pass_probability(size, weights, links, chances)
    return size


@jit
def _pass_probability(size: int, weights: Floats, links: Integers, chances: Floats) -> None:
    """Starting with all of it in state 0, until what is still in chance states is next to nothing."""
    weights[0] = 1.0
    moving = 1.0
    while moving > _NO_PROBABILITY:
        moving = 0.0
        for state in range(size):
            base, weight = state * MAX_OUTCOMES, weights[state]
            if chances[base] == 0.0 or weight <= _NO_PROBABILITY:
                continue
            weights[state] = 0.0
            moving += weight
            for branch in range(MAX_OUTCOMES):
                if chances[base + branch] == 0.0:
                    break
                weights[links[base + branch]] += weight * chances[base + branch]


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
def _last_value(row: Row, seat: int, level: int, weights: Floats, width: int, room: Room) -> float:
    """The value of a decision at the last ply: the best heuristic value after an action, for the seat."""
    actions, values = room[0][level], room[1][level]
    size = action_values(row, seat, weights, actions, values)
    return value(row, seat, weights) + _best(values, size, mover(row) == seat)


@jit
def _expected_last(row: Row, action: int, seat: int, level: int, weights: Floats, width: int, room: Room) -> float:
    """The expected value of what follows an action, every next decision being the last.

    States that differ only in what the last ply does not look at share one valuation.
    """
    states, shares, known = room[2][level], room[4][level], room[8]
    known[:] = np.nan
    states[0] = row
    apply(states[0], action)
    total = 0.0
    for state in range(gather(states, room[3][level], shares, room[5], room[6], room[7])):
        if shares[state] == 0.0:
            continue
        if mover(states[state]) < 0:
            total += shares[state] * value(states[state], seat, weights)
            continue
        kind = decision_kind(states[state])
        if kind < 0:
            total += shares[state] * _last_value(states[state], seat, level + 1, weights, width, room)
            continue
        if np.isnan(known[kind]):
            known[kind] = _last_value(states[state], seat, level + 1, weights, width, room)
        total += shares[state] * known[kind]
    return total


def _one_ply_more(expected: Any) -> Any:
    """What `_expected_last` is, one ply further from the end; `expected` is the function for the ply below."""

    @jit(cached=False)
    def deeper(row: Row, action: int, seat: int, level: int, weights: Floats, width: int, room: Room) -> float:
        states, shares = room[2][level], room[4][level]
        actions, values = room[0][level + 1], room[1][level + 1]
        states[0] = row
        apply(states[0], action)
        total = 0.0
        for state in range(gather(states, room[3][level], shares, room[5], room[6], room[7])):
            if shares[state] == 0.0:
                continue
            if mover(states[state]) < 0:
                total += shares[state] * value(states[state], seat, weights)
                continue
            mine = mover(states[state]) == seat
            size = action_values(states[state], seat, weights, actions, values)
            size = _keep_best(actions, values, size, width, mine)
            for i in range(size):
                values[i] = expected(states[state], actions[i], seat, level + 1, weights, width, room)
            total += shares[state] * _best(values, size, mine)
        return total

    return deeper


# A function for each depth, since compiled functions that call themselves can't be kept on disk.
_expected_3 = _one_ply_more(_expected_last)
_expected_4 = _one_ply_more(_expected_3)


@jit
def search(row: Row, depth: int, weights: Floats, width: int, room: Room) -> int:
    """Writes the actions of a decision and their values, in points for who decides; returns how many.

    Args:
        row: a state at a decision; not changed.
        depth: in decisions, 1 (greedy) to `MAX_DEPTH`.
        weights: of the heuristic.
        width: how many actions are tried at each ply, the best by one-ply value.
        room: from `make_room`, overwritten; the results are in the first row of its actions and values.
    """
    actions, values = room[0][0], room[1][0]
    seat = mover(row)
    size = action_values(row, seat, weights, actions, values)
    now = value(row, seat, weights)
    size = _keep_best(actions, values, size, width, True)
    for i in range(size):
        if depth == 1:
            values[i] += now
        elif depth == 2:
            values[i] = _expected_last(row, actions[i], seat, 0, weights, width, room)
        elif depth == 3:
            values[i] = _expected_3(row, actions[i], seat, 0, weights, width, room)
        else:
            values[i] = _expected_4(row, actions[i], seat, 0, weights, width, room)
    return size


@jit
def search_rows(
    rows: States, depth: int, weights: Floats, width: int, salt: np.uint64, chosen: Integers, found: Floats, room: Room
) -> None:
    """The search's choice for each row, ties at random, and its values of the actions tried.

    Args:
        rows: states at decisions, shape (n,).
        depth: as for `search`.
        weights: as for `search`.
        width: as for `search`.
        salt: of the agent's chance.
        chosen: written, shape (n,).
        found: written at [row, action], shape (n, actions); or of no columns, then not.
        room: as for `search`.
    """
    for i in range(len(rows)):
        size = search(rows[i], depth, weights, width, room)
        chosen[i] = room[0][0, best(room[1][0], size, agent_bits(rows[i], salt))]
        if found.shape[1] > 0:
            for k in range(size):
                found[i, room[0][0, k]] = room[1][0, k]


def make_room(game: Game) -> Room:
    """Room for one search at a time.

    By ply: actions, their values, states (as rows, as 64-bit words) and their probabilities. For one gathering of
    states: links, their probabilities, outcomes. For one action: known values by kind of decision.
    """
    states = np.zeros((MAX_DEPTH, MAX_STATES), game.dtype)
    return (
        np.zeros((MAX_DEPTH, game.num_actions), np.int64),
        np.zeros((MAX_DEPTH, game.num_actions)),
        states,
        states.view(np.uint64).reshape(MAX_DEPTH, MAX_STATES, -1),
        np.zeros((MAX_DEPTH, MAX_STATES)),
        np.zeros(MAX_STATES * MAX_OUTCOMES, np.int64),
        np.zeros(MAX_STATES * MAX_OUTCOMES),
        np.zeros(MAX_OUTCOMES, np.int64),
        np.zeros(MAX_KINDS),
    )
