"""Boards of up to 16 tiles as slots of an array, the board's symmetries folded in.

A board is seen from one player: `own` and `other` gems, as bits. Of each orbit of own gems under the symmetries the
least is the representative; a board is turned so that its own gems are one. The other gems are then a subset of the
tiles that are left, and a subset has a rank among those of its size. Own gems that some symmetries leave in place have
boards that are equal by these: of such the least is meant, and the slots of the others stay unused.

Slots are sorted by layer, the number of gems on the board.
"""

from functools import lru_cache
from math import comb
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mozaic_env.core.bits import count
from mozaic_env.core.jit import jit
from mozaic_env.games.mozaic.symmetries import symmetries

MOST_TILES = 16
IDENTITY = 1  # a stabiliser that has the identity alone


class Index(NamedTuple):
    """The tables of `find`. Sets of tiles are numbers below 2 ** tiles.

    Attributes:
        images: of each set under each symmetry, uint16, shape (symmetries, sets).
        turns: by own gems: the symmetry that makes them the representative, 8 bits; the symmetries that leave the
            representative in place, one bit for each, 8 bits; the tiles that it leaves free, 16 bits. uint32.
        slots: the first slot by own gems and number of other gems, int32, shape (sets, half + 1).
        ranks: of a set among those of its size, by its number; uint16.
        packed: the bits of a byte at a mask's places, moved together; uint8, shape (masks, bytes).
        spread: the inverse of `packed`.
        squares: how many squares each set has, uint8.
    """

    images: npt.NDArray[np.uint16]
    turns: npt.NDArray[np.uint32]
    slots: npt.NDArray[np.int32]
    ranks: npt.NDArray[np.uint16]
    packed: npt.NDArray[np.uint8]
    spread: npt.NDArray[np.uint8]
    squares: npt.NDArray[np.uint8]


class Layer(NamedTuple):
    """The boards with some number of gems, as blocks: all that have the same own gems.

    Attributes:
        start: the first slot.
        end: the slot behind the last one.
        owns: own gems of each block, int64, representatives only.
        others: how many other gems its boards have, int64.
    """

    start: int
    end: int
    owns: npt.NDArray[np.int64]
    others: npt.NDArray[np.int64]


def number_of_boards(rows: int, cols: int) -> int:
    """How many boards there are up to symmetry, each colour having at most half the tiles.

    The mean number of boards that a symmetry leaves as they are (Burnside's lemma); on these the tiles of each cycle
    are alike.
    """
    tiles, half, total = rows * cols, rows * cols // 2, 0
    turns = symmetries(rows, cols)
    for turn in turns:
        kept = {(0, 0): 1}  # by the numbers of own and other gems
        for length in _cycles(turn.actions[:tiles].tolist()):
            grown = kept.copy()
            for (own, other), number in kept.items():
                for more in ((own + length, other), (own, other + length)):
                    if max(more) <= half:
                        grown[more] = grown.get(more, 0) + number
            kept = grown
        total += sum(kept.values())
    return total // len(turns)


def _cycles(permutation: list[int]) -> list[int]:
    """The lengths of the cycles of a permutation."""
    lengths, seen = [], set[int]()
    for start in range(len(permutation)):
        length = 0
        while start not in seen:
            seen.add(start)
            start, length = permutation[start], length + 1
        lengths += [length] if length else []
    return lengths


@lru_cache(maxsize=8)
def make_index(rows: int, cols: int, folded: bool = True) -> tuple[Index, tuple[Layer, ...]]:
    """The tables for a board and its layers, the empty board first.

    Args:
        rows: ranks of the board.
        cols: files of the board; at most `MOST_TILES` tiles.
        folded: whether boards that are equal by a symmetry share a slot.
    """
    tiles, half = rows * cols, rows * cols // 2
    sets = np.arange(1 << tiles)
    turns = [symmetry.actions[:tiles] for symmetry in symmetries(rows, cols)][: None if folded else 1]
    images = np.zeros((len(turns), len(sets)), np.uint16)
    for image, turn in zip(images, turns, strict=True):
        for tile, to in enumerate(turn.tolist()):
            image |= ((sets >> tile & 1) << to).astype(np.uint16)
    representatives, turned_by = images.min(0).astype(np.int64), images.argmin(0)
    stays = images[:, representatives] == representatives
    stabilisers = (stays << np.arange(len(turns))[:, None]).sum(0)
    free = len(sets) - 1 - representatives
    sizes = (sets[:, None] >> np.arange(tiles) & 1).sum(1)
    slots = np.full((len(sets), half + 1), -1, np.int32)
    layers, start = [], 0
    for gems in range(2 * half + 1):
        low, owns, others = start, [], []
        for own in range(max(0, gems - half), min(half, gems) + 1):
            same = np.flatnonzero((sizes == own) & (representatives == sets))
            width = comb(tiles - own, gems - own)
            slots[same, gems - own] = start + width * np.arange(len(same))
            start += width * len(same)
            owns.append(same)
            others.append(np.full(len(same), gems - own))
        layers.append(Layer(low, start, np.concatenate(owns), np.concatenate(others)))
    ranks = np.zeros(len(sets), np.uint16)
    for size in range(tiles + 1):
        same = np.flatnonzero(sizes == size)
        ranks[same] = np.arange(len(same))
    packed, spread = _byte_tables()
    tables = (turned_by | stabilisers << 8 | free << 16).astype(np.uint32)
    complete = np.zeros(len(sets), np.uint8)
    for corner in (corner for corner in range(tiles - cols) if corner % cols < cols - 1):
        block = 0b11 << corner | 0b11 << corner + cols
        complete += sets & block == block
    return Index(images, tables, slots[representatives], ranks, packed, spread, complete), tuple(layers)


@lru_cache(maxsize=1)
def _byte_tables() -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
    packed, spread = np.zeros((256, 256), np.uint8), np.zeros((256, 256), np.uint8)
    content = np.arange(256)
    for mask in range(256):
        for place, bit in enumerate(bit for bit in range(8) if mask >> bit & 1):
            packed[mask] |= ((content >> bit & 1) << place).astype(np.uint8)
            spread[mask] |= ((content >> place & 1) << bit).astype(np.uint8)
    return packed, spread


@jit(forceinline=True)
def size_of(tiles: int) -> int:
    """How many tiles a set has."""
    return count(np.uint64(tiles))


@jit
def _least_image(index: Index, tiles: int, stabiliser: int) -> int:
    least = np.int64(tiles)
    for turn in range(1, index.images.shape[0]):
        if stabiliser >> turn & 1:
            least = min(least, np.int64(index.images[turn, tiles]))
    return least  # type: ignore[return-value]


@jit(forceinline=True)
def find(index: Index, own: int, other: int) -> int:
    """The slot of a board."""
    turn = np.int64(index.turns[own])
    image, stabiliser, free = np.int64(index.images[turn & 255, other]), turn >> 8 & 255, turn >> 16
    if stabiliser != IDENTITY:
        image = _least_image(index, image, stabiliser)
    low = free & 255
    rank = np.int64(index.packed[low, image & 255])
    rank |= np.int64(index.packed[free >> 8, image >> 8]) << size_of(low)
    return np.int64(index.slots[own, size_of(other)]) + np.int64(index.ranks[rank])  # type: ignore[return-value]


@jit(forceinline=True)
def other_gems(index: Index, own: int, packed: int) -> int:
    """The other gems of a board whose own gems are a representative: bits of the free tiles, from bits in a row."""
    free = np.int64(index.turns[own]) >> 16
    low = free & 255
    width = size_of(low)
    near = np.int64(index.spread[low, packed & ((1 << width) - 1)])
    return near | np.int64(index.spread[free >> 8, packed >> width]) << 8  # type: ignore[return-value]


@jit(forceinline=True)
def is_least(index: Index, own: int, other: int) -> bool:
    """Whether a board whose own gems are a representative is the one that is meant among those equal to it."""
    stabiliser = np.int64(index.turns[own]) >> 8 & 255
    return stabiliser == IDENTITY or _least_image(index, other, stabiliser) == other


@jit(forceinline=True)
def next_packed(packed: int) -> int:
    """The next larger number with as many bits (R. W. Gosper, HAKMEM item 175); not for 0."""
    lowest = packed & -packed
    ripple = packed + lowest
    return ripple | ((packed ^ ripple) >> 2) // lowest
