"""The piece table compiled: how every piece moves from every square, and from where it attacks another.

**Moves.** For a piece and a square a list of nodes, followed from the first: look at the node's square; if it is empty,
go there if the node says so and jump on by one distance, otherwise take there if the node says so and jump on by
another. Leaps, slides, hops and bent slides are all such lists (after S. Reul, New architectures in computer chess,
2009), so one loop moves every piece.

**Attacks.** For a piece and how far it stands from a square: how many squares between them count, in which direction
they lie from the attacked square, and with how many pieces on them (none, one) the piece attacks.
"""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from mozaic_env.games.mosaic_chess.pieces import KINDS, PAWN, PAWN_RANK, PIECES, ZONE, Offset, Piece, code_of

SIZE = 12
SQUARES = SIZE * SIZE
CODES = 2 * KINDS + 1  # 0 is the empty square
LAST_CODE = 2 * KINDS

GO, TAKE, PASSING = 1, 2, 4  # what a node allows: an empty square, an enemy, an empty square taken in passing
END = 255  # the square of the node behind the last
Node = tuple[int, int, int, int]  # square, what it allows, distance if empty, distance if not

DIRECTIONS = ((0, 0), (1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))
STEPS = np.array([dx + SIZE * dy for dx, dy in DIRECTIONS], np.int64)
WIDE = 2 * SIZE  # in a board this wide, the difference of two squares says how they stand to each other
MIDDLE = WIDE * (SIZE - 1) + SIZE - 1


def wide(square: int) -> int:
    """The index of a square on a board twice as wide."""
    return square + SIZE * (square // SIZE)


def on_board(file: int, rank: int) -> bool:
    """Whether there is such a square."""
    return 0 <= file < SIZE and 0 <= rank < SIZE


def turned(offset: Offset, black: bool) -> Offset:
    """An offset as a colour sees it."""
    return (offset[0], -offset[1]) if black else offset


def ray(square: int, start: Offset, direction: Offset | None) -> list[int]:
    """The squares from `start` away on in a direction, to the edge; None: that square alone."""
    file, rank = square % SIZE + start[0], square // SIZE + start[1]
    found = []
    while on_board(file, rank):
        found.append(SIZE * rank + file)
        if direction is None:
            break
        file, rank = file + direction[0], rank + direction[1]
    return found


def slide_nodes(squares: list[int]) -> list[Node]:
    """Goes on while squares are empty, takes on the first that is not."""
    size = len(squares)
    return [(square, GO | TAKE, 1, size - i) for i, square in enumerate(squares)]


def hop_nodes(squares: list[int], before: int) -> list[Node]:
    """Jumps over the first piece, then goes on like a slide; `before` is what is allowed up to that piece."""
    first, second = squares if before else squares[:-1], squares[1:]
    total = len(first) + len(second)
    nodes = []
    for i, square in enumerate(first):
        over = len(first) if i < len(second) else total - i  # on to the next square, behind the jump
        nodes.append((square, before, total - i if i == len(first) - 1 else 1, over))
    return nodes + slide_nodes(second)


def bent_nodes(square: int, first: Offset, directions: Iterable[Offset]) -> list[Node]:
    """A leap, and slides on from there if it came to an empty square."""
    start = ray(square, first, None)
    rest: list[Node] = []
    for dx, dy in directions if start else ():
        rest += slide_nodes(ray(square, (first[0] + dx, first[1] + dy), (dx, dy)))
    return [(to, GO | TAKE, 1, 1 + len(rest)) for to in start] + rest


def nodes_of(piece: Piece, square: int, black: bool) -> list[Node]:
    """A piece's whole list, without its end."""
    nodes: list[Node] = []
    for offset in piece.leaps:
        nodes += slide_nodes(ray(square, turned(offset, black), None))
    for direction in (turned(offset, black) for offset in piece.slides):
        squares = ray(square, direction, direction)
        if not squares:
            continue
        both = direction in [turned(offset, black) for offset in piece.hops]
        nodes += hop_nodes(squares, GO | TAKE) if both else slide_nodes(squares)
    for direction in (turned(offset, black) for offset in piece.hops if offset not in piece.slides):
        squares = ray(square, direction, direction)
        if squares:
            nodes += hop_nodes(squares, 0)
    for first, directions in piece.bent:
        nodes += bent_nodes(square, turned(first, black), [turned(offset, black) for offset in directions])
    rank = square // SIZE + 1
    doubles = piece.double and rank == (SIZE + 1 - PAWN_RANK if black else PAWN_RANK)
    for direction in (turned(offset, black) for offset in piece.steps):
        squares = ray(square, direction, direction)[: 2 if doubles else 1]
        nodes += [(to, GO, 1, len(squares) - i) for i, to in enumerate(squares)]
    for offset in piece.takes:
        nodes += [(to, TAKE | PASSING, 1, 1) for to in ray(square, turned(offset, black), None)]
    return nodes


def _pack(nodes: list[Node]) -> list[int]:
    return [square | flags << 8 | empty << 16 | other << 24 for square, flags, empty, other in nodes]


def _is_mirrored(piece: Piece) -> bool:
    """Whether both colours move it alike."""
    shapes = (piece.leaps, piece.slides, piece.hops, piece.steps, piece.takes)
    bent = {(first, frozenset(on)) for first, on in piece.bent}
    back = {(turned(first, True), frozenset(turned(offset, True) for offset in on)) for first, on in piece.bent}
    return bent == back and all(set(shape) == {turned(offset, True) for offset in shape} for shape in shapes)


def _move_tables() -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int32]]:
    nodes: list[int] = []
    starts = np.zeros((CODES, SQUARES), np.int32)
    for code in range(1, CODES):
        piece, black = PIECES[(code - 1) % KINDS], code > KINDS
        if black and _is_mirrored(piece):
            starts[code] = starts[code - KINDS]
            continue
        for square in range(SQUARES):
            starts[code, square] = len(nodes)
            nodes += [*_pack(nodes_of(piece, square, black)), END]
    return np.array(nodes, np.uint32), starts


def _attacks(piece: Piece, black: bool) -> dict[Offset, tuple[int, int, int]]:
    """For each offset from piece to attacked square: direction and number of the squares between, and what they hold.

    The last is a sum of 1 (no piece) and 2 (one piece): with so many the piece attacks.
    """
    found: dict[Offset, tuple[int, int, int]] = {}

    def add(offset: Offset, direction: Offset, between: int, holds: int) -> None:
        if abs(offset[0]) >= SIZE or abs(offset[1]) >= SIZE:
            return
        back = DIRECTIONS.index((-direction[0], -direction[1])) if between else 0
        before = found.setdefault(offset, (back, between, 0))
        if before[:2] != (back, between):
            raise AssertionError(f"{piece.name} attacks {offset} in two ways")
        found[offset] = (back, between, before[2] | holds)

    for offset in (*piece.leaps, *piece.takes):
        add(turned(offset, black), (0, 0), 0, 1)
    for directions, holds in ((piece.slides, 1), (piece.hops, 2)):
        for dx, dy in (turned(offset, black) for offset in directions):
            for distance in range(1, SIZE):
                add((distance * dx, distance * dy), (dx, dy), distance - 1, holds)
    for first, directions in piece.bent:
        x, y = turned(first, black)
        add((x, y), (0, 0), 0, 1)
        for dx, dy in (turned(offset, black) for offset in directions):
            for distance in range(1, SIZE):
                add((x + distance * dx, y + distance * dy), (dx, dy), distance, 1)
    return found


def _attack_table() -> npt.NDArray[np.int16]:
    """By code and by the difference of wide indices, attacker less attacked: direction | between << 4 | holds << 8."""
    table = np.zeros((CODES, 2 * MIDDLE + 1), np.int16)
    for code in range(1, CODES):
        for (dx, dy), (back, between, holds) in _attacks(PIECES[(code - 1) % KINDS], code > KINDS).items():
            table[code, MIDDLE - dx - WIDE * dy] = back | between << 4 | holds << 8
    return table


NODES, STARTS = _move_tables()
ATTACKS = _attack_table()
WIDE_OF = np.array([wide(square) for square in range(SQUARES)], np.int64)
FLIPPED = np.array([SIZE * (SIZE - 1 - square // SIZE) + square % SIZE for square in range(SQUARES)], np.int64)


def _promotions() -> npt.NDArray[np.uint8]:
    """What each code may become, 0: nothing."""
    table = np.zeros(CODES, np.uint8)
    for code in range(1, CODES):
        letter = PIECES[(code - 1) % KINDS].promotion
        if letter:
            table[code] = code_of(letter if code <= KINDS else letter.lower())
    return table


PROMOTIONS = _promotions()
IN_ZONE = np.zeros((2, SQUARES), np.bool_)  # by colour: the ranks in which it may promote
IN_ZONE[0, SQUARES - SIZE * ZONE :] = IN_ZONE[1, : SIZE * ZONE] = True
LAST_RANK = np.zeros((2, SQUARES), np.bool_)
LAST_RANK[0, SQUARES - SIZE :] = LAST_RANK[1, :SIZE] = True

PAWNS = (1 + PAWN, 1 + KINDS + PAWN)  # codes by colour
KINGS = (code_of("K"), code_of("k"))
TENTHS = 10  # material is counted in tenths of a pawn
WORTH = np.array([0] + 2 * [round(TENTHS * piece.worth) for piece in PIECES], np.int32)


def _hash_numbers(size: int, stream: int) -> npt.NDArray[np.uint64]:
    return np.random.SeedSequence([20210, stream]).generate_state(size, np.uint64).astype(np.uint64)


# Numbers of the position hash (A. Zobrist, A new hashing method with application for game playing, 1970).
HASH_OF_PIECE = _hash_numbers(CODES * SQUARES, 1).reshape(CODES, SQUARES)
HASH_OF_PIECE[0] = 0
HASH_OF_PASSED = np.append(_hash_numbers(SQUARES, 2), np.uint64(0))  # by square; the last: none
HASH_OF_BLACK = _hash_numbers(1, 3)[0]
