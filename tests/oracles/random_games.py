"""Random Mozaic games played by the kernels, for the tests that need many positions.

The loops take arrays of rows and do one thing to each row that is at a decision.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mozaic_env.core import contract
from mozaic_env.core.jit import jit
from mozaic_env.core.stream import AGENT, keys_from_seeds, random_bits
from mozaic_env.games.mozaic.game import Mozaic

Rows = Any
VARIANTS = [
    (rules, rows, cols)
    for rules in ("amethyst", "onyx")
    for rows, cols in ((8, 8), (4, 4), (2, 2), (3, 4), (2, 8), (8, 5), (7, 2))
]


@jit
def setup_each(rows: Rows) -> None:
    for row in rows:
        contract.setup(row)


@jit
def deal_each(rows: Rows) -> None:
    for row in rows:
        contract.deal(row)


@jit
def choose_each(rows: Rows, actions: Any) -> None:
    """A random action for each row at a decision, -1 for the others."""
    for i in range(len(rows)):
        actions[i] = -1
        if contract.mover(rows[i]) >= 0:
            bits = random_bits(rows[i].key, AGENT, rows[i].decisions)
            actions[i] = contract.random_action(rows[i], bits)


@jit
def apply_each(rows: Rows, actions: Any) -> None:
    for i in range(len(rows)):
        if actions[i] >= 0:
            contract.apply(rows[i], actions[i])


@jit
def look_each(rows: Rows, masks: Any, frames: Any) -> None:
    """Masks and observations of the seat to decide."""
    for i in range(len(rows)):
        seat = contract.mover(rows[i])
        if seat >= 0:
            contract.legal(rows[i], masks, i)
            contract.observe(rows[i], seat, frames, i)


@jit
def is_legal_each(row: Any, mask: Any) -> None:
    """What `is_legal` says of every action id."""
    for action in range(len(mask)):
        mask[action] = contract.is_legal(row, action)


@jit
def sample_each(rows: Rows, codes: Any) -> None:
    for i in range(len(rows)):
        codes[i] = contract.sample(rows[i])


def seeded_rows(game: Mozaic, games: int, seed: int = 0) -> Rows:
    """Games that are set up but have not drawn yet."""
    rows = game.rows(games)
    rows["key"] = keys_from_seeds(range(seed, seed + games))
    setup_each(rows)
    return rows


def random_step(rows: Rows) -> np.ndarray:
    """A random decision and the chance after it, in every row that runs; returns the actions."""
    actions = np.empty(len(rows), np.int64)
    choose_each(rows, actions)
    apply_each(rows, actions)
    deal_each(rows)
    return actions


def running(rows: Rows) -> np.ndarray:
    return rows["plays"] > 0


def random_positions(game: Mozaic, games: int, seed: int = 0, over: bool = True) -> Rows:
    """All decisions of random games, and their ends."""
    rows = seeded_rows(game, games, seed)
    deal_each(rows)
    found = []
    while running(rows).any():
        rows = rows[running(rows)]
        found.append(rows.copy())
        random_step(rows)
        if over:
            found.append(rows[~running(rows)])
    return np.concatenate(found)


def look(game: Mozaic, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    """Masks and frames of rows at decisions."""
    masks = np.full((len(rows), game.num_actions), 77, np.int8)
    frames = np.zeros((len(rows), game.frame.itemsize), np.int8)
    look_each(rows, masks, frames)
    return masks, frames


def bit_counts(boards: np.ndarray) -> np.ndarray:
    """Number of gems on each board."""
    octets = np.ascontiguousarray(boards).view(np.uint8)
    return np.unpackbits(octets.reshape(*boards.shape, 8), axis=-1).sum(axis=-1, dtype=np.int64)


def swap_colours(rows: Rows) -> Rows:
    """The same positions with the two players exchanged."""
    swapped = rows.copy()
    for name in ("gems", "score"):
        swapped[name] = rows[name][:, ::-1]
    swapped["bag"][:, :2] = rows["bag"][:, 1::-1]
    colour = rows["hand"] < 2
    swapped["hand"][colour] = 1 - rows["hand"][colour]
    swapped["mover"] = 1 - rows["mover"]
    return swapped
