"""What agents that search have in common: they are asked in batches, and say what they compare."""

import abc
from typing import Any

import numpy as np
import numpy.typing as npt

from mozaic_env.agents.base import Actions, Agent, Masks, tied
from mozaic_env.core.game import Game, Rows


class SearchAgent(Agent):
    """Plays the action of the largest value, ties at random."""

    _memory: Any = None  # of one search at a time; made by the first search

    def __getstate__(self) -> dict[str, Any]:
        """Without the memory, which the next search makes again: copies of its arrays would not share memory."""
        return {**self.__dict__, "_memory": None}

    def act(self, states: Rows, masks: Masks | None = None) -> Actions:
        return self._search(states, np.empty((len(states), 0)))

    def choices(self, states: Rows) -> Masks:
        return tied(self.action_values(states))

    def action_values(self, states: Rows) -> npt.NDArray[np.float64]:
        """What the agent compares: the lead to be expected, in points, for the seat that decides.

        Args:
            states: rows at a decision, shape (n,).

        Returns:
            float64, shape (n, actions); NaN for actions that are illegal or were not tried.
        """
        found = np.full((len(states), self.game.num_actions), np.nan)
        self._search(states, found)
        return found

    def _search(self, states: Rows, found: npt.NDArray[np.float64]) -> Actions:
        self.game.check_rows(states)
        if self._memory is None:
            self._memory = self._make_memory()
        chosen = np.empty(len(states), np.int64)
        self._search_rows(np.ascontiguousarray(states), chosen, found)
        return chosen

    @abc.abstractmethod
    def _make_memory(self) -> Any:
        """Memory of one search at a time."""

    @abc.abstractmethod
    def _search_rows(self, rows: Rows, chosen: Actions, found: npt.NDArray[np.float64]) -> None:
        """Writes the action chosen in each row, -1 where nobody decides, and its values where `found` has room."""


def heuristic_weights(game: Game, name: str | None) -> npt.NDArray[np.float64]:
    """Weights of a game's heuristic; None: of its last, strongest one.

    Raises:
        ValueError: it has none of this name.
    """
    chosen = name or tuple(game.heuristics)[-1]
    if chosen not in game.heuristics:
        raise ValueError(f"heuristic={name!r}; accepted: {', '.join(game.heuristics)}")
    return np.array(game.heuristics[chosen])
