"""Analysis of a position by an agent: probabilities or values of its actions."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mozaic_env.agents.base import Agent
from mozaic_env.core.game import Rows

PROBABILITIES, VALUES = "probabilities", "values"


@dataclass(frozen=True)
class Analysis:
    """An agent's view of some positions.

    Attributes:
        kind: what is known of each action: `PROBABILITIES` of taking it, or `VALUES` of what follows.
        actions: the numbers, shape (positions, actions); NaN where there is none.
        values: of the positions, for the seat that decides, shape (positions,).
    """

    kind: str
    actions: npt.NDArray[np.float64]
    values: npt.NDArray[np.float64]

    def of_actions(self, position: int) -> list[tuple[int, float]]:
        """The actions that something is known of, and their numbers; none that would never be taken."""
        numbers = self.actions[position]
        known = np.isfinite(numbers) if self.kind == VALUES else numbers > 0
        return [(action, float(numbers[action])) for action in np.flatnonzero(known).tolist()]


def kind_of(agent: Agent) -> str | None:
    """What an agent can say of actions, or None for one that only acts."""
    if hasattr(agent, "evaluate"):
        return PROBABILITIES
    return VALUES if hasattr(agent, "action_values") else None


def analyse(agent: Agent, rows: Rows) -> Analysis:
    """Asks an agent whose `kind_of` is not None about rows at a decision."""
    asked: Any = agent
    if kind_of(agent) == PROBABILITIES:
        probabilities, values = asked.evaluate(rows)
        return Analysis(PROBABILITIES, probabilities, values)
    numbers = asked.action_values(rows)
    return Analysis(VALUES, numbers, np.nanmax(numbers, axis=1))
