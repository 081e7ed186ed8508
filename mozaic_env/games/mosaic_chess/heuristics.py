"""What makes Mosaic Chess's agents: material, and the opponent's best reply in material.

A heuristic is one weight: of that reply. `material` takes what is worth most; `greedy` also counts what the opponent
can then take or gain by promoting. Both see who has won or drawn.
"""

import numpy as np

from mozaic_env.core.bits import ONE, first
from mozaic_env.core.contract import OVER, Floats, Integers, Row
from mozaic_env.core.jit import jit
from mozaic_env.games.mosaic_chess.board import (
    NOWHERE,
    destinations,
    guard,
    leaves_king_safe,
    make_move,
    may_promote,
    must_promote,
    unmake_move,
    victim_of,
)
from mozaic_env.games.mosaic_chess.pieces import KINDS
from mozaic_env.games.mosaic_chess.rules import RUNNING, can_return, ending_of, mover, outcome
from mozaic_env.games.mosaic_chess.tables import (
    END,
    GO,
    NODES,
    PASSING,
    PROMOTIONS,
    SQUARES,
    STARTS,
    TAKE,
    TENTHS,
    WORTH,
)

HEURISTICS = {
    "material": (0.0,),
    "greedy": (1.0,),
}
VICTORY = 200.0  # worth of winning, in pawns: more than all pieces


@jit
def value(row: Row, seat: int, weights: Floats) -> float:
    """Lead in material, in pawns; at the end what the outcome is worth."""
    if mover(row) == OVER:
        return VICTORY * outcome(row, seat)
    return (row.material[seat] - row.material[1 - seat]) / TENTHS


@jit(forceinline=True)
def _gain(row: Row, origin: int, target: int, promotes: bool) -> int:
    """What a move brings at once, in tenths of a pawn."""
    gain = np.int64(WORTH[row.board[victim_of(row, origin, target)]])
    if promotes:
        gain += WORTH[PROMOTIONS[row.board[origin]]] - WORTH[row.board[origin]]
    return gain  # type: ignore[return-value]


@jit
def _best_gain(row: Row) -> int:
    """The most that the mover can gain at once by a legal move, in tenths of a pawn; 0 if nothing."""
    best, black = 0, row.mover == 1
    for word in range(3):
        left = row.men[3 * np.int64(row.mover) + word]
        while left != 0:
            origin = first(left) + 64 * word
            left &= left - ONE
            at = np.int64(STARTS[row.board[origin], origin])
            while True:
                node = np.int64(NODES[at])
                target = node & 255
                if target == END:
                    break
                there = row.board[target]
                promotes = may_promote(row, origin, target)
                if there == 0:
                    passing = (node >> 8) & PASSING != 0 and target == row.passed
                    fits = passing or ((node >> 8) & GO != 0 and promotes)
                    at += (node >> 16) & 255
                else:
                    fits = (node >> 8) & TAKE != 0 and (there > KINDS) != black
                    at += node >> 24
                if fits:
                    gain = _gain(row, origin, target, promotes)
                    if gain > best and leaves_king_safe(row, origin, target):
                        best = gain
    return best


@jit
def _value_of(row: Row, origin: int, target: int, promotes: bool, weight: float) -> float:
    """What a legal move changes in the mover's value, the reply counted in."""
    seat = np.int64(row.mover)
    move = origin | target << 8 | (1 << 16 if promotes else 0)
    gain, before = _gain(row, origin, target, promotes), row.material[seat] - row.material[1 - seat]
    past, repeats = row.past, row.repeats
    returns = can_return(row, move)
    if returns:
        row.moves[past] = origin * SQUARES + target
        row.past += 1
    else:
        row.past = 0  # the moves stay where they are, for afterwards
    token = make_move(row, move)
    ending = ending_of(row)
    if ending == RUNNING:
        found = (gain - weight * _best_gain(row) if weight != 0.0 else gain) / TENTHS
    else:
        row.ending = ending
        found = VICTORY * outcome(row, seat) - before / TENTHS
        row.ending = RUNNING
    unmake_move(row, move, token)
    if returns:
        row.moves[past] = 0
    row.past, row.repeats = past, repeats
    return found


@jit
def _moves_of(row: Row, origin: int, weight: float, actions: Integers, values: Floats) -> int:
    """The values of a piece's moves."""
    found, size = destinations(row, origin, guard(row), False), 0
    for word in range(3):
        left = found[word]
        while left != 0:
            target = first(left) + 64 * word
            left &= left - ONE
            if not must_promote(row, origin, target):
                actions[size] = SQUARES + target
                values[size] = _value_of(row, origin, target, False, weight)
                size += 1
            if may_promote(row, origin, target):
                actions[size] = 2 * SQUARES + target
                values[size] = _value_of(row, origin, target, True, weight)
                size += 1
    return size


@jit
def action_values(row: Row, seat: int, weights: Floats, actions: Integers, values: Floats) -> int:
    """For the chosen piece each move's value; before that each piece's best move's."""
    sign = 1.0 if seat == row.mover else -1.0
    if row.chosen != NOWHERE:
        size = _moves_of(row, np.int64(row.chosen), weights[0], actions, values)
        for k in range(size):
            values[k] *= sign
        return size
    size = 0
    for word in range(3):
        left = row.men[3 * np.int64(row.mover) + word]
        while left != 0:
            origin = first(left) + 64 * word
            left &= left - ONE
            moves = _moves_of(row, origin, weights[0], actions[size:], values[size:])
            if moves == 0:
                continue
            top = values[size]
            for k in range(size + 1, size + moves):
                top = max(top, values[k])
            actions[size], values[size] = origin, sign * top
            size += 1
    return size


@jit
def decision_kind(row: Row) -> int:
    """Only one decision can follow an action."""
    return 0
