"""A network that searches: its likeliest actions, each valued by rollouts of a compiled policy with equal luck.

The network says which actions are worth a look, and has a say in the choice: `prior` times the logarithm of its
probability is added to the mean of an action's rollouts (`mozaic_env.agents.search.rollout`). So a network whose own
values are too noisy to search with is improved by a weaker, much faster policy that plays many games to see.
"""

import numpy as np
import numpy.typing as npt

from mozaic_env.agents.base import Actions, Agent, Masks, tied
from mozaic_env.agents.policy.agent import PolicyAgent
from mozaic_env.agents.search.rollout import Search, Searcher
from mozaic_env.agents.search.valuation import AnyWeights
from mozaic_env.core.game import Rows

BATCH = 1024  # states that the network looks at together


class PolicyRolloutAgent(Agent):
    """Plays the candidate that is left over by its search."""

    def __init__(
        self,
        policy: PolicyAgent,
        weights: AnyWeights,
        *,
        candidates: int = 6,
        samples: int = 16,
        depth: int = 8,
        prior: float = 1.0,
        name: str = "policy+rollouts",
    ) -> None:
        """Makes the agent.

        Args:
            policy: the network, for candidates and priors.
            weights: of the policy that plays the rollouts: tables, or a heuristic's.
            candidates: how many actions are tried, the likeliest by the network.
            samples: rollouts of each on average; sequential halving gives the better ones more.
            depth: decisions of a rollout beyond the action tried.
            prior: points that an action e times as likely is worth.
            name: what results and records call it.

        Raises:
            ValueError: an argument is none of these.
        """
        self.game, self.name = policy.game, name
        self._policy = policy
        self._search = Searcher(policy.game, weights, Search(candidates, samples, depth, prior))

    def quick(self) -> Agent:
        return self._changed(_search=self._search.quick())

    def act(self, states: Rows, masks: Masks | None = None) -> Actions:
        return self._decide(states, False)[0]

    def choices(self, states: Rows) -> Masks:
        return tied(self.action_values(states))

    def action_values(self, states: Rows) -> npt.NDArray[np.float64]:
        """The mean of the rollouts of every action tried, with the network's say, in points, for the seat that decides.

        Args:
            states: rows at a decision, shape (n,).

        Returns:
            float64, shape (n, actions); NaN for actions that are illegal or were not tried.
        """
        return self._decide(states, True)[1]

    def _decide(self, states: Rows, with_values: bool) -> tuple[Actions, npt.NDArray[np.float64]]:
        search = self._search.search
        given = np.empty((len(states), search.width), np.int64)
        priors = np.empty(given.shape)
        for low in range(0, len(states), BATCH):
            part = slice(low, low + BATCH)
            probabilities, _ = self._policy.evaluate(np.ascontiguousarray(states[part]))
            likeliest = np.argsort(-probabilities, axis=1, kind="stable")[:, : search.width]
            likely = np.take_along_axis(probabilities, likeliest, axis=1)
            given[part] = np.where(likely > 0, likeliest, -1)
            priors[part] = search.prior * np.log(np.maximum(likely, 1e-30))
        return self._search(states, self.agent_seed, given, priors, with_values=with_values)
