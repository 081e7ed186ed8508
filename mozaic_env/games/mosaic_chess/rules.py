"""The rules of Mosaic Chess as compiled functions on a row; no drawing, no environment.

Readings of the source are marked *reading*. The board itself is in `mozaic_env.games.mosaic_chess.board`.
"""

import numpy as np

from mozaic_env.core.bits import ONE, Bytes, clear, count, nth, spread
from mozaic_env.core.contract import OVER, Row
from mozaic_env.core.jit import jit
from mozaic_env.core.stream import below
from mozaic_env.games.mosaic_chess.board import (
    MOST_NUMBER,
    MOST_QUIET,
    NOWHERE,
    Squares,
    destinations,
    guard,
    has,
    hash_of,
    make_move,
    may_promote,
    men_of,
    movable,
    must_promote,
    size_of,
)
from mozaic_env.games.mosaic_chess.pieces import SETUP, code_of
from mozaic_env.games.mosaic_chess.tables import (
    HASH_OF_BLACK,
    HASH_OF_PIECE,
    IN_ZONE,
    KINGS,
    LAST_RANK,
    PAWNS,
    PROMOTIONS,
    SIZE,
    SQUARES,
    TENTHS,
    WORTH,
)

RUNNING, CHECKMATE, BARE_KING, STALEMATE, BARE_DRAW, REPETITION, QUIET = range(7)  # why a game is over
ENDINGS = (
    "",
    "checkmate",
    "bare king",
    "stalemate",
    "bare king, last piece lost",
    "third repetition",
    "200 plies",
)
MOST_REPEATS = 2  # then the position is there for the third time

START = np.zeros(SQUARES, np.uint8)
for _rank, _letters in enumerate(SETUP):
    for _file, _letter in enumerate(_letters):
        START[SIZE * _rank + _file] = code_of(_letter)
        START[SIZE * (SIZE - 1 - _rank) + _file] = code_of(_letter.lower())

# The sets of squares of the tables, word by word.
_ZONE = np.zeros((2, 3), np.uint64)
_LAST = np.zeros((2, 3), np.uint64)
for _square in range(SQUARES):
    for _side in range(2):
        _bit = ONE << np.uint64(_square & 63)
        if IN_ZONE[_side, _square]:
            _ZONE[_side, _square >> 6] |= _bit
        if LAST_RANK[_side, _square]:
            _LAST[_side, _square >> 6] |= _bit


@jit
def mover(row: Row) -> int:
    """Who decides, or OVER; nothing is left to chance."""
    if row.ending != RUNNING:
        return OVER
    return np.int64(row.mover)  # type: ignore[return-value]


@jit
def count_up(row: Row) -> None:
    """Works out from the board what follows from it: men, kings, material, hash."""
    for word in range(6):
        row.men[word] = np.uint64(0)
    row.material[0] = row.material[1] = 0
    for square in range(SQUARES):
        code = np.int64(row.board[square])
        if code != 0:
            side = np.int64(code > PAWNS[1] - PAWNS[0])
            row.men[3 * side + (square >> 6)] |= ONE << np.uint64(square & 63)
            row.material[side] += WORTH[code]
            if code == KINGS[side]:
                row.kings[side] = square
    row.hash = hash_of(row)


@jit
def setup(row: Row) -> None:
    """The first position, White to move (*reading*)."""
    for square in range(SQUARES):
        row.board[square] = START[square]
    for k in range(MOST_QUIET):
        row.moves[k] = 0
    row.draws = row.decisions = 0
    row.number = 1
    row.mover = row.quiet = row.past = row.repeats = 0
    row.chosen = row.passed = NOWHERE
    count_up(row)
    settle(row)


@jit
def _earlier(row: Row) -> int:
    """How often the position has been there before: its moves are gone back over, hash by hash."""
    if row.past < 4:
        return 0
    found, hash_ = 0, row.hash
    for k in range(row.past - 1, -1, -1):
        origin, target = np.int64(row.moves[k]) // SQUARES, np.int64(row.moves[k]) % SQUARES
        piece = row.board[target]
        row.board[target] = 0
        row.board[origin] = piece
        hash_ ^= HASH_OF_PIECE[piece, origin] ^ HASH_OF_PIECE[piece, target] ^ HASH_OF_BLACK
        found += hash_ == row.hash
    for k in range(row.past):
        origin, target = np.int64(row.moves[k]) // SQUARES, np.int64(row.moves[k]) % SQUARES
        row.board[target] = row.board[origin]
        row.board[origin] = 0
    return found


@jit
def can_return(row: Row, move: int) -> bool:
    """Whether the position before a move can come again after it.

    Not after a capture, a move of a pawn or a promotion, nor if it had an en passant square.
    """
    origin, target = move & 255, (move >> 8) & 255
    taken = row.board[target] != 0 or row.passed != NOWHERE
    return not (taken or move >> 16 or row.board[origin] == PAWNS[row.mover])


@jit
def bare_king(row: Row) -> int:
    """The ending where the mover has a king alone."""
    other = 1 - np.int64(row.mover)
    men = men_of(row, other)
    if size_of(men) > 2:
        return BARE_KING
    reach = destinations(row, np.int64(row.kings[row.mover]), guard(row), False)
    if ((men[0] & reach[0]) | (men[1] & reach[1]) | (men[2] & reach[2])) != 0:
        return BARE_DRAW
    return BARE_KING  # also where the bare king is stalemated (*reading*)


@jit
def _ending(row: Row, attackers: int, can_move: bool) -> int:
    """Why the game is over after the last move, or RUNNING; sets `repeats`.

    Who has won by the last move has won, whatever else would have ended the game (*reading*).
    """
    row.repeats = _earlier(row)
    if size_of(men_of(row, np.int64(row.mover))) == 1:
        return bare_king(row)
    if not can_move:
        return CHECKMATE if attackers else STALEMATE
    if row.repeats >= MOST_REPEATS:
        return REPETITION
    return QUIET if row.quiet >= MOST_QUIET else RUNNING


@jit
def ending_of(row: Row) -> int:
    """What `settle` finds out, without what can follow; sets `repeats`."""
    guarded = guard(row)
    return _ending(row, guarded[0], size_of(movable(row, guarded, True)) != 0)


@jit
def settle(row: Row) -> None:
    """Finds out after a move whether the game is over, and which pieces can move next."""
    guarded = guard(row)
    found = movable(row, guarded, False)
    row.targets[0], row.targets[1], row.targets[2] = found
    row.ending = _ending(row, guarded[0], size_of(found) != 0)


@jit
def play(row: Row, move: int) -> None:
    """A whole move, and the end if it brings that."""
    if can_return(row, move):
        row.moves[row.past] = (move & 255) * SQUARES + ((move >> 8) & 255)
        row.past += 1
    else:
        for k in range(row.past):
            row.moves[k] = 0
        row.past = 0
    make_move(row, move)
    if row.number == 0:
        row.number = MOST_NUMBER  # it has run over
    settle(row)


@jit
def choose(row: Row, square: int) -> None:
    """Chooses the piece to be moved, and finds out where it may go."""
    row.chosen = square
    row.targets[0], row.targets[1], row.targets[2] = destinations(row, square, guard(row), False)


@jit
def apply(row: Row, action: int) -> None:
    """Chooses a piece, or moves the chosen one."""
    row.decisions += 1
    if row.chosen == NOWHERE:
        choose(row, action)
        return
    square = action - SQUARES
    move = np.int64(row.chosen) | square << 8
    if square >= SQUARES:
        move = np.int64(row.chosen) | (square - SQUARES) << 8 | 1 << 16
    row.chosen = NOWHERE
    play(row, move)


@jit(forceinline=True)
def _targets(row: Row) -> Squares:
    return row.targets[0], row.targets[1], row.targets[2]


@jit
def _choices(row: Row) -> tuple[Squares, Squares]:
    """Where the chosen piece may go as it is, and where as another piece."""
    side = np.int64(row.mover)
    found = _targets(row)
    piece, none = row.board[row.chosen], np.uint64(0)
    if PROMOTIONS[piece] == 0:
        return found, (none, none, none)
    zone, last = _ZONE[side], _LAST[side]
    promoted = (found[0] & zone[0], found[1] & zone[1], found[2] & zone[2])
    if piece == PAWNS[side]:
        found = (found[0] & ~last[0], found[1] & ~last[1], found[2] & ~last[2])
    return found, promoted


@jit(forceinline=True)
def _spread_squares(squares: Squares, masks: Bytes, index: int, start: int) -> None:
    spread(masks, index, start, squares[0], 64)
    spread(masks, index, start + 64, squares[1], 64)
    for k in range(SQUARES - 128):
        masks[index, start + 128 + k] = (squares[2] >> np.uint64(k)) & ONE


@jit
def legal(row: Row, masks: Bytes, index: int) -> None:
    """Writes the mask: the pieces that can move, or the squares that the chosen one can go to."""
    if row.chosen == NOWHERE:
        _spread_squares(_targets(row), masks, index, 0)
        clear(masks, index, SQUARES, 2 * SQUARES)
        return
    plain, promoted = _choices(row)
    clear(masks, index, 0, SQUARES)
    _spread_squares(plain, masks, index, SQUARES)
    _spread_squares(promoted, masks, index, 2 * SQUARES)


@jit
def is_legal(row: Row, action: int) -> bool:
    """Whether a piece can be chosen, or the chosen one can go there and promote or not."""
    if row.chosen == NOWHERE:
        return action < SQUARES and has(_targets(row), action)
    if action < SQUARES:
        return False
    promotes = action >= 2 * SQUARES
    target, origin = action - (2 * SQUARES if promotes else SQUARES), np.int64(row.chosen)
    if promotes and not may_promote(row, origin, target):
        return False
    if not promotes and must_promote(row, origin, target):
        return False
    return has(_targets(row), target)


@jit(forceinline=True)
def _nth(squares: Squares, n: int) -> int:
    """The n-th square of a set."""
    low, middle = count(squares[0]), count(squares[1])
    if n < low:
        return nth(squares[0], n)
    if n < low + middle:
        return 64 + nth(squares[1], n - low)
    return 128 + nth(squares[2], n - low - middle)


@jit
def random_action(row: Row, bits: np.uint64) -> int:
    """Uniform over the legal actions of this decision: over pieces, or over the chosen piece's moves."""
    if row.chosen == NOWHERE:
        found = _targets(row)
        return _nth(found, below(bits, size_of(found)))
    plain, promoted = _choices(row)
    n = below(bits, size_of(plain) + size_of(promoted))
    if n < size_of(plain):
        return SQUARES + _nth(plain, n)
    return 2 * SQUARES + _nth(promoted, n - size_of(plain))


@jit
def outcome(row: Row, seat: int) -> float:
    """+1 for whoever made the last move and won by it, -1 for the other, 0 for a draw."""
    if row.ending == CHECKMATE or row.ending == BARE_KING:
        return -1.0 if row.mover == seat else 1.0
    return 0.0


@jit
def margin(row: Row, seat: int) -> float:
    """Own material less the opponent's, in pawns."""
    return (row.material[seat] - row.material[1 - seat]) / TENTHS
