"""Pictures of Mozaic, as data for `mozaic_env.drawing.picture`; those in text are in `drawing_text`."""

import functools

import numpy as np

from mozaic_env.drawing.picture import Box, Item, Line, Picture, Text, Use
from mozaic_env.drawing.places import Place
from mozaic_env.games.mozaic import symbols
from mozaic_env.games.mozaic.actions import (
    EDITIONS,
    FILES,
    NO_GEM,
    PLAYERS,
    POINTS_PER_SQUARE,
    Gem,
    format_action,
    tile_name,
    tiles_of_action,
)
from mozaic_env.games.mozaic.symbols import INK, MUTED

SIZE = 512  # of the picture, in units
LEFT, TOP, BOARD = 36, 72, 368  # the room for the board
LARGEST_TILE = 92
LADDER_X, RUNG_WIDTH = (427, 467), 32
RUNGS, MOST_RUNGS, RUNG_PITCH = 16, 64, 23
BAG_Y = 485
EFFECTS = {Gem.EMERALD: "emerald: slide", Gem.DIAMOND: "diamond: remove"}


def draw(row: np.void, before: np.void | None = None, action: int | None = None, caption: str = "") -> Picture:
    """See `mozaic_env.core.game.Game.draw`."""
    board = _board(int(row["rows"]), int(row["cols"]))
    return Picture(
        SIZE,
        SIZE,
        symbols.PAPER,
        _still(board, int(row["edition"]), _rungs(row)),
        (
            *_header(row, caption or _last_move(row, before, action)),
            *_marks(board, row, before, action),
            *_gems(board, row),
            *_ladders(row, before),
            *_bag(row),
        ),
        title=f"Mozaic, {_headline(row)}, yellow {row['score'][0]}, blue {row['score'][1]}",
    )


def places(row: np.void) -> tuple[Place, ...]:
    """The tiles, where `draw` puts them."""
    board = _board(int(row["rows"]), int(row["cols"]))
    gems = [int(gems) for gems in row["gems"]]
    found = []
    for tile in range(board.rows * board.cols):
        holds = next((f"{PLAYERS[colour]} gem" for colour in range(2) if gems[colour] >> tile & 1), "")
        found.append(Place(tile_name(tile, board.cols), *board.corner(tile), board.tile, board.tile, holds))
    return tuple(found)


def clicks(row: np.void, action: int) -> tuple[str, ...]:
    """The tile; of a slide the one that it leaves, then the other."""
    rows, cols = int(row["rows"]), int(row["cols"])
    return tuple(tile_name(tile, cols) for tile in tiles_of_action(action, rows, cols))


class _Board:
    """Where the tiles are, and which make squares; tiles are bits of whole numbers."""

    def __init__(self, rows: int, cols: int) -> None:
        self.rows, self.cols = rows, cols
        self.tile = min(LARGEST_TILE, BOARD // max(rows, cols))
        self.x = LEFT + (BOARD - cols * self.tile) // 2
        self.y = TOP + (BOARD - rows * self.tile) // 2

    def corner(self, tile: int) -> tuple[int, int]:
        """The upper left corner of a tile."""
        rank, file = divmod(tile, self.cols)
        return self.x + file * self.tile, self.y + (self.rows - 1 - rank) * self.tile

    def middle(self, tile: int) -> tuple[float, float]:
        x, y = self.corner(tile)
        return x + self.tile / 2, y + self.tile / 2

    def tiles(self, bits: int) -> list[int]:
        return [tile for tile in range(self.rows * self.cols) if bits >> tile & 1]

    def squares(self, bits: int) -> int:
        """The lower left tiles of the 2 x 2 blocks that a board fills."""
        blocks = 0
        for tile in self.tiles(bits):
            block = (1 << tile) * (3 | 3 << self.cols)
            if tile % self.cols < self.cols - 1 and bits & block == block:
                blocks |= 1 << tile
        return blocks


@functools.cache
def _board(rows: int, cols: int) -> _Board:
    return _Board(rows, cols)


@functools.cache
def _still(board: _Board, edition: int, rungs: int) -> tuple[Item, ...]:
    """What does not change in a game: the empty board, its coordinates, the empty ladders."""
    width, height = board.cols * board.tile, board.rows * board.tile
    items: list[Item] = [Box(board.x - 4, board.y - 4, width + 8, height + 8, 9, fill=symbols.BOARD)]
    items += [Use(symbols.tile(board.tile), *board.corner(tile)) for tile in range(board.rows * board.cols)]
    for rank in range(board.rows):
        y = board.middle(rank * board.cols)[1] + 5
        items.append(Text(board.x - 15, y, str(rank + 1), 13, "middle", fill=MUTED))
    for file in range(board.cols):
        items.append(Text(board.middle(file)[0], board.y + height + 20, FILES[file], 13, "middle", fill=MUTED))
    for colour, x in enumerate(LADDER_X):
        items.append(Use(symbols.gem(Gem(colour), edition, 11), x + RUNG_WIDTH / 2, TOP - 22))
        for step in range(rungs):
            y, h = _rung(step, rungs)
            items.append(Box(x + 1, y + 1, RUNG_WIDTH - 2, h - 2, min(h / 4, 5), fill=symbols.TILE))
    items.append(Text(LEFT, BAG_Y + 5, "bag", 13, fill=MUTED))
    middle = (LADDER_X[0] + LADDER_X[1] + RUNG_WIDTH) / 2
    items.append(Text(middle, BAG_Y + 5, EDITIONS[edition], 12, "middle", fill=MUTED))
    return tuple(items)


def _headline(row: np.void) -> str:
    if row["plays"] == 0:
        lead = int(row["score"][0]) - int(row["score"][1])
        return f"{PLAYERS[lead < 0]} wins" if lead else "a draw"
    return f"{PLAYERS[row['mover']]} to {'draw' if row['hand'] == NO_GEM else 'play'}"


def _last_move(row: np.void, before: np.void | None, action: int | None) -> str:
    words = [] if action is None else ["last move " + format_action(action, int(row["rows"]), int(row["cols"]))]
    for colour, name in enumerate(PLAYERS):
        gained = 0 if before is None else int(row["score"][colour]) - int(before["score"][colour])
        if gained > 0:
            words.append(f"+{gained} {name}")
    return ", ".join(words)


def _header(row: np.void, caption: str) -> list[Item]:
    """Whose turn it is, what has just happened, and the gem in hand."""
    edition, slot = int(row["edition"]), 44
    lead = int(row["score"][0]) - int(row["score"][1])
    who = int(row["mover"]) if row["plays"] else int(lead < 0) if lead else None
    items: list[Item] = [Text(LEFT, 57, caption, 13, fill=MUTED)]
    if who is not None:
        items.append(Use(symbols.gem(Gem(who), edition, 10), LEFT + 10, 30))
    items.append(Text(LEFT + (0 if who is None else 28), 36, _headline(row), 20, fill=INK, bold=True))
    if row["plays"] == 0:
        return items
    right = LEFT + BOARD
    items.append(Box(right - slot, 14, slot, slot, 8, fill="#ffffff", stroke=symbols.BOARD, width=2))
    which = ", first of two" if row["plays"] == 2 else ""
    items.append(Text(right - slot - 10, 33, "in hand" + which, 12, "end", fill=MUTED))
    if row["hand"] != NO_GEM:
        gem = Gem(row["hand"])
        items.append(Use(symbols.gem(gem, edition, 15), right - slot / 2, 14 + slot / 2))
        name = EFFECTS[gem] if gem in EFFECTS else PLAYERS[gem]
        items.append(Text(right - slot - 10, 51, name, 14, "end", fill=INK))
    return items


def _marks(board: _Board, row: np.void, before: np.void | None, action: int | None) -> list[Item]:
    """Under the gems: squares, tiles that have changed, and the way of a slide."""
    named = () if action is None else tiles_of_action(action, board.rows, board.cols)
    changed: set[int] = set()
    items: list[Item] = []
    for colour in range(2):
        now = int(row["gems"][colour])
        then = now if before is None else int(before["gems"][colour])
        changed |= set(board.tiles(now ^ then))
        items += _squares(board, colour, board.squares(now), board.squares(then))
    gems = int(row["gems"][0]) | int(row["gems"][1])
    for tile in sorted(changed | set(named)):
        strong = not named or tile in named
        items.append(Use(symbols.moved(board.tile, strong), *board.corner(tile)))
        if not gems >> tile & 1:
            items.append(Use(symbols.left(board.tile), *board.middle(tile)))
    slide = named or _slide(board, changed, gems)
    if len(slide) == 2:
        ends = tuple(board.middle(tile) for tile in slide)
        items.append(Line(ends, stroke=INK, width=board.tile * 0.09, opacity=0.5))
    return items


def _squares(board: _Board, colour: int, now: int, then: int) -> list[Item]:
    """The squares of a colour, those that are new above the others."""
    items: list[Item] = []
    for new, blocks in ((False, now & then), (True, now & ~then)):
        for tile in board.tiles(blocks):
            x, y = board.corner(tile)
            items.append(Use(symbols.square(colour, board.tile, new), x + board.tile, y))
    return items


def _slide(board: _Board, changed: set[int], gems: int) -> tuple[int, ...]:
    """Both tiles if nothing has changed but a slide."""
    left = [tile for tile in changed if not gems >> tile & 1]
    return (left[0], *(changed - set(left))) if len(changed) == 2 and len(left) == 1 else ()


def _gems(board: _Board, row: np.void) -> list[Item]:
    """All gems, and a mark where the four gems of a square meet."""
    edition = int(row["edition"])
    items: list[Item] = []
    joints: list[Item] = []
    for colour, radius in ((0, 0.385), (1, 0.43)):
        bits = int(row["gems"][colour])
        symbol = symbols.gem(Gem(colour), edition, board.tile * radius)
        items += [Use(symbol, *board.middle(tile)) for tile in board.tiles(bits)]
        for tile in board.tiles(board.squares(bits)):
            x, y = board.corner(tile)
            joints.append(Use(symbols.joint(colour, board.tile), x + board.tile, y))
    return items + joints


def _rungs(row: np.void) -> int:
    """How many squares the ladders have room for."""
    most, rungs = int(max(row["score"])) // POINTS_PER_SQUARE, RUNGS
    while rungs < min(most, MOST_RUNGS):
        rungs *= 2
    return rungs


def _rung(step: int, rungs: int) -> tuple[float, float]:
    """The upper edge and the height of a rung."""
    pitch = min(RUNG_PITCH, BOARD / rungs)
    return TOP + BOARD - (step + 1) * pitch, pitch


def _ladders(row: np.void, before: np.void | None) -> list[Item]:
    """A rung for each square, those won since `before` marked, and the points below."""
    rungs = _rungs(row)
    items: list[Item] = []
    for colour, x in enumerate(LADDER_X):
        points = int(row["score"][colour])
        old = points if before is None else int(before["score"][colour])
        for step in range(min(points // POINTS_PER_SQUARE, rungs)):
            y, height = _rung(step, rungs)
            symbol = symbols.rung(colour, RUNG_WIDTH, height, step >= old // POINTS_PER_SQUARE)
            items.append(Use(symbol, x, y))
        size = min(20, 66 / len(str(points)))
        items.append(Text(x + RUNG_WIDTH / 2, TOP + BOARD + 22, str(points), size, "middle", fill=INK, bold=True))
    return items


def _bag(row: np.void) -> list[Item]:
    """How many of each gem are in the bag."""
    edition = int(row["edition"])
    items: list[Item] = []
    for gem in Gem:
        x, number = LEFT + 52 + 54 * gem, int(row["bag"][gem])
        items.append(Use(symbols.gem(gem, edition, 10), x, BAG_Y))
        items.append(Text(x + 15, BAG_Y + 6, str(number), 16, fill=INK if number else symbols.FAINT))
    return items
