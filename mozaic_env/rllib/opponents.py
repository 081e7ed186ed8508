"""Earlier selves of the learner that hold seats in its games; every game keeps the one it began with to its end.

Knows nothing of Ray.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from mozaic_env.agents.base import Agent
from mozaic_env.agents.policy.agent import PolicyAgent
from mozaic_env.agents.policy.networks import Network
from mozaic_env.agents.policy.thinning import superfluous
from mozaic_env.core.game import Game

SELF = "self@"  # begins the names of earlier selves, their age in decisions follows
SPARE = 3  # slots for those that are out of play but not yet out of their games


def thin(ages: Sequence[int], size: int) -> list[int]:
    """The ages to keep, at most `size`: the first and the latest, and between them those that lie evenly."""
    kept = sorted(ages)
    while len(kept) > size:
        del kept[superfluous(kept)]
    return kept


class PastSelves:
    """Agents that play weights of the learner's past, by their probabilities.

    Attributes:
        agents: as many as there are slots, always the same objects.
    """

    def __init__(
        self,
        game: Game,
        size: int,
        make: Callable[[], Network],
        load: Callable[[Network, Mapping[str, Any]], Any],
        seed: int,
    ) -> None:
        """Makes the slots.

        Args:
            game: what is played.
            size: how many earlier selves there are at most.
            make: a network of the learner's kind.
            load: fills it with weights.
            seed: of the draws, and of the agents' own chance.
        """
        self._load = load
        self._ages: list[int | None] = [None] * (size + SPARE)
        self._random = np.random.default_rng(seed)
        self.agents: list[Agent] = []
        for _ in self._ages:
            agent = PolicyAgent(game, make().eval().requires_grad_(False), sample=True, name=SELF)
            agent.seed(seed)
            self.agents.append(agent)
        self._drawn: int | None = None

    def update(self, past: Mapping[int, Mapping[str, Any]], in_use: set[int]) -> None:
        """Takes over the weights that are new.

        Args:
            past: weights by age; those of other ages leave the play.
            in_use: numbers of the slots in games under way, which are not touched.
        """
        for age, weights in past.items():
            if age in self._ages:
                continue
            free = [i for i, held in enumerate(self._ages) if held not in past and i not in in_use]
            if free:  # else the next update finds one, when some games have ended
                agent: Any = self.agents[free[0]]
                self._load(agent.network, weights)
                self._ages[free[0]], agent.name = age, f"{SELF}{age}"
        ready = [i for i, held in enumerate(self._ages) if held in past]
        # One for all games that begin until the next update, so that it is asked in few large batches.
        self._drawn = int(self._random.choice(ready)) if ready else None

    def shares(self, share: float) -> list[float]:
        """How likely each slot is to get a new game, given what is for earlier selves altogether."""
        return [share if i == self._drawn else 0.0 for i in range(len(self.agents))]
