"""One sweep over blocks of boards: new worths of all from the old ones, by best play or by fixed choices."""

import numpy as np
import numpy.typing as npt

from mozaic_env.core.contract import Floats, Integers, Row
from mozaic_env.core.jit import jit
from mozaic_env.games.mozaic.exact.index import Index, find, is_least, next_packed, other_gems, size_of
from mozaic_env.games.mozaic.exact.moves import (
    DRAWS,
    FIRST,
    HANDS,
    PASS,
    REMOVAL,
    SECOND,
    SECOND_NO_EMERALD,
    SLIDE,
    TURN,
    Moves,
    Scale,
    Values,
    after,
    best_worth,
    list_moves,
    next_kind,
    second_worth,
    turn_worth,
)
from mozaic_env.games.mozaic.rules import tiles_of

# What is chosen, as bits (`choice_bit`), shape (draws, slots, 2); of one draw: the same at each; of none: the best.
Choices = npt.NDArray[np.uint64]


@jit(forceinline=True)
def choice_bit(hand: int, action: int, tiles: int) -> int:
    """Where an action stands in `Choices`: bits 0 to 63 of the first word, then those of the second."""
    if hand == SLIDE:
        return 64 + action - tiles
    if hand == REMOVAL:
        return 2 * tiles + action - 5 * tiles
    return action + tiles * hand  # own, then the other player's gems


@jit(forceinline=True)
def is_chosen(choices: Choices, draw: int, slot: int, bit: int) -> bool:
    """Whether an action is among those that are taken, all with the same probability."""
    return choices[draw, slot, bit >> 6] >> np.uint64(bit & 63) & np.uint64(1) != 0


@jit
def chosen_worth(
    values: Values, slot: int, moves: Moves, lead: int, scale: Scale, choices: Choices, tiles: int
) -> None:
    """Writes what each hand is worth at each draw by fixed choices: the mean over the actions that are taken."""
    start = 0
    for hand in range(HANDS):
        end = moves.ends[hand]
        for draw in range(DRAWS):
            if draw > FIRST and choices.shape[0] == 1:
                moves.worth[draw, hand] = moves.worth[TURN, hand]
                continue
            then, known = next_kind(values, hand, draw), min(draw, choices.shape[0] - 1)
            total, taken = 0.0, 0
            for move in range(start, end):
                if is_chosen(choices, known, slot, choice_bit(hand, moves.actions[move], tiles)):
                    total += after(values, moves, move, lead, then, scale)
                    taken += 1
            moves.worth[draw, hand] = total / taken if taken else values[slot, lead, then]
        start = end


@jit
def sweep_blocks(
    row: Row,
    owns: Integers,
    others: Integers,
    index: Index,
    values: Values,
    replies: Values,
    scale: Scale,
    choices: Choices,
    start: int,
    fresh: Values,
    changes: Floats,
    moves: Moves,
) -> int:
    """New worths of all boards of some blocks of one layer; returns how many boards those are.

    Args:
        row: a row of the variant; its gems are overwritten.
        owns: own gems of each block, representatives.
        others: how many other gems its boards have.
        index: of the board.
        values: of whoever acts in this sweep.
        replies: of the other player; in the solution of the game the same array.
        scale: how a gain counts.
        choices: what is chosen, or none for the best.
        start: the layer's first slot.
        fresh: written, from that slot on: `PASS` of the other player, the second draws of whoever acts.
        changes: by kind the largest change; raised.
        moves: room.
    """
    leads, kinds, half, boards = values.shape[1], values.shape[2], tiles_of(row) // 2, 0
    for block in range(len(owns)):
        own, gems = owns[block], others[block]
        slot = np.int64(index.slots[own, gems])
        packed = (1 << gems) - 1
        last = packed << (tiles_of(row) - size_of(own) - gems)
        while True:
            other = other_gems(index, own, packed)
            if is_least(index, own, other):
                boards += 1
                list_moves(row, own, other, index, moves)
                reply, own_left, other_left = find(index, other, own), half - size_of(own), half - gems
                for lead in range(leads):
                    if choices.shape[0] == 0:
                        best_worth(values, slot, moves, lead, scale)
                    else:
                        chosen_worth(values, slot, moves, lead, scale, choices, tiles_of(row))
                    missed = values[slot, lead, PASS]
                    first_missed = missed if kinds > SECOND_NO_EMERALD else values[slot, lead, SECOND]
                    turn = -turn_worth(moves, own_left, other_left, missed, first_missed)
                    away = leads - 1 - lead
                    fresh[reply - start, away, PASS] = turn
                    changes[PASS] = max(changes[PASS], abs(turn - replies[reply, away, PASS]))
                    for kind in range(SECOND, kinds):
                        second = second_worth(moves, kind, own_left, other_left, missed)
                        fresh[slot - start, lead, kind] = second
                        changes[kind] = max(changes[kind], abs(second - values[slot, lead, kind]))
            if packed == last:
                break
            packed = next_packed(packed)
            slot += 1
    return boards
