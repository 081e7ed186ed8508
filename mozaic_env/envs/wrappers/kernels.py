"""The compiled loops of the wrappers."""

from typing import Any

import numpy as np
import numpy.typing as npt

from mozaic_env.core.contract import Floats, Integers, value
from mozaic_env.core.jit import jit
from mozaic_env.core.stream import SYMMETRY, below, random_bits

Rows = npt.NDArray[Any]


@jit
def values_of(rows: Rows, seats: Integers, weights: Floats, values: Floats) -> None:
    """Each row's heuristic value for a seat, in points."""
    for i in range(len(rows)):
        values[i] = value(rows[i], seats[i], weights)


@jit
def draw_symmetries(rows: Rows, number: int, chosen: Integers) -> None:
    """Which of the symmetries each game has: a function of its key."""
    for i in range(len(rows)):
        chosen[i] = below(random_bits(rows[i].key, SYMMETRY, 0), number)


@jit
def permute(numbers: npt.NDArray[Any], tables: Integers, chosen: Integers, images: npt.NDArray[Any]) -> None:
    """Each row of numbers under its own permutation.

    Args:
        numbers: shape (n, size).
        tables: permutations, shape (number, size); entry j is the place to which j goes.
        chosen: which of them each row has, shape (n,).
        images: overwritten, as `numbers`.
    """
    for i in range(len(numbers)):
        for j in range(numbers.shape[1]):
            images[i, tables[chosen[i], j]] = numbers[i, j]


def draw_symmetry(row: np.void, number: int) -> int:
    """`draw_symmetries` for one game."""
    chosen = np.zeros(1, np.int64)
    draw_symmetries(row.reshape(1), number, chosen)
    return int(chosen[0])
