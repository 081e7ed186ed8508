"""Flat observations of the vector environment."""

from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from mozaic_env.envs.wrappers import checks
from mozaic_env.envs.wrappers.vector.episodes import EpisodeWrapper, Flags, Infos


class FlattenObservation(EpisodeWrapper, gym.utils.RecordConstructorArgs):
    """Gives each game's observation as one vector of all numbers, as `gymnasium.wrappers.FlattenObservation` does.

    Gymnasium's own for vector environments does so too, but not in SAME_STEP mode.
    """

    def __init__(self, env: Any) -> None:
        """Puts the wrapper around an environment.

        Args:
            env: the native vector environment; its observations are still the game's entries by name.

        Raises:
            ValueError: it is not.
        """
        gym.utils.RecordConstructorArgs.__init__(self)
        EpisodeWrapper.__init__(self, env)
        self._entries: Any = env.single_observation_space
        checks.check_entries(self._base.game, self._entries)
        flat = spaces.flatten_space(self._entries)
        self.single_observation_space = flat
        self.observation_space = batch_space(flat, self.num_envs)

    def _stepped(
        self, actions: Any, rewards: npt.NDArray[Any], terminations: Flags, over: Flags, began: Flags, infos: Infos
    ) -> npt.NDArray[Any]:
        if self._base.autoreset_mode is AutoresetMode.SAME_STEP:
            for i in np.flatnonzero(over):
                infos["final_obs"][i] = spaces.flatten(self._entries, infos["final_obs"][i])
        return rewards

    def _shown(self, observations: Any, infos: Infos) -> tuple[Any, Infos]:
        parts = [observations[key].reshape(self.num_envs, -1) for key in self._entries]
        return np.concatenate(parts, axis=1, dtype=self.single_observation_space.dtype), infos
