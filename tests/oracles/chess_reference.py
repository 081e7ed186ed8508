"""Mosaic Chess in slow, plain Python: a literal transcription of the rules page.

The fast kernels are proved against this module, so it shares nothing with them: no tables, no bit boards, no hashes, no
import from the package. Every piece has a function of its own, a move is legal if nothing attacks the king on the board
after it, and a position repeats if board, side and en passant square are equal.

A square is a pair (file, rank), both from 1: a1 is (1, 1). A piece is its letter, upper case for White.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

FILES = "abcdefghijkl"
START = (
    "dluzoqkozuld/rmnbayyabnmr/xiegsccsgeix/pppppppppppp/12/12/12/12/"
    "PPPPPPPPPPPP/XIEGSCCSGEIX/RMNBAYYABNMR/DLUZOQKOZULD w - 0 1"
)
PROMOTIONS = {"P": "L", "C": "Y", "N": "Y", "S": "D", "X": "D", "G": "U", "Z": "U", "E": "O", "I": "O"}
PROMOTIONS |= dict.fromkeys("RMBA", "Q")

Square = tuple[int, int]
Board = dict[Square, str]
Move = tuple[Square, Square, bool]  # from, to, whether it promotes

STRAIGHT = [(1, 0), (-1, 0), (0, 1), (0, -1)]
DIAGONAL = [(1, 1), (1, -1), (-1, 1), (-1, -1)]


def name(square: Square) -> str:
    return f"{FILES[square[0] - 1]}{square[1]}"


def square_of(text: str) -> Square:
    return FILES.index(text[0]) + 1, int(text[1:])


def exists(square: Square) -> bool:
    return 1 <= square[0] <= 12 and 1 <= square[1] <= 12


def is_white(piece: str) -> bool:
    return piece.isupper()


def step(square: Square, dx: int, dy: int) -> Square:
    return square[0] + dx, square[1] + dy


def symmetric(dx: int, dy: int) -> list[tuple[int, int]]:
    """All 8 or 4 copies of an offset."""
    copies = {(sx * a, sy * b) for a, b in ((dx, dy), (dy, dx)) for sx in (1, -1) for sy in (1, -1)}
    return sorted(copies)


# What a piece at a square aims at: every square that it could take an enemy on, whether or not one is there, and
# that it could go to if empty. Pawns are told apart below.


def leaps(board: Board, at: Square, offsets: list[tuple[int, int]]) -> set[Square]:
    return {step(at, dx, dy) for dx, dy in offsets if exists(step(at, dx, dy))}


def slide(board: Board, at: Square, direction: tuple[int, int]) -> set[Square]:
    """Up to and including the first piece."""
    found: set[Square] = set()
    square = step(at, *direction)
    while exists(square):
        found.add(square)
        if square in board:
            break
        square = step(square, *direction)
    return found


def hop(board: Board, at: Square, direction: tuple[int, int]) -> set[Square]:
    """Behind the first piece, up to and including the next one."""
    square = step(at, *direction)
    while exists(square) and square not in board:
        square = step(square, *direction)
    return slide(board, square, direction) if exists(square) else set()


def slides(board: Board, at: Square, directions: list[tuple[int, int]]) -> set[Square]:
    return set().union(*(slide(board, at, direction) for direction in directions))


def hops(board: Board, at: Square, directions: list[tuple[int, int]]) -> set[Square]:
    return set().union(*(hop(board, at, direction) for direction in directions))


def first_then(board: Board, at: Square, first: tuple[int, int], on: list[tuple[int, int]]) -> set[Square]:
    """The first square, and if it is empty, sliding on from there."""
    square = step(at, *first)
    if not exists(square):
        return set()
    return {square} if square in board else {square} | slides(board, square, on)


def sign(number: int) -> int:
    return (number > 0) - (number < 0)


def elephant(board: Board, at: Square, forward: int) -> set[Square]:
    return leaps(board, at, [*DIAGONAL, (1, 0), (-1, 0), (0, forward)])


def kirin(board: Board, at: Square, forward: int) -> set[Square]:
    return leaps(board, at, DIAGONAL + symmetric(2, 0))


def gold(board: Board, at: Square, forward: int) -> set[Square]:
    return leaps(board, at, [*STRAIGHT, (1, forward), (-1, forward)])


def silver(board: Board, at: Square, forward: int) -> set[Square]:
    return leaps(board, at, [*DIAGONAL, (0, forward)])


def phoenix(board: Board, at: Square, forward: int) -> set[Square]:
    return leaps(board, at, STRAIGHT + symmetric(2, 2))


def copper(board: Board, at: Square, forward: int) -> set[Square]:
    return leaps(board, at, [(0, forward), (1, forward), (-1, forward), (0, -forward)])


def rook(board: Board, at: Square, forward: int) -> set[Square]:
    return slides(board, at, STRAIGHT)


def bishop(board: Board, at: Square, forward: int) -> set[Square]:
    return slides(board, at, DIAGONAL)


def bombard(board: Board, at: Square, forward: int) -> set[Square]:
    return hops(board, at, STRAIGHT)


def arbalest(board: Board, at: Square, forward: int) -> set[Square]:
    return hops(board, at, DIAGONAL)


def knight(board: Board, at: Square, forward: int) -> set[Square]:
    return leaps(board, at, symmetric(2, 1) + symmetric(2, 0))


def zebra(board: Board, at: Square, forward: int) -> set[Square]:
    return leaps(board, at, symmetric(3, 2))


def lion(board: Board, at: Square, forward: int) -> set[Square]:
    return leaps(board, at, symmetric(3, 1) + symmetric(3, 0))


def gryphon(board: Board, at: Square, forward: int) -> set[Square]:
    return set().union(*(first_then(board, at, (dx, dy), [(dx, 0), (0, dy)]) for dx, dy in DIAGONAL))


def condor(board: Board, at: Square, forward: int) -> set[Square]:
    return set().union(*(first_then(board, at, (2 * dx, 2 * dy), [(dx, 0), (0, dy)]) for dx, dy in DIAGONAL))


def osprey(board: Board, at: Square, forward: int) -> set[Square]:
    found: set[Square] = set()
    for side in (1, -1):
        found |= first_then(board, at, (0, 2 * side), [(1, side), (-1, side)])
        found |= first_then(board, at, (2 * side, 0), [(side, 1), (side, -1)])
    return found


def rhinoceros(board: Board, at: Square, forward: int) -> set[Square]:
    return set().union(*(first_then(board, at, (dx, dy), [(sign(dx), sign(dy))]) for dx, dy in symmetric(2, 1)))


def queen(board: Board, at: Square, forward: int) -> set[Square]:
    return slides(board, at, STRAIGHT + DIAGONAL) | hops(board, at, STRAIGHT + DIAGONAL)


def king(board: Board, at: Square, forward: int) -> set[Square]:
    return leaps(board, at, STRAIGHT + DIAGONAL)


def pawn_captures(board: Board, at: Square, forward: int) -> set[Square]:
    return leaps(board, at, [(1, forward), (-1, forward)])


AIMS: dict[str, Callable[[Board, Square, int], set[Square]]] = {
    "P": pawn_captures,
    "E": elephant,
    "I": kirin,
    "G": gold,
    "S": silver,
    "X": phoenix,
    "C": copper,
    "R": rook,
    "B": bishop,
    "M": bombard,
    "A": arbalest,
    "N": knight,
    "Z": zebra,
    "L": lion,
    "Y": gryphon,
    "D": condor,
    "O": osprey,
    "U": rhinoceros,
    "Q": queen,
    "K": king,
}


class ReferenceChess:
    """One game.

    Attributes:
        board: pieces by square; empty squares are absent.
        white: whether White is to move.
        passed: the square that a pawn has just passed by moving two, or None.
        quiet: plies since a capture or a pawn move.
        number: of the move.
        seen: all positions so far, this one included.
    """

    def __init__(self, position: str = START) -> None:
        ranks, side, passed, quiet, number = position.split(" ")[:5]
        self.board: Board = {}
        for rank, text in zip(range(12, 0, -1), ranks.split("/"), strict=True):
            file, digits = 1, ""
            for letter in text + ".":
                if letter.isdigit():
                    digits += letter
                    continue
                file += int(digits or 0)
                digits = ""
                if letter != ".":
                    self.board[(file, rank)] = letter
                    file += 1
            assert file == 13, position
        self.white = side == "w"
        self.passed = None if passed == "-" else square_of(passed)
        self.quiet, self.number = int(quiet), int(number)
        self.seen = [self._identity()]

    def _identity(self) -> tuple[frozenset[tuple[Square, str]], bool, Square | None]:
        return frozenset(self.board.items()), self.white, self.passed

    def copy(self) -> ReferenceChess:
        twin = ReferenceChess.__new__(ReferenceChess)
        twin.board, twin.white, twin.passed = dict(self.board), self.white, self.passed
        twin.quiet, twin.number, twin.seen = self.quiet, self.number, list(self.seen)
        return twin

    def fen(self) -> str:
        ranks = []
        for rank in range(12, 0, -1):
            text, run = "", 0
            for file in range(1, 13):
                piece = self.board.get((file, rank))
                if piece is None:
                    run += 1
                    continue
                text += (str(run) if run else "") + piece
                run = 0
            ranks.append(text + (str(run) if run else ""))
        passed = "-" if self.passed is None else name(self.passed)
        return f"{'/'.join(ranks)} {'w' if self.white else 'b'} {passed} {self.quiet} {self.number}"

    # Moves

    def _forward(self, white: bool) -> int:
        return 1 if white else -1

    def destinations(self, at: Square) -> set[Square]:
        """Where the piece at a square could go, its own king left out of account."""
        piece = self.board[at]
        white = is_white(piece)
        forward = self._forward(white)
        aims = AIMS[piece.upper()](self.board, at, forward)
        if piece.upper() != "P":
            return {to for to in aims if to not in self.board or is_white(self.board[to]) != white}
        found = {to for to in aims if to in self.board and is_white(self.board[to]) != white}
        if self.passed in aims and white == self.white:
            found.add(self.passed)
        one, two = step(at, 0, forward), step(at, 0, 2 * forward)
        if exists(one) and one not in self.board:
            found.add(one)
            if at[1] == (4 if white else 9) and two not in self.board:
                found.add(two)
        return found

    def attacked(self, white: bool) -> bool:
        """Whether that side's king is attacked."""
        king_at = next(at for at, piece in self.board.items() if piece == ("K" if white else "k"))
        for at, piece in self.board.items():
            theirs = is_white(piece) != white
            if theirs and king_at in AIMS[piece.upper()](self.board, at, self._forward(not white)):
                return True
        return False

    def _after(self, at: Square, to: Square, promotes: bool) -> Board:
        board = dict(self.board)
        piece = board.pop(at)
        if piece.upper() == "P" and to == self.passed and to not in board:
            del board[(to[0], at[1])]
        if promotes:
            new = PROMOTIONS[piece.upper()]
            piece = new if is_white(piece) else new.lower()
        board[to] = piece
        return board

    def _choices(self, piece: str, to: Square) -> list[bool]:
        """Whether the piece may stay what it is, and whether it may become another, when it gets there."""
        last = {9, 10, 11, 12} if is_white(piece) else {4, 3, 2, 1}
        if piece.upper() not in PROMOTIONS or to[1] not in last:
            return [False]
        if piece.upper() == "P" and to[1] == (12 if is_white(piece) else 1):
            return [True]
        return [False, True]

    def moves(self) -> list[Move]:
        """All legal moves: those after which the own king is not attacked."""
        found = []
        for at, piece in list(self.board.items()):
            if is_white(piece) != self.white:
                continue
            for to in self.destinations(at):
                twin = self.copy()
                twin.board = self._after(at, to, False)
                if not twin.attacked(self.white):
                    found += [(at, to, promotes) for promotes in self._choices(piece, to)]
        return sorted(found)

    def notation(self, move: Move) -> str:
        at, to, promotes = move
        sign = "x" if to in self.board else "-"
        passing = self.board[at].upper() == "P" and to == self.passed and at[0] != to[0]
        return f"{name(at)}{'x' if passing else sign}{name(to)}{'ep' if passing else ''}{'+' if promotes else ''}"

    def play(self, move: Move) -> None:
        at, to, promotes = move
        piece = self.board[at]
        board = self._after(at, to, promotes)
        quiet = piece.upper() != "P" and len(board) == len(self.board)
        two = piece.upper() == "P" and abs(to[1] - at[1]) == 2
        self.board = board
        self.passed = (at[0], (at[1] + to[1]) // 2) if two else None
        self.quiet = self.quiet + 1 if quiet else 0
        self.number += not self.white
        self.white = not self.white
        self.seen.append(self._identity())

    def play_text(self, *words: str) -> ReferenceChess:
        for word in words:
            self.play(next(move for move in self.moves() if self.notation(move) == word))
        return self

    # The end

    def ending(self) -> tuple[str, int] | None:
        """Why the game is over after the last move, and +1 if White has won, -1 if Black, 0 for a draw; else None."""
        mover, won = not self.white, 1 if not self.white else -1
        theirs = [at for at, piece in self.board.items() if is_white(piece) != mover]
        ours = [at for at, piece in self.board.items() if is_white(piece) == mover and piece.upper() != "K"]
        if len(theirs) == 1:
            if len(ours) == 1 and any(to == ours[0] for _, to, _ in self.moves()):
                return "bare king", 0
            return "bare king", won
        if not self.moves():
            return ("checkmate", won) if self.attacked(self.white) else ("stalemate", 0)
        if self.seen.count(self.seen[-1]) >= 3:
            return "repetition", 0
        if self.quiet >= 200:
            return "200 plies", 0
        return None


def perft(game: ReferenceChess, depth: int) -> int:
    """How many sequences of so many legal moves there are, ends of games left out of account."""
    moves = game.moves()
    if depth == 1:
        return len(moves)
    total = 0
    for move in moves:
        twin = game.copy()
        twin.play(move)
        total += perft(twin, depth - 1)
    return total


def random_games(games: int, seed: int = 0, plies: int = 1000) -> Iterator[ReferenceChess]:
    """Every position of random games, each as it then stands."""
    rng = random.Random(seed)
    for _ in range(games):
        game = ReferenceChess()
        for _ in range(plies):
            yield game
            if game.ending() is not None:
                break
            game.play(rng.choice(game.moves()))
