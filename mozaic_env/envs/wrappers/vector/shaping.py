"""Reward shaping of the vector environment."""

from collections.abc import Mapping
from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode

from mozaic_env.envs.wrappers import checks, kernels
from mozaic_env.envs.wrappers.vector.episodes import EpisodeWrapper, Flags, Infos


class PotentialReward(EpisodeWrapper, gym.utils.RecordConstructorArgs):
    """Adds to each reward by how much the step has raised a potential: the game's heuristic value of the state.

    See `mozaic_env.envs.wrappers.PotentialReward`. In SAME_STEP mode the state in which a game was truncated is gone
    when the step returns, so there its potential counts as 0, like that of a game that is over.
    """

    def __init__(self, env: Any, heuristic: str | None = None, scale: float = 0.01, gamma: float = 1.0) -> None:
        """Puts the wrapper around an environment; the other arguments are those of the single one.

        Raises:
            ValueError: an argument is none of those.
        """
        gym.utils.RecordConstructorArgs.__init__(self, heuristic=heuristic, scale=scale, gamma=gamma)
        EpisodeWrapper.__init__(self, env)
        self._weights = checks.heuristic_weights(self._base.game, heuristic)
        self._scale = checks.check_number("scale", scale, 0, 1e6)
        self._gamma = checks.check_number("gamma", gamma, 0, 1)
        self._seats = np.zeros(self.num_envs, np.int64)
        self._before = np.zeros(self.num_envs)

    def _potentials(self, seats: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        values = np.empty(self.num_envs)
        kernels.values_of(self._base.states, seats, self._weights, values)
        return self._scale * values

    def _stepped(
        self, actions: Any, rewards: npt.NDArray[Any], terminations: Flags, over: Flags, began: Flags, infos: Infos
    ) -> npt.NDArray[Any]:
        same_step = self._base.autoreset_mode is AutoresetMode.SAME_STEP
        after = np.where(over if same_step else terminations, 0.0, self._potentials(self._seats))
        shaped = rewards + self._gamma * after - self._before
        self._note(infos)
        return np.where(began & ~over, rewards, shaped)  # a step that only resets has no decision to shape

    def _begun(self, games: Flags, infos: Infos, options: Mapping[str, Any] | None) -> None:
        self._note(infos)

    def _note(self, infos: Infos) -> None:
        """Who decides next in each game, and the potential for that seat."""
        self._seats = infos["seat"].copy()
        self._before = self._potentials(self._seats)
