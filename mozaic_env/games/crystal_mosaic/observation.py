"""What a seat sees: everything but the order of the bag, all players from its own on in turn order."""

import numpy as np

from mozaic_env.core.bits import Bytes, spread, store_int32, store_uint64
from mozaic_env.core.contract import Row
from mozaic_env.core.game import Field, binary, counts
from mozaic_env.core.jit import jit
from mozaic_env.games.crystal_mosaic import actions as names
from mozaic_env.games.crystal_mosaic.actions import CENTRE, FLOOR_SPACES, SIZE, Board
from mozaic_env.games.crystal_mosaic.rules import DRAFT, ENDED, NONE, TILING

PLANES = 6  # of what is printed: a colour each, and spaces that count twice
CELLS = SIZE * SIZE

# What is printed as bits, in three words for each board: bit 25 * plane + 5 * row + column.
PRINTED = np.zeros((len(Board), 3), np.uint64)
for _board in Board:
    for _place, _letter in enumerate("".join(names.PRINTS[_board])):
        for _plane in range(PLANES):
            _doubles = _plane == SIZE and _letter != "." and _board in names.DOUBLING
            if _doubles or (_plane < SIZE and _letter == names.COLOURS[_plane]):
                _bit = CELLS * _plane + _place
                PRINTED[_board, _bit // 64] |= np.uint64(1 << _bit % 64)


def fields(players: int, max_rounds: int) -> tuple[Field, ...]:
    """The entries of the observation for so many players."""
    factories = names.FACTORIES[players]
    order = "own first, the others in turn order"
    lines = tuple(line + 1 for line in range(SIZE) for _ in range(SIZE)) * players
    on_table = (names.PER_FACTORY,) * (SIZE * factories)
    on_table += (min(3 * factories, names.TILES_OF_COLOUR),) * SIZE  # a factory leaves at most three to the centre
    full = (names.TILES_OF_COLOUR,) * SIZE
    return (
        counts("score", np.int32, (names.MOST_POINTS,) * players, f"points: {order}"),
        binary("wall", (players, SIZE, SIZE, SIZE), f"player ({order}), colour, row, column: a tile is there"),
        binary("printed", (SIZE, SIZE, SIZE), "the board: colour, row, column: the space is printed in it"),
        binary("doubled", (SIZE, SIZE), "the board: spaces that count twice"),
        counts("lines", np.int8, lines, f"tiles by player ({order}), pattern line and colour"),
        counts("table", np.int8, on_table, "tiles by source (the factories, then the centre) and colour"),
        counts("floor", np.int8, (FLOOR_SPACES,) * (SIZE * players), "tiles by player and colour"),
        counts("bag", np.int8, full, "tiles in the bag, by colour"),
        counts("lid", np.int8, full, "tiles in the lid, by colour"),
        binary("marker", (players + 1,), f"who has taken the marker in this round: {order}; last: it is in the centre"),
        binary("starter", (players,), f"who began this round, at the end who would begin the next: {order}"),
        binary("turn", (players,), f"who decides: {order}; zeros when the game is over"),
        binary("phase", (3,), "draft, tiling, over"),
        binary("tiling", (SIZE,), "the line that is tiled; zeros elsewhere"),
        counts("round", np.int8, (max_rounds,), "number of the round, from 1"),
    )


@jit(forceinline=True)
def observe(row: Row, seat: int, frames: Bytes, index: int) -> None:
    """Writes the entries that `fields` lists, in their order.

    Bits and piles are written as whole words, which reach a few bytes into the next entry, written after it.
    """
    players = np.int64(row.players)
    for k in range(players):
        store_int32(frames, index, 4 * k, row.score[_player(seat, k, players)])
    at = 4 * players
    for k in range(players):
        _wall(row, _player(seat, k, players), frames, index, at)
        at += SIZE * CELLS
    for k in range(3):
        spread(frames, index, at + 64 * k, PRINTED[row.board, k], 64)
    at += PLANES * CELLS
    for k in range(players):
        _lines(row, _player(seat, k, players), frames, index, at)
        at += CELLS
    for source in range(row.factories):
        store_uint64(frames, index, at, row.sources[source])
        at += SIZE
    store_uint64(frames, index, at, row.sources[CENTRE])
    at += SIZE
    for k in range(players):
        store_uint64(frames, index, at, row.floor[_player(seat, k, players)])
        at += SIZE
    store_uint64(frames, index, at, row.bag)
    store_uint64(frames, index, at + SIZE, row.lid)
    _state(row, seat, players, frames, index, at + 2 * SIZE)


@jit(forceinline=True)
def _player(seat: int, turn: int, players: int) -> int:
    """Who sits so many turns behind a seat."""
    other = seat + turn
    return other - players if other >= players else other


@jit(forceinline=True)
def _wall(row: Row, player: int, frames: Bytes, index: int, at: int) -> None:
    """The five boards of a wall, one behind the other: 125 bits in two words."""
    blue, yellow, red = row.wall[player, 0], row.wall[player, 1], np.uint64(row.wall[player, 2])
    black, white = np.uint64(row.wall[player, 3]), np.uint64(row.wall[player, 4])
    low = np.uint64(blue) | np.uint64(yellow) << np.uint64(25) | red << np.uint64(50)
    high = red >> np.uint64(14) | black << np.uint64(11) | white << np.uint64(36)
    spread(frames, index, at, low, 64)
    spread(frames, index, at + 64, high, 64)


@jit(forceinline=True)
def _lines(row: Row, player: int, frames: Bytes, index: int, at: int) -> None:
    for k in range(4):
        store_uint64(frames, index, at + 8 * k, NONE)
    for line in range(SIZE):
        frames[index, at + SIZE * line + row.colour[player, line]] = row.filled[player, line]


@jit(forceinline=True)
def _state(row: Row, seat: int, players: int, frames: Bytes, index: int, at: int) -> None:
    """What is neither tiles nor points: marker, starter, turn, phase, tiling, round."""
    decides = row.phase == DRAFT or row.phase == TILING
    for k in range(players):
        player = _player(seat, k, players)
        frames[index, at + k] = row.marker == player
        frames[index, at + players + 1 + k] = row.starter == player
        frames[index, at + 2 * players + 1 + k] = decides and row.mover == player
    frames[index, at + players] = row.marker >= players
    at += 3 * players + 1
    frames[index, at] = row.phase == DRAFT
    frames[index, at + 1] = row.phase == TILING
    frames[index, at + 2] = row.phase == ENDED
    for line in range(SIZE):
        frames[index, at + 3 + line] = row.phase == TILING and row.line == line
    frames[index, at + 3 + SIZE] = row.round
