"""Pictures of Crystal Mosaic, as data for `mozaic_env.drawing.picture`."""

import functools

import numpy as np

from mozaic_env.drawing.picture import Box, Item, Picture, Text, Use
from mozaic_env.drawing.places import Place
from mozaic_env.games.crystal_mosaic import actions as names
from mozaic_env.games.crystal_mosaic import symbols
from mozaic_env.games.crystal_mosaic.actions import CENTRE, COLOURS, FLOOR_SPACES, MARKER, SEATS, SIZE, Board, Phase
from mozaic_env.games.crystal_mosaic.drawing_text import floor_of, headline, tiles_of
from mozaic_env.games.crystal_mosaic.layout import BOARD_H, BOARD_W, CELL, HEIGHT, MARGIN, WIDTH, Layout, layout
from mozaic_env.games.crystal_mosaic.position import counts, wall_letters
from mozaic_env.games.crystal_mosaic.symbols import INK, MUTED

_MARKER = SIZE  # in the place of a colour
_TILE = CELL - 3


def draw(row: np.void, before: np.void | None = None, action: int | None = None, caption: str = "") -> Picture:
    """See `mozaic_env.core.game.Game.draw`."""
    where = layout(int(row["players"]), int(row["factories"]))
    items = [*_header(row, caption or _last_move(row, before, action)), *_table(where, row)]
    for seat in range(where.players):
        items += _board(where, row, seat)
    items += _marks(where, row, before, action)
    scores = ", ".join(f"{SEATS[seat]} {row['score'][seat]}" for seat in range(where.players))
    still = _still(where, int(row["board"]), tuple(np.diff(row["penalties"]).tolist()))
    return Picture(
        WIDTH, HEIGHT, symbols.PAPER, still, tuple(items), title=f"Crystal Mosaic, {headline(row)}, {scores}"
    )


@functools.cache
def _still(where: Layout, board: int, floor: tuple[int, ...]) -> tuple[Item, ...]:
    """What does not change in a game: plates, empty spaces and what is printed."""
    items: list[Item] = []
    for source in range(where.factories):
        x, y, w, h = where.source(source)
        items.append(Box(x - w / 2, y - h / 2, w, h, w * 0.3, fill=symbols.PANEL, stroke=symbols.PLATE, width=1.5))
    x, y, w, h = where.source(CENTRE)
    items.append(Box(x - w / 2, y - h / 2, w, h, 8, fill=symbols.PANEL))
    items.append(Text(MARGIN + 2, y + 4, "centre", 12, fill=MUTED))
    for pile, name in enumerate(("bag", "lid")):
        items.append(Text(where.in_pile(pile, 0)[0] - 42, where.piles_y + 4, name, 12, fill=MUTED))
    for seat in range(where.players):
        items += _empty_board(where, board, floor, seat)
    return tuple(items)


def _empty_board(where: Layout, board: int, floor: tuple[int, ...], seat: int) -> list[Item]:
    x, y = where.board(seat)
    items: list[Item] = [Box(x, y, BOARD_W, BOARD_H, 9, fill=symbols.PANEL)]
    for line in range(SIZE):
        items += [Use(symbols.hole(_TILE), *where.line(seat, line, place)) for place in range(line + 1)]
        for column in range(SIZE):
            letter = names.PRINTS[Board(board)][line][column]
            printed = None if letter == "." else COLOURS.index(letter)
            spot = where.wall(seat, line, column)
            items.append(Use(symbols.space(printed, _TILE), *spot))
            if printed is not None and board in names.DOUBLING:
                items.append(Text(spot[0] + 8, spot[1] + 8, "x2", 9, "end", fill=INK, bold=True))
    for place in range(FLOOR_SPACES):
        spot = where.floor(seat, place)
        items.append(Use(symbols.hole(_TILE), *spot))
        items.append(Text(spot[0], spot[1] + 22, str(floor[place]), 10.5, "middle", fill=MUTED))
    return items


def _header(row: np.void, caption: str) -> list[Item]:
    items: list[Item] = [
        Text(MARGIN, 27, headline(row), 18, fill=INK, bold=True),
        Text(MARGIN, 46, caption, 12.5, fill=MUTED),
        Text(WIDTH - MARGIN, 27, f"round {row['round']}", 14, "end", fill=INK),
        Text(WIDTH - MARGIN, 46, f"{names.BOARDS[row['board']]}, {SEATS[row['starter']]} began", 12, "end", fill=MUTED),
    ]
    return items


def _table(where: Layout, row: np.void) -> list[Item]:
    """Factories, centre, bag and lid."""
    items: list[Item] = []
    for source in range(where.factories):
        for place, letter in enumerate(tiles_of(row["sources"][source], "")):
            symbol = symbols.tile(COLOURS.index(letter), where.table_tile)
            items.append(Use(symbol, *where.on_factory(source, place)))
    for colour, number in enumerate(counts(row["sources"][CENTRE])):
        items += _pile(where, colour, number, where.in_centre(colour), where.small_tile)
    if row["marker"] >= row["players"]:
        items.append(Use(symbols.marker(where.small_tile), *where.in_centre(_MARKER)))
    for pile, name in enumerate(("bag", "lid")):
        for colour, number in enumerate(counts(row[name])):
            items += _pile(where, colour, number, where.in_pile(pile, colour), 14.0)
    return items


def _pile(where: Layout, colour: int, number: int, spot: tuple[float, float], size: float) -> list[Item]:
    """A tile and how many of it there are; without a tile if there are none."""
    fill = INK if number else symbols.FAINT
    text = Text(spot[0] + size / 2 + 4, spot[1] + 5, str(number), 13, fill=fill, bold=bool(number))
    if not number:
        return [Use(symbols.hole(size), *spot), text]
    return [Use(symbols.tile(colour, size), *spot), text]


def _board(where: Layout, row: np.void, seat: int) -> list[Item]:
    """A player's name, points and tiles."""
    x, y = where.board(seat)
    items: list[Item] = []
    decides = row["phase"] in (Phase.DRAFT, Phase.TILING) and row["mover"] == seat
    if decides:
        items.append(Box(x + 4, y + 4, BOARD_W - 8, 19, 6, fill=symbols.TURN, stroke=INK, width=1.2))
    items.append(Text(x + 10, y + 18, SEATS[seat], 14, fill=INK, bold=True))
    items.append(Text(x + BOARD_W - 10, y + 18, f"{row['score'][seat]} points", 14, "end", fill=INK, bold=True))
    for line, letters in enumerate(wall_letters(row, seat)):
        symbol = symbols.tile(int(row["colour"][seat, line]), _TILE)
        items += [Use(symbol, *where.line(seat, line, place)) for place in range(row["filled"][seat, line])]
        for column, letter in enumerate(letters):
            if letter != ".":
                items.append(Use(symbols.tile(COLOURS.index(letter), _TILE), *where.wall(seat, line, column)))
    for place, letter in enumerate(floor_of(row, seat)):
        symbol = symbols.marker(_TILE) if letter == MARKER else symbols.tile(COLOURS.index(letter), _TILE)
        items.append(Use(symbol, *where.floor(seat, place)))
    return items


def _last_move(row: np.void, before: np.void | None, action: int | None) -> str:
    words = [] if action is None else ["last move " + names.format_action(action)]
    if before is not None:
        for seat in range(row["players"]):
            gained = int(row["score"][seat]) - int(before["score"][seat])
            if gained:
                words.append(f"{SEATS[seat]} {gained:+d}")
    return ", ".join(words)


def _marks(where: Layout, row: np.void, before: np.void | None, action: int | None) -> list[Item]:
    """Frames around the last action's source and target, and around what else has changed since `before`."""
    items: list[Item] = []
    if before is None:
        return items
    for seat in range(where.players):
        old, new = wall_letters(before, seat), wall_letters(row, seat)
        for line in range(SIZE):
            for column in range(SIZE):
                if old[line][column] != new[line][column]:
                    strong = action is not None and action >= names.TILING and before["mover"] == seat
                    strong = bool(strong and before["line"] == line)
                    items.append(Use(symbols.moved(CELL, CELL, strong), *where.wall(seat, line, column)))
        for target in range(SIZE):
            if row["filled"][seat, target] > before["filled"][seat, target]:
                items.append(_frame(where.target(seat, target), False))
        if row["floor"][seat] > before["floor"][seat]:
            items.append(_frame(where.target(seat, SIZE), False))
    if action is not None and action < names.TILING and before["phase"] == Phase.DRAFT:
        source, rest = divmod(action, names.PER_SOURCE)
        items.append(_frame(where.source(source), True))
        if before["round"] == row["round"] and before["decisions"] + 1 == row["decisions"]:
            items.append(_frame(where.target(int(before["mover"]), rest % names.TARGETS), True))
    return items


def _frame(place: tuple[float, float, float, float], strong: bool) -> Use:
    x, y, w, h = place
    return Use(symbols.moved(w, h, strong), x, y)


def places(row: np.void) -> tuple[Place, ...]:
    """Where the deciding player points: tiles on the table, lines and floor, spaces of a wall."""
    where, seat = layout(int(row["players"]), int(row["factories"])), int(row["mover"])
    found: list[Place] = []
    if row["phase"] == Phase.TILING:
        line = int(row["line"])
        for column in range(SIZE):
            found.append(_place(f"@{column + 1}", (*where.wall(seat, line, column), CELL, CELL), ""))
        return tuple(found)
    for source in range(where.factories):
        # Tiles of one colour lie side by side and are taken together.
        at = 0
        for colour, number in enumerate(counts(row["sources"][source])):
            if number:
                spots = [where.on_factory(source, place) for place in range(at, at + number)]
                x, y, w, h = _around(spots)
                box = (x, y, w + where.table_tile, h + where.table_tile)
                found.append(_place(f"F{source + 1}:{COLOURS[colour]}", box, f"{number} {names.COLOUR_NAMES[colour]}"))
            at += number
    for colour, number in enumerate(counts(row["sources"][CENTRE])):
        if number:
            spot_x, spot_y = where.in_centre(colour)
            size = where.small_tile
            found.append(
                _place(f"C:{COLOURS[colour]}", (spot_x, spot_y, size, size), f"{number} {names.COLOUR_NAMES[colour]}")
            )
    for target in range(names.TARGETS):
        found.append(
            _place(f">{'-' if target == SIZE else target + 1}", where.target(seat, target), _held(row, seat, target))
        )
    return tuple(found)


def clicks(row: np.void, action: int) -> tuple[str, ...]:
    """The source and the target of a draft, or the space of a wall."""
    source, arrow, target = names.format_action(action).partition(">")
    return (source, arrow + target) if arrow else (source,)


def _around(spots: list[tuple[float, float]]) -> tuple[float, float, float, float]:
    """The middle and the extent of some middles."""
    xs, ys = zip(*spots, strict=True)
    return (min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2, max(xs) - min(xs), max(ys) - min(ys)


def _place(name: str, box: tuple[float, float, float, float], holds: str) -> Place:
    x, y, w, h = box
    return Place(name, x - w / 2, y - h / 2, w, h, holds)


def _held(row: np.void, seat: int, target: int) -> str:
    if target == SIZE:
        return f"floor line, {len(floor_of(row, seat))} spaces taken"
    number = int(row["filled"][seat, target])
    return (
        f"line {target + 1}, {number} {names.COLOUR_NAMES[row['colour'][seat, target]]}"
        if number
        else (f"line {target + 1}, empty")
    )
