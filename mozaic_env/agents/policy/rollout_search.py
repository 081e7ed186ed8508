"""A network that searches: its likeliest actions, each valued by rollouts of a compiled policy with equal luck.

The network says which actions are worth a look, and has a say in the choice: `prior` times the logarithm of its
probability is added to the mean of an action's rollouts (`mozaic_env.agents.search.rollout`). So a network whose own
values are too noisy to search with is improved by a weaker, much faster policy that plays many games to see.
"""

import numpy as np

from mozaic_env.agents.policy.agent import PolicyAgent
from mozaic_env.agents.search.rollout_agent import Candidates, RolloutAgent
from mozaic_env.agents.search.valuation import AnyWeights
from mozaic_env.core.game import Rows

BATCH = 1024  # states that the network looks at together


class PolicyRolloutAgent(RolloutAgent):
    """Plays the candidate that is left over by its search."""

    def __init__(
        self,
        policy: PolicyAgent,
        weights: AnyWeights,
        *,
        candidates: int = 6,
        samples: int = 16,
        depth: int = 6,
        prior: float = 0.5,
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
        super().__init__(policy.game, weights, width=candidates, samples=samples, depth=depth, prior=prior, name=name)
        self._policy = policy

    def _find_candidates(self, rows: Rows) -> Candidates:
        given = np.empty((len(rows), self._plan.width), np.int64)
        priors = np.empty(given.shape)
        for low in range(0, len(rows), BATCH):
            part = slice(low, low + BATCH)
            probabilities, _ = self._policy.evaluate(rows[part])
            likeliest = np.argsort(-probabilities, axis=1, kind="stable")[:, : self._plan.width]
            likely = np.take_along_axis(probabilities, likeliest, axis=1)
            given[part] = np.where(likely > 0, likeliest, -1)
            priors[part] = self._plan.prior * np.log(np.maximum(likely, 1e-30))
        return given, priors
