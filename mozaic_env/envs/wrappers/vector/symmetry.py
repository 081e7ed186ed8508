"""Symmetry augmentation of the vector environment."""

from collections.abc import Mapping
from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode

from mozaic_env.envs.wrappers import checks, kernels
from mozaic_env.envs.wrappers.vector.episodes import EpisodeWrapper, Flags, Infos

Integers = npt.NDArray[np.int64]


class RandomSymmetry(EpisodeWrapper, gym.utils.RecordConstructorArgs):
    """Shows every game under one of the game's symmetries, drawn at its start.

    See `mozaic_env.envs.wrappers.RandomSymmetry`; each game of the batch has one of its own.

    Attributes:
        chosen: which of ``game.symmetries`` each game has, int64, shape (num_envs,).
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
        game = self._base.game
        checks.check_entries(game, env.single_observation_space)
        self._symmetries = game.symmetries
        self._actions = np.stack([symmetry.actions for symmetry in self._symmetries])
        self._back = np.argsort(self._actions, axis=1)
        sizes = {field.key: field.size for field in game.fields}
        changed = {key for symmetry in self._symmetries for key in symmetry.entries}
        self._tables = {
            key: np.stack([symmetry.entries.get(key, np.arange(sizes[key])) for symmetry in self._symmetries])
            for key in changed
        }
        self.chosen = np.zeros(self.num_envs, np.int64)

    def _act(self, actions: Any) -> Any:
        given = np.asarray(actions)
        if given.shape != self.chosen.shape or given.dtype.kind not in "iu":
            return actions  # the environment says what is wrong
        known = (given >= 0) & (given < self._back.shape[1])
        return np.where(known, self._back[self.chosen, np.where(known, given, 0)], given)

    def _begun(self, games: Flags, infos: Infos, options: Mapping[str, Any] | None) -> None:
        drawn = np.empty_like(self.chosen)
        kernels.draw_symmetries(self._base.states, len(self._symmetries), drawn)
        self.chosen = np.where(games, drawn, self.chosen)

    def _stepped(
        self, actions: Any, rewards: npt.NDArray[Any], terminations: Flags, over: Flags, began: Flags, infos: Infos
    ) -> npt.NDArray[Any]:
        if self._base.autoreset_mode is AutoresetMode.SAME_STEP and over.any():
            infos["final_info"] = self._infos(infos["final_info"])
            for i in np.flatnonzero(over):
                infos["final_obs"][i] = self._symmetries[self.chosen[i]].observation(infos["final_obs"][i])
        return rewards

    def _shown(self, observations: Any, infos: Infos) -> tuple[Any, Infos]:
        images = {key: self._image(entry, self._tables.get(key)) for key, entry in observations.items()}
        return images, self._infos(infos)

    def _infos(self, infos: Infos) -> Infos:
        return {**infos, **{key: self._masks(infos[key]) for key in checks.BY_ACTION if key in infos}}

    def _image(self, entry: npt.NDArray[Any], tables: Integers | None) -> npt.NDArray[Any]:
        if tables is None:
            return entry
        flat = np.ascontiguousarray(entry).reshape(len(entry), -1)
        image = np.empty_like(flat)
        kernels.permute(flat, tables, self.chosen, image)
        return image.reshape(entry.shape)

    def _masks(self, masks: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return self._image(masks, self._actions)

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Which actions are legal now, as they are shown; bool, shape (num_envs, actions)."""
        return self._masks(self._base.action_masks())

    def sample_actions(self) -> Integers:
        """Uniformly random legal actions as they are shown, int64, shape (num_envs,)."""
        return self._actions[self.chosen, self._base.sample_actions()]
