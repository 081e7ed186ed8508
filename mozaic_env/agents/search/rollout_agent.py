"""The agent that searches by rollouts of a compiled policy, the policy's best actions being the candidates."""

from typing import Any

import numpy as np
import numpy.typing as npt

from mozaic_env.agents.base import Actions, Agent
from mozaic_env.agents.search.rollout import Search, make_candidates, search_rows
from mozaic_env.agents.search.search_agent import SearchAgent
from mozaic_env.agents.search.valuation import AnyWeights, make_room
from mozaic_env.core.game import Game, Rows

Candidates = tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]


class RolloutAgent(SearchAgent):
    """Plays the candidate that is left over by its search."""

    def __init__(
        self,
        game: Game,
        weights: AnyWeights,
        *,
        width: int = 8,
        samples: int = 32,
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
        for key, given in (("width", width), ("samples", samples)):
            if given < 1:
                raise ValueError(f"{key}={given!r}; accepted: a whole number of at least 1")
        if depth < 0 or prior < 0:
            raise ValueError(f"depth={depth!r}, prior={prior!r}; accepted: numbers of at least 0")
        self.game, self.name = game, name
        self._weights = weights
        self._plan = Search(min(width, game.num_actions), samples, depth, float(prior))

    def quick(self) -> Agent:
        return self._changed(_plan=self._plan._replace(samples=1, depth=1))

    def action_values(self, states: Rows) -> npt.NDArray[np.float64]:
        """The mean of the rollouts of every action tried, with the prior, in points, for the seat that decides.

        Args:
            states: rows at a decision, shape (n,).

        Returns:
            float64, shape (n, actions); NaN for actions that are illegal or were not tried. The chosen action's is the
            largest: those that were dropped early have few rollouts, and where their luck was better they share it.
        """
        found = np.full((len(states), self.game.num_actions), np.nan)
        chosen = self._search(states, found)
        decided = np.flatnonzero(chosen >= 0)
        at = decided, chosen[decided]
        found[at] = np.maximum(found[at], np.nextafter(np.nanmax(found[decided], axis=1, initial=-np.inf), np.inf))
        return found

    def _make_memory(self) -> Any:
        return make_candidates(self.game, self._plan.width), make_room(self.game, self._weights)

    def _search_rows(self, rows: Rows, chosen: Actions, found: npt.NDArray[np.float64]) -> None:
        search_rows(
            rows, self._plan, self._weights, self.agent_seed, *self._find_candidates(rows), chosen, found, *self._memory
        )

    def _find_candidates(self, rows: Rows) -> Candidates:
        """Actions to try in each row and their priors, as `search_rows` takes them; none: the policy's own."""
        return np.empty((len(rows), 0), np.int64), np.empty((len(rows), 0))
