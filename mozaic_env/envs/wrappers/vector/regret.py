"""Exact regret in the vector environment."""

from collections.abc import Mapping
from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode, VectorActionWrapper

from mozaic_env.core.exact import MARGIN, regrets, require_exact_values
from mozaic_env.envs.wrappers import checks
from mozaic_env.envs.wrappers.vector.episodes import EpisodeWrapper, Flags, Infos
from mozaic_env.envs.wrappers.vector.symmetry import RandomSymmetry


class ExactRegret(EpisodeWrapper, gym.utils.RecordConstructorArgs):
    """Says what every action is worth against perfect play, and what each step gave away, on a variant that is solved.

    See `mozaic_env.envs.wrappers.ExactRegret`: ``infos["action_values"]`` has shape (num_envs, actions),
    ``infos["regret"]`` shape (num_envs,). The regret is always that of the actions of this step, in SAME_STEP mode of
    games that ended too; where a step only resets a game there is none (``infos["_regret"]`` is False, the number 0).
    """

    def __init__(self, env: Any, objective: str = MARGIN) -> None:
        """Puts the wrapper around an environment; the other argument is that of the single one.

        Args:
            env: the native vector environment; `RandomSymmetry` and others that change actions go around this
                wrapper.
            objective: see there.

        Raises:
            ValueError: an argument is none of these, or the variant has no exact values.
        """
        gym.utils.RecordConstructorArgs.__init__(self, objective=objective)
        EpisodeWrapper.__init__(self, env)
        checks.check_plain_actions(env, VectorActionWrapper, RandomSymmetry)
        self._exact = require_exact_values(self._base.game, objective)
        self._values = np.full((self.num_envs, self._base.game.num_actions), np.nan)
        self._news: Infos = {}

    def _look(self, games: Flags) -> None:
        """Values the decisions that these games are at."""
        if games.any():
            self._values[games] = self._exact.action_values(self._base.states[games])

    def _begun(self, games: Flags, infos: Infos, options: Mapping[str, Any] | None) -> None:
        self._look(games)

    def _stepped(
        self, actions: Any, rewards: npt.NDArray[Any], terminations: Flags, over: Flags, began: Flags, infos: Infos
    ) -> npt.NDArray[Any]:
        same_step = self._base.autoreset_mode is AutoresetMode.SAME_STEP
        decided = np.ones_like(over) if same_step else ~began
        given = np.zeros(self.num_envs)
        given[decided] = regrets(self._values[decided], np.asarray(actions)[decided])
        self._news = {"regret": given, "_regret": decided}
        if same_step and over.any():
            endings = {"regret": np.where(over, given, 0.0), "action_values": np.zeros_like(self._values)}
            endings["action_values"][over] = np.nan
            flags = {f"_{key}": over.copy() for key in endings}
            infos["final_info"] = {**infos["final_info"], **endings, **flags}
        self._values[over] = np.nan
        self._look(~(over | began))
        return rewards

    def _shown(self, observations: Any, infos: Infos) -> tuple[Any, Infos]:
        values = {"action_values": self._values.copy(), "_action_values": np.ones(self.num_envs, np.bool_)}
        news, self._news = self._news, {}
        return observations, {**infos, **values, **news}
