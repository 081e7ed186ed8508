"""The Game contract as tests need it: on one row, or on every row of an array."""

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from mozaic_env.core import contract
from mozaic_env.core.contract import (
    Bytes,
    Integers,
    Row,
    action_values,
    apply,
    cut_off,
    deal,
    decision_kind,
    legal,
    margin,
    mover,
    observe,
    outcome,
    outcomes,
    resolve,
    sample,
    value,
)
from mozaic_env.core.game import Game, Rows
from mozaic_env.core.jit import jit
from mozaic_env.core.stream import SAMPLE, keys_from_seeds, random_bits
from mozaic_env.simulation.queries import setup_rows

__all__ = [  # checks call these as they call what is defined here
    "action_values",
    "apply",
    "cut_off",
    "deal",
    "decision_kind",
    "legal",
    "margin",
    "mover",
    "observe",
    "outcome",
    "outcomes",
    "resolve",
    "sample",
    "setup_rows",
    "value",
]


@jit
def is_legal(row: Row, allowed: Bytes) -> None:
    """What `contract.is_legal` says of every action, into allowed[0]."""
    for action in range(allowed.shape[1]):
        allowed[0, action] = contract.is_legal(row, action)


@jit
def movers(rows: Rows, found: Integers) -> None:
    """`mover` of every row."""
    for i in range(len(rows)):
        found[i] = contract.mover(rows[i])


@jit
def random_actions(rows: Rows, counter: int, chosen: Integers) -> None:
    """A random legal action for every row at a decision, -1 for the others.

    A function of key, decision count and `counter`.
    """
    for i in range(len(rows)):
        chosen[i] = -1
        if contract.mover(rows[i]) >= 0:
            agent_seed = random_bits(rows[i].key, SAMPLE, counter)
            chosen[i] = contract.random_action(rows[i], random_bits(agent_seed, SAMPLE, rows[i].decisions))


@jit
def sampled_outcomes(row: Row, keys: npt.NDArray[np.uint64], codes: Integers) -> None:
    """The chance outcome that the row would see under each of the keys."""
    for i in range(len(keys)):
        row.key = keys[i]
        codes[i] = contract.sample(row)


@jit
def play_on(rows: Rows, counter: int, decisions: int) -> None:
    """Chance and random legal actions in every row, up to so many decisions or to the end."""
    for i in range(len(rows)):
        row = rows[i]
        agent_seed = random_bits(row.key, SAMPLE, counter)
        contract.deal(row)
        for _ in range(decisions):
            if contract.mover(row) < 0:
                break
            contract.apply(row, contract.random_action(row, random_bits(agent_seed, SAMPLE, row.decisions)))
            contract.deal(row)


@jit
def apply_each(rows: Rows, actions: Integers) -> None:
    """The action of each row, no chance; negative actions leave their rows alone."""
    for i in range(len(rows)):
        if actions[i] >= 0:
            contract.apply(rows[i], actions[i])


@jit
def resolve_each(rows: Rows) -> None:
    """One chance outcome in each row that is at chance."""
    for i in range(len(rows)):
        if contract.mover(rows[i]) == contract.CHANCE:
            contract.resolve(rows[i], contract.sample(rows[i]))


@jit
def look(rows: Rows, seats: Integers, masks: Bytes, frames: Bytes) -> None:
    """The mask of every row at a decision and the observation of a seat in every row."""
    for i in range(len(rows)):
        contract.observe(rows[i], seats[i], frames, i)
        if contract.mover(rows[i]) >= 0:
            contract.legal(rows[i], masks, i)


def seeded(game: Game, games: int, seed: int = 0) -> Rows:
    """Games that are set up and have not gone on yet, shape (games,); their seeds count up."""
    rows = game.rows(games)
    rows["key"] = keys_from_seeds(range(seed, seed + games))
    setup_rows(rows)
    return rows


def where(rows: Rows) -> npt.NDArray[np.int64]:
    """`mover` of every row, shape (n,)."""
    found = np.empty(len(rows), np.int64)
    movers(rows, found)
    return found


@lru_cache(maxsize=16)
def _states(game: Game, games: int, seed: int, most: int | None) -> Rows:
    rows, decided = seeded(game, games, seed), 0
    found: list[Rows] = []
    actions = np.empty(games, np.int64)
    for _ in range(2 * game.max_decisions * game.num_players):
        found.append(rows.copy())
        at_chance = where(rows) == contract.CHANCE
        resolve_each(rows)
        random_actions(rows, 0, actions)
        actions[at_chance] = -1
        apply_each(rows, actions)
        decided += int(np.count_nonzero(actions >= 0))
        running = where(rows) != contract.OVER
        found.append(rows[~running])
        rows, actions = rows[running], actions[running]
        if not len(rows) or (most is not None and decided >= most):
            break
    return np.concatenate(found)


def states(game: Game, games: int, seed: int = 0, most: int | None = None) -> Rows:
    """All states of random games, those at chance and at the end included; a copy.

    Args:
        game: what is played.
        games: how many.
        seed: of the first; the others' count up.
        most: about how many decisions to go on for, all games side by side; None: to their ends.
    """
    return _states(game, games, seed, most).copy()
