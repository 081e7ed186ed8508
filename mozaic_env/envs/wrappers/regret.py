"""Exact regret in the single environment."""

from typing import Any, SupportsFloat

import gymnasium as gym
import numpy as np
import numpy.typing as npt

from mozaic_env.core.exact import MARGIN, regrets, require_exact_values
from mozaic_env.envs.wrappers import checks
from mozaic_env.envs.wrappers.symmetry import RandomSymmetry


class ExactRegret(gym.Wrapper[Any, Any, Any, Any], gym.utils.RecordConstructorArgs):
    """Says what every action is worth against perfect play, and what each step gave away, on a variant that is solved.

    ``info["action_values"]`` (float64, one for each action, at reset and every step) has the values for the seat that
    decides, in the unit of the objective: for "margin" the lead that is still to come, for "outcome" the expected
    result. Illegal actions are NaN, and all are when the game has ended.

    ``info["regret"]`` (float, at every step) is the value of the best action less that of the action of this step; NaN
    for an illegal one. Over a game against perfect play it adds up to what the agent loses on average.
    """

    def __init__(self, env: gym.Env[Any, Any], objective: str = MARGIN) -> None:
        """Puts the wrapper around an environment.

        Args:
            env: of a game of this package; `RandomSymmetry` and others that change actions go around this wrapper.
            objective: what perfect play maximises, "margin" or "outcome".

        Raises:
            ValueError: an argument is none of these, or the variant has no exact values.
        """
        gym.utils.RecordConstructorArgs.__init__(self, objective=objective)
        gym.Wrapper.__init__(self, env)
        self._base = checks.game_env(env)
        checks.check_plain_actions(env, gym.ActionWrapper, RandomSymmetry)
        self._exact = require_exact_values(self._base.game, objective)
        self._values = self._no_values()

    def _no_values(self) -> npt.NDArray[np.float64]:
        return np.full(self._base.game.num_actions, np.nan)

    def _look(self) -> None:
        """Values the decision that the game is at."""
        self._values = self._exact.action_values(self._base.state.reshape(1))[0]

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begins a game."""
        observation, info = super().reset(seed=seed, options=options)
        self._look()
        return observation, {**info, "action_values": self._values.copy()}

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        """Makes a decision."""
        observation, reward, terminated, truncated, info = super().step(action)
        regret = float(regrets(self._values[None], np.asarray(action).reshape(1))[0])
        if terminated or truncated:
            self._values = self._no_values()
        else:
            self._look()
        info = {**info, "regret": regret, "action_values": self._values.copy()}
        return observation, reward, terminated, truncated, info
