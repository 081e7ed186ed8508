"""The agent that plays a solved variant without error."""

from pathlib import Path

import numpy as np
import numpy.typing as npt

from mozaic_env.agents.base import Actions, Agent, Masks, marked
from mozaic_env.core.exact import MARGIN
from mozaic_env.core.game import Game, Rows

TIE = 1e-6  # actions whose values differ by less are equally good


class PerfectAgent(Agent):
    """Takes the best action by exact values; of those that are equally good the one with the lowest id.

    Two actions are equally good if their values differ by less than `TIE`, which is above the error of the values.
    """

    def __init__(
        self, game: Game, name: str = "perfect", objective: str = MARGIN, file: str | Path | None = None
    ) -> None:
        """Makes the agent; solves the game first if that takes seconds.

        Args:
            game: what it plays.
            name: what it is called.
            objective: "margin" or "outcome": what it plays for.
            file: of the values; None: those in the cache.

        Raises:
            ValueError: the game is not solved.
            MissingExtra: the values are in a file, and safetensors is not installed.
        """
        values = game.exact_values(objective, file)
        if values is None:
            raise ValueError(f"nothing solves {game!r}; perfect play is for small boards of games that offer it")
        self.game, self.name, self.values = game, name, values

    def act(self, states: Rows, masks: Masks | None = None) -> Actions:
        return best_actions(self.values.action_values(states))

    def choices(self, states: Rows) -> Masks:
        return marked(self.act(states), self.game.num_actions)

    def action_values(self, states: Rows) -> npt.NDArray[np.float64]:
        """What each action is worth if both play perfectly afterwards, for the seat that decides.

        Args:
            states: rows at a decision, shape (n,).

        Returns:
            float64, shape (n, actions), as `ExactValues.action_values` says; NaN for illegal actions.
        """
        return self.values.action_values(states)


def best_actions(values: npt.NDArray[np.float64]) -> Actions:
    """The best action of each row, among equally good ones that with the lowest id.

    Args:
        values: of the actions, NaN for illegal ones, shape (n, actions).

    Returns:
        int64, shape (n,).
    """
    near = values >= np.nanmax(values, axis=1, keepdims=True) - TIE
    return near.argmax(axis=1).astype(np.int64)
