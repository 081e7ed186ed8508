"""Generalised advantage estimation along each seat's own decisions, for many games at once.

The method: J. Schulman et al., High-dimensional continuous control using generalized advantage estimation, 2015.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mozaic_env.core.jit import jit

Array = npt.NDArray[Any]

_LEAD, _VALUE, _ADVANTAGE, _REWARD, _KNOWN = range(5)  # of a seat's next decision, walking backwards


class Decisions(NamedTuple):
    """A fragment's decisions, and those that the fragments before left open.

    A row is a decision: step * games + game, and behind these, at steps * games + game * players + seat, the decisions
    left open.
    """

    seats: Array  # who decided, shape (steps, games)
    ended: Array  # number of the ending that a decision led to, else -1; shape (steps, games)
    leads: Array  # of the deciding seat, by row
    values: Array  # as estimated then, by row
    left_open: Array  # which seats had a decision left open, shape (games, players)


class Finals(NamedTuple):
    """The endings of games; each of shape (endings, players)."""

    leads: Array
    rewards: Array  # besides the gain in lead
    values: Array  # of what could have come, where a limit cut the game; else 0


class Estimates(NamedTuple):
    """What `estimate_advantages` writes."""

    complete: Array  # which rows are, bool
    advantages: Array  # by row, where complete
    open_rows: Array  # the row of each seat's last decision where it is still open, else -1; shape (games, players)


class Weights(NamedTuple):
    """The weight of the gain in lead, the discount from one decision of a seat to its next, and lambda."""

    margin: float
    discount: float
    gae_lambda: float


def estimate_advantages(decisions: Decisions, finals: Finals, weights: Weights) -> Estimates:
    """Backwards through a fragment.

    A decision is rewarded with what its seat's lead gains until the seat's next decision or the end. Where neither has
    come yet, the decision stays open, and what was before it is estimated from its value.
    """
    rows = len(decisions.leads)
    estimates = Estimates(
        np.zeros(rows, np.bool_), np.zeros(rows), np.full(decisions.left_open.shape, -1, dtype=np.int64)
    )
    _estimate(decisions, finals, weights, estimates, np.zeros((decisions.left_open.shape[1], 5)))
    return estimates


@jit
def _estimate(decisions: Decisions, finals: Finals, weights: Weights, estimates: Estimates, following: Array) -> None:
    """`following` is what came after a seat's decision; shape (players, 5)."""
    steps, games = decisions.seats.shape
    players = len(following)
    for game in range(games):
        following[:, _KNOWN] = 0.0
        for step in range(steps - 1, -1, -1):
            ending = decisions.ended[step, game]
            if ending >= 0:
                for seat in range(players):
                    following[seat, _LEAD], following[seat, _REWARD] = (
                        finals.leads[ending, seat],
                        finals.rewards[ending, seat],
                    )
                    following[seat, _VALUE], following[seat, _ADVANTAGE] = finals.values[ending, seat], 0.0
                    following[seat, _KNOWN] = 1.0
            _look_back(step * games + game, game, decisions.seats[step, game], decisions, weights, estimates, following)
        for seat in range(players):
            if decisions.left_open[game, seat]:
                row = steps * games + game * players + seat
                _look_back(row, game, seat, decisions, weights, estimates, following)


@jit(forceinline=True)
def _look_back(
    row: int, game: int, seat: int, decisions: Decisions, weights: Weights, estimates: Estimates, following: Array
) -> None:
    """One decision, given what came after it."""
    if following[seat, _KNOWN] > 0:
        reward = weights.margin * (following[seat, _LEAD] - decisions.leads[row]) + following[seat, _REWARD]
        surprise = reward + weights.discount * following[seat, _VALUE] - decisions.values[row]
        advantage = surprise + weights.discount * weights.gae_lambda * following[seat, _ADVANTAGE]
        estimates.advantages[row] = following[seat, _ADVANTAGE] = advantage
        estimates.complete[row] = True
    else:
        estimates.open_rows[game, seat] = row
        following[seat, _ADVANTAGE] = 0.0
    following[seat, _LEAD], following[seat, _VALUE] = decisions.leads[row], decisions.values[row]
    following[seat, _REWARD], following[seat, _KNOWN] = 0.0, 1.0
