"""What the vector wrappers share: which games have begun in a step or reset, in every autoreset mode."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode, VectorWrapper

from mozaic_env.envs.gymnasium.vector import GameVectorEnv
from mozaic_env.envs.wrappers import checks

Flags = npt.NDArray[np.bool_]
Infos = dict[str, Any]
StepResult = tuple[Any, npt.NDArray[Any], Flags, Flags, Infos]


class EpisodeWrapper(VectorWrapper):  # without parameters, which older releases of Gymnasium don't take
    """A vector wrapper that knows where games begin.

    Subclasses override `_act`, `_begun` and `_stepped`.
    """

    def __init__(self, env: Any) -> None:
        """Puts the wrapper around an environment; ValueError if it is not around the native one."""
        super().__init__(env)
        self._base: GameVectorEnv = checks.game_vector_env(env)
        self._ended = np.zeros(self.num_envs, np.bool_)  # games whose next step is their reset

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, Infos]:
        """Begins games, all or those of `options["reset_mask"]`."""
        observations, infos = super().reset(seed=seed, options=options)
        mask = options.get("reset_mask") if isinstance(options, Mapping) else None
        games = np.ones(self.num_envs, np.bool_) if mask is None else mask
        self._ended &= ~games
        self._begun(games, infos, options)
        return self._shown(observations, infos)

    def step(self, actions: Any) -> StepResult:
        """Makes a decision for each game."""
        observations, rewards, terminations, truncations, infos = super().step(self._act(actions))
        over = terminations | truncations
        began = np.zeros_like(over)
        if self._base.autoreset_mode is AutoresetMode.NEXT_STEP:
            began, self._ended = self._ended, over
        elif self._base.autoreset_mode is AutoresetMode.SAME_STEP:
            began = over
        rewards = self._stepped(actions, rewards, terminations, over, began, infos)
        if began.any():
            self._begun(began, infos, None)
        observations, infos = self._shown(observations, infos)
        return observations, rewards, terminations, truncations, infos

    def _act(self, actions: Any) -> Any:
        """The actions to hand on."""
        return actions

    def _begun(self, games: Flags, infos: Infos, options: Mapping[str, Any] | None) -> None:
        """Games have begun; the base's states are theirs."""

    def _stepped(
        self,
        actions: Any,
        rewards: npt.NDArray[Any],
        terminations: Flags,
        over: Flags,
        began: Flags,
        infos: Infos,
    ) -> npt.NDArray[Any]:
        """A step has been made, and where `began` a game has begun since; returns the rewards."""
        return rewards

    def _shown(self, observations: Any, infos: Infos) -> tuple[Any, Infos]:
        """What is given out."""
        return observations, infos
