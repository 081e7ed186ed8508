"""Alpha-beta search over whole moves, compiled, for any game that offers them (`mozaic_env.core.engine`).

Depth first with a window (D. Knuth, R. Moore, An analysis of alpha-beta pruning, 1975), deepened step by step; beyond
the depth only loud moves that promise something, with the choice to stand; a table of positions seen; moves ordered by
that table, by what they promise and by how often they cut before. It keeps its own stack, since compiled functions that
call themselves can't be kept on disk.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mozaic_env.core.contract import Integers, Row
from mozaic_env.core.engine import (
    DRAWN,
    LOST,
    begins_with_choice,
    earlier_hashes,
    list_moves,
    loses_without_moves,
    make_move,
    position_hash,
    promise,
    standing,
    static_value,
    unmake_move,
)
from mozaic_env.core.game import Game
from mozaic_env.core.jit import jit
from mozaic_env.core.stream import below, random_bits

MOST_PLIES = 64
MOST_LOUD = 6  # plies of loud moves beyond the depth
SLACK = 100  # a loud move that promises to miss the window by more is left out
WON = 1_000_000  # less the plies that it takes
SURE = WON - 1000  # beyond this someone wins by force
TABLE = 1 << 16  # positions remembered
CUTS = 1 << 16  # moves that have cut, by their number

SIZE, NEXT, TOKEN, ALPHA, BETA, BEST, MOVE, DEPTH, WINDOW = range(9)  # columns of `Search.book`
NODES, STOPPED, REMEMBERED = range(3)  # entries of `Search.notes`
EXACT, AT_LEAST, AT_MOST = range(3)  # what a remembered value is
FIRST = 1 << 40  # order of the move that the table names


class Search(NamedTuple):
    """Room for one search at a time."""

    moves: npt.NDArray[np.int64]  # by ply
    orders: npt.NDArray[np.int64]  # of the moves, the largest first
    book: npt.NDArray[np.int64]  # of each ply on the way
    hashes: npt.NDArray[np.uint64]  # of the game so far, then of each ply
    known: npt.NDArray[np.uint64]  # the table's positions
    told: npt.NDArray[np.int64]  # what is known of each: value, depth, kind, move
    cuts: npt.NDArray[np.int64]
    notes: npt.NDArray[np.int64]


def make_search(game: Game) -> Search:
    """Room for searches in a game."""
    return Search(
        np.zeros((MOST_PLIES, game.most_moves), np.int64),
        np.zeros((MOST_PLIES, game.most_moves), np.int64),
        np.zeros((MOST_PLIES, 9), np.int64),
        np.zeros(MOST_PLIES + game.most_moves, np.uint64),
        np.zeros(TABLE, np.uint64),
        np.zeros((TABLE, 4), np.int64),
        np.zeros(CUTS, np.int64),
        np.zeros(3, np.int64),
    )


@jit
def begin(row: Row, bits: np.uint64, search: Search) -> int:
    """Forgets the search before and lists the moves at the root, promising ones first, equal ones in random order.

    Args:
        row: a state at a decision.
        bits: random ones, for the order.
        search: from `make_search`.

    Returns:
        How many moves there are that go on with the decisions made.
    """
    search.known[:] = np.uint64(0)
    search.cuts[:] = 0
    search.notes[:] = 0
    moves, orders, size = search.moves[0], search.orders[0], 0
    for k in range(list_moves(row, False, moves)):
        if begins_with_choice(row, moves[k]):
            moves[size] = moves[k]
            size += 1
    for k in range(size):
        other = k + below(random_bits(bits, np.uint64(0), k), size - k)
        moves[k], moves[other] = moves[other], moves[k]
    for k in range(size):
        orders[k] = promise(row, moves[k])
    for k in range(size):
        _bring_best(moves, orders, k, size)
    search.book[0, SIZE] = size
    search.notes[REMEMBERED] = earlier_hashes(row, search.hashes)
    return size


@jit(forceinline=True)
def _bring_best(moves: Integers, orders: Integers, k: int, size: int) -> None:
    """Puts the first of the best moves from the k-th on in the k-th place; the others keep their order."""
    top = k
    for j in range(k + 1, size):
        if orders[j] > orders[top]:
            top = j
    move, order = moves[top], orders[top]
    for j in range(top, k, -1):
        moves[j], orders[j] = moves[j - 1], orders[j - 1]
    moves[k], orders[k] = move, order


@jit
def _has_come_before(search: Search, ply: int) -> bool:
    at = search.notes[REMEMBERED] + ply
    for k in range(at - 2, -1, -2):
        if search.hashes[k] == search.hashes[at]:
            return True
    return False


@jit
def _enter(row: Row, ply: int, depth: int, alpha: int, beta: int, search: Search) -> tuple[int, bool]:
    """Looks at a position after a move.

    Returns:
        Its value for who is to move, and whether that is not known yet and the ply's moves are to be gone through.
    """
    search.notes[NODES] += 1
    key = position_hash(row)
    search.hashes[search.notes[REMEMBERED] + ply] = key
    stands = standing(row)
    if stands == LOST:
        return ply - WON, False
    if stands == DRAWN or _has_come_before(search, ply):
        return 0, False
    book, moves, orders = search.book[ply], search.moves[ply], search.orders[ply]
    book[NEXT], book[ALPHA], book[BETA], book[WINDOW], book[DEPTH], book[MOVE] = 0, alpha, beta, alpha, depth, -1
    if depth <= 0:
        stand = static_value(row)
        if stand >= beta or ply >= MOST_PLIES - 1 or depth <= -MOST_LOUD:
            return stand, False
        book[BEST], size = stand, 0
        for k in range(list_moves(row, True, moves)):
            orders[size] = promise(row, moves[k])
            if orders[size] >= 0 and stand + orders[size] + SLACK > alpha:
                moves[size] = moves[k]
                size += 1
        book[SIZE] = size
        return stand, size > 0
    place, hint = np.int64(key & np.uint64(TABLE - 1)), -1
    if search.known[place] == key:
        told = search.told[place]
        value, kind, hint = told[0], told[2], told[3]
        cuts = kind == EXACT or (kind == AT_LEAST and value >= beta) or (kind == AT_MOST and value <= alpha)
        if told[1] >= depth and cuts:
            return value, False
    size = list_moves(row, False, moves)
    if size == 0:
        return ply - WON if loses_without_moves(row) else 0, False
    for k in range(size):
        orders[k] = FIRST if moves[k] == hint else promise(row, moves[k]) + search.cuts[moves[k] & (CUTS - 1)]
    book[SIZE], book[BEST] = size, -WON
    return 0, True


@jit
def _leave(search: Search, ply: int) -> int:
    """The value of a ply whose moves have been gone through; remembers it."""
    book = search.book[ply]
    value = book[BEST]
    if book[DEPTH] > 0 and not search.notes[STOPPED] and abs(value) < SURE:
        key = search.hashes[search.notes[REMEMBERED] + ply]
        place = np.int64(key & np.uint64(TABLE - 1))
        search.known[place] = key
        told = search.told[place]
        told[0], told[1], told[3] = value, book[DEPTH], book[MOVE]
        told[2] = AT_LEAST if value >= book[BETA] else AT_MOST if value <= book[WINDOW] else EXACT
    return value


@jit
def deepen(row: Row, depth: int, limit: int, search: Search) -> int:
    """Searches the root's moves to a depth, those before the first that cuts no matter.

    Args:
        row: the state given to `begin`; not changed in the end.
        depth: in whole moves of either side, at least 1.
        limit: number of positions looked at, since `begin`, after which it gives up.
        search: after `begin`. The best move comes to the front: `search.moves[0, 0]`.

    Returns:
        The best move's value for who decides, in hundredths; where it gave up, of the best that it has looked at.
    """
    book, notes = search.book, search.notes
    book[0, NEXT], book[0, BEST], book[0, MOVE], book[0, DEPTH] = 0, -WON - 1, search.moves[0, 0], depth
    book[0, ALPHA], book[0, BETA], book[0, WINDOW] = -WON, WON, -WON
    search.hashes[notes[REMEMBERED]] = position_hash(row)
    notes[STOPPED] = 0
    ply = 0
    while True:
        goes_on = book[ply, NEXT] < book[ply, SIZE] and book[ply, BEST] < book[ply, BETA]
        if goes_on and not notes[STOPPED]:
            k = book[ply, NEXT]
            if ply > 0:
                _bring_best(search.moves[ply], search.orders[ply], k, book[ply, SIZE])
            book[ply, NEXT] += 1
            book[ply, TOKEN] = make_move(row, search.moves[ply, k])
            alpha = max(book[ply, ALPHA], book[ply, BEST])
            value, opened = _enter(row, ply + 1, book[ply, DEPTH] - 1, -book[ply, BETA], -alpha, search)
            if notes[NODES] >= limit:
                notes[STOPPED] = 1
            if opened:
                ply += 1
                continue
        elif ply == 0:
            break
        else:
            value = _leave(search, ply)
            ply -= 1
        move = search.moves[ply, book[ply, NEXT] - 1]
        unmake_move(row, move, book[ply, TOKEN])
        if not notes[STOPPED] and -value > book[ply, BEST]:
            book[ply, BEST], book[ply, MOVE] = -value, move
            if -value >= book[ply, BETA] and book[ply, DEPTH] > 0:
                search.cuts[move & (CUTS - 1)] += book[ply, DEPTH] * book[ply, DEPTH]
    _bring_to_front(search.moves[0], book[0, MOVE])
    return book[0, BEST]


@jit
def _bring_to_front(moves: Integers, move: int) -> None:
    at = 0
    while moves[at] != move:
        at += 1
    for k in range(at, 0, -1):
        moves[k] = moves[k - 1]
    moves[0] = move


@jit
def search_rows(rows: Any, depth: int, limit: int, keys: Any, moves: Integers, search: Search) -> None:
    """The best move for each row, deepening step by step up to a depth or a number of positions.

    Args:
        rows: states at decisions, shape (n,).
        depth: at most so deep, in whole moves.
        limit: number of positions for each row.
        keys: random bits of each row, uint64, shape (n,).
        moves: written, shape (n,).
        search: room.
    """
    for i in range(len(rows)):
        moves[i] = -1
        if begin(rows[i], keys[i], search) > 1:
            for d in range(1, depth + 1):
                if abs(deepen(rows[i], d, limit, search)) >= SURE or search.notes[STOPPED]:
                    break
        moves[i] = search.moves[0, 0]
