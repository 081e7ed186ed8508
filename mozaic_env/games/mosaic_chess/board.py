"""The board of Mosaic Chess as compiled functions on a row: attacks, legal moves, making and unmaking them, perft.

Squares are numbers, 12 * (rank - 1) + file, a1 = 0. A set of squares is three words of 64 bits. A move is
origin | target << 8 | promotes << 16. No piece has code of its own here: see `mozaic_env.games.mosaic_chess.tables`.
"""

import numpy as np
import numpy.typing as npt

from mozaic_env.core.bits import ONE, Board, count, first
from mozaic_env.core.contract import Integers, Row
from mozaic_env.core.jit import jit
from mozaic_env.core.registry import HEADER
from mozaic_env.games.mosaic_chess.pieces import KINDS
from mozaic_env.games.mosaic_chess.tables import (
    ATTACKS,
    END,
    GO,
    HASH_OF_BLACK,
    HASH_OF_PASSED,
    HASH_OF_PIECE,
    IN_ZONE,
    KINGS,
    LAST_RANK,
    MIDDLE,
    NODES,
    PASSING,
    PAWNS,
    PROMOTIONS,
    SIZE,
    SQUARES,
    STARTS,
    STEPS,
    TAKE,
    WIDE_OF,
    WORTH,
)

NOWHERE = SQUARES  # no square
MOST_NUMBER = 2**16 - 1  # of a move; it stays there
MOST_QUIET = 200  # plies without a capture or a pawn move, then the game is drawn
MOST_MOVES = 4400  # more than any position has: 47 cannon queens, 88 squares each

ROW = np.dtype(
    [
        *HEADER,
        ("men", np.uint64, (6,)),  # squares of White's pieces, then of Black's: three words each
        ("targets", np.uint64, (3,)),  # squares that the decision at hand may name: pieces that can move, or where to
        ("hash", np.uint64),  # of board, side and en passant square
        ("material", np.int32, (2,)),  # of each side, in tenths of a pawn
        ("number", np.uint16),  # of the move
        ("moves", np.uint16, (MOST_QUIET,)),  # made since the last that can't be undone: origin * SQUARES + target
        ("board", np.uint8, (SQUARES,)),  # codes of pieces, 0: empty
        ("kings", np.uint8, (2,)),
        ("mover", np.uint8),  # 0 White, 1 Black; when the game is over, who would be to move
        ("chosen", np.uint8),  # the square of the piece to be moved, or NOWHERE
        ("passed", np.uint8),  # the square that a pawn has just passed by moving two, or NOWHERE
        ("quiet", np.uint8),  # plies since a capture or a pawn move
        ("past", np.uint8),  # how many `moves` there are, zeros behind them
        ("repeats", np.uint8),  # how often the position has been there before
        ("ending", np.uint8),  # why the game is over, see `mozaic_env.games.mosaic_chess.rules`
    ],
    align=True,
)

Squares = tuple[Board, Board, Board]
Guard = tuple[int, Board, Board, Board, Board, Board, Board]
NONE = np.uint64(0)


@jit(forceinline=True)
def has(squares: Squares, square: int) -> bool:
    """Whether a set holds a square."""
    word = squares[0] if square < 64 else squares[1] if square < 128 else squares[2]
    return (word >> np.uint64(square & 63)) & ONE != 0


@jit(forceinline=True)
def with_square(squares: Squares, square: int) -> Squares:
    """A set and one square more."""
    bit = ONE << np.uint64(square & 63)
    if square < 64:
        return squares[0] | bit, squares[1], squares[2]
    if square < 128:
        return squares[0], squares[1] | bit, squares[2]
    return squares[0], squares[1], squares[2] | bit


@jit(forceinline=True)
def size_of(squares: Squares) -> int:
    """How many squares a set holds."""
    return count(squares[0]) + count(squares[1]) + count(squares[2])


@jit(forceinline=True)
def men_of(row: Row, side: int) -> Squares:
    """The squares of a side's pieces."""
    return row.men[3 * side], row.men[3 * side + 1], row.men[3 * side + 2]


@jit(forceinline=True)
def _toggle(row: Row, side: int, square: int) -> None:
    row.men[3 * side + (square >> 6)] ^= ONE << np.uint64(square & 63)


@jit(forceinline=True)
def _pieces_between(row: Row, square: int, entry: int, most: int) -> int:
    """How many of the squares between are occupied, or more than `most` if they are more; see `tables`."""
    step, found = STEPS[entry & 15], 0
    for _ in range((entry >> 4) & 15):
        square += step
        if row.board[square] != 0:
            found += 1
            if found > most:
                break
    return found


@jit
def is_attacked(row: Row, square: int, by: int) -> bool:
    """Whether a side's pieces attack a square."""
    here = MIDDLE - WIDE_OF[square]
    for word in range(3):
        left = row.men[3 * by + word]
        while left != 0:
            origin = first(left) + 64 * word
            left &= left - ONE
            entry = np.int64(ATTACKS[row.board[origin], here + WIDE_OF[origin]])
            if entry != 0:
                holds = entry >> 8
                if (holds >> _pieces_between(row, square, entry, 1)) & 1:
                    return True
    return False


@jit
def guard(row: Row) -> Guard:
    """What the mover's king depends on.

    Returns:
        How many pieces attack the king; the set of squares between the king and pieces that attack it or would if one
        more or less stood between; the set of squares of the pieces that attack it.
    """
    side = np.int64(row.mover)
    king = np.int64(row.kings[side])
    here, attackers = MIDDLE - WIDE_OF[king], 0
    lines, checks = (NONE, NONE, NONE), (NONE, NONE, NONE)
    for word in range(3):
        left = row.men[3 * (1 - side) + word]
        while left != 0:
            origin = first(left) + 64 * word
            left &= left - ONE
            entry = np.int64(ATTACKS[row.board[origin], here + WIDE_OF[origin]])
            if entry == 0:
                continue
            holds = entry >> 8
            most = 1 if holds == 1 else 2
            between = _pieces_between(row, king, entry, most)
            if between <= most:
                step, square = STEPS[entry & 15], king
                for _ in range((entry >> 4) & 15):
                    square += step
                    lines = with_square(lines, square)
                if (holds >> between) & 1:
                    attackers += 1
                    checks = with_square(checks, origin)
    return attackers, lines[0], lines[1], lines[2], checks[0], checks[1], checks[2]


@jit
def victim_of(row: Row, origin: int, target: int) -> int:
    """The square on which a move takes a piece, if there is one: the target, but in passing the passed pawn's."""
    side = np.int64(row.mover)
    if target == row.passed and row.board[origin] == PAWNS[side]:
        return target - SIZE if side == 0 else target + SIZE
    return target


@jit
def leaves_king_safe(row: Row, origin: int, target: int) -> bool:
    """Whether the mover's king is not attacked after a move, found out by trying."""
    side = np.int64(row.mover)
    victim = victim_of(row, origin, target)
    piece, taken, there = row.board[origin], row.board[victim], row.board[target]
    row.board[victim] = 0
    row.board[origin] = 0
    row.board[target] = piece
    if taken != 0:
        _toggle(row, 1 - side, victim)
    king = target if piece == KINGS[side] else np.int64(row.kings[side])
    safe = not is_attacked(row, king, 1 - side)
    row.board[target] = there
    row.board[origin] = piece
    row.board[victim] = taken
    if taken != 0:
        _toggle(row, 1 - side, victim)
    return safe


@jit(forceinline=True)
def _is_safe(row: Row, origin: int, target: int, guarded: Guard) -> bool:
    """`leaves_king_safe`, mostly without trying."""
    lines, checks = (guarded[1], guarded[2], guarded[3]), (guarded[4], guarded[5], guarded[6])
    touches = origin == row.kings[row.mover] or target == row.passed or has(lines, origin)
    touches = touches or (row.board[target] == 0 and has(lines, target))
    if guarded[0] == 0:
        if not touches:
            return True
    elif not (touches or has(checks, target)):
        return False
    return leaves_king_safe(row, origin, target)


@jit
def destinations(row: Row, origin: int, guarded: Guard, one_is_enough: bool) -> Squares:
    """Where the mover's piece at a square may go.

    Args:
        row: not changed in the end.
        origin: the piece's square.
        guarded: from `guard`.
        one_is_enough: whether to stop at the first square found.
    """
    found = (NONE, NONE, NONE)
    black = row.mover == 1
    at = np.int64(STARTS[row.board[origin], origin])
    while True:
        node = np.int64(NODES[at])
        target = node & 255
        if target == END:
            return found
        there = row.board[target]
        if there == 0:
            fits = (node >> 8) & GO != 0 or ((node >> 8) & PASSING != 0 and target == row.passed)
            at += (node >> 16) & 255
        else:
            fits = (node >> 8) & TAKE != 0 and (there > KINDS) != black
            at += node >> 24
        if fits and _is_safe(row, origin, target, guarded):
            found = with_square(found, target)
            if one_is_enough:
                return found


@jit
def can_move(row: Row, origin: int, guarded: Guard) -> bool:
    """Whether the mover's piece at a square has a legal move."""
    found = destinations(row, origin, guarded, True)
    return (found[0] | found[1] | found[2]) != 0


@jit
def movable(row: Row, guarded: Guard, one_is_enough: bool) -> Squares:
    """The mover's pieces that have a legal move, or one of them."""
    found = (NONE, NONE, NONE)
    for word in range(3):
        left = row.men[3 * np.int64(row.mover) + word]
        while left != 0:
            origin = first(left) + 64 * word
            left &= left - ONE
            if can_move(row, origin, guarded):
                found = with_square(found, origin)
                if one_is_enough:
                    return found
    return found


@jit(forceinline=True)
def may_promote(row: Row, origin: int, target: int) -> bool:
    """Whether the mover's piece becomes another on that square, if it likes."""
    return PROMOTIONS[row.board[origin]] != 0 and IN_ZONE[row.mover, target]


@jit(forceinline=True)
def must_promote(row: Row, origin: int, target: int) -> bool:
    """Whether the mover's piece has to."""
    side = np.int64(row.mover)
    return row.board[origin] == PAWNS[side] and LAST_RANK[side, target]


@jit
def list_moves(row: Row, tactical: bool, moves: Integers) -> int:
    """Writes the legal moves.

    Args:
        row: not changed in the end.
        tactical: only moves that take or promote, promoting where they may.
        moves: room for `MOST_MOVES`.

    Returns:
        How many.
    """
    guarded, size, black = guard(row), 0, row.mover == 1
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
                    fits = passing or ((node >> 8) & GO != 0 and (promotes or not tactical))
                    at += (node >> 16) & 255
                else:
                    fits = (node >> 8) & TAKE != 0 and (there > KINDS) != black
                    at += node >> 24
                if not fits or not _is_safe(row, origin, target, guarded):
                    continue
                if not promotes or not (tactical or must_promote(row, origin, target)):
                    moves[size] = origin | target << 8
                    size += 1
                if promotes:
                    moves[size] = origin | target << 8 | 1 << 16
                    size += 1
    return size


@jit
def make_move(row: Row, move: int) -> int:
    """Makes a legal move on the board; `moves`, `past` and `repeats` are the caller's care.

    Returns:
        What `unmake_move` needs.
    """
    side = np.int64(row.mover)
    origin, target = move & 255, (move >> 8) & 255
    victim = victim_of(row, origin, target)
    piece, taken = np.int64(row.board[origin]), np.int64(row.board[victim])
    token = taken | victim << 6 | piece << 14 | np.int64(row.passed) << 20 | np.int64(row.quiet) << 28
    row.hash ^= HASH_OF_PASSED[row.passed] ^ HASH_OF_PIECE[piece, origin] ^ HASH_OF_BLACK
    row.quiet += 1
    if taken != 0:
        row.board[victim] = 0
        _toggle(row, 1 - side, victim)
        row.hash ^= HASH_OF_PIECE[taken, victim]
        row.material[1 - side] -= WORTH[taken]
        row.quiet = 0
    row.board[origin] = 0
    _toggle(row, side, origin)
    _toggle(row, side, target)
    row.passed = NOWHERE
    if piece == PAWNS[side]:
        row.quiet = 0
        if abs(target - origin) == 2 * SIZE:
            row.passed = (origin + target) >> 1
    elif piece == KINGS[side]:
        row.kings[side] = target
    if move >> 16:
        row.material[side] += WORTH[PROMOTIONS[piece]] - WORTH[piece]
        piece = np.int64(PROMOTIONS[piece])
    row.board[target] = piece
    row.hash ^= HASH_OF_PIECE[piece, target] ^ HASH_OF_PASSED[row.passed]
    row.mover = 1 - side
    row.number += side
    return token


@jit
def unmake_move(row: Row, move: int, token: int) -> None:
    """Takes back the last move."""
    side = 1 - np.int64(row.mover)
    origin, target = move & 255, (move >> 8) & 255
    taken, victim, piece = token & 63, (token >> 6) & 255, (token >> 14) & 63
    row.hash ^= HASH_OF_PASSED[row.passed] ^ HASH_OF_PIECE[row.board[target], target] ^ HASH_OF_BLACK
    if move >> 16:
        row.material[side] -= WORTH[PROMOTIONS[piece]] - WORTH[piece]
    row.board[target] = 0
    row.board[origin] = piece
    _toggle(row, side, target)
    _toggle(row, side, origin)
    if piece == KINGS[side]:
        row.kings[side] = origin
    if taken != 0:
        row.board[victim] = taken
        _toggle(row, 1 - side, victim)
        row.hash ^= HASH_OF_PIECE[taken, victim]
        row.material[1 - side] += WORTH[taken]
    row.passed, row.quiet = (token >> 20) & 255, (token >> 28) & 255
    row.hash ^= HASH_OF_PIECE[piece, origin] ^ HASH_OF_PASSED[row.passed]
    row.mover = side
    row.number -= side


@jit
def hash_of(row: Row) -> Board:
    """The hash of the position, from nothing."""
    found = HASH_OF_PASSED[row.passed]
    if row.mover == 1:
        found ^= HASH_OF_BLACK
    for square in range(SQUARES):
        found ^= HASH_OF_PIECE[row.board[square], square]
    return found


@jit
def perft(row: Row, depth: int, moves: npt.NDArray[np.int64], places: npt.NDArray[np.int64]) -> int:
    """How many sequences of so many legal moves there are; ends of games are left out of account.

    Moves at the last ply are counted without being made.

    Args:
        row: not changed in the end.
        depth: at least 1.
        moves: room, shape (depth, MOST_MOVES).
        places: room, shape (3, depth): number of moves, next move, token of the move under way.
    """
    if depth == 1:
        return list_moves(row, False, moves[0])
    total, ply = 0, 0
    places[0, 0], places[1, 0] = list_moves(row, False, moves[0]), 0
    while True:
        if places[1, ply] == places[0, ply]:
            if ply == 0:
                return total
            ply -= 1
            unmake_move(row, moves[ply, places[1, ply]], places[2, ply])
            places[1, ply] += 1
            continue
        places[2, ply] = make_move(row, moves[ply, places[1, ply]])
        size = list_moves(row, False, moves[ply + 1])
        if ply + 2 == depth:
            total += size
            unmake_move(row, moves[ply, places[1, ply]], places[2, ply])
            places[1, ply] += 1
        else:
            ply += 1
            places[0, ply], places[1, ply] = size, 0
