"""One game stepped and seen from Python: compiled functions on an array of one row.

An array is several times cheaper to hand over to compiled code than the record that is its element.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from mozaic_env.core.contract import (
    CHANCE,
    Bytes,
    Floats,
    Integers,
    apply,
    is_legal,
    mover,
    observe,
    outcomes,
    resolve,
)
from mozaic_env.core.game import Game
from mozaic_env.core.jit import jit

Rows = npt.NDArray[Any]
REFUSED = -3  # what `go_on` says instead of who comes next


@jit
def who(rows: Rows) -> int:
    """The seat that decides, or CHANCE, or OVER."""
    return mover(rows[0])


@jit
def go_on(rows: Rows, code: int, actions: int, codes: Integers, probabilities: Floats) -> int:
    """Makes a decision, or at chance an outcome, happen.

    Args:
        rows: one row, not over.
        code: what happens.
        actions: how many action ids the game has.
        codes: room for the outcomes of a chance event, overwritten.
        probabilities: the same.

    Returns:
        Who comes next, as `who` does, or REFUSED: this can't happen here, and nothing has.
    """
    if mover(rows[0]) == CHANCE:
        for i in range(outcomes(rows[0], codes, probabilities)):
            if codes[i] == code:
                resolve(rows[0], code)
                return mover(rows[0])
        return REFUSED
    if code < 0 or code >= actions or not is_legal(rows[0], code):
        return REFUSED
    apply(rows[0], code)
    return mover(rows[0])


@jit
def chances(rows: Rows, codes: Integers, probabilities: Floats) -> int:
    """Writes the possible chance outcomes and their probabilities; returns how many there are."""
    return outcomes(rows[0], codes, probabilities)


@jit
def _view(rows: Rows, seat: int, frames: Bytes) -> None:
    observe(rows[0], seat, frames, 0)


def view(game: Game, rows: Rows, seat: int) -> dict[str, npt.NDArray[Any]]:
    """The row as a seat sees it, decision or not: the entries of the observation, in new arrays."""
    frames = np.zeros((1, game.frame.itemsize), np.uint8)
    _view(rows, seat, frames)
    entries = frames.view(game.frame)[0, 0]
    return {field.key: entries[field.key] for field in game.fields}
