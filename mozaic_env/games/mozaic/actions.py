"""Constants that rules, observation, notation and drawing share, and the action ids with their notation."""

import re
from enum import IntEnum

import numpy as np
import numpy.typing as npt

FILES = "abcdefgh"
PLAYERS = ("yellow", "blue")
EDITIONS = ("amethyst", "onyx")
SIZES = range(2, 9)  # rows and columns


class Gem(IntEnum):
    """What a draw can bring; the order of bag counts everywhere."""

    YELLOW = 0
    BLUE = 1
    EMERALD = 2
    DIAMOND = 3
    RUBY = 4
    DOUBLE = 5


NO_GEM = 6  # the hand between decisions
LETTERS = "ybedrx"  # of the gems, in that order

AMETHYST, ONYX = range(2)  # editions
POINTS_PER_SQUARE = 4
MOST_POINTS = 999_999_996  # as many as a position string can say; scores stay there
SLIDES = ((1, 1), (1, -1), (-1, 1), (-1, -1))  # (ranks, files) of slide direction k


def num_actions(tiles: int) -> int:
    """One placement, four slides and one removal for each tile."""
    return 6 * tiles


def action_planes(tiles: int) -> npt.NDArray[np.int64]:
    """Each action id's place in six planes over the board: place, slide in direction 0..3, remove.

    Returns:
        plane * tiles + tile for each id, int64, shape (6 * tiles,).
    """
    places = np.arange(6 * tiles)
    places[tiles : 5 * tiles] = (1 + np.arange(4) + np.zeros((tiles, 1), np.int64)).ravel() * tiles
    places[tiles : 5 * tiles] += np.repeat(np.arange(tiles), 4)
    return places


def tiles_of_action(action: int, rows: int, cols: int) -> tuple[int, ...]:
    """The tile of a placement or removal; both tiles of a slide, the one that it leaves first."""
    tiles = rows * cols
    if not tiles <= action < 5 * tiles:
        return (action % tiles,)
    tile, direction = divmod(action - tiles, 4)
    ranks, files = SLIDES[direction]
    return tile, tile + ranks * cols + files


def tile_name(tile: int, cols: int) -> str:
    """A tile's coordinates: file letter and rank number, ``a1`` is tile 0."""
    return f"{FILES[tile % cols]}{tile // cols + 1}"


def format_action(action: int, rows: int, cols: int) -> str:
    """An action id as notation: ``d4`` (place), ``d4-e5`` (slide), ``xd4`` (remove).

    Raises:
        ValueError: the id is out of range, or a slide that leaves the board.
    """
    tiles = rows * cols
    if not 0 <= action < num_actions(tiles):
        raise ValueError(f"action {action} is not in 0..{num_actions(tiles) - 1}, the ids of a {rows}x{cols} board")
    if action < tiles:
        return tile_name(action, cols)
    if action >= 5 * tiles:
        return "x" + tile_name(action - 5 * tiles, cols)
    tile, direction = divmod(action - tiles, 4)
    rank, file = tile // cols + SLIDES[direction][0], tile % cols + SLIDES[direction][1]
    if not (0 <= rank < rows and 0 <= file < cols):
        raise ValueError(f"action {action} slides {tile_name(tile, cols)} off the {rows}x{cols} board")
    return f"{tile_name(tile, cols)}-{tile_name(rank * cols + file, cols)}"


_NOTATION = re.compile(r"(?P<remove>x)?(?P<tile>[a-h][1-8])(?:-(?P<to>[a-h][1-8]))?")


def parse_action(text: str, rows: int, cols: int) -> int:
    """The action id of a notation; the inverse of `format_action`.

    Raises:
        ValueError: the text is not a placement, slide or removal on this board.
    """
    accepted = (
        f"{text!r} is not an action on a {rows}x{cols} board; accepted are d4 (place), "
        "d4-e5 (slide one step diagonally) and xd4 (remove)"
    )
    match = _NOTATION.fullmatch(text)
    if match is None or (match["remove"] and match["to"]):
        raise ValueError(accepted)
    places = []
    for name in filter(None, (match["tile"], match["to"])):
        file, rank = FILES.index(name[0]), int(name[1]) - 1
        if file >= cols or rank >= rows:
            raise ValueError(f"{accepted}; tile {name} is outside")
        places.append((rank, file))
    rank, file = places[0]
    tile, tiles = rank * cols + file, rows * cols
    if match["remove"]:
        return 5 * tiles + tile
    if not match["to"]:
        return tile
    step = (places[1][0] - rank, places[1][1] - file)
    if step not in SLIDES:
        raise ValueError(accepted)
    return tiles + 4 * tile + SLIDES.index(step)
