"""What a seat sees: the board from its own side and every count that decides what can follow."""

import numpy as np

from mozaic_env.core.bits import Bytes, spread, store_int32
from mozaic_env.core.contract import Row
from mozaic_env.core.game import Field, binary, counts
from mozaic_env.core.jit import jit
from mozaic_env.games.mozaic.rules import BLUE, DOUBLE, EMERALD, empty_tiles, tiles_of

PLANES = ("own gems", "opponent's gems", "empty tiles")


def fields(rows: int, cols: int) -> tuple[Field, ...]:
    """The entries of the observation on a board of that size."""
    half = rows * cols // 2
    most_points = np.iinfo(np.int32).max
    return (
        counts("score", np.int32, (most_points, most_points), "points: own, opponent's"),
        binary("board", (len(PLANES), rows, cols), "planes: " + ", ".join(PLANES)),
        counts(
            "bag", np.int8, (half, half, 1, 1, 1, 1), "in the bag: own, opponent's, emerald, diamond, ruby, double-turn"
        ),
        binary("hand", (4,), "in hand, one-hot: own, opponent's, emerald, diamond; zeros when the game is over"),
        counts("plays", np.int8, (2,), "draws owed in this turn, the gem in hand included; 0 when the game is over"),
    )


@jit(forceinline=True)
def observe(row: Row, seat: int, frames: Bytes, index: int) -> None:
    """Writes the entries that `fields` lists, in their order."""
    tiles, other = tiles_of(row), 1 - seat
    store_int32(frames, index, 0, row.score[seat])
    store_int32(frames, index, 4, row.score[other])
    at = 8
    spread(frames, index, at, row.gems[seat], tiles)
    spread(frames, index, at + tiles, row.gems[other], tiles)
    spread(frames, index, at + 2 * tiles, empty_tiles(row), tiles)
    at += len(PLANES) * tiles
    frames[index, at] = row.bag[seat]
    frames[index, at + 1] = row.bag[other]
    for gem in range(EMERALD, DOUBLE + 1):
        frames[index, at + gem] = row.bag[gem]
    at += 6
    in_hand = np.int64(row.hand)
    if in_hand <= BLUE:
        in_hand ^= seat  # own first
    for gem in range(4):
        frames[index, at + gem] = in_hand == gem
    frames[index, at + 4] = row.plays
