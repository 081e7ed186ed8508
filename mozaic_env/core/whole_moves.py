"""The Game contract, a part that is optional: whole moves, made and taken back, for search in games without chance.

A game for two whose moves take several decisions each, or whose rows are large, offers this beside
`mozaic_env.core.contract`, and says how many moves a position can have: `mozaic_env.core.game.Game.max_moves`. A move
is an int64 of the game's own.
"""

from typing import Any

import numpy as np

from mozaic_env.core.contract import Integers, Row
from mozaic_env.core.registry import of_game

ONGOING, LOST, DRAWN = range(3)  # what `terminal_status` says
_of_game = of_game("whole moves")


@_of_game
def list_moves(row: Row, tactical: bool, moves: Integers) -> int:
    """Writes the legal moves, or only the tactical ones, such as captures and promotions; returns how many.

    The decisions made towards a move are left out of account; see `begins_with_choice`.
    """
    raise NotImplementedError


@_of_game
def make_move(row: Row, move: int) -> int:
    """Makes a move on the board; returns a token for `unmake_move`. What came before is the caller's to remember."""
    raise NotImplementedError


@_of_game
def unmake_move(row: Row, move: int, token: int) -> None:
    """Takes back the last move made: the row is as it was, to the bit."""


@_of_game
def position_hash(row: Row) -> np.uint64:
    """Equal for positions that repeat each other."""
    raise NotImplementedError


@_of_game
def earlier_hashes(row: Row, hashes: Any) -> int:
    """Writes the hashes of the earlier positions that can come again, the first one first; returns how many.

    `hashes` is uint64 with room for as many as the game remembers at most: `Game.max_moves` is enough.
    """
    raise NotImplementedError


@_of_game
def terminal_status(row: Row) -> int:
    """LOST by the player to move, DRAWN, or ONGOING; repetition and having no move are not looked at."""
    raise NotImplementedError


@_of_game
def loses_without_moves(row: Row) -> bool:
    """Whether the player to move has lost if there is no legal move; else that is a draw."""
    raise NotImplementedError


@_of_game
def static_value(row: Row) -> int:
    """What the position is worth to the player to move, in hundredths of the margin's unit."""
    raise NotImplementedError


@_of_game
def move_score(row: Row, move: int) -> int:
    """The move-ordering score: about what a move gains at once, in hundredths of the margin's unit.

    Tactical moves with a negative score lose material; quiescence search leaves them out.
    """
    raise NotImplementedError


@_of_game
def begins_with_choice(row: Row, move: int) -> bool:
    """Whether the decisions that were made towards a move are those of this one."""
    raise NotImplementedError


@_of_game
def decision_of_move(row: Row, move: int) -> int:
    """The action by which the decision at hand makes the move, or goes on towards it."""
    raise NotImplementedError
