"""What a search does with whole moves, measured alone; for games that offer them (`mozaic_env.core.whole_moves`)."""

import numpy as np
import numpy.typing as npt

from mozaic_env.core.contract import Integers
from mozaic_env.core.jit import jit
from mozaic_env.core.whole_moves import list_moves, make_move, unmake_move


@jit
def make_all(rows: npt.NDArray[np.void], moves: Integers) -> int:
    """Lists each row's moves, makes each and takes it back; returns how many there were."""
    made = 0
    for i in range(len(rows)):
        size = list_moves(rows[i], False, moves)
        for k in range(size):
            unmake_move(rows[i], moves[k], make_move(rows[i], moves[k]))
        made += size
    return made
