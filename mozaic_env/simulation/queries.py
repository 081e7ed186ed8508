"""What callers in Python ask of the rows of any game: masks, views, leads, results."""

import numpy as np
import numpy.typing as npt

from mozaic_env.core.contract import Bytes, Floats, legal, margin, observe, outcome, setup
from mozaic_env.core.game import Rows
from mozaic_env.core.jit import jit
from mozaic_env.core.stream import NEXT_GAME, random_bits


@jit
def setup_rows(rows: Rows) -> None:
    """Starts a game on every row; its key and options are set."""
    for row in rows:
        setup(row)


@jit
def next_keys(keys: npt.NDArray[np.uint64]) -> None:
    """Replaces each key by that of its next game."""
    for i in range(len(keys)):
        keys[i] = random_bits(keys[i], NEXT_GAME, 0)


@jit
def masks_of(rows: Rows, masks: Bytes) -> None:
    """The action mask of every row; all are at a decision."""
    for i in range(len(rows)):
        legal(rows[i], masks, i)


@jit
def seat_margins(rows: Rows, margins: npt.NDArray[np.float64]) -> None:
    """By how much each seat leads, in the game's unit of the margin reward; shape (rows, seats)."""
    for i in range(len(rows)):
        for seat in range(margins.shape[1]):
            margins[i, seat] = margin(rows[i], seat)


@jit
def seat_outcomes(rows: Rows, outcomes: Floats) -> None:
    """Each seat's result of games that have ended, in [-1, 1]; shape (rows, seats)."""
    for i in range(len(rows)):
        for seat in range(outcomes.shape[1]):
            outcomes[i, seat] = outcome(rows[i], seat)


@jit
def seat_views(rows: Rows, seats: int, frames: Bytes) -> None:
    """What each seat sees, to frames[row * seats + seat]."""
    for i in range(len(rows)):
        for seat in range(seats):
            observe(rows[i], seat, frames, i * seats + seat)
