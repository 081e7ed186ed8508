"""The Game contract, a part that is optional: exact values of every action, for variants small enough to solve.

What asks for them (regret, the wrappers, training curves) knows no game: a game offers them with `Game.exact_values`.
"""

import abc
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from mozaic_env.core.game import Game, Rows

MARGIN, OUTCOME = "margin", "outcome"
OBJECTIVES = (MARGIN, OUTCOME)


class ExactValues(abc.ABC):
    """What every action is worth when all seats play perfectly from then on.

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
