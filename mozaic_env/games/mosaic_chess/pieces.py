"""The one table of pieces: what each is called, how it moves, what it becomes. Everything else follows from it.

Offsets are (files, ranks), ranks positive towards the opponent. `mozaic_env.games.mosaic_chess.tables` compiles them.
"""

from dataclasses import dataclass

Offset = tuple[int, int]
Bent = tuple[Offset, tuple[Offset, ...]]  # a first leap, and the directions to slide on in from there


def every(*offsets: Offset) -> tuple[Offset, ...]:
    """All 8 or 4 symmetric copies of each offset."""
    copies = {
        (sx * a, sy * b): None
        for dx, dy in offsets
        for a, b in ((dx, dy), (dy, dx))
        for sx in (1, -1)
        for sy in (1, -1)
    }
    return tuple(copies)


def every_bent(first: Offset, *directions: Offset) -> tuple[Bent, ...]:
    """The symmetric copies of a bent slide, its directions turned with it."""
    copies: dict[Offset, set[Offset]] = {}
    for swap in (False, True):
        for sx in (1, -1):
            for sy in (1, -1):
                turned = [(sx * (dy if swap else dx), sy * (dx if swap else dy)) for dx, dy in (first, *directions)]
                copies.setdefault(turned[0], set()).update(turned[1:])
    return tuple((start, tuple(sorted(on))) for start, on in copies.items())


WAZIR, FERZ = every((1, 0)), every((1, 1))
AHEAD, BACK = (0, 1), (0, -1)
AHEAD_LEFT, AHEAD_RIGHT = (-1, 1), (1, 1)


@dataclass(frozen=True)
class Piece:
    """One kind of piece, as White moves it.

    Attributes:
        letter: capital.
        name: in English.
        betza: the same as what follows, in Betza's notation.
        worth: in pawns; this project's own, see docs/mosaic-chess.md.
        leaps: squares to go to or take on, whatever is between.
        slides: directions to go on in while squares are empty.
        hops: directions in which to jump over exactly one piece, then to go on.
        bent: bent slides.
        steps: squares to go to but not to take on.
        double: a second step of the same kind is possible from the start rank.
        takes: squares to take on but not to go to; in passing as well.
        promotion: the letter of what it may become, or "".
    """

    letter: str
    name: str
    betza: str
    worth: float
    leaps: tuple[Offset, ...] = ()
    slides: tuple[Offset, ...] = ()
    hops: tuple[Offset, ...] = ()
    bent: tuple[Bent, ...] = ()
    steps: tuple[Offset, ...] = ()
    double: bool = False
    takes: tuple[Offset, ...] = ()
    promotion: str = ""


PIECES = (
    Piece("P", "Pawn", "ifmnDfmWfceF", 1, steps=(AHEAD,), double=True, takes=(AHEAD_LEFT, AHEAD_RIGHT), promotion="L"),
    Piece("E", "Drunk Elephant", "FfsW", 3, leaps=(*FERZ, (1, 0), (-1, 0), AHEAD), promotion="O"),
    Piece("I", "Kirin", "FD", 3, leaps=(*FERZ, *every((2, 0))), promotion="O"),
    Piece("G", "Gold General", "WfF", 2.5, leaps=(*WAZIR, AHEAD_LEFT, AHEAD_RIGHT), promotion="U"),
    Piece("S", "Silver General", "FfW", 2.5, leaps=(*FERZ, AHEAD), promotion="D"),
    Piece("X", "Phoenix", "WA", 3, leaps=(*WAZIR, *every((2, 2))), promotion="D"),
    Piece("C", "Copper General", "vWfF", 2, leaps=(AHEAD, AHEAD_LEFT, AHEAD_RIGHT, BACK), promotion="Y"),
    Piece("R", "Rook", "R", 6, slides=WAZIR, promotion="Q"),
    Piece("B", "Bishop", "B", 4.5, slides=FERZ, promotion="Q"),
    Piece("M", "Bombard", "pR", 4, hops=WAZIR, promotion="Q"),
    Piece("A", "Arbalest", "pB", 3, hops=FERZ, promotion="Q"),
    Piece("N", "Knight", "ND", 4.5, leaps=every((2, 1), (2, 0)), promotion="Y"),
    Piece("Z", "Zebra", "Z", 2.5, leaps=every((3, 2)), promotion="U"),
    Piece("L", "Lion", "CH", 4, leaps=every((3, 1), (3, 0))),
    Piece("Y", "Gryphon", "FyafsF", 9, bent=every_bent((1, 1), (1, 0), (0, 1))),
    Piece("D", "Condor", "AmpafyafsF", 7.5, bent=every_bent((2, 2), (1, 0), (0, 1))),
    Piece("O", "Osprey", "DmpafyafsW", 7.5, bent=every_bent((0, 2), (1, 1), (-1, 1))),
    Piece("U", "Rhinoceros", "mpyafsW", 7.5, bent=every_bent((1, 2), (1, 1))),
    Piece("Q", "Cannon Queen", "QpQ", 13, slides=(*WAZIR, *FERZ), hops=(*WAZIR, *FERZ)),
    Piece("K", "King", "K", 0, leaps=(*WAZIR, *FERZ)),
)

LETTERS = "".join(piece.letter for piece in PIECES)
KINDS = len(PIECES)
PAWN, KING = LETTERS.index("P"), LETTERS.index("K")

SETUP = (  # White's ranks, the first one first; Black's are their mirror image
    "DLUZOQKOZULD",
    "RMNBAYYABNMR",
    "XIEGSCCSGEIX",
    "PPPPPPPPPPPP",
)
PAWN_RANK = 4  # from which a pawn may move two, seen from its own side
ZONE = 4  # the last ranks, in which pieces may promote


def symbol(code: int) -> str:
    """A piece's letter, in lower case for Black; codes are 1 + kind for White and 1 + `KINDS` + kind for Black."""
    letter = LETTERS[(code - 1) % KINDS]
    return letter if code <= KINDS else letter.lower()


def code_of(letter: str) -> int:
    """The inverse of `symbol`; ValueError if it is no piece."""
    if len(letter) != 1 or letter.upper() not in LETTERS or letter.upper() == letter.lower():
        raise ValueError(f"{letter!r} is no piece; accepted: {LETTERS}, in lower case for Black")
    return 1 + LETTERS.index(letter.upper()) + (0 if letter.isupper() else KINDS)
