"""Policy improvement by rollouts: the best actions by a compiled policy, each valued by games that it plays on.

Rollouts of all candidates have the same luck: sample k of each has the same key, and a row's stream gives the same
numbers at the same draw (common random numbers), so what differs between two actions is mostly their own doing.
Samples are shared out by sequential halving (Z. Karnin, T. Koren, O. Somekh, Almost optimal exploration in multi-armed
bandits, 2013): each round gives every candidate left the same samples and drops the worse half.

The policy is a heuristic of the game, or tables of features (`mozaic_env.core.afterstates`). A rollout plays `depth`
decisions beyond the candidate. Then tables add to the points gained what their critic expects of the afterstate; a
heuristic values the state as it stands. What the policy thinks of a candidate has a say as well: `prior` times its
value, in points, is added to the mean of the rollouts.
"""

from typing import Any, NamedTuple

import numba
import numpy as np
import numpy.typing as npt
from numba.extending import overload

from mozaic_env.agents.base import Actions, Agent, Masks, tied
from mozaic_env.agents.kernels import agent_bits, best
from mozaic_env.core.afterstates import (
    WEIGHT,
    Single,
    Weights,
    Workspace,
    chance_seat,
    evaluate_actions,
    features_of,
    list_features,
)
from mozaic_env.core.contract import OVER, Floats, Integers, Row, action_values, apply, deal, mover, value
from mozaic_env.core.game import Game, Rows
from mozaic_env.core.jit import jit
from mozaic_env.core.stream import SAMPLE, random_bits


class Search(NamedTuple):
    """How to search: candidates, samples of each on average, decisions of a rollout, weight of the policy's value."""

    width: int
    samples: int
    depth: int
    prior: float


class Room(NamedTuple):
    """Memory of one search."""

    states: Rows  # the game of a rollout
    actions: Integers
    values: Floats  # of one decision
    tried: Integers  # the candidates that are left
    priors: Floats  # of these, as are those below
    totals: Floats
    counts: Integers
    features: Integers
    workspace: Workspace | None
    points: Single
    sums: Weights


def make_room(game: Game, weights: npt.NDArray[Any], width: int) -> Room:
    """Memory for searches in a game; of features only where the policy is one of tables."""
    actions, tables = game.num_actions, weights.dtype == WEIGHT
    return Room(
        game.rows(1),
        np.zeros(actions, np.int64),
        np.zeros(actions),
        np.zeros(width, np.int64),
        np.zeros(width),
        np.zeros(width),
        np.zeros(width, np.int64),
        np.zeros(len(weights) if tables else 0, np.int64),
        features_of(game).make_workspace() if tables else Workspace(np.zeros(0, np.int64), np.zeros(0, np.float32)),
        np.zeros(actions, np.float32),
        np.zeros(actions, WEIGHT),
    )


def _list_values(row: Row, weights: npt.NDArray[Any], room: Room) -> int:
    """Writes the legal actions and what the policy thinks of each to the room; returns how many."""
    raise NotImplementedError


def _gain(row: Row, index: int, weights: npt.NDArray[Any], room: Room) -> float:
    """What is gained for certain by the action at an index of the room, for who decides, in points."""
    raise NotImplementedError


def _worth(row: Row, seat: int, weights: npt.NDArray[Any], room: Room) -> float:
    """What an afterstate or the end is worth to a seat, beyond what `_gain` has counted, in points."""
    raise NotImplementedError


_OPTIONS = {"_nrt": False, "error_model": "numpy"}


@overload(_list_values, strict=False, jit_options=_OPTIONS)
def _pick_values(row: Any, weights: Any, room: Any) -> Any:
    def by_heuristic(row: Row, weights: Floats, room: Room) -> int:
        return action_values(row, mover(row), weights, room.actions, room.values)

    def by_tables(row: Row, weights: Weights, room: Room) -> int:
        size = evaluate_actions(row, weights, room.actions, room.points, room.sums, room.workspace)
        for k in range(size):
            room.values[k] = room.points[k] + room.sums[k].policy
        return size

    return by_heuristic if weights.dtype == numba.float64 else by_tables


@overload(_gain, strict=False, jit_options=_OPTIONS)
def _pick_gain(row: Any, index: Any, weights: Any, room: Any) -> Any:
    def by_heuristic(row: Row, index: int, weights: Floats, room: Room) -> float:
        return 0.0

    def by_tables(row: Row, index: int, weights: Weights, room: Room) -> float:
        return np.float64(room.points[index])

    return by_heuristic if weights.dtype == numba.float64 else by_tables


@overload(_worth, strict=False, jit_options=_OPTIONS)
def _pick_worth(row: Any, seat: Any, weights: Any, room: Any) -> Any:
    def by_heuristic(row: Row, seat: int, weights: Floats, room: Room) -> float:
        return value(row, seat, weights)

    def by_tables(row: Row, seat: int, weights: Weights, room: Room) -> float:
        if mover(row) == OVER:
            return 0.0
        total = 0.0
        for k in range(list_features(row, room.features, room.workspace)):
            total += weights[room.features[k]].value
        return total if chance_seat(row) == seat else -total

    return by_heuristic if weights.dtype == numba.float64 else by_tables


@jit
def _roll_out(row: Row, action: int, key: np.uint64, depth: int, weights: npt.NDArray[Any], room: Room) -> float:
    """Points for who decides in the row from an action and the decisions behind it, with the luck of a key."""
    seat, state, total = mover(row), room.states[0], 0.0
    room.states[0] = row
    state.key = key
    apply(state, action)
    for _ in range(depth):
        deal(state)
        decides = mover(state)
        if decides == OVER:
            break
        size = _list_values(state, weights, room)
        index = best(room.values, size, agent_bits(state, np.uint64(0)))
        gain = _gain(state, index, weights, room)
        total += gain if decides == seat else -gain
        apply(state, room.actions[index])
    return total + _worth(state, seat, weights, room)


@jit
def _search(row: Row, search: Search, weights: npt.NDArray[Any], bits: np.uint64, room: Room) -> int:
    """Writes candidates and the sums of their rollouts to the room, the best one first; returns how many are left."""
    size, left = _list_values(row, weights, room), 0
    while left < min(search.width, size):
        index = best(room.values, size, bits)
        room.tried[left], room.priors[left] = room.actions[index], search.prior * room.values[index]
        room.totals[left], room.counts[left] = _gain(row, index, weights, room), 0
        room.values[index] = -np.inf
        left += 1
    for k in range(left):  # what is gained at once is the same in all rollouts
        room.priors[k] += room.totals[k]
        room.totals[k] = 0.0
    rounds, of_round = 0, left
    while of_round > 1:
        rounds, of_round = rounds + 1, (of_round + 1) // 2
    whole, sample = left * search.samples, 0
    for _ in range(rounds):
        more = max(1, whole // (rounds * left))
        for _ in range(more):
            key = random_bits(bits, SAMPLE, sample)
            sample += 1
            for k in range(left):
                room.totals[k] += _roll_out(row, room.tried[k], key, search.depth, weights, room)
                room.counts[k] += 1
        _sort(left, room)
        left = (left + 1) // 2
    return left


@jit
def _score(k: int, room: Room) -> float:
    return room.priors[k] + room.totals[k] / max(room.counts[k], 1)


@jit
def _sort(size: int, room: Room) -> None:
    """Sorts the candidates that are left, the best first; equal ones stay as they are."""
    for k in range(1, size):
        i = k
        while i > 0 and _score(i, room) > _score(i - 1, room):
            room.tried[i], room.tried[i - 1] = room.tried[i - 1], room.tried[i]
            room.priors[i], room.priors[i - 1] = room.priors[i - 1], room.priors[i]
            room.totals[i], room.totals[i - 1] = room.totals[i - 1], room.totals[i]
            room.counts[i], room.counts[i - 1] = room.counts[i - 1], room.counts[i]
            i -= 1


@jit
def _search_rows(
    rows: Rows,
    search: Search,
    weights: npt.NDArray[Any],
    agent_seed: np.uint64,
    chosen: Integers,
    found: npt.NDArray[np.float64],
    room: Room,
) -> None:
    for i in range(len(rows)):
        if mover(rows[i]) < 0:  # nobody decides
            chosen[i] = -1
            continue
        _search(rows[i], search, weights, agent_bits(rows[i], agent_seed), room)
        chosen[i] = room.tried[0]
        if found.shape[1] and room.counts[0]:
            for k in range(len(room.tried)):
                if room.counts[k]:
                    found[i, room.tried[k]] = _score(k, room)
        elif found.shape[1]:
            found[i, room.tried[0]] = room.priors[0]
        for k in range(len(room.tried)):
            room.counts[k] = 0


class RolloutAgent(Agent):
    """Plays the candidate that is left over by its search."""

    def __init__(
        self,
        game: Game,
        *,
        tables: Weights | None = None,
        heuristic: str | None = None,
        width: int = 8,
        samples: int = 8,
        depth: int = 6,
        prior: float = 1.0,
        name: str = "rollout",
    ) -> None:
        """Makes the agent.

        Args:
            game: what it plays.
            tables: the policy, of a game that offers features.
            heuristic: the policy, where there are no tables; None: the game's last, strongest one.
            width: how many actions are tried, the best by the policy.
            samples: rollouts of each on average; sequential halving gives the better ones more.
            depth: decisions of a rollout beyond the action tried.
            prior: how much the policy's own value counts beside the mean of the rollouts; with few samples it has to.
            name: what it is called.

        Raises:
            ValueError: an argument is none of these.
        """
        for key, given in (("width", width), ("samples", samples)):
            if given < 1:
                raise ValueError(f"{key}={given!r}; accepted: a whole number of at least 1")
        if depth < 0 or prior < 0:
            raise ValueError(f"depth={depth!r}, prior={prior!r}; accepted: numbers of at least 0")
        chosen = heuristic or tuple(game.heuristics)[-1]
        if chosen not in game.heuristics:
            raise ValueError(f"heuristic={heuristic!r}; accepted: {', '.join(game.heuristics)}")
        self.game, self.name = game, name
        self._weights = np.array(game.heuristics[chosen]) if tables is None else tables
        self._plan = Search(min(width, game.num_actions), samples, depth, float(prior))
        self._room: Room | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Without the memory, which the next search makes again."""
        return {**self.__dict__, "_room": None}

    def quick(self) -> Agent:
        return self._changed(_plan=self._plan._replace(samples=1, depth=1))

    def act(self, states: Rows, masks: Masks | None = None) -> Actions:
        return self._search(states, np.empty((len(states), 0)))

    def choices(self, states: Rows) -> Masks:
        return tied(self.action_values(states))

    def action_values(self, states: Rows) -> npt.NDArray[np.float64]:
        """The mean of the rollouts of every action tried, with the policy's say, in points, for the seat that decides.

        Args:
            states: rows at a decision, shape (n,).

        Returns:
            float64, shape (n, actions); NaN for actions that are illegal or were not tried. Those that were dropped
            early have few rollouts, so the largest of all need not be the agent's choice; it is kept above the rest.
        """
        found = np.full((len(states), self.game.num_actions), np.nan)
        chosen = self._search(states, found)
        at = np.arange(len(states)), chosen
        found[at] = np.maximum(found[at], np.nextafter(np.nanmax(found, axis=1, initial=-np.inf), np.inf))
        return found

    def _search(self, states: Rows, found: npt.NDArray[np.float64]) -> Actions:
        self.game.check_rows(states)
        if self._room is None:
            self._room = make_room(self.game, self._weights, self._plan.width)
        chosen = np.empty(len(states), np.int64)
        rows = np.ascontiguousarray(states)
        _search_rows(rows, self._plan, self._weights, self.agent_seed, chosen, found, self._room)
        return chosen
