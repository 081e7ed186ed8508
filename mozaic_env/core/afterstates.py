"""The Game contract, a part that is optional: sparse features of an afterstate, for linear functions.

The field calls such functions n-tuple networks. They are for games for two: what one seat expects the other loses.

An afterstate is what an action leaves before chance. A game that offers this describes it by features: numbers below
the number of weights, of which each state has some, one of them perhaps several times. A linear function
gives a state the sum of its features' weights. Two functions share the features and are asked together: column 0 of
the weights is the policy's preference, column 1 the critic's value, both in the margin's points. So what costs most, to
find the features, is done once.

What a game provides knows how its features change with an action, and sums the change alone. Lists of changed features,
one behind the other for each action, would say the same; to write and read them takes longer than to sum at once.

As in `mozaic_env.core.contract`, which game's code runs is picked by the row's type. A game that offers features says
so by `Game.afterstate_features`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mozaic_env.core.contract import Integers, Row
from mozaic_env.core.registry import of_game

if TYPE_CHECKING:
    from mozaic_env.core.game import Game

WEIGHT = np.dtype([("policy", np.float32), ("value", np.float32)])
Weights = npt.NDArray[Any]  # of type WEIGHT
Single = npt.NDArray[np.float32]


class Workspace(NamedTuple):
    """Memory that the functions below overwrite; one for each thread."""

    indices: npt.NDArray[np.int64]
    sums: Single


@dataclass(frozen=True)
class AfterstateFeatures:
    """What a game declares that offers features.

    Attributes:
        start: makes the weights that training begins with, of type `WEIGHT`, shape (features,).
        room: lengths of the two arrays of a `Workspace`.
    """

    start: Callable[[], Weights]
    room: tuple[int, int]

    def make_workspace(self) -> Workspace:
        """Memory for the functions below."""
        return Workspace(np.zeros(self.room[0], np.int64), np.zeros(self.room[1], np.float32))


def features_of(game: "Game") -> AfterstateFeatures:
    """What a game offers; ValueError if it offers nothing."""
    if game.afterstate_features is None:
        raise ValueError(f"{game.name} offers no sparse features; accepted: games that do, such as those with `ntuple`")
    return game.afterstate_features


_GROUP = "afterstates"  # a game provides all of the functions below or none


@of_game(_GROUP)
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
        workspace: from `AfterstateFeatures.make_workspace`.

    Returns:
        How many actions are legal.
    """
    raise NotImplementedError


@of_game(_GROUP)
def add_gradient(row: Row, coefficients: Single, gradient: Single, workspace: Workspace) -> None:
    """Adds the gradient of the weighted sum of the functions after each action, up to what all actions share.

    What they share is multiplied by the sum of the coefficients; in the gradient of a policy that is 0.

    Args:
        row: a state at a decision; not changed.
        coefficients: float32, one for each legal action, in the order of `evaluate_actions`.
        gradient: float32, shape (features,).
        workspace: from `AfterstateFeatures.make_workspace`.
    """


@of_game(_GROUP)
def list_features(row: Row, features: Integers, workspace: Workspace) -> int:
    """Writes the features of a state before chance, for the seat whose chance it is; returns how many."""
    raise NotImplementedError


@of_game(_GROUP)
def chance_seat(row: Row) -> int:
    """The seat whose chance a state before chance is."""
    raise NotImplementedError


@of_game(_GROUP)
def is_common(row: Row, code: int) -> bool:
    """Whether a chance outcome is of the kind that nearly always comes, and leads to a decision at once.

    A learner goes through all of these by their probabilities, which takes luck out of what it learns from; the others
    it takes as they come.
    """
    raise NotImplementedError
