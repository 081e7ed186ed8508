"""Action ids and move notation of Mosaic Chess.

A move is two decisions: which piece, then where to, and there as what. Ids name squares as White counts them,
whoever moves.
"""

import re

import numpy as np
import numpy.typing as npt

from mozaic_env.games.mosaic_chess.tables import SIZE, SQUARES

FILES = "abcdefghijkl"
PLAYERS = ("white", "black")
NUM_ACTIONS = 3 * SQUARES

_NOTATION = re.compile(r"(?P<sign>-)?(?P<file>[a-l])(?P<rank>1[0-2]|[1-9])(?P<promotes>\+)?")


def square_name(square: int) -> str:
    """A square's coordinates: ``a1`` is 0, ``l12`` is 143."""
    return f"{FILES[square % SIZE]}{square // SIZE + 1}"


def parse_square(text: str) -> int:
    """The inverse of `square_name`; ValueError if the text is no square."""
    if not re.fullmatch(r"[a-l](1[0-2]|[1-9])", text, re.ASCII):
        raise ValueError(f"{text!r} is no square; accepted: a1 to l12")
    return FILES.index(text[0]) + SIZE * (int(text[1:]) - 1)


def action_planes() -> npt.NDArray[np.int64]:
    """Each id's place in three planes over the board: choose, move, move and promote; int64, shape (432,)."""
    return np.arange(NUM_ACTIONS)


def format_action(action: int) -> str:
    """An action id as notation: ``e4`` (choose the piece), ``-e5`` (move it there), ``-e9+`` (and promote).

    Raises:
        ValueError: the id is out of range.
    """
    if not 0 <= action < NUM_ACTIONS:
        raise ValueError(f"action {action} is not in 0..{NUM_ACTIONS - 1}")
    kind, square = divmod(int(action), SQUARES)
    return f"{'-' if kind else ''}{square_name(square)}{'+' if kind == 2 else ''}"


def parse_action(text: str) -> int:
    """The action id of a notation; the inverse of `format_action`.

    Raises:
        ValueError: the text is none.
    """
    match = _NOTATION.fullmatch(text)
    if match is None or (match["promotes"] and not match["sign"]):
        raise ValueError(
            f"{text!r} is not an action; accepted are e4 (choose the piece), -e5 (move it there) and -e9+ (and promote)"
        )
    kind = 0 if not match["sign"] else 2 if match["promotes"] else 1
    return kind * SQUARES + parse_square(match["file"] + match["rank"])
