"""The Game contract, compiled half: the functions on a row that a game provides.

A row is one element of a NumPy structured array: a whole game state. Every row type has the fields of
`mozaic_env.core.registry.HEADER`. Python code and compiled code call what stands here alike; which game's code runs is
picked by the row's type. A game hands its functions over with `mozaic_env.core.registry.register`. The Python half of
the contract is `mozaic_env.core.game.Game`.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from mozaic_env.core.jit import jit
from mozaic_env.core.registry import of_game

CHANCE = -1  # what `mover` says when a draw comes next
OVER = -2  # what `mover` says when the game has ended
_LUCK = "chance"  # the group of functions that only games with chance provide

Row = Any  # a record of a structured array; its type is the game's
Bytes = npt.NDArray[Any]  # two-dimensional, C-contiguous, of one-byte integers
Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@of_game()
def setup(row: Row) -> None:
    """Starts a game on a row whose key and options are set; leaves a decision or chance."""


@of_game()
def mover(row: Row) -> int:
    """The seat that decides, or CHANCE, or OVER."""
    raise NotImplementedError


@of_game()
def apply(row: Row, action: int) -> None:
    """Makes a legal decision, no chance; leaves a decision, chance or the end. Counts `decisions`."""


@of_game(_LUCK, default=True)
def sample(row: Row) -> int:
    """The chance outcome that the row's own stream gives here; does not change the row."""
    return -1


@of_game(_LUCK, default=True)
def outcomes(row: Row, codes: Integers, probabilities: Floats) -> int:
    """Writes the possible chance outcomes and their probabilities; returns how many there are.

    Codes are below the game's `max_outcomes`.
    """
    return 0


@of_game(_LUCK, default=True)
def resolve(row: Row, code: int) -> None:
    """Makes a chance outcome happen, and what it forces. Counts `draws`."""


@of_game(default=True)
def legal(row: Row, masks: Bytes, index: int) -> None:
    """Writes the action mask at a decision to masks[index]: int8, shape (rows, actions), 1 for legal.

    Default: asks `is_legal` about every action.
    """
    for action in range(masks.shape[1]):
        masks[index, action] = is_legal(row, action)


@of_game()
def is_legal(row: Row, action: int) -> bool:
    """Whether an action in range is legal at a decision."""
    raise NotImplementedError


@of_game()
def random_action(row: Row, bits: np.uint64) -> int:
    """A uniformly random legal action at a decision, from 64 random bits."""
    raise NotImplementedError


@of_game()
def outcome(row: Row, seat: int) -> float:
    """The seat's result of a finished game, in [-1, 1]; over all seats they sum to zero."""
    raise NotImplementedError


@of_game()
def margin(row: Row, seat: int) -> float:
    """By how much the seat leads now, in the game's unit of the margin reward."""
    raise NotImplementedError


@of_game()
def observe(row: Row, seat: int, frames: Bytes, index: int) -> None:
    """Writes the row as the seat sees it to frames[index].

    Frames are bytes, shape (rows, bytes of one frame): the entries of the observation one behind the other,
    as `mozaic_env.core.game.Game.frame` lays them out.
    """


@of_game()
def action_values(row: Row, seat: int, weights: Floats, actions: Integers, values: Floats) -> int:
    """Writes the legal actions and the heuristic value of the state after each; returns how many.

    Values are for the seat, in points, relative to the state before. `weights` are one of the game's
    `heuristics`. What follows by chance is not looked at.
    """
    raise NotImplementedError


@of_game(default=True)
def value(row: Row, seat: int, weights: Floats) -> float:
    """The heuristic value of the state for the seat, in points, wherever the game stands.

    Default: the margin, with the first of the weights.
    """
    return weights[0] * margin(row, seat)


@of_game(default=True)
def decision_kind(row: Row) -> int:
    """A number for a decision, by which a search saves work; from 0, and below the game's `decision_kinds`.

    Of the decisions that can follow one action, those with equal numbers have equal `value` and `action_values`.
    Default: -1, it is like no other.
    """
    return -1


@of_game(default=True)
def cut_off(row: Row) -> bool:
    """Whether a game that is over has not ended but reached a limit of its own: then it is truncated, without result.

    Default: no game has such a limit.
    """
    return False


@jit
def deal(row: Row) -> None:
    """Lets chance happen, by the row's own stream, until someone decides or the game is over."""
    while mover(row) == CHANCE:
        resolve(row, sample(row))
