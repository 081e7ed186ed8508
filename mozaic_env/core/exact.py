"""The Game contract, a part that is optional: exact values of every action, for variants small enough to solve.

What asks for them (regret, the wrappers, training curves) knows no game: a game offers them with `Game.exact_values`.
"""

import abc
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from mozaic_env.core.game import Game, Rows

MARGIN, OUTCOME = "margin", "outcome"
OBJECTIVES = (MARGIN, OUTCOME)


class ExactValues(abc.ABC):
    """What every action is worth when all seats play perfectly from then on.

    Copies of an environment share it, and it is pickled as what makes it again: the game and the objective.

    Attributes:
        game: the variant that is solved.
        objective: what perfect play maximises: "margin", the expected lead at the end in the game's margin unit, or
            "outcome", the expected result in [-1, 1].
        residual: bound or estimate of the largest error of a value, in the objective's unit.
    """

    game: "Game"
    objective: str
    residual: float

    @property
    @abc.abstractmethod
    def start_value(self) -> float:
        """What perfect play of all seats gives seat 0 on average, in the objective's unit."""

    @abc.abstractmethod
    def action_values(self, states: "Rows") -> npt.NDArray[np.float64]:
        """The value of every action to the seat that decides.

        For "margin" it is the lead that is still to come, the action's own gain included; for "outcome" the expected
        result.

        Args:
            states: rows at a decision, shape (n,).

        Returns:
            float64, shape (n, actions); NaN for illegal actions.
        """

    def __deepcopy__(self, memo: dict[int, Any]) -> "ExactValues":
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return require_exact_values, (self.game, self.objective)


def require_exact_values(game: "Game", objective: str = MARGIN) -> ExactValues:
    """The game's exact values.

    Raises:
        ValueError: there are none: no such objective, no solver, or the variant is too large or has yet to be solved.
    """
    if objective not in OBJECTIVES:
        raise ValueError(f"objective={objective!r}; accepted: {', '.join(OBJECTIVES)}")
    values = game.exact_values(objective)
    if values is None:
        raise ValueError(f"{game!r} can't be solved: the game has no solver")
    return values


def regrets(values: npt.NDArray[np.float64], actions: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """What actions give away: the best value less theirs, NaN for illegal ones; float64, shape (n,).

    Args:
        values: as `ExactValues.action_values` gives them, shape (n, actions).
        actions: one for each row, shape (n,).
    """
    return np.nanmax(values, axis=1) - values[np.arange(len(values)), actions]
