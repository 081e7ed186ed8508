"""Symmetry augmentation of the single environment."""

from typing import Any, SupportsFloat

import gymnasium as gym
import numpy as np
import numpy.typing as npt

from mozaic_env.core.symmetry import Symmetry
from mozaic_env.envs.wrappers import checks, kernels


class RandomSymmetry(gym.Wrapper[Any, Any, Any, Any], gym.utils.RecordConstructorArgs):
    """Shows every game under one of the game's symmetries, drawn at its start: a turned or mirrored board.

    What the agent sees, its masks and its actions are all under the same symmetry, so the game is as it was; only a
    policy that has learnt it in one direction alone meets all of them. Which symmetry is drawn follows from the seed.
    Pictures, records and position strings show the game as it is.

    A batch of positions has all its images without an environment: `mozaic_env.core.symmetry.Symmetry`.

    Attributes:
        symmetry: of the game under way.
    """

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        """Puts the wrapper around an environment.

        Args:
            env: of a game of this package; its observations are still the game's entries by name.

        Raises:
            ValueError: it is not.
        """
        gym.utils.RecordConstructorArgs.__init__(self)
        gym.Wrapper.__init__(self, env)
        self._base = checks.game_env(env)
        checks.check_entries(self._base.game, env.observation_space)
        self._set(self._base.game.symmetries[0])

    def _set(self, symmetry: Symmetry) -> None:
        self.symmetry = symmetry
        self._back = np.argsort(symmetry.actions)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begins a game and draws its symmetry."""
        observation, info = super().reset(seed=seed, options=options)
        symmetries = self._base.game.symmetries
        self._set(symmetries[kernels.draw_symmetry(self._base.state, len(symmetries))])
        return self.symmetry.observation(observation), self._image(info)

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        """Makes the decision whose image the action is."""
        given = np.asarray(action)
        if given.size == 1 and given.dtype.kind in "iu" and 0 <= given.reshape(()) < len(self._back):
            action = self._back[given]
        observation, reward, terminated, truncated, info = super().step(action)
        return self.symmetry.observation(observation), reward, terminated, truncated, self._image(info)

    def _image(self, info: dict[str, Any]) -> dict[str, Any]:
        images = {key: self.symmetry.masks(info[key]) for key in checks.BY_ACTION if key in info}
        return {**info, **images}

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Which actions are legal now, as they are shown; bool, shape (actions,)."""
        return self.symmetry.masks(self._base.action_masks())
