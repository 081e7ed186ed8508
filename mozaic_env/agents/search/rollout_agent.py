"""The agent that searches by rollouts of a compiled policy, the policy's best actions being the candidates."""

import numpy as np
import numpy.typing as npt

from mozaic_env.agents.base import Actions, Agent, Masks, tied
from mozaic_env.agents.search.rollout import Search, Searcher
from mozaic_env.agents.search.valuation import AnyWeights
from mozaic_env.core.game import Game, Rows


class RolloutAgent(Agent):
    """Plays the candidate that is left over by its search."""

    def __init__(
        self,
        game: Game,
        weights: AnyWeights,
        *,
        width: int = 8,
        samples: int = 8,
        depth: int = 6,
        prior: float = 1.0,
        name: str = "rollout",
    ) -> None:
        """Makes the agent.

        Args:
            game: what it plays.
            weights: of the policy: tables, of a game that offers features, or a heuristic's.
            width: how many actions are tried, the best by the policy.
            samples: rollouts of each on average; sequential halving gives the better ones more.
            depth: decisions of a rollout beyond the action tried.
            prior: how much the policy's own value counts beside the mean of the rollouts; with few samples it has to.
            name: what it is called.

        Raises:
            ValueError: an argument is none of these.
        """
        self.game, self.name = game, name
        self._search = Searcher(game, weights, Search(width, samples, depth, prior))

    def quick(self) -> Agent:
        return self._changed(_search=self._search.quick())

    def act(self, states: Rows, masks: Masks | None = None) -> Actions:
        return self._search(states, self.agent_seed)[0]

    def choices(self, states: Rows) -> Masks:
        return tied(self.action_values(states))

    def action_values(self, states: Rows) -> npt.NDArray[np.float64]:
        """The mean of the rollouts of every action tried, with the policy's say, in points, for the seat that decides.

        Args:
            states: rows at a decision, shape (n,).

        Returns:
            float64, shape (n, actions); NaN for actions that are illegal or were not tried.
        """
        return self._search(states, self.agent_seed, with_values=True)[1]
