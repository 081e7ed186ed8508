"""The Game contract, a part that is optional: whole moves, made and taken back, for search in games without chance.

A game for two whose moves take several decisions each, or whose rows are large, offers this beside
`mozaic_env.core.contract`. Compiled functions call what stands here on a row; which game's code runs is picked by the
row's type, as there. A move is an int64 of the game's own. A game that offers it says how much room its moves need:
`Game.most_moves`.
"""

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba.extending import overload

from mozaic_env.core.contract import Integers, Row
from mozaic_env.core.jit import depend_on

GOES_ON, LOST, DRAWN = range(3)  # what `standing` says

_kernels: dict[Any, dict[str, Any]] = {}
_names: list[str] = []


def register(dtype: np.dtype[Any], kernels: dict[str, Any]) -> None:
    """Makes a game's compiled functions the ones that run on rows of its type.

    Args:
        dtype: the row type, known to `mozaic_env.core.contract`.
        kernels: for each function of this module the game's own, of the same name and parameters.

    Raises:
        ValueError: a function is missing or unknown.
    """
    if set(kernels) != set(_names):
        raise ValueError(f"a game provides {', '.join(_names)}; got {', '.join(kernels)}")
    row_type = numba.from_dtype(dtype)
    _kernels[row_type] = dict(kernels)
    depend_on(row_type, (kernel.py_func for kernel in kernels.values()))


def is_offered(dtype: np.dtype[Any]) -> bool:
    """Whether the game of a row type offers whole moves."""
    return numba.from_dtype(dtype) in _kernels


def _of_game(function: Callable[..., Any]) -> Callable[..., Any]:
    """Marks a function of this part: in compiled code, calling it calls the game's."""
    name = function.__name__
    _names.append(name)

    @overload(function, strict=False, jit_options={"forceinline": True, "_nrt": False, "error_model": "numpy"})
    def _pick(row: Any, *rest: Any) -> Any:
        kernel = _kernels[row][name]

        def forward(row: Any, *rest: Any) -> Any:
            return kernel(row, *rest)

        return forward

    return function


@_of_game
def list_moves(row: Row, loud: bool, moves: Integers) -> int:
    """Writes the legal moves, or only the loud ones, those that change the balance; returns how many.

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

    `hashes` is uint64 with room for as many as the game remembers at most: `Game.most_moves` is enough.
    """
    raise NotImplementedError


@_of_game
def standing(row: Row) -> int:
    """Whether who is to move has LOST, it is DRAWN, or it GOES_ON; not asked: repetition, and having no move."""
    raise NotImplementedError


@_of_game
def loses_without_moves(row: Row) -> bool:
    """Whether who is to move has lost if there is no legal move; else that is a draw."""
    raise NotImplementedError


@_of_game
def static_value(row: Row) -> int:
    """What the position is worth to who is to move, in hundredths of the margin's unit."""
    raise NotImplementedError


@_of_game
def promise(row: Row, move: int) -> int:
    """What a move promises at first sight, in the same unit: a search looks at promising moves first.

    Loud moves that promise less than nothing lose material and are not looked at beyond the depth.
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
