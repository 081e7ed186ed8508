"""All decisions of a board size as rows, to ask an agent what it does, and its answers as bits."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mozaic_env.core.contract import Bytes, Integers
from mozaic_env.core.game import Game, Rows
from mozaic_env.core.jit import jit
from mozaic_env.games.mozaic.actions import POINTS_PER_SQUARE
from mozaic_env.games.mozaic.exact.index import Index, Layer, is_least, next_packed, other_gems, size_of
from mozaic_env.games.mozaic.exact.moves import FIRST, HANDS, LATER, REMOVAL, SLIDE, TURN
from mozaic_env.games.mozaic.exact.sweep import Choices, choice_bit
from mozaic_env.games.mozaic.rules import BLUE, DIAMOND, DOUBLE, EMERALD, YELLOW, any_slide

_GEMS = (YELLOW, BLUE, EMERALD, DIAMOND)  # in hand, by `HANDS`; who is asked is yellow


class Question(NamedTuple):
    """Some decisions.

    Attributes:
        rows: at a decision of yellow's, shape (n,).
        slots: their boards, shape (n,).
        hand: what is in hand in all of them, one of `HANDS`.
        draw: how it was drawn in all of them, one of `DRAWS`.
    """

    rows: Rows
    slots: Integers
    hand: int
    draw: int


def questions(game: Game, index: Index, layers: tuple[Layer, ...], draws: int, size: int) -> Iterator[Question]:
    """All decisions that there are, in batches.

    The score is that of the squares on the board.

    Args:
        game: the variant.
        index: of the board.
        layers: all of them.
        draws: how many kinds of draws are told apart, from `TURN` on.
        size: at most so many decisions at once.
    """
    for layer in layers[:-1]:
        slots, owns, others = _boards(index, layer, game.num_actions // 6)
        for low in range(0, len(slots), size):
            part = slice(low, low + size)
            for draw in range(draws):
                for hand in range(HANDS):
                    if (hand, draw) in ((SLIDE, LATER + 1), (REMOVAL, LATER + 2)):
                        continue  # it lies aside
                    rows = _rows(game, index, owns[part], others[part], hand, draw)
                    kept = _decides(rows)
                    if kept.any():
                        yield Question(rows[kept], slots[part][kept], hand, draw)


def _boards(index: Index, layer: Layer, tiles: int) -> tuple[Integers, Integers, Integers]:
    slots, owns, others = np.zeros((3, layer.end - layer.start), np.int64)
    number = _list_boards(index, layer.owns, layer.others, tiles, slots, owns, others)
    return slots[:number], owns[:number], others[:number]


def _rows(game: Game, index: Index, owns: Integers, others: Integers, hand: int, draw: int) -> Rows:
    rows, half = game.rows(len(owns)), game.num_actions // 12
    rows["gems"] = np.stack([owns, others], axis=1)
    rows["score"] = POINTS_PER_SQUARE * index.squares[rows["gems"]].astype(np.int32)
    rows["hand"], rows["plays"] = _GEMS[hand], 2 if draw == FIRST else 1
    bag = np.ones((len(rows), 6), np.int64)
    for colour, gems in enumerate((owns, others)):
        bag[:, colour] = half - (gems[:, None] >> np.arange(2 * half) & 1).sum(1)
    bag[:, _GEMS[hand]] -= 1
    bag[:, DOUBLE] = draw == TURN
    if draw > LATER:
        bag[:, EMERALD if draw == LATER + 1 else DIAMOND] = 0
    kept = bag.min(axis=1) >= 0
    rows["bag"] = np.maximum(bag, 0)
    rows["hand"][~kept] = _NOBODY
    return rows


_NOBODY = 255  # in hand where the gem is not in the bag


def _decides(rows: Rows) -> npt.NDArray[np.bool_]:
    kept = np.empty(len(rows), np.bool_)
    _note_decisions(rows, kept)
    return kept


@jit
def _note_decisions(rows: Rows, kept: npt.NDArray[np.bool_]) -> None:
    for i in range(len(rows)):
        hand = rows[i].hand
        if hand == EMERALD:
            kept[i] = any_slide(rows[i])
        elif hand == DIAMOND:
            kept[i] = (rows[i].gems[0] | rows[i].gems[1]) != 0
        else:
            kept[i] = hand != _NOBODY


@jit
def _list_boards(
    index: Index, owns: Integers, others: Integers, tiles: int, slots: Integers, own: Integers, other: Integers
) -> int:
    """Writes slot and gems of all boards of some blocks; returns how many there are."""
    size = 0
    for block in range(len(owns)):
        slot, packed = np.int64(index.slots[owns[block], others[block]]), (1 << others[block]) - 1
        last = packed << (tiles - size_of(owns[block]) - others[block])
        while True:
            gems = other_gems(index, owns[block], packed)
            if is_least(index, owns[block], gems):
                slots[size], own[size], other[size] = slot, owns[block], gems
                size += 1
            if packed == last:
                break
            packed = next_packed(packed)
            slot += 1
    return size


def no_choices(layers: tuple[Layer, ...], draws: int) -> Choices:
    """Choices to be written."""
    return np.zeros((draws, layers[-1].end, 2), np.uint64)


def note(question: Question, taken: Bytes, choices: Choices) -> None:
    """Writes an answer.

    Args:
        question: what was asked.
        taken: which actions are taken, all with the same probability, int8, shape (n, actions).
        choices: written.
    """
    _note(question.slots, np.ascontiguousarray(taken, np.int8), question.hand, choices[question.draw])


@jit
def _note(slots: Integers, taken: Bytes, hand: int, choices: Choices) -> None:
    tiles = taken.shape[1] // 6
    for i in range(len(slots)):
        for action in range(taken.shape[1]):
            if taken[i, action]:
                bit = choice_bit(hand, action, tiles)
                choices[slots[i], bit >> 6] |= np.uint64(1) << np.uint64(bit & 63)
