"""Reward shaping of the single environment."""

from typing import Any

import gymnasium as gym
import numpy as np

from mozaic_env.envs.wrappers import checks, kernels


class PotentialReward(gym.Wrapper[Any, Any, Any, Any], gym.utils.RecordConstructorArgs):
    """Adds to each reward by how much the step has raised a potential: the game's heuristic value of the state.

    The shaped reward is ``reward + gamma * potential(after) - potential(before)``, for the seat that acted; after the
    end the potential is 0. With the learner's own discount as `gamma` the best policies stay the same, and what is good
    shows sooner (A. Ng, D. Harada, S. Russell, Policy invariance under reward transformations, 1999).

    With ``opponent=None`` a step leads to the next decision, whoever's it is, and is measured for the seat that acted.
    """

    def __init__(
        self, env: gym.Env[Any, Any], heuristic: str | None = None, scale: float = 0.01, gamma: float = 1.0
    ) -> None:
        """Puts the wrapper around an environment.

        Args:
            env: of a game of this package.
            heuristic: one of the game's `heuristics`; None: its last, strongest one.
            scale: of the potential: what a point of the heuristic is worth in rewards.
            gamma: the learner's discount.

        Raises:
            ValueError: an argument is none of these.
        """
        gym.utils.RecordConstructorArgs.__init__(self, heuristic=heuristic, scale=scale, gamma=gamma)
        gym.Wrapper.__init__(self, env)
        self._base = checks.game_env(env)
        self._weights = checks.heuristic_weights(self._base.game, heuristic)
        self._scale = checks.check_number("scale", scale, 0, 1e6)
        self._gamma = checks.check_number("gamma", gamma, 0, 1)
        self._seat, self._before = 0, 0.0

    def _potential(self, seat: int) -> float:
        values = np.zeros(1)
        kernels.values_of(self._base.state.reshape(1), np.array([seat]), self._weights, values)
        return self._scale * float(values[0])

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begins a game."""
        observation, info = super().reset(seed=seed, options=options)
        self._seat = info["seat"]
        self._before = self._potential(self._seat)
        return observation, info

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Makes a decision."""
        observation, reward, terminated, truncated, info = super().step(action)
        after = 0.0 if terminated else self._potential(self._seat)
        reward = float(reward) + self._gamma * after - self._before
        self._seat = info["seat"]
        self._before = self._potential(self._seat)
        return observation, reward, terminated, truncated, info
