"""What each action leads to, and what a turn is worth by that.

What is stored of a board, seen from one player: what it is worth that the other player's turn begins (`PASS`), and
what the second draw of one's own double turn is worth (`SECOND` and behind it). All else follows from these.
Worth is the expected lead that is still to come, in squares; or the expected result, then for each lead.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mozaic_env.core.bits import ONE, first
from mozaic_env.core.contract import Floats, Integers, Row
from mozaic_env.core.jit import jit
from mozaic_env.games.mozaic.exact.index import Index, find, size_of
from mozaic_env.games.mozaic.rules import slide_step, slides, tiles_of

PASS, SECOND = 0, 1
# In the amethyst edition the emerald or diamond of the first draw lies aside at the second one.
SECOND_NO_EMERALD, SECOND_NO_DIAMOND = 2, 3

# The draws that can ask for a decision: an ordinary one, the first of two, the second ones.
TURN, FIRST, LATER = 0, 1, 2
DRAWS = 5

OWN, OTHER, SLIDE, REMOVAL = range(4)  # what is in hand
HANDS = 4

Values = npt.NDArray[np.float64]  # shape (slots, leads, kinds)


class Scale(NamedTuple):
    """How a gain counts.

    Attributes:
        worth: of a square, in what is counted.
        step: by how much a square changes the lead, where leads are told apart; else 0.
    """

    worth: float
    step: int


class Moves(NamedTuple):
    """Room for the actions of one board: one list, in the order of `HANDS`.

    Attributes:
        ends: where the actions of each hand end in the list, shape (HANDS,).
        slots: the board after each action.
        gains: own squares less the other's that it makes.
        actions: its id.
        worth: of each draw and hand for one lead, shape (DRAWS, HANDS).
    """

    ends: Integers
    slots: Integers
    gains: Integers
    actions: Integers
    worth: Floats


def make_moves(tiles: int) -> Moves:
    """Room for a board of so many tiles."""
    slots, gains, actions = np.zeros((3, 8 * tiles), np.int64)
    return Moves(np.zeros(HANDS, np.int64), slots, gains, actions, np.zeros((DRAWS, HANDS)))


@jit(forceinline=True)
def _note(moves: Moves, size: int, slot: int, gain: int, action: int) -> int:
    moves.slots[size], moves.gains[size], moves.actions[size] = slot, gain, action
    return size + 1


@jit(forceinline=True)
def _squares_at(index: Index, gems: int, tile: int) -> int:
    """How many squares the gem on a tile, which is one of `gems`, belongs to."""
    return np.int64(index.squares[gems]) - np.int64(index.squares[gems & ~(1 << tile)])  # type: ignore[return-value]


@jit
def list_moves(row: Row, own: int, other: int, index: Index, moves: Moves) -> None:
    """Writes all actions that a board allows, whatever is in hand.

    Args:
        row: a row of the variant; its gems are overwritten.
        own: gems of whoever acts.
        other: the other player's gems.
        index: of the board.
        moves: written; all but `worth`.
    """
    tiles, cols = tiles_of(row), np.int64(row.cols)
    gems, half, size = own | other, tiles // 2, 0
    empty = ((1 << tiles) - 1) & ~gems
    left = np.uint64(empty if size_of(own) < half else 0)
    while left != 0:
        tile = first(left)
        left &= left - ONE
        grown = own | 1 << tile
        size = _note(moves, size, find(index, grown, other), _squares_at(index, grown, tile), tile)
    moves.ends[OWN] = size
    left = np.uint64(empty if size_of(other) < half else 0)
    while left != 0:
        tile = first(left)
        left &= left - ONE
        grown = other | 1 << tile
        size = _note(moves, size, find(index, own, grown), -_squares_at(index, grown, tile), tile)
    moves.ends[OTHER] = size
    row.gems[0], row.gems[1] = np.uint64(own), np.uint64(other)
    for direction in range(4):
        left, step = slides(row, direction), slide_step(direction, cols)
        while left != 0:
            tile = first(left)
            left &= left - ONE
            action, change = tiles + 4 * tile + direction, 1 << tile | 1 << (tile + step)
            if own >> tile & 1:
                moved = own ^ change
                gain = _squares_at(index, moved, tile + step)
                size = _note(moves, size, find(index, moved, other), gain, action)
            else:
                moved = other ^ change
                gain = -_squares_at(index, moved, tile + step)
                size = _note(moves, size, find(index, own, moved), gain, action)
    moves.ends[SLIDE] = size
    left = np.uint64(gems)
    while left != 0:
        tile = first(left)
        left &= left - ONE
        rest = ~(1 << tile)
        size = _note(moves, size, find(index, own & rest, other & rest), 0, 5 * tiles + tile)
    moves.ends[REMOVAL] = size


@jit(forceinline=True)
def after(values: Values, moves: Moves, move: int, lead: int, kind: int, scale: Scale) -> float:
    """What a move is worth if what `kind` says comes next."""
    gain = moves.gains[move]
    reached = min(max(lead + scale.step * gain, 0), values.shape[1] - 1)
    return scale.worth * gain + values[moves.slots[move], reached, kind]


@jit(forceinline=True)
def next_kind(values: Values, hand: int, draw: int) -> int:
    """What comes after a hand that was drawn so; the onyx edition has one kind of second draw."""
    if draw != FIRST:
        return PASS
    if hand == SLIDE:
        return min(SECOND_NO_EMERALD, values.shape[2] - 1)
    if hand == REMOVAL:
        return min(SECOND_NO_DIAMOND, values.shape[2] - 1)
    return SECOND


@jit(forceinline=True)
def best_worth(values: Values, slot: int, moves: Moves, lead: int, scale: Scale) -> None:
    """Writes what each hand is worth if the best action is taken; without any, the draw has no effect."""
    start = 0
    for hand in range(HANDS):
        end, then = moves.ends[hand], next_kind(values, hand, FIRST)
        turn = values[slot, lead, PASS] if start == end else -np.inf
        first_of_two = values[slot, lead, then] if start == end else -np.inf
        for move in range(start, end):
            turn = max(turn, after(values, moves, move, lead, PASS, scale))
            first_of_two = max(first_of_two, after(values, moves, move, lead, then, scale))
        moves.worth[TURN, hand], moves.worth[FIRST, hand] = turn, first_of_two
        for draw in range(LATER, DRAWS):
            moves.worth[draw, hand] = turn
        start = end


@jit(forceinline=True)
def _colours(worth: Floats, own: int, other: int) -> float:
    """Share of the colour gems, still to be divided by the gems in the bag; none left: its worth is unused."""
    total = 0.0
    if own > 0:
        total += own * worth[OWN]
    if other > 0:
        total += other * worth[OTHER]
    return total


@jit(forceinline=True)
def turn_worth(moves: Moves, own: int, other: int, missed: float, first_missed: float) -> float:
    """What it is worth to begin a turn.

    Args:
        moves: whose `worth` is known.
        own: own gems in the bag.
        other: the other player's gems in the bag.
        missed: what it is worth that the turn is over.
        first_missed: what it is worth that the ruby is the first of two draws.
    """
    bag, turn, pair = own + other + 4, moves.worth[TURN], moves.worth[FIRST]
    double = (_colours(pair, own, other) + pair[SLIDE] + pair[REMOVAL] + first_missed) / (bag - 1)
    return (_colours(turn, own, other) + turn[SLIDE] + turn[REMOVAL] + missed + double) / bag


@jit(forceinline=True)
def second_worth(moves: Moves, kind: int, own: int, other: int, missed: float) -> float:
    """What the second draw of a double turn is worth, of a kind from `SECOND` on; arguments as for `turn_worth`."""
    worth = moves.worth[LATER + kind - SECOND]
    total, bag = _colours(worth, own, other) + missed, own + other + 1
    if kind != SECOND_NO_EMERALD:
        total += worth[SLIDE]
        bag += 1
    if kind != SECOND_NO_DIAMOND:
        total += worth[REMOVAL]
        bag += 1
    return total / bag
