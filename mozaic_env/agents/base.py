"""What an agent is: states and masks in, actions out; the same states and seed give the same actions."""

import abc
import copy
from typing import Any

import numpy as np
import numpy.typing as npt

from mozaic_env.core.checks import check_whole_number
from mozaic_env.core.game import Game, Rows
from mozaic_env.core.stream import keys_from_seeds

Masks = npt.NDArray[np.int8]
Actions = npt.NDArray[np.int64]


def tied(values: npt.NDArray[np.float64]) -> Masks:
    """The actions of the largest value in each row, int8, shape (n, actions); NaN is no value."""
    return (values == np.nanmax(values, axis=1, keepdims=True)).astype(np.int8)


def marked(actions: Actions, number: int) -> Masks:
    """One action in each row, int8, shape (n, number)."""
    return (actions[:, None] == np.arange(number)).astype(np.int8)


class Agent(abc.ABC):
    """Picks actions for a batch of games at once.

    An agent keeps nothing from one call to the next, so one object can play any number of games, and both seats
    of one. Chance in its choices is a function of the row (its key, seat and decision count) and of the agent's
    seed: what it does in a game depends neither on the batch nor on the other games.
    """

    name: str
    game: Game
    agent_seed: np.uint64 = np.uint64(0)

    @abc.abstractmethod
    def act(self, states: Rows, masks: Masks | None = None) -> Actions:
        """Actions for the seats that decide.

        Args:
            states: rows that are at a decision, shape (n,).
            masks: their action masks, int8, shape (n, actions); an agent that knows the rules may do without.

        Returns:
            int64, shape (n,); each legal in its row.
        """

    def seed(self, seed: int) -> None:
        """Makes the agent's own chance another one; the default is seed 0's absence, the same for all agents.

        Raises:
            ValueError: the seed is not a whole number of at least 0.
        """
        self.agent_seed = np.uint64(keys_from_seeds([check_whole_number("seed", seed, 0)])[0])

    def policy_spec(self) -> np.void | None:
        """How compiled loops play the agent (`mozaic_env.agents.kernels.POLICY_SPEC`); None: they have to ask `act`."""
        return None

    def choices(self, states: Rows) -> Masks | None:
        """Which actions the agent may take, if that is a function of the state: all with the same probability.

        Several are marked where it draws lots, as random does among all actions and greedy among equal ones.

        Args:
            states: rows that are at a decision, shape (n,).

        Returns:
            int8, shape (n, actions), 1 for each of these actions; None: it chooses otherwise, by sampling or memory.
        """
        return None

    def quick(self) -> "Agent":
        """An agent that runs the same code and hardly searches, to have that compiled; itself if it never thinks long.

        Agents whose thinking has no bound that matters override it.
        """
        return self

    def _changed(self, **attributes: Any) -> "Agent":
        """A copy that differs in some attributes."""
        twin = copy.copy(self)
        vars(twin).update(attributes)
        return twin

    def __deepcopy__(self, memo: dict[int, Any]) -> "Agent":
        """Copies of an environment share its agents, which keep nothing of a game."""
        return self

    def __repr__(self) -> str:
        return f"<agent {self.name} for {self.game!r}>"
