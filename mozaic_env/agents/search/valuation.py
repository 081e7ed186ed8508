"""What a compiled policy thinks of actions and states, for searches: one of a game's heuristics, or tables of features.

Both are asked by the same functions; which answer follows from the type of the weights when Numba compiles the search.
Values are in points, the margin's unit. Tables (`mozaic_env.core.afterstates`) tell the points gained from those still
to come; a heuristic values the state as it stands, so what is gained is in it already.
"""

from typing import Any, NamedTuple

import numba
import numpy as np
import numpy.typing as npt
from numba.extending import overload

from mozaic_env.agents.kernels import agent_bits, best
from mozaic_env.core.afterstates import (
    WEIGHT,
    Single,
    Weights,
    Workspace,
    chance_seat,
    evaluate_actions,
    features_of,
    is_common,
    list_features,
)
from mozaic_env.core.contract import OVER, Floats, Integers, Row, action_values, mover, outcomes, resolve, value
from mozaic_env.core.game import Game, Rows
from mozaic_env.core.jit import jit

AnyWeights = npt.NDArray[Any]  # of a heuristic (float64), or of tables (`WEIGHT`)


class Room(NamedTuple):
    """Memory of one valuation at a time."""

    actions: Integers  # of one decision
    values: Floats  # what the policy thinks of these
    points: Single  # what they gain at once
    sums: Weights  # both functions behind them
    features: Integers
    workspace: Workspace
    drawn: Rows  # a state after another draw
    codes: Integers  # chance outcomes
    shares: Floats  # their probabilities


def make_room(game: Game, weights: AnyWeights) -> Room:
    """Memory for a game; of features only where the policy is one of tables."""
    actions, tables = game.num_actions, weights.dtype == WEIGHT
    return Room(
        np.zeros(actions, np.int64),
        np.zeros(actions),
        np.zeros(actions, np.float32),
        np.zeros(actions, WEIGHT),
        np.zeros(len(weights) if tables else 0, np.int64),
        features_of(game).make_workspace() if tables else Workspace(np.zeros(0, np.int64), np.zeros(0, np.float32)),
        game.rows(1),
        np.zeros(game.max_outcomes, np.int64),
        np.zeros(game.max_outcomes),
    )


def list_values(row: Row, weights: AnyWeights, room: Room) -> int:
    """Writes the legal actions of a decision and what the policy thinks of each to the room; returns how many."""
    raise NotImplementedError


def gain(index: int, weights: AnyWeights, room: Room) -> float:
    """What the action at an index of the room gains for certain, for who decides, unless `worth` has it in it."""
    raise NotImplementedError


def worth(row: Row, seat: int, weights: AnyWeights, room: Room) -> float:
    """What an afterstate or the end is worth to a seat, beyond what `gain` has counted."""
    raise NotImplementedError


def list_values_after(
    before: Row, code: int, row: Row, seat: int, weights: AnyWeights, room: Room
) -> tuple[int, float]:
    """As `list_values`, and by how much the draw was luckier than draws of its kind are on average.

    The mean of this luck over the draws is 0, so a search may subtract it: a control variate (S. Asmussen, P. Glynn,
    Stochastic Simulation, 2007, chapter V.2). It is 0 where the policy has no values that could tell.

    Args:
        before: the state before the draw.
        code: the draw, a chance outcome.
        row: the state behind it, at a decision.
        seat: whose luck.
        weights: of the policy.
        room: written.

    Returns:
        How many actions there are; the luck, in points.
    """
    raise NotImplementedError


_OPTIONS = {"_nrt": False, "error_model": "numpy"}


@overload(list_values, strict=False, jit_options=_OPTIONS)
def _pick_values(row: Any, weights: Any, room: Any) -> Any:
    def by_heuristic(row: Row, weights: Floats, room: Room) -> int:
        return action_values(row, mover(row), weights, room.actions, room.values)

    def by_tables(row: Row, weights: Weights, room: Room) -> int:
        size = evaluate_actions(row, weights, room.actions, room.points, room.sums, room.workspace)
        for k in range(size):
            room.values[k] = room.points[k] + room.sums[k].policy
        return size

    return by_heuristic if weights.dtype == numba.float64 else by_tables


@overload(gain, strict=False, jit_options=_OPTIONS)
def _pick_gain(index: Any, weights: Any, room: Any) -> Any:
    def by_heuristic(index: int, weights: Floats, room: Room) -> float:
        return 0.0

    def by_tables(index: int, weights: Weights, room: Room) -> float:
        return np.float64(room.points[index])

    return by_heuristic if weights.dtype == numba.float64 else by_tables


@overload(worth, strict=False, jit_options=_OPTIONS)
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


@overload(list_values_after, strict=False, jit_options=_OPTIONS)
def _pick_values_after(before: Any, code: Any, row: Any, seat: Any, weights: Any, room: Any) -> Any:
    def by_heuristic(before: Row, code: int, row: Row, seat: int, weights: Floats, room: Room) -> tuple[int, float]:
        return list_values(row, weights, room), 0.0

    def by_tables(before: Row, code: int, row: Row, seat: int, weights: Weights, room: Room) -> tuple[int, float]:
        if not is_common(before, code):
            return list_values(row, weights, room), 0.0
        total, own_share, others = 0.0, 0.0, 0.0
        for k in range(outcomes(before, room.codes, room.shares)):
            other = room.codes[k]
            if not is_common(before, other):
                continue
            total += room.shares[k]
            if other == code:
                own_share = room.shares[k]
                continue
            room.drawn[0] = before
            resolve(room.drawn[0], other)
            size = list_values(room.drawn[0], weights, room)
            others += room.shares[k] * worth_of_choice(room.drawn[0], seat, size, room)
        size = list_values(row, weights, room)
        own = worth_of_choice(row, seat, size, room)
        return size, own - (others + own_share * own) / total

    return by_heuristic if weights.dtype == numba.float64 else by_tables


@jit
def worth_of_choice(row: Row, seat: int, size: int, room: Room) -> float:
    """Gain and value behind the policy's choice at a decision, for a seat."""
    top = 0
    for k in range(1, size):
        if room.values[k] > room.values[top]:
            top = k
    found = np.float64(room.points[top] + room.sums[top].value)
    return found if mover(row) == seat else -found


@jit
def choose_action(row: Row, size: int, room: Room) -> int:
    """The index of the policy's choice at a decision whose actions are in the room."""
    return best(room.values, size, agent_bits(row, np.uint64(0)))
