"""What every seat sees and has, whoever is to decide: for the ways in that serve all seats at once."""

import numpy as np
import numpy.typing as npt

from mozaic_env.core.contract import Bytes, Floats, margin, observe, outcome
from mozaic_env.core.game import Rows
from mozaic_env.core.jit import jit


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
