"""The built-in agents that are kernels: random, and one-ply greedy over any heuristic of the game."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from mozaic_env.agents import kernels
from mozaic_env.agents.base import Actions, Agent, Masks
from mozaic_env.core.game import Game, Rows


class CompiledAgent(Agent):
    """An agent that is a policy spec for `mozaic_env.agents.kernels.choose`."""

    def __init__(self, game: Game, name: str, kind: int, weights: Sequence[float] = ()) -> None:
        self.game = game
        self.name = name
        self._kind = kind
        self._weights = tuple(weights)
        if len(self._weights) > kernels.MAX_WEIGHTS:
            raise ValueError(f"heuristic of {len(self._weights)} weights; accepted: at most {kernels.MAX_WEIGHTS}")

    def policy_spec(self) -> np.void:
        made = np.zeros(1, kernels.POLICY_SPEC)
        made["kind"], made["agent_seed"] = self._kind, self.agent_seed
        made["weights"][0, : len(self._weights)] = self._weights
        return made[0]

    def act(self, states: Rows, masks: Masks | None = None) -> Actions:
        self.game.check_rows(states)
        actions, values = np.empty(self.game.num_actions, np.int64), np.empty(self.game.num_actions)
        chosen = np.empty(len(states), np.int64)
        kernels.choose_rows(states, self.policy_spec(), chosen, actions, values)
        return chosen

    def choices(self, states: Rows) -> Masks:
        self.game.check_rows(states)
        actions, values = np.empty(self.game.num_actions, np.int64), np.empty(self.game.num_actions)
        masks = np.zeros((len(states), self.game.num_actions), np.int8)
        kernels.mark_rows(np.ascontiguousarray(states), self.policy_spec(), masks, actions, values)
        return masks


class GreedyAgent(CompiledAgent):
    """Looks at its own action alone, so it can say what it thinks of each."""

    def action_values(self, states: Rows) -> npt.NDArray[np.float64]:
        """The heuristic value of the state after every action, in points, for the seat that decides.

        Args:
            states: rows at a decision, shape (n,).

        Returns:
            float64, shape (n, actions); NaN for illegal actions.
        """
        self.game.check_rows(states)
        found = np.full((len(states), self.game.num_actions), np.nan)
        actions, values = np.empty(self.game.num_actions, np.int64), np.empty(self.game.num_actions)
        kernels.value_rows(np.ascontiguousarray(states), np.array(self._weights), found, actions, values)
        return found


def random_agent(game: Game) -> CompiledAgent:
    """Picks uniformly among the legal actions."""
    return CompiledAgent(game, "random", kernels.RANDOM)


def greedy_agent(game: Game, heuristic: str) -> GreedyAgent:
    """Picks the action after which a heuristic of the game values its seat most, ties at random; looks at no draw."""
    return GreedyAgent(game, heuristic, kernels.GREEDY, game.heuristics[heuristic])
