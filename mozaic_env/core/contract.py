"""The Game contract, compiled half: the functions on a row that a game provides.

A row is one element of a NumPy structured array: a whole game state. Every row type has the fields of
`HEADER`. The loops above call the functions below; which game's code runs is picked by the row's type when
Numba compiles the loop (a `typing overload <https://numba.readthedocs.io/en/stable/extending/>`_), so a loop
is written once and costs nothing at run time.

A game hands its functions over with `register`. The Python half of the contract is `mozaic_env.core.game.Game`.
"""

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import numpy.typing as npt
from numba.extending import overload

from mozaic_env.core.jit import depend_on, jit

HEADER = [
    ("key", np.uint64),  # of the game's random stream
    ("draws", np.uint32),  # chance outcomes so far: the position in that stream
    ("decisions", np.uint32),  # decisions so far, all seats together
]

CHANCE = -1  # what `mover` says when a draw comes next
OVER = -2  # what `mover` says when the game has ended

Row = Any  # a record of a structured array; its type is the game's
Bytes = npt.NDArray[Any]  # two-dimensional, C-contiguous, of one-byte integers
Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

_kernels: dict[Any, dict[str, Any]] = {}
_names: list[str] = []
_defaults: dict[str, Any] = {}  # for what a game need not provide


def register(dtype: np.dtype[Any], kernels: dict[str, Any]) -> None:
    """Makes a game's compiled functions the ones that run on rows of its type.

    Args:
        dtype: the row type; it contains the fields of `HEADER`.
        kernels: for each function of this module the game's own, of the same name and parameters; those with a
            default may be left out.

    Raises:
        ValueError: a function is missing or unknown, a header field is missing, or the type is taken.
    """
    missing, unknown = set(_names) - set(kernels) - set(_defaults), set(kernels) - set(_names)
    if missing or unknown:
        raise ValueError(
            f"a game provides {', '.join(_names)}; missing: {', '.join(sorted(missing)) or 'none'}, "
            f"unknown: {', '.join(sorted(unknown)) or 'none'}"
        )
    for name, kind in HEADER:
        if dtype.names is None or name not in dtype.names or dtype[name] != kind:
            raise ValueError(f"row type {dtype} lacks the header field {name!r} of type {np.dtype(kind)}")
    row_type = numba.from_dtype(dtype)
    if row_type in _kernels:
        raise ValueError(f"another game already has the row type {dtype}; name a field differently")
    _kernels[row_type] = {**_defaults, **kernels}
    depend_on(row_type, (kernel.py_func for kernel in kernels.values()))


def _of_game(function: Callable[..., Any]) -> Callable[..., Any]:
    """Marks a function of the contract: in compiled code, calling it calls the game's."""
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
def setup(row: Row) -> None:
    """Starts a game on a row whose key and options are set; leaves a decision or chance."""


@_of_game
def mover(row: Row) -> int:
    """The seat that decides, or CHANCE, or OVER."""
    raise NotImplementedError


@_of_game
def apply(row: Row, action: int) -> None:
    """Makes a legal decision, no chance; leaves a decision, chance or the end. Counts `decisions`."""


@_of_game
def sample(row: Row) -> int:
    """The chance outcome that the row's own stream gives here; does not change the row."""
    raise NotImplementedError


@_of_game
def outcomes(row: Row, codes: Integers, probabilities: Floats) -> int:
    """Writes the possible chance outcomes and their probabilities; returns how many there are.

    Codes are below the game's `max_outcomes`.
    """
    raise NotImplementedError


@_of_game
def resolve(row: Row, code: int) -> None:
    """Makes a chance outcome happen, and what it forces. Counts `draws`."""


@_of_game
def legal(row: Row, masks: Bytes, index: int) -> None:
    """Writes the action mask at a decision to masks[index]: int8, shape (rows, actions), 1 for legal."""


@_of_game
def is_legal(row: Row, action: int) -> bool:
    """Whether an action in range is legal at a decision."""
    raise NotImplementedError


@_of_game
def random_action(row: Row, bits: np.uint64) -> int:
    """A uniformly random legal action at a decision, from 64 random bits."""
    raise NotImplementedError


@_of_game
def outcome(row: Row, seat: int) -> float:
    """The seat's result of a finished game, in [-1, 1]; over all seats they sum to zero."""
    raise NotImplementedError


@_of_game
def margin(row: Row, seat: int) -> float:
    """By how much the seat leads now, in the game's unit of the margin reward."""
    raise NotImplementedError


@_of_game
def observe(row: Row, seat: int, frames: Bytes, index: int) -> None:
    """Writes the row as the seat sees it to frames[index].

    Frames are bytes, shape (rows, bytes of one frame): the entries of the observation one behind the other,
    as `mozaic_env.core.game.Game.frame` lays them out.
    """


@_of_game
def action_values(row: Row, seat: int, weights: Floats, actions: Integers, values: Floats) -> int:
    """Writes the legal actions and the heuristic value of the state after each; returns how many.

    Values are for the seat, in points, relative to the state before. `weights` are one of the game's
    `heuristics`. What follows by chance is not looked at.
    """
    raise NotImplementedError


@_of_game
def value(row: Row, seat: int, weights: Floats) -> float:
    """The heuristic value of the state for the seat, in points, wherever the game stands."""
    raise NotImplementedError


@_of_game
def decision_kind(row: Row) -> int:
    """A number for a decision, by which a search saves work; from 0, and below the game's `decision_kinds`.

    Of the decisions that can follow one action, those with equal numbers have equal `value` and `action_values`. -1: it
    is like no other.
    """
    raise NotImplementedError


@_of_game
def cut_off(row: Row) -> bool:
    """Whether a game that is over has not ended but reached a limit of its own: then it is truncated, without result.

    Default: no game has such a limit.
    """
    raise NotImplementedError


@jit
def _never_cut_off(row: Row) -> bool:
    return False


_defaults[cut_off.__name__] = _never_cut_off


@jit
def deal(row: Row) -> None:
    """Lets chance happen, by the row's own stream, until someone decides or the game is over."""
    while mover(row) == CHANCE:
        resolve(row, sample(row))
