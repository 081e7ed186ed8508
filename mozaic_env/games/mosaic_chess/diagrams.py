"""Pictures of how each piece moves, from the same table that the rules are compiled from."""

from mozaic_env.drawing.picture import Item, Picture, Text, Use
from mozaic_env.games.mosaic_chess import symbols
from mozaic_env.games.mosaic_chess.pieces import KINDS, LETTERS, PAWN, PAWN_RANK, PIECES, SETUP
from mozaic_env.games.mosaic_chess.tables import GO, SIZE, TAKE, nodes_of

TILE = 25
WIDTH = SIZE * TILE
MIDDLE = 5 + SIZE * 5  # f6
JUMPED = 2  # how far from a cannon the pieces stand that it jumps over


def moves_picture(kind: int) -> Picture:
    """The squares that a white piece reaches from the middle of the board, or a pawn from its start rank.

    Dots: squares to go to or take on. Rings: squares only to take on. Cannons have pieces to jump over.
    """
    piece = PIECES[kind]
    origin = MIDDLE % SIZE + SIZE * (PAWN_RANK - 1) if kind == PAWN else MIDDLE
    jumped = {origin + JUMPED * (dx + SIZE * dy) for dx, dy in piece.hops}
    items: list[Item] = []
    for square in range(SIZE * SIZE):
        dark = (square % SIZE + square // SIZE) % 2 == 0
        items.append(Use(symbols.tile(TILE, dark), *_corner(square)))
    for square, takes_only in _reached(kind, origin, jumped).items():
        items.append(Use(symbols.target(TILE, takes_only), *_middle(square)))
    for square in sorted(jumped):
        items += _piece(PAWN, 1, square)
    items += _piece(kind, 0, origin)
    return Picture(WIDTH, WIDTH, symbols.PAPER, (), tuple(items), title=f"The moves of the {piece.name}")


def setup_picture() -> Picture:
    """The first position."""
    items: list[Item] = []
    for square in range(SIZE * SIZE):
        items.append(Use(symbols.tile(TILE, (square % SIZE + square // SIZE) % 2 == 0), *_corner(square)))
    for rank, letters in enumerate(SETUP):
        for file, letter in enumerate(letters):
            items += _piece(LETTERS.index(letter), 0, SIZE * rank + file)
            items += _piece(LETTERS.index(letter), 1, SIZE * (SIZE - 1 - rank) + file)
    return Picture(WIDTH, WIDTH, symbols.PAPER, (), tuple(items), title="The first position")


def pictures() -> dict[str, Picture]:
    """All pictures by name."""
    found = {f"moves-{PIECES[kind].letter}": moves_picture(kind) for kind in range(KINDS)}
    return {"setup": setup_picture(), **found}


def _reached(kind: int, origin: int, occupied: set[int]) -> dict[int, bool]:
    """The squares that the compiled list of the piece comes to, and whether only to take there."""
    nodes = nodes_of(PIECES[kind], origin, False)
    found: dict[int, bool] = {}
    at = 0
    while at < len(nodes):
        square, allows, if_empty, if_not = nodes[at]
        if square in occupied:
            if allows & TAKE:
                found[square] = False
            at += if_not
        else:
            if allows & (GO | TAKE):
                found[square] = not allows & GO
            at += if_empty
    return found


def _corner(square: int) -> tuple[float, float]:
    return TILE * (square % SIZE), TILE * (SIZE - 1 - square // SIZE)


def _middle(square: int) -> tuple[float, float]:
    x, y = _corner(square)
    return x + TILE / 2, y + TILE / 2


def _piece(kind: int, side: int, square: int) -> list[Item]:
    x, y = _middle(square)
    letter = Text(x, y + 4.5, PIECES[kind].letter, 12.5, "middle", fill=symbols.LETTERS[side], bold=True)
    return [Use(symbols.piece(kind, side, TILE), x, y), letter]
