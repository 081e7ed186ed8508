"""Generalised advantage estimation along each seat's own decisions, for many games at once.

Knows nothing of Ray.
"""

from typing import Any

import numpy.typing as npt

from mozaic_env.core.jit import jit

_LEAD, _VALUE, _ADVANTAGE, _PAY, _KNOWN = range(5)  # of a seat's next decision, walking backwards

Array = npt.NDArray[Any]
Seen = tuple[Array, Array, Array, Array, Array]
Found = tuple[Array, Array, Array]


@jit(forceinline=True)
def _look_back(
    row: int, seat: int, game: int, seen: Seen, weights: tuple[float, float, float], found: Found, scratch: Array
) -> None:
    """One decision, given what came after it; without that it is left open, and the chain is cut behind it."""
    _, _, leads, values, _ = seen
    ready, advantages, left = found
    margin, discount, decay = weights
    if scratch[seat, _KNOWN] > 0:
        reward = margin * (scratch[seat, _LEAD] - leads[row]) + scratch[seat, _PAY]
        surprise = reward + discount * scratch[seat, _VALUE] - values[row]
        advantages[row] = surprise + discount * decay * scratch[seat, _ADVANTAGE]
        ready[row] = True
        scratch[seat, _ADVANTAGE] = advantages[row]
    else:
        left[game, seat] = row
        scratch[seat, _ADVANTAGE] = 0.0
    scratch[seat, _LEAD], scratch[seat, _VALUE] = leads[row], values[row]
    scratch[seat, _PAY], scratch[seat, _KNOWN] = 0.0, 1.0


@jit
def chain(
    seen: Seen,
    finals: tuple[Array, Array, Array],
    weights: tuple[float, float, float],
    found: Found,
    scratch: Array,
) -> None:
    """Generalised advantage estimation along each seat's own decisions, backwards through a fragment.

    A row is a decision: step * games + game, and behind these, at steps * games + game * players + seat, the decisions
    that earlier fragments left open.

    Args:
        seen: who decided, shape (steps, games); the number of the ending that the decision led to, else -1, of the
            same shape; the lead of the deciding seat, by row; the value as estimated then, by row; and which decisions
            were left open, shape (games, players).
        finals: leads, extra pay and values of all seats at the endings, shape (endings, players).
        weights: of the gain in lead; the discount; lambda.
        found: overwritten: which rows are complete, all False before; advantages by row; and the row of each seat's
            last decision, shape (games, players), all -1 before.
        scratch: shape (players, 5).
    """
    seats, ended, _, _, left_open = seen
    steps, games = seats.shape
    players = len(scratch)
    for game in range(games):
        for seat in range(players):
            scratch[seat, _KNOWN] = 0.0
        for step in range(steps - 1, -1, -1):
            ending = ended[step, game]
            if ending >= 0:
                for seat in range(players):
                    scratch[seat, _LEAD], scratch[seat, _PAY] = finals[0][ending, seat], finals[1][ending, seat]
                    scratch[seat, _VALUE], scratch[seat, _ADVANTAGE] = finals[2][ending, seat], 0.0
                    scratch[seat, _KNOWN] = 1.0
            _look_back(step * games + game, seats[step, game], game, seen, weights, found, scratch)
        for seat in range(players):
            if left_open[game, seat]:
                row = steps * games + game * players + seat
                _look_back(row, seat, game, seen, weights, found, scratch)
