"""Whole moves as text: ``e4-e5``, ``e4xf5``, ``e4xd5ep`` in passing, ``+`` at the end for a promotion."""

import re

import numpy as np

from mozaic_env.games.mosaic_chess import board, rules
from mozaic_env.games.mosaic_chess.actions import parse_square, square_name
from mozaic_env.games.mosaic_chess.tables import SQUARES

FORM = "e4-e5, e4xf5, e4xd5ep, with + at the end for a promotion"
_MOVE = re.compile(r"([a-l]\d{1,2})([-x])([a-l]\d{1,2})(ep)?(\+)?", re.ASCII)


def move_of_actions(chosen: int, action: int) -> int:
    """The move that two decisions make, as `mozaic_env.games.mosaic_chess.board` has it."""
    promotes, target = divmod(action - SQUARES, SQUARES)
    return chosen | target << 8 | promotes << 16


def actions_of_move(move: int) -> tuple[int, int]:
    """The two decisions that make a move."""
    return move & 255, SQUARES * (1 + (move >> 16)) + (move >> 8 & 255)


def format_move(row: np.void, move: int) -> str:
    """A move that is legal in a row as text."""
    origin, target = move & 255, move >> 8 & 255
    victim = int(board.victim_of(row, origin, target))
    sign = "x" if row["board"][victim] else "-"
    passing = "ep" if victim != target else ""
    return f"{square_name(origin)}{sign}{square_name(target)}{passing}{'+' if move >> 16 else ''}"


def parse_move(row: np.void, text: str) -> int:
    """The move that a text means in a row; need not be legal, but if it is, it is written like this.

    Raises:
        ValueError: the text is no move, or takes where nothing is or the other way round.
    """
    match = _MOVE.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a move; accepted: {FORM}")
    move = parse_square(match[1]) | parse_square(match[3]) << 8 | (1 << 16 if match[5] else 0)
    written = format_move(row, move)
    if written != text:
        raise ValueError(f"{text} would be written {written} here")
    return move


def is_legal_move(row: np.void, move: int) -> bool:
    """Whether a move is legal in a row in which no piece is chosen."""
    piece, action = actions_of_move(move)
    if row["ending"] != rules.RUNNING or not rules.is_legal(row, piece):
        return False
    twin = row.copy()
    rules.choose(twin, piece)
    return bool(rules.is_legal(twin, action))
