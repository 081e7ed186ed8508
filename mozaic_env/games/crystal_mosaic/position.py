"""Position strings: fields that say all but the random stream, with every malformed one refused."""

import re

import numpy as np

from mozaic_env.games.crystal_mosaic import actions as names
from mozaic_env.games.crystal_mosaic import rules
from mozaic_env.games.crystal_mosaic.actions import (
    CENTRE,
    COLOURS,
    FLOOR_SPACES,
    MARKER,
    PER_FACTORY,
    SIZE,
    TILES_OF_COLOUR,
)
from mozaic_env.games.crystal_mosaic.rules import DRAFT, ENDED, NOBODY, TILING

FORMAT = (
    "<round> <starter> <turn> <factories> <centre> <bag> <lid> and for each player <score>:<lines>:<wall>:<floor>, "
    "such as '1 1 1 BYRK/BBWW/KRRY/WWYB/RRKK * 16,17,15,16,16 0,0,0,0,0 "
    "0:-/-/-/-/-:...../...../...../...../.....:- 0:-/-/-/-/-:...../...../...../...../.....:-'"
)


def format_position(row: np.void) -> str:
    """A row at a decision or at the end as its position string."""
    turn = "-"
    if row["phase"] == DRAFT:
        turn = str(row["mover"] + 1)
    elif row["phase"] == TILING:
        turn = f"{row['mover'] + 1}@{row['line'] + 1}"
    centre = (MARKER if row["marker"] == NOBODY else "") + _letters(row["sources"][CENTRE])
    return " ".join(
        [
            str(row["round"]),
            str(row["starter"] + 1),
            turn,
            "/".join(_letters(pile) or "-" for pile in row["sources"][: row["factories"]]),
            centre or "-",
            ",".join(map(str, counts(row["bag"]))),
            ",".join(map(str, counts(row["lid"]))),
            *(_format_player(row, seat) for seat in range(row["players"])),
        ]
    )


def counts(pile: np.uint64) -> list[int]:
    """How many tiles of each colour a pile has."""
    return [int(pile) >> 8 * colour & 255 for colour in range(SIZE)]


def pile(letters: str) -> int:
    """The pile of tiles given as letters."""
    return sum(1 << 8 * COLOURS.index(letter) for letter in letters)


def _letters(pile: np.uint64) -> str:
    return "".join(letter * number for letter, number in zip(COLOURS, counts(pile), strict=True))


def wall_letters(row: np.void, seat: int) -> list[str]:
    """A wall as five strings of five letters, "." for an empty space."""
    cells = ["."] * SIZE * SIZE
    for letter, board in zip(COLOURS, row["wall"][seat].tolist(), strict=True):
        while board:
            cells[(board & -board).bit_length() - 1] = letter
            board &= board - 1
    return ["".join(cells[SIZE * line : SIZE * (line + 1)]) for line in range(SIZE)]


def _format_player(row: np.void, seat: int) -> str:
    filled, colours = row["filled"][seat].tolist(), row["colour"][seat].tolist()
    lines = [COLOURS[colour] * number or "-" for colour, number in zip(colours, filled, strict=True)]
    floor = _letters(row["floor"][seat]) + (MARKER if row["marker"] == seat else "")
    return ":".join([str(row["score"][seat]), "/".join(lines), "/".join(wall_letters(row, seat)), floor or "-"])


def read_position(text: str, row: np.void) -> None:
    """Writes a position into a row that carries the options; the key stays.

    Raises:
        ValueError: the text has another form, or no game of this board and number of players can reach it.
    """
    if not isinstance(text, str):
        raise ValueError(f"a position is a string of the form {FORMAT}; got {text!r}")
    words, players = text.split(" "), int(row["players"])
    if len(words) != 7 + players:
        raise ValueError(
            f"position {text!r} has {len(words)} fields separated by single spaces; "
            f"expected {7 + players} for {players} players: {FORMAT}"
        )
    try:
        for name in ("decisions", "draws", "dealt", "line", "sources", "floor", "wall", "filled", "colour", "score"):
            row[name] = 0
        _read_turn(words, row)
        _read_table(words, row)
        for seat in range(players):
            _read_player(words[7 + seat], row, seat)
        _check(row)
    except ValueError as error:
        raise ValueError(f"position {text!r}: {error}") from None


def _number(text: str, low: int, high: int, what: str) -> int:
    if not re.fullmatch(r"0|[1-9]\d{0,2}", text, re.ASCII) or not low <= int(text) <= high:
        raise ValueError(f"{what} {text!r}; accepted: a number from {low} to {high}")
    return int(text)


def _read_turn(words: list[str], row: np.void) -> None:
    players = int(row["players"])
    row["round"] = _number(words[0], 1, int(row["max_rounds"]), "round")
    row["starter"] = row["mover"] = _number(words[1], 1, players, "starter") - 1
    if words[2] == "-":
        row["phase"] = ENDED
        return
    seat, at, line = words[2].partition("@")
    row["mover"] = _number(seat, 1, players, "turn: seat") - 1
    row["phase"] = DRAFT
    if at:
        row["phase"] = TILING
        row["line"] = _number(line, 1, SIZE, "turn: line") - 1


def _read_tiles(text: str, what: str) -> str:
    """Letters in the order of colours; "-" stands for none."""
    letters = "" if text == "-" else text
    if not re.fullmatch("B*Y*R*K*W*", letters) or (not letters and text != "-"):
        raise ValueError(f"{what} {text!r}; accepted: letters of {COLOURS} in this order, or - for none")
    return letters


def _read_table(words: list[str], row: np.void) -> None:
    factories = words[3].split("/")
    if len(factories) != row["factories"]:
        raise ValueError(f"{len(factories)} factories; {row['players']} players have {row['factories']}")
    for source, text in enumerate(factories):
        letters = _read_tiles(text, "factory")
        if len(letters) > PER_FACTORY:
            raise ValueError(f"factory {text!r} has {len(letters)} tiles; at most {PER_FACTORY} fit")
        row["sources"][source] = pile(letters)
    centre = words[4]
    row["marker"] = NOBODY if centre.startswith(MARKER) else rules.NOBODY + 1  # else a player tells
    if centre == MARKER + "-":
        raise ValueError(f"centre {centre!r}; accepted: {MARKER} alone where the marker lies there without tiles")
    if centre != MARKER:
        row["sources"][CENTRE] = pile(_read_tiles(centre.removeprefix(MARKER), "centre"))
    for name, text in zip(("bag", "lid"), words[5:7], strict=True):
        numbers = text.split(",")
        if len(numbers) != SIZE:
            raise ValueError(f"{name} {text!r}; expected five counts in the order {','.join(COLOURS)}")
        row[name] = sum(
            _number(number, 0, TILES_OF_COLOUR, name) << 8 * colour for colour, number in enumerate(numbers)
        )


def _read_player(text: str, row: np.void, seat: int) -> None:
    parts = text.split(":")
    if len(parts) != 4:
        raise ValueError(f"player {text!r}; expected <score>:<lines>:<wall>:<floor>")
    row["score"][seat] = _number(parts[0], 0, names.MOST_POINTS, "score")
    lines, wall = parts[1].split("/"), parts[2].split("/")
    if len(lines) != SIZE or len(wall) != SIZE:
        raise ValueError(f"player {text!r}; there are five lines and five rows of the wall")
    for number, letters in enumerate(wall):
        if not re.fullmatch(rf"[{COLOURS}.]{{{SIZE}}}", letters):
            raise ValueError(f"row {letters!r} of a wall; accepted: five of {COLOURS}, and . for an empty space")
        for column, letter in enumerate(letters):
            if letter != ".":
                row["wall"][seat, COLOURS.index(letter)] |= 1 << (SIZE * number + column)
    for number, tiles in enumerate(lines):
        letters = _read_tiles(tiles, "line")
        if len(letters) > number + 1 or len(set(letters)) > 1:
            raise ValueError(f"line {tiles!r}; line {number + 1} holds at most {number + 1} tiles of one colour")
        if letters:
            row["filled"][seat, number], row["colour"][seat, number] = len(letters), COLOURS.index(letters[0])
    floor = parts[3]
    if floor.endswith(MARKER):
        if row["marker"] != NOBODY + 1:
            raise ValueError("the marker is in two places")
        row["marker"] = seat
        floor = floor.removesuffix(MARKER) or "-"
    letters = _read_tiles(floor, "floor")
    if len(letters) > FLOOR_SPACES:
        raise ValueError(f"floor {floor!r} has {len(letters)} tiles; at most {FLOOR_SPACES} fit")
    row["floor"][seat] = pile(letters)


def _check(row: np.void) -> None:
    """Refuses what no game can reach: tiles too many or too few, walls against the print, wrong turns."""
    if row["marker"] > NOBODY:
        raise ValueError(f"the marker {MARKER!r} is nowhere; it is in the centre or at the end of a floor")
    total = [0] * SIZE
    players = range(row["players"])
    for somewhere in (*row["sources"], row["bag"], row["lid"], *row["floor"]):
        total = [a + b for a, b in zip(total, counts(somewhere), strict=True)]
    for seat in players:
        for line in range(SIZE):
            total[row["colour"][seat, line]] += int(row["filled"][seat, line])
        for colour in range(SIZE):
            total[colour] += int(row["wall"][seat, colour]).bit_count()
    for colour, number in enumerate(total):
        if number != TILES_OF_COLOUR:
            raise ValueError(f"{number} tiles of {COLOURS[colour]} in all; there are {TILES_OF_COLOUR}")
    for seat in players:
        _check_wall(row, seat)
        for line in range(SIZE):
            rules.refresh(row, seat, line)
        row["accepts"][seat] |= rules.TARGET_OF[31] << names.TO_FLOOR
    for seat in range(row["players"], names.MOST_PLAYERS):
        row["accepts"][seat] = 0x3FFF_FFFF
    _check_turn(row)


def _check_wall(row: np.void, seat: int) -> None:
    board = int(row["board"])
    for number, letters in enumerate(wall_letters(row, seat)):
        tiles = letters.replace(".", "")
        if len(set(tiles)) < len(tiles):
            raise ValueError(f"row {letters!r} of a wall has a colour twice")
        for column, letter in enumerate(letters):
            if letter != "." and rules.BARRED[board, COLOURS.index(letter), number] >> column & 1:
                raise ValueError(f"row {number + 1} of a wall has {letter} where another colour is printed")
        if row["filled"][seat, number] and COLOURS[row["colour"][seat, number]] in tiles:
            raise ValueError(f"line {number + 1} holds a colour that its row of the wall has already")
    for column in range(SIZE):
        tiles = "".join(letters[column] for letters in wall_letters(row, seat)).replace(".", "")
        if len(set(tiles)) < len(tiles):
            raise ValueError(f"column {column + 1} of a wall has a colour twice")


def _check_turn(row: np.void) -> None:
    """Whether someone decides here, or the game has ended."""
    on_table, phase = any(row["sources"]), row["phase"]
    complete = [
        (seat, line) for seat in range(row["players"]) for line in range(SIZE) if row["filled"][seat, line] > line
    ]
    ended = rules.any_complete_row(row)
    if phase == DRAFT:
        if not on_table:
            raise ValueError("no tiles are on the table, so nobody drafts here")
        if ended:
            raise ValueError("a wall has a complete row, so the game is over")
    elif phase == TILING:
        first = [
            place
            for turn in range(row["players"])
            for place in complete
            if place[0] == (row["starter"] + turn) % row["players"]
        ]
        if on_table or not first or first[0] != (row["mover"], row["line"]):
            raise ValueError("tiling comes when the table is empty, first the first complete line from the starter on")
        free = rules.spaces(row, int(row["mover"]), int(row["line"]))
        if not free & (free - 1):
            raise ValueError("this line has no choice of spaces, so nobody decides here")
    else:
        if on_table or complete or any(row["floor"]) or row["marker"] != NOBODY:
            raise ValueError("the game is over, so table and floors are empty, lines tiled, the marker in the centre")
        if not ended and row["round"] != row["max_rounds"]:
            raise ValueError("turn -: the game is over, but no row is complete and it is not the last round")
