"""Constants that rules, observation, notation and drawing share, and the action ids with their notation."""

import re
from enum import IntEnum

COLOURS = "BYRKW"  # blue, yellow, red, black, white; the order of counts everywhere
COLOUR_NAMES = ("blue", "yellow", "red", "black", "white")
TILES_OF_COLOUR = 20
SIZE = 5  # lines, and rows and columns of the wall
FLOOR_SPACES = 7
PER_FACTORY = 4
FACTORIES = {2: 5, 3: 7, 4: 9}  # by number of players
MOST_PLAYERS = max(FACTORIES)
SEATS = ("p1", "p2", "p3", "p4")
MARKER = "*"

SOURCES = 10  # nine factories and the centre
CENTRE = 9
TO_FLOOR = 5  # in the place of a line
TARGETS = SIZE + 1
PER_SOURCE = SIZE * TARGETS  # actions
TILING = SOURCES * PER_SOURCE  # id of the first tiling action
NUM_ACTIONS = TILING + SIZE

MOST_ROUNDS = 100
MOST_POINTS = 999  # more than a game from its start can bring; scores stay there
LEAST_FLOOR = -10  # value of one floor space


class Phase(IntEnum):
    """What happens next."""

    REFILL = 0
    DRAFT = 1
    TILING = 2
    OVER = 3


class Board(IntEnum):
    """The four boards, in the order of `BOARDS`."""

    BASE = 0
    GREY = 1
    SIDE1 = 2
    SIDE2 = 3


BOARDS = tuple(board.name.lower() for board in Board)
# What is printed where, row by row; "." is a space for any colour.
PRINTS = {
    Board.BASE: ("BYRKW", "WBYRK", "KWBYR", "RKWBY", "YRKWB"),
    Board.GREY: (".....",) * 5,
    Board.SIDE1: ("...K.", "W....", "..Y..", "....B", ".R..."),
    Board.SIDE2: (".....", ".B.R.", "..W..", ".K.Y.", "....."),
}
DOUBLING = (Board.SIDE1,)  # where printed spaces count twice
BONUSES = {  # for each complete row, column and colour
    Board.BASE: (2, 7, 10),
    Board.GREY: (2, 7, 10),
    Board.SIDE1: (2, 7, 10),
    Board.SIDE2: (3, 10, 12),
}
FLOORS = {"base": (-1, -1, -2, -2, -2, -3, -3), "expansion": (-1, 0, -1, -2, -1, -2, -3)}
FLOOR_OF = {Board.BASE: "base", Board.GREY: "base", Board.SIDE1: "expansion", Board.SIDE2: "expansion"}


def format_action(action: int) -> str:
    """An action id as notation: ``F3:R>2`` (factory 3, red, line 2), ``C:W>-`` (centre, white, floor), ``@4``.

    Raises:
        ValueError: the id is out of range.
    """
    if not 0 <= action < NUM_ACTIONS:
        raise ValueError(f"action {action} is not in 0..{NUM_ACTIONS - 1}")
    if action >= TILING:
        return f"@{action - TILING + 1}"
    source, rest = divmod(action, PER_SOURCE)
    colour, target = divmod(rest, TARGETS)
    where = "C" if source == CENTRE else f"F{source + 1}"
    return f"{where}:{COLOURS[colour]}>{'-' if target == TO_FLOOR else target + 1}"


_NOTATION = re.compile(r"(?:F(?P<factory>[1-9])|C):(?P<colour>[BYRKW])>(?P<target>[1-5-])|@(?P<column>[1-5])")


def parse_action(text: str) -> int:
    """The action id of a notation; the inverse of `format_action`.

    Raises:
        ValueError: the text is none.
    """
    match = _NOTATION.fullmatch(text)
    if match is None:
        raise ValueError(
            f"{text!r} is not an action; accepted are F3:R>2 (factory 3, red, line 2), "
            "C:W>- (centre, white, floor) and @4 (column 4)"
        )
    if match["column"]:
        return TILING + int(match["column"]) - 1
    source = int(match["factory"]) - 1 if match["factory"] else CENTRE
    target = TO_FLOOR if match["target"] == "-" else int(match["target"]) - 1
    return PER_SOURCE * source + TARGETS * COLOURS.index(match["colour"]) + target
