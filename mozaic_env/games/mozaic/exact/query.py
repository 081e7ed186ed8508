"""The worth of every action in rows, from what it is worth that the other player's turn begins."""

import numpy as np

from mozaic_env.core.contract import Floats, Row
from mozaic_env.core.game import Rows
from mozaic_env.core.jit import jit
from mozaic_env.games.mozaic.actions import AMETHYST, POINTS_PER_SQUARE
from mozaic_env.games.mozaic.exact.index import Index, find, size_of
from mozaic_env.games.mozaic.exact.moves import (
    HANDS,
    LATER,
    OTHER,
    OWN,
    PASS,
    REMOVAL,
    SECOND,
    SECOND_NO_DIAMOND,
    SECOND_NO_EMERALD,
    SLIDE,
    Moves,
    Scale,
    Values,
    after,
    list_moves,
    second_worth,
)
from mozaic_env.games.mozaic.rules import BLUE, DIAMOND, EMERALD, apply, mover, tiles_of


@jit(forceinline=True)
def hand_of(row: Row) -> int:
    """What is in hand, seen from who decides."""
    if row.hand <= BLUE:
        return OWN if row.hand == row.mover else OTHER
    return SLIDE if row.hand == EMERALD else REMOVAL


@jit(forceinline=True)
def second_kind(row: Row) -> int:
    """Which second draw follows on the first one, which is in hand."""
    if row.edition == AMETHYST and row.hand == EMERALD:
        return SECOND_NO_EMERALD
    if row.edition == AMETHYST and row.hand == DIAMOND:
        return SECOND_NO_DIAMOND
    return SECOND


@jit
def _second_now(
    row: Row, own: int, other: int, kind: int, lead: int, index: Index, passes: Values, scale: Scale, moves: Moves
) -> float:
    """What a second draw is worth on a board; the row's gems are overwritten."""
    half, slot, start = tiles_of(row) // 2, find(index, own, other), 0
    missed = passes[slot, lead, PASS]
    if size_of(own | other) == 2 * half:
        return missed
    list_moves(row, own, other, index, moves)
    for hand in range(HANDS):
        end = moves.ends[hand]
        worth = missed if start == end else -np.inf
        for move in range(start, end):
            worth = max(worth, after(passes, moves, move, lead, PASS, scale))
        moves.worth[LATER + kind - SECOND, hand] = worth
        start = end
    return second_worth(moves, kind, half - size_of(own), half - size_of(other), missed)


@jit
def action_worths(
    rows: Rows, index: Index, passes: Values, scale: Scale, scratch: Rows, found: Floats, moves: Moves, later: Moves
) -> None:
    """Writes the worth of the legal actions of rows at a decision, for who decides.

    Args:
        rows: at a decision, shape (n,).
        index: of the board.
        passes: `PASS` alone: shape (slots, leads, 1).
        scale: how a gain counts.
        scratch: two rows, overwritten.
        found: written at [row, action], shape (n, actions).
        moves: room.
        later: room.
    """
    middle = passes.shape[1] // 2
    for i in range(len(rows)):
        if mover(rows[i]) < 0:
            continue  # nobody decides, so nothing is legal
        seat, hand = np.int64(rows[i].mover), hand_of(rows[i])
        own, other = np.int64(rows[i].gems[seat]), np.int64(rows[i].gems[1 - seat])
        squares = (rows[i].score[seat] - rows[i].score[1 - seat]) // POINTS_PER_SQUARE
        lead = min(max(middle + scale.step * squares, 0), 2 * middle)
        scratch[0] = rows[i]
        list_moves(scratch[0], own, other, index, moves)
        start = 0 if hand == 0 else moves.ends[hand - 1]
        for move in range(start, moves.ends[hand]):
            action = moves.actions[move]
            if rows[i].plays == 1:
                found[i, action] = after(passes, moves, move, lead, PASS, scale)
                continue
            gain = moves.gains[move]
            reached = min(max(lead + scale.step * gain, 0), 2 * middle)
            scratch[1] = rows[i]
            apply(scratch[1], action)
            own_then, other_then = np.int64(scratch[1].gems[seat]), np.int64(scratch[1].gems[1 - seat])
            second = _second_now(
                scratch[0], own_then, other_then, second_kind(rows[i]), reached, index, passes, scale, later
            )
            found[i, action] = scale.worth * gain + second
