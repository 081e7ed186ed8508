"""The board's symmetries: eight of a square board, four of another; neither rules nor bag know left from right."""

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from mozaic_env.core.symmetry import Symmetry, frozen
from mozaic_env.games.mozaic.actions import SLIDES
from mozaic_env.games.mozaic.observation import PLANES

# Each as a matrix on (rank, file), measured from the middle of the board; turns are anticlockwise, rank 1 below.
TURNS = {
    "identity": ((1, 0), (0, 1)),
    "rotate 180": ((-1, 0), (0, -1)),
    "mirror files": ((1, 0), (0, -1)),
    "mirror ranks": ((-1, 0), (0, 1)),
    "rotate 90": ((0, 1), (-1, 0)),
    "rotate 270": ((0, -1), (1, 0)),
    "transpose": ((0, 1), (1, 0)),
    "antitranspose": ((0, -1), (-1, 0)),
}
_KEEP_AXES = 4  # the first so many map ranks to ranks, so they fit every board


@lru_cache(maxsize=64)
def symmetries(rows: int, cols: int) -> tuple[Symmetry, ...]:
    """All symmetries of a board of that size, the identity first."""
    kept = list(TURNS)[: None if rows == cols else _KEEP_AXES]
    return tuple(_symmetry(name, rows, cols) for name in kept)


def tile_permutation(name: str, rows: int, cols: int) -> npt.NDArray[np.int64]:
    """Where each tile goes under one of `TURNS`, int64, shape (rows * cols,)."""
    ranks, files = np.divmod(np.arange(rows * cols), cols)
    middle = np.array([[rows - 1], [cols - 1]])
    rank, file = (np.array(TURNS[name]) @ (2 * np.stack([ranks, files]) - middle) + middle) // 2
    image: npt.NDArray[np.int64] = rank * cols + file
    return image


def _symmetry(name: str, rows: int, cols: int) -> Symmetry:
    tiles = tile_permutation(name, rows, cols)
    steps = [SLIDES.index(tuple(np.array(TURNS[name]) @ step)) for step in SLIDES]
    number = rows * cols
    actions = np.concatenate([tiles, (number + 4 * tiles[:, None] + steps).ravel(), 5 * number + tiles])
    board = (number * np.arange(len(PLANES))[:, None] + tiles).ravel()
    return Symmetry(name, frozen(actions), {"board": frozen(board)})
