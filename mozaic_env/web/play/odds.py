"""What chance can bring next."""

import numpy as np
import numpy.typing as npt

from mozaic_env.core.contract import CHANCE, Floats, Integers, apply, mover, outcomes
from mozaic_env.core.game import Game, Rows
from mozaic_env.core.jit import jit


def odds(game: Game, row: np.void, mask: npt.NDArray[np.int8]) -> list[tuple[str, float]]:
    """What chance can bring next, and how likely each is, the likeliest first; empty if no chance comes next.

    At a decision: after it, all legal actions that leave something to chance counting the same.

    Args:
        game: that is played.
        row: where it stands.
        mask: the legal actions at a decision, shape (actions,); elsewhere of no length.
    """
    states = game.rows(2)
    states[0] = row
    codes, shares = np.zeros(game.max_outcomes, np.int64), np.zeros(game.max_outcomes)
    seen, totals = np.zeros(game.max_outcomes, np.int64), np.zeros(game.max_outcomes)
    size = _add_up(states, mask, codes, shares, seen, totals)
    order = sorted(range(size), key=lambda place: (-totals[place], seen[place]))
    return [(game.outcome_name(int(seen[place])), float(totals[place])) for place in order]


@jit
def _add_up(
    states: Rows, mask: npt.NDArray[np.int8], codes: Integers, shares: Floats, seen: Integers, totals: Floats
) -> int:
    """Writes the outcomes and their mean shares after the legal actions of states[0], or without an action."""
    size = at_chance = 0
    for action in range(max(len(mask), 1)):
        states[1] = states[0]
        if len(mask) > 0:
            if mask[action] == 0:
                continue
            apply(states[1], action)
        if mover(states[1]) != CHANCE:
            continue
        at_chance += 1
        for k in range(outcomes(states[1], codes, shares)):
            place = 0
            while place < size and seen[place] != codes[k]:
                place += 1
            if place == size:
                seen[place], totals[place] = codes[k], 0.0
                size += 1
            totals[place] += shares[k]
    for place in range(size):
        totals[place] /= at_chance
    return size
