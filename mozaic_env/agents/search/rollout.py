"""Policy improvement by rollouts: candidates, each valued by games that a compiled policy plays on.

Rollouts of all candidates have the same luck: sample k of each has the same key, and a row's stream gives the same
numbers at the same draw (common random numbers), so what differs between two actions is mostly their own doing. What
luck remains, the policy's critic takes out where it has one (`valuation.list_values_after`). Samples are shared out by
sequential halving (Z. Karnin, T. Koren, O. Somekh, Almost optimal exploration in multi-armed bandits, 2013): each
round gives every candidate left the same samples and drops the worse half.

A rollout plays `depth` decisions beyond the candidate. Then tables add to the points gained what their critic expects
of the afterstate; a heuristic values the state as it stands. Each candidate has a prior, in points, that is added to
the mean of its rollouts: what the policy thinks of it, or a network (`mozaic_env.agents.policy.rollout_search`).
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mozaic_env.agents.kernels import agent_bits, best
from mozaic_env.agents.search.valuation import (
    AnyWeights,
    Room,
    choose_action,
    gain,
    list_values,
    list_values_after,
    worth,
)
from mozaic_env.core.contract import CHANCE, OVER, Floats, Integers, Row, apply, mover, resolve, sample
from mozaic_env.core.game import Game, Rows
from mozaic_env.core.jit import jit
from mozaic_env.core.stream import SAMPLE, random_bits


class Search(NamedTuple):
    """How to search: candidates, samples of each on average, decisions of a rollout, weight of the policy's value."""

    width: int
    samples: int
    depth: int
    prior: float


class Candidates(NamedTuple):
    """The actions that a search tries, the best first, and what it has found of each."""

    actions: Integers
    priors: Floats  # what is added to the mean of the rollouts
    totals: Floats  # of the rollouts, in points
    counts: Integers
    games: Rows  # of a rollout: the game, the state before the last draw


def make_candidates(game: Game, width: int) -> Candidates:
    """Memory for searches in a game."""
    return Candidates(
        np.zeros(width, np.int64), np.zeros(width), np.zeros(width), np.zeros(width, np.int64), game.rows(2)
    )


@jit
def _roll_out(
    row: Row, action: int, key: np.uint64, depth: int, weights: AnyWeights, candidates: Candidates, room: Room
) -> float:
    """Points for who decides in the row from the decisions behind an action and from their end, with a key's luck."""
    seat, state, total = mover(row), candidates.games[0], 0.0
    candidates.games[0] = row
    state.key = key
    apply(state, action)
    for _ in range(depth):
        code = -1
        while mover(state) == CHANCE:
            candidates.games[1] = state
            code = sample(state)
            resolve(state, code)
        decides = mover(state)
        if decides == OVER:
            break
        if code < 0:
            size = list_values(state, weights, room)
        else:
            size, luck = list_values_after(candidates.games[1], code, state, seat, weights, room)
            total -= luck
        index = choose_action(state, size, room)
        gained = gain(index, weights, room)
        total += gained if decides == seat else -gained
        apply(state, room.actions[index])
    return total + worth(state, seat, weights, room)


@jit
def set_candidates(
    row: Row, search: Search, weights: AnyWeights, bits: np.uint64, candidates: Candidates, room: Room
) -> int:
    """Takes the best actions by the policy as candidates, with its values as priors; returns how many."""
    size, left = list_values(row, weights, room), 0
    while left < min(search.width, size):
        index = best(room.values, size, bits)
        candidates.actions[left], candidates.priors[left] = room.actions[index], search.prior * room.values[index]
        room.values[index] = -np.inf
        left += 1
    return left


@jit
def halve(
    row: Row,
    left: int,
    search: Search,
    weights: AnyWeights,
    bits: np.uint64,
    candidates: Candidates,
    room: Room,
) -> None:
    """Plays the rollouts of the first `left` candidates, whose actions and priors are set; the best one comes first."""
    size = list_values(row, weights, room)
    for k in range(left):
        candidates.totals[k], candidates.counts[k] = 0.0, 0
        for index in range(size):  # what is gained at once is the same in all rollouts
            if room.actions[index] == candidates.actions[k]:
                candidates.priors[k] += gain(index, weights, room)
    rounds, of_round = 0, left
    while of_round > 1:
        rounds, of_round = rounds + 1, (of_round + 1) // 2
    whole, number = left * search.samples, 0
    for _ in range(rounds):
        more = max(1, whole // (rounds * left))
        for _ in range(more):
            key = random_bits(bits, SAMPLE, number)
            number += 1
            for k in range(left):
                candidates.totals[k] += _roll_out(
                    row, candidates.actions[k], key, search.depth, weights, candidates, room
                )
                candidates.counts[k] += 1
        _sort(left, candidates)
        left = (left + 1) // 2


@jit
def score(k: int, candidates: Candidates) -> float:
    """What a candidate is compared by, in points."""
    return candidates.priors[k] + candidates.totals[k] / max(candidates.counts[k], 1)


@jit
def _sort(size: int, candidates: Candidates) -> None:
    """Sorts the candidates that are left, the best first; equal ones stay as they are."""
    actions, priors, totals, counts, _ = candidates
    for k in range(1, size):
        i = k
        while i > 0 and score(i, candidates) > score(i - 1, candidates):
            actions[i], actions[i - 1] = actions[i - 1], actions[i]
            priors[i], priors[i - 1] = priors[i - 1], priors[i]
            totals[i], totals[i - 1] = totals[i - 1], totals[i]
            counts[i], counts[i - 1] = counts[i - 1], counts[i]
            i -= 1


@jit
def search_rows(
    rows: Rows,
    search: Search,
    weights: AnyWeights,
    agent_seed: np.uint64,
    given: npt.NDArray[np.int64],
    priors: npt.NDArray[np.float64],
    chosen: Integers,
    found: npt.NDArray[np.float64],
    candidates: Candidates,
    room: Room,
) -> None:
    """Searches each row.

    Args:
        rows: states, shape (n,).
        search: how.
        weights: of the policy that plays the rollouts.
        agent_seed: of the agent's chance.
        given: candidates of each row, -1 behind the last one, shape (n, candidates); (n, 0): the best by the policy.
        priors: of these, in points.
        chosen: written, shape (n,); -1 where nobody decides.
        found: written: what each candidate is compared by, shape (n, actions) or (n, 0).
        candidates: memory.
        room: memory.
    """
    for i in range(len(rows)):
        if mover(rows[i]) < 0:  # nobody decides
            chosen[i] = -1
            continue
        bits = agent_bits(rows[i], agent_seed)
        if given.shape[1]:
            left = 0
            while left < given.shape[1] and given[i, left] >= 0:
                candidates.actions[left], candidates.priors[left] = given[i, left], priors[i, left]
                left += 1
        else:
            left = set_candidates(rows[i], search, weights, bits, candidates, room)
        halve(rows[i], left, search, weights, bits, candidates, room)
        chosen[i] = candidates.actions[0]
        if found.shape[1]:
            for k in range(left):
                found[i, candidates.actions[k]] = score(k, candidates)
