"""Alpha-beta search over whole moves, compiled, for any game that offers them (`mozaic_env.core.whole_moves`).

Depth first with a window (D. Knuth, R. Moore, An analysis of alpha-beta pruning, 1975), by iterative deepening. Beyond
the depth follows a quiescence search: tactical moves with a stand-pat value and delta pruning. A transposition table
holds the positions seen; moves are ordered by the table's move, their score and the history heuristic. The search keeps
its own stack, since compiled functions that call themselves can't be kept on disk.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mozaic_env.core.contract import Integers, Row
from mozaic_env.core.game import Game
from mozaic_env.core.jit import jit
from mozaic_env.core.stream import below, random_bits
from mozaic_env.core.whole_moves import (
    DRAWN,
    LOST,
    begins_with_choice,
    earlier_hashes,
    list_moves,
    loses_without_moves,
    make_move,
    move_score,
    position_hash,
    static_value,
    terminal_status,
    unmake_move,
)

MAX_PLY = 64
QUIESCENCE_DEPTH = 6  # plies of tactical moves beyond the depth
DELTA_MARGIN = 100  # a tactical move whose score misses alpha by more is pruned
WIN = 1_000_000  # less the plies that it takes
FORCED_WIN = WIN - 1000  # values beyond this are wins by force
TABLE_SIZE = 1 << 16  # positions in the transposition table
HISTORY_SIZE = 1 << 16  # moves told apart by the history heuristic

SIZE, NEXT, TOKEN, ALPHA, BETA, BEST, BEST_MOVE, DEPTH, FIRST_ALPHA = range(9)  # columns of `Search.stack`
NODES, STOPPED, ROOT = range(3)  # entries of `Search.counters`
EXACT, LOWER, UPPER = range(3)  # which bound a value in the table is
VALUE, TO_DEPTH, BOUND, MOVE = range(4)  # columns of `Search.table`
TABLE_MOVE = 1 << 40  # score of the table's move


class Search(NamedTuple):
    """Workspace of one search at a time."""

    moves: npt.NDArray[np.int64]  # by ply
    scores: npt.NDArray[np.int64]  # of the moves, for their order: the largest first
    stack: npt.NDArray[np.int64]  # a frame for each ply on the way
    hashes: npt.NDArray[np.uint64]  # of the game so far, then of each ply
    table_keys: npt.NDArray[np.uint64]  # the transposition table's positions
    table: npt.NDArray[np.int64]  # and its entries
    history: npt.NDArray[np.int64]  # how much each move has cut off
    counters: npt.NDArray[np.int64]


def make_search(game: Game) -> Search:
    """Workspace of searches in a game."""
    return Search(
        np.zeros((MAX_PLY, game.max_moves), np.int64),
        np.zeros((MAX_PLY, game.max_moves), np.int64),
        np.zeros((MAX_PLY, 9), np.int64),
        np.zeros(MAX_PLY + game.max_moves, np.uint64),
        np.zeros(TABLE_SIZE, np.uint64),
        np.zeros((TABLE_SIZE, 4), np.int64),
        np.zeros(HISTORY_SIZE, np.int64),
        np.zeros(3, np.int64),
    )


@jit
def begin(row: Row, bits: np.uint64, search: Search) -> int:
    """Forgets the search before and lists the moves at the root, the best scores first, equal ones in random order.

    Args:
        row: a state at a decision.
        bits: random ones, for the order.
        search: from `make_search`.

    Returns:
        How many moves there are that go on with the decisions made.
    """
    search.table_keys[:] = np.uint64(0)
    search.history[:] = 0
    search.counters[:] = 0
    moves, scores, size = search.moves[0], search.scores[0], 0
    for k in range(list_moves(row, False, moves)):
        if begins_with_choice(row, moves[k]):
            moves[size] = moves[k]
            size += 1
    for k in range(size):
        other = k + below(random_bits(bits, np.uint64(0), k), size - k)
        moves[k], moves[other] = moves[other], moves[k]
    for k in range(size):
        scores[k] = move_score(row, moves[k])
    for k in range(size):
        _pick_best(moves, scores, k, size)
    search.stack[0, SIZE] = size
    search.counters[ROOT] = earlier_hashes(row, search.hashes)
    return size


@jit(forceinline=True)
def _pick_best(moves: Integers, scores: Integers, k: int, size: int) -> None:
    """Puts the first of the best moves from the k-th on in the k-th place; the others keep their order."""
    top = k
    for j in range(k + 1, size):
        if scores[j] > scores[top]:
            top = j
    move, score = moves[top], scores[top]
    for j in range(top, k, -1):
        moves[j], scores[j] = moves[j - 1], scores[j - 1]
    moves[k], scores[k] = move, score


@jit
def _has_come_before(search: Search, ply: int) -> bool:
    at = search.counters[ROOT] + ply
    for k in range(at - 2, -1, -2):
        if search.hashes[k] == search.hashes[at]:
            return True
    return False


@jit
def _enter(row: Row, ply: int, depth: int, alpha: int, beta: int, search: Search) -> tuple[int, bool]:
    """Looks at a position after a move.

    Returns:
        Its value for the player to move, and whether that is not known yet and the ply's moves are to be searched.
    """
    search.counters[NODES] += 1
    key = position_hash(row)
    search.hashes[search.counters[ROOT] + ply] = key
    status = terminal_status(row)
    if status == LOST:
        return ply - WIN, False
    if status == DRAWN or _has_come_before(search, ply):
        return 0, False
    frame, moves, scores = search.stack[ply], search.moves[ply], search.scores[ply]
    frame[NEXT], frame[DEPTH], frame[BEST_MOVE] = 0, depth, -1
    frame[ALPHA], frame[BETA], frame[FIRST_ALPHA] = alpha, beta, alpha
    if depth <= 0:
        stand_pat = static_value(row)
        if stand_pat >= beta or ply >= MAX_PLY - 1 or depth <= -QUIESCENCE_DEPTH:
            return stand_pat, False
        frame[BEST], size = stand_pat, 0
        for k in range(list_moves(row, True, moves)):
            scores[size] = move_score(row, moves[k])
            if scores[size] >= 0 and stand_pat + scores[size] + DELTA_MARGIN > alpha:
                moves[size] = moves[k]
                size += 1
        frame[SIZE] = size
        return stand_pat, size > 0
    slot, table_move = np.int64(key & np.uint64(TABLE_SIZE - 1)), -1
    if search.table_keys[slot] == key:
        entry = search.table[slot]
        value, bound, table_move = entry[VALUE], entry[BOUND], entry[MOVE]
        cuts = bound == EXACT or (bound == LOWER and value >= beta) or (bound == UPPER and value <= alpha)
        if entry[TO_DEPTH] >= depth and cuts:
            return value, False
    size = list_moves(row, False, moves)
    if size == 0:
        return ply - WIN if loses_without_moves(row) else 0, False
    for k in range(size):
        past = search.history[moves[k] & (HISTORY_SIZE - 1)]
        scores[k] = TABLE_MOVE if moves[k] == table_move else move_score(row, moves[k]) + past
    frame[SIZE], frame[BEST] = size, -WIN
    return 0, True


@jit
def _leave(search: Search, ply: int) -> int:
    """The value of a ply whose moves have been searched; stores it in the table."""
    frame = search.stack[ply]
    value = frame[BEST]
    if frame[DEPTH] > 0 and not search.counters[STOPPED] and abs(value) < FORCED_WIN:
        key = search.hashes[search.counters[ROOT] + ply]
        slot = np.int64(key & np.uint64(TABLE_SIZE - 1))
        search.table_keys[slot] = key
        entry = search.table[slot]
        entry[VALUE], entry[TO_DEPTH], entry[MOVE] = value, frame[DEPTH], frame[BEST_MOVE]
        entry[BOUND] = LOWER if value >= frame[BETA] else UPPER if value <= frame[FIRST_ALPHA] else EXACT
    return value


@jit
def deepen(row: Row, depth: int, limit: int, search: Search) -> int:
    """Searches the root's moves to a depth, up to a cutoff.

    Args:
        row: the state given to `begin`; not changed in the end.
        depth: in whole moves of either side, at least 1.
        limit: number of positions looked at, since `begin`, after which it gives up.
        search: after `begin`. The best move comes to the front: `search.moves[0, 0]`.

    Returns:
        The best move's value for the player to move, in hundredths; where it gave up, of the best move searched.
    """
    stack, counters = search.stack, search.counters
    stack[0, NEXT], stack[0, BEST], stack[0, BEST_MOVE], stack[0, DEPTH] = 0, -WIN - 1, search.moves[0, 0], depth
    stack[0, ALPHA], stack[0, BETA], stack[0, FIRST_ALPHA] = -WIN, WIN, -WIN
    search.hashes[counters[ROOT]] = position_hash(row)
    counters[STOPPED] = 0
    ply = 0
    while True:
        goes_on = stack[ply, NEXT] < stack[ply, SIZE] and stack[ply, BEST] < stack[ply, BETA]
        if goes_on and not counters[STOPPED]:
            k = stack[ply, NEXT]
            if ply > 0:
                _pick_best(search.moves[ply], search.scores[ply], k, stack[ply, SIZE])
            stack[ply, NEXT] += 1
            stack[ply, TOKEN] = make_move(row, search.moves[ply, k])
            alpha = max(stack[ply, ALPHA], stack[ply, BEST])
            value, expanded = _enter(row, ply + 1, stack[ply, DEPTH] - 1, -stack[ply, BETA], -alpha, search)
            if counters[NODES] >= limit:
                counters[STOPPED] = 1
            if expanded:
                ply += 1
                continue
        elif ply == 0:
            break
        else:
            value = _leave(search, ply)
            ply -= 1
        move = search.moves[ply, stack[ply, NEXT] - 1]
        unmake_move(row, move, stack[ply, TOKEN])
        if not counters[STOPPED] and -value > stack[ply, BEST]:
            stack[ply, BEST], stack[ply, BEST_MOVE] = -value, move
            if -value >= stack[ply, BETA] and stack[ply, DEPTH] > 0:
                search.history[move & (HISTORY_SIZE - 1)] += stack[ply, DEPTH] * stack[ply, DEPTH]
    _bring_to_front(search.moves[0], stack[0, BEST_MOVE])
    return stack[0, BEST]


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
        search: from `make_search`.
    """
    for i in range(len(rows)):
        moves[i] = -1
        if begin(rows[i], keys[i], search) > 1:
            for d in range(1, depth + 1):
                if abs(deepen(rows[i], d, limit, search)) >= FORCED_WIN or search.counters[STOPPED]:
                    break
        moves[i] = search.moves[0, 0]
