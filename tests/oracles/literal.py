"""All states of a small game as a graph, by the contract alone: nothing is folded, nothing known of the rules."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mozaic_env.core import contract
from mozaic_env.core.game import Game
from mozaic_env.core.jit import jit

Array = Any


@jit
def look_each(rows: Any, movers: Any, masks: Any) -> None:
    for i in range(len(rows)):
        movers[i] = contract.mover(rows[i])
        if movers[i] >= 0:
            contract.legal(rows[i], masks, i)


@jit
def draw_each(rows: Any, shares: Any) -> None:
    """The probability of each outcome of rows at chance."""
    codes, probabilities = shares[-2].view(np.int64), shares[-1]
    for i in range(len(rows)):
        for k in range(contract.outcomes(rows[i], codes, probabilities)):
            shares[i, codes[k]] = probabilities[k]


@jit
def follow_each(rows: Any, actions: Any, chance: bool, gains: Any) -> None:
    """Makes an action or an outcome happen in each row; the gain is seat 0's."""
    for i in range(len(rows)):
        before = contract.margin(rows[i], 0)
        if chance:
            contract.resolve(rows[i], actions[i])
        else:
            contract.apply(rows[i], actions[i])
        gains[i] = contract.margin(rows[i], 0) - before


class Edges(NamedTuple):
    """What follows on some states: edges of a state stand together.

    Attributes:
        states: whose edges, each once.
        first: where their edges begin.
        to: the state that each leads to.
        what: action or outcome.
        gains: of seat 0.
        shares: probability of an outcome; 1 for actions.
    """

    states: Array
    first: Array
    to: Array
    what: Array
    gains: Array
    shares: Array


class Graph(NamedTuple):
    """All states that can be reached. `movers` says of each who decides, or CHANCE, or OVER; scores are zero."""

    rows: Array
    movers: Array
    decisions: Edges
    draws: Edges


def _plain(rows: Array) -> Array:
    """Without what does not matter for what can follow."""
    for field in ("key", "draws", "decisions", "score"):
        rows[field] = 0
    return rows


def explore(game: Game, starts: Array) -> Graph:
    """Everything that can follow on some rows."""
    numbers = dict[bytes, int]()
    found, edges = [], ([], [])  # type: ignore[var-annotated]
    new = _plain(starts.copy())
    for row in new:
        numbers[row.tobytes()] = len(numbers)
    while len(new):
        base = len(numbers) - len(new)
        movers, masks = np.empty(len(new), np.int64), np.zeros((len(new), game.num_actions), np.int8)
        look_each(new, movers, masks)
        shares = np.zeros((len(new) + 2, game.max_outcomes))
        at_chance = np.flatnonzero(movers == contract.CHANCE)
        drawn = np.zeros((len(at_chance) + 2, game.max_outcomes))
        draw_each(new[at_chance], drawn)
        shares[at_chance] = drawn[:-2]
        found.append((new, movers))
        fresh = []
        for chance, table in ((False, masks), (True, shares[:-2])):
            table = np.where((movers == contract.CHANCE if chance else movers >= 0)[:, None], table, 0)
            states, what = np.nonzero(table)
            after, gains = new[states].copy(), np.empty(len(states))
            follow_each(after, what, chance, gains)
            to = np.empty(len(states), np.int64)
            for i, key in enumerate(map(bytes, _plain(after).view((np.void, after.itemsize)))):
                number = numbers.get(key)
                if number is None:
                    number = numbers[key] = len(numbers)
                    fresh.append(after[i : i + 1])
                to[i] = number
            share = table[states, what] if chance else np.ones(len(states))
            edges[chance].append((states + base, to, what, gains, share))
        new = np.concatenate(fresh) if fresh else new[:0]
    rows, movers = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return Graph(rows, movers, *(_edges(parts) for parts in edges))


def _edges(parts: list[Any]) -> Edges:
    sources, to, what, gains, shares = (np.concatenate(part) for part in zip(*parts, strict=True))
    states, first = np.unique(sources, return_index=True)
    return Edges(states, first, to, what, gains, shares)


def best(graph: Graph, values: Array) -> Array:
    """What decisions are worth to seat 0 when seat 0 takes the most, seat 1 the least; of the edges' values."""
    first, seats = graph.decisions.first, graph.movers[graph.decisions.states]
    most, least = np.maximum.reduceat(values, first), np.minimum.reduceat(values, first)
    return np.where(seats == 0, most, least)


def iterate(graph: Graph, precision: float = 1e-10) -> Array:
    """The lead of seat 0 that is still to come from each state, in the game's unit: value iteration."""
    values, decisions, draws = np.zeros(len(graph.rows)), graph.decisions, graph.draws
    change = 1.0
    while change > precision:
        before = values.copy()
        for _ in range(3):  # chance leads to chance
            values[draws.states] = expected(draws, values)
        values[decisions.states] = best(graph, decisions.gains + values[decisions.to])
        change = np.abs(values - before).max()
    return values


def expected(draws: Edges, values: Array) -> Array:
    """What states at chance are worth."""
    return np.add.reduceat(draws.shares * (draws.gains + values[draws.to]), draws.first)
