"""The Game contract, a part that is optional: sparse features of an afterstate, for linear functions.

The field calls such functions n-tuple networks. They are for games for two: what one seat expects the other loses.

An afterstate is what an action leaves before chance. A game that offers this describes it by features: numbers below
the length of the game's `start`, of which each state has some, one of them perhaps several times. A linear function
gives a state the sum of its features' weights. Two functions share the features and are asked together: column 0 of
the weights is the policy's preference, column 1 the critic's value, both in the margin's points. So what costs most, to
find the features, is done once.

What a game provides knows how its features change with an action, and sums the change alone. Lists of changed features,
one behind the other for each action, would say the same; to write and read them takes longer than to sum at once.

As in `mozaic_env.core.contract`, which game's code runs is picked by the row's type.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numba
import numpy as np
import numpy.typing as npt
from numba.extending import overload

from mozaic_env.core.contract import Integers, Row
from mozaic_env.core.jit import depend_on

WEIGHT = np.dtype([("policy", np.float32), ("value", np.float32)])
Weights = npt.NDArray[Any]  # of type WEIGHT
Single = npt.NDArray[np.float32]


class Workspace(NamedTuple):
    """Memory that the functions below overwrite; one for each thread."""

    indices: npt.NDArray[np.int64]
    sums: Single


class _Offer(NamedTuple):
    kernels: dict[str, Any]
    start: Callable[[], Weights]
    room: tuple[int, int]


_offers: dict[Any, _Offer] = {}
_names: list[str] = []


def register(
    dtype: np.dtype[Any], kernels: dict[str, Any], start: Callable[[], Weights], room: tuple[int, int]
) -> None:
    """Makes a game's compiled functions the ones that run on rows of its type.

    Args:
        dtype: the row type, known to `mozaic_env.core.contract`.
        kernels: for each function of this module the game's own, of the same name and parameters.
        start: makes the weights that training begins with, of type `WEIGHT`, shape (features,).
        room: lengths of the two arrays of a `Workspace`.

    Raises:
        ValueError: a function is missing or unknown.
    """
    if set(kernels) != set(_names):
        raise ValueError(f"a game provides {', '.join(_names)}; got {', '.join(kernels)}")
    row_type = numba.from_dtype(dtype)
    _offers[row_type] = _Offer(dict(kernels), start, room)
    depend_on(row_type, (kernel.py_func for kernel in kernels.values()))


def is_offered(dtype: np.dtype[Any]) -> bool:
    """Whether the game of a row type offers features."""
    return numba.from_dtype(dtype) in _offers


def start_weights(dtype: np.dtype[Any]) -> Weights:
    """The weights that training begins with, made anew; the game offers features."""
    return _offers[numba.from_dtype(dtype)].start()


def make_workspace(dtype: np.dtype[Any]) -> Workspace:
    """Memory for the functions of a game that offers features."""
    indices, sums = _offers[numba.from_dtype(dtype)].room
    return Workspace(np.zeros(indices, np.int64), np.zeros(sums, np.float32))


def _of_game(function: Callable[..., Any]) -> Callable[..., Any]:
    """Marks a function of this part: in compiled code, calling it calls the game's."""
    name = function.__name__
    _names.append(name)

    @overload(function, strict=False, jit_options={"forceinline": True, "_nrt": False, "error_model": "numpy"})
    def _pick(row: Any, *rest: Any) -> Any:
        kernel = _offers[row].kernels[name]

        def forward(row: Any, *rest: Any) -> Any:
            return kernel(row, *rest)

        return forward

    return function


@_of_game
def evaluate_actions(
    row: Row, weights: Weights, actions: Integers, points: Single, sums: Weights, workspace: Workspace
) -> int:
    """Writes what each legal action at a decision scores at once and what the functions make of the state after it.

    Args:
        row: a state at a decision; not changed.
        weights: of the functions.
        actions: written: the legal actions.
        points: written, float32: for the seat that decides, the other's points subtracted.
        sums: written, of type `WEIGHT`: both functions for the seat that decides; 0 where the game is over.
        workspace: from `make_workspace`.

    Returns:
        How many actions are legal.
    """
    raise NotImplementedError


@_of_game
def add_gradient(row: Row, coefficients: Single, gradient: Single, workspace: Workspace) -> None:
    """Adds the gradient of the weighted sum of the functions after each action, up to what all actions share.

    What they share is multiplied by the sum of the coefficients; in the gradient of a policy that is 0.

    Args:
        row: a state at a decision; not changed.
        coefficients: float32, one for each legal action, in the order of `evaluate_actions`.
        gradient: float32, shape (features,).
        workspace: from `make_workspace`.
    """


@_of_game
def list_features(row: Row, features: Integers, workspace: Workspace) -> int:
    """Writes the features of a state before chance, for the seat whose chance it is; returns how many."""
    raise NotImplementedError


@_of_game
def chance_seat(row: Row) -> int:
    """The seat whose chance a state before chance is."""
    raise NotImplementedError


@_of_game
def is_common(row: Row, code: int) -> bool:
    """Whether a chance outcome is of the kind that nearly always comes, and leads to a decision at once.

    A learner goes through all of these by their probabilities, which takes luck out of what it learns from; the others
    it takes as they come.
    """
    raise NotImplementedError
