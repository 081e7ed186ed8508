"""Pictures of Mosaic Chess, as data for `mozaic_env.drawing.picture`."""

import functools

import numpy as np

from mozaic_env.drawing.picture import Box, Item, Picture, Text, Use
from mozaic_env.drawing.places import Place
from mozaic_env.games.mosaic_chess import board, rules, symbols
from mozaic_env.games.mosaic_chess.actions import FILES, NUM_ACTIONS, PLAYERS, format_action, square_name
from mozaic_env.games.mosaic_chess.board import MOST_QUIET, NOWHERE
from mozaic_env.games.mosaic_chess.describe import piece_name
from mozaic_env.games.mosaic_chess.drawing_text import headline, material
from mozaic_env.games.mosaic_chess.pieces import KINDS, PIECES
from mozaic_env.games.mosaic_chess.symbols import INK, MUTED
from mozaic_env.games.mosaic_chess.tables import SIZE, SQUARES

WIDTH = 512  # of the picture, in units
TILE = 36
LEFT, TOP = 40, 54  # of the board
LETTER = 0.5  # size of a piece's letter, in tiles


def corner(square: int) -> tuple[float, float]:
    """The upper left corner of a square."""
    return LEFT + TILE * (square % SIZE), TOP + TILE * (SIZE - 1 - square // SIZE)


def middle(square: int) -> tuple[float, float]:
    """The middle of a square."""
    x, y = corner(square)
    return x + TILE / 2, y + TILE / 2


def places(row: np.void) -> tuple[Place, ...]:
    """The squares, where `draw` puts them."""
    found = []
    for square in range(SQUARES):
        code = int(row["board"][square])
        holds = f"{PLAYERS[(code - 1) // KINDS]} {piece_name(code)}" if code else ""
        found.append(Place(square_name(square), *corner(square), TILE, TILE, holds))
    return tuple(found)


def clicks(row: np.void, action: int) -> tuple[str, ...]:
    """The piece's square, or the square to go to; a promotion is asked about."""
    return (square_name(action % SQUARES),)


@functools.cache
def _still() -> tuple[Item, ...]:
    """The empty board and its coordinates."""
    side = SIZE * TILE
    items: list[Item] = [Box(LEFT - 4, TOP - 4, side + 8, side + 8, 4, fill=symbols.FRAME)]
    for square in range(SQUARES):
        items.append(Use(symbols.tile(TILE, (square % SIZE + square // SIZE) % 2 == 0), *corner(square)))
    for rank in range(SIZE):
        items.append(Text(LEFT - 18, middle(SIZE * rank)[1] + 5, str(rank + 1), 13, "middle", fill=MUTED))
    for file in range(SIZE):
        items.append(Text(middle(file)[0], TOP + side + 19, FILES[file], 13, "middle", fill=MUTED))
    return tuple(items)


def draw(row: np.void, before: np.void | None = None, action: int | None = None, caption: str = "") -> Picture:
    """See `mozaic_env.core.game.Game.draw`."""
    title = headline(row)
    said = caption or ("" if action is None else f"last: {format_action(action)}")
    quiet = f"{row['quiet']} of {MOST_QUIET} quiet plies" if row["quiet"] else ""
    header: tuple[Item, ...] = (
        Text(LEFT, 24, title, 18, fill=INK, bold=True),
        Text(LEFT, 42, said, 12, fill=MUTED),
        Text(LEFT + SIZE * TILE, 24, material(row), 12, "end", fill=MUTED),
        Text(LEFT + SIZE * TILE, 42, quiet, 12, "end", fill=MUTED),
    )
    return Picture(
        WIDTH,
        WIDTH,
        symbols.PAPER,
        _still(),
        (*header, *_marks(row, before, action), *pieces(row), *_targets(row)),
        title=f"Mosaic Chess, {title}",
    )


def pieces(row: np.void) -> list[Item]:
    """All pieces with their letters."""
    items: list[Item] = []
    for square in np.flatnonzero(row["board"]).tolist():
        side, kind = divmod(int(row["board"][square]) - 1, KINDS)
        items += piece(kind, side, *middle(square))
    return items


def piece(kind: int, side: int, x: float, y: float) -> list[Item]:
    """A piece around the middle of its square."""
    letter = Text(
        x, y + 0.36 * LETTER * TILE, PIECES[kind].letter, LETTER * TILE, "middle", fill=symbols.LETTERS[side], bold=True
    )
    return [Use(symbols.piece(kind, side, TILE), x, y), letter]


def _marks(row: np.void, before: np.void | None, action: int | None) -> list[Item]:
    """Under the pieces: what has changed, the chosen piece, an attacked king."""
    side, items = int(row["mover"]), list[Item]()
    if board.is_attacked(row, int(row["kings"][side]), 1 - side):
        items.append(Use(symbols.danger(TILE), *corner(int(row["kings"][side]))))
    changed = [] if before is None else np.flatnonzero(before["board"] != row["board"]).tolist()
    named = [] if action is None else [action % SQUARES]
    for square in sorted({*changed, *named}):
        items.append(Use(symbols.frame(TILE, not named or square in named), *corner(square)))
    if row["chosen"] != NOWHERE:
        items.append(Use(symbols.chosen(TILE), *corner(int(row["chosen"]))))
    return items


def _targets(row: np.void) -> list[Item]:
    """Above the pieces: where the chosen one can go."""
    if row["chosen"] == NOWHERE or row["ending"] != rules.RUNNING:
        return []
    mask = np.zeros((1, NUM_ACTIONS), np.int8)
    rules.legal(row, mask, 0)
    reached = sorted({int(action) % SQUARES for action in np.flatnonzero(mask[0])})
    return [Use(symbols.target(TILE, bool(row["board"][square])), *middle(square)) for square in reached]
