"""What a decision is paid: the one place where it is computed, for every interface."""

import numpy as np
import numpy.typing as npt

from mozaic_env.core.contract import Floats, Row, margin, outcome
from mozaic_env.core.game import Rows
from mozaic_env.core.jit import jit
from mozaic_env.simulation.state import FORFEITED, TERMINATED


@jit(forceinline=True)
def result(row: Row, seat: int, status: int, offender: int, players: int) -> float:
    """A seat's result of a game, in [-1, 1]; over all seats results sum to zero.

    The game's own outcome if it is over. If it was forfeited by an illegal action, -1 for the offender, and the
    others share the win equally. 0 while it runs, and if it was truncated.
    """
    if status == FORFEITED:
        return -1.0 if seat == offender else 1.0 / (players - 1)
    return outcome(row, seat) if status == TERMINATED else 0.0


@jit(forceinline=True)
def reward(row: Row, seat: int, before: float, status: int, found: float, settings: Row) -> float:
    """What a seat is paid: its result, and by how much its lead has grown, each with its weight.

    Args:
        row: the state now.
        seat: who is paid.
        before: the seat's margin when it was paid last.
        status: of the game.
        found: the seat's `result`. A forfeit pays it alone and in full, whatever the weights.
        settings: type `mozaic_env.simulation.state.SETTINGS`.
    """
    if status == FORFEITED:
        return found
    paid = settings.outcome_weight * found
    if settings.margin_weight != 0.0:
        paid += settings.margin_weight * (margin(row, seat) - before)
    return paid


@jit
def seat_results(rows: Rows, episodes: Rows, results: Floats) -> None:
    """Every seat's `result`, shape (games, seats)."""
    for i in range(len(rows)):
        for seat in range(results.shape[1]):
            results[i, seat] = result(rows[i], seat, episodes[i].status, episodes[i].acted, results.shape[1])


@jit
def seat_rewards(rows: Rows, episodes: Rows, settings: Rows, margins: npt.NDArray[np.float64], paid: Floats) -> None:
    """Every seat's `reward` for what has happened since `margins` were taken.

    Args:
        rows: states, shape (games,).
        episodes: type `mozaic_env.simulation.state.EPISODE`, shape (games,).
        settings: type `mozaic_env.simulation.state.SETTINGS`, shape (1,).
        margins: every seat's lead before, shape (games, seats); overwritten with those of now.
        paid: written, shape (games, seats).
    """
    players = paid.shape[1]
    for i in range(len(rows)):
        status, offender = episodes[i].status, episodes[i].acted
        for seat in range(players):
            found = result(rows[i], seat, status, offender, players)
            paid[i, seat] = reward(rows[i], seat, margins[i, seat], status, found, settings[0])
            margins[i, seat] = margin(rows[i], seat)
