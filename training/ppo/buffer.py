"""The decisions of a rollout, kept in their own types and handed to torch without detours.

Stable-baselines3's buffer makes new arrays for each rollout, keeps masks as float32, transposes everything and copies
each minibatch twice. Here the arrays are made once, a mask takes a byte, and a minibatch is one gather of each array;
on a GPU a rollout is sent there once and gathered from there.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from sb3_contrib.common.maskable.buffers import MaskableDictRolloutBuffer, MaskableDictRolloutBufferSamples
from torch import Tensor

Array = npt.NDArray[Any]


class RolloutBuffer(MaskableDictRolloutBuffer):
    """What MaskablePPO asks of its buffer for dict observations and `Discrete` actions."""

    def reset(self) -> None:
        """Empties it."""
        if not hasattr(self, "action_masks"):
            self._make_room()
        self._flat: list[Tensor] = []  # all decisions in one row, once the rollout is complete
        self.pos, self.full = 0, False

    def _make_room(self) -> None:
        shape = (self.buffer_size, self.n_envs)
        self.mask_dims = int(self.action_space.n)  # type: ignore[attr-defined]  # it is Discrete
        self.action_masks = np.ones((*shape, self.mask_dims), np.bool_)
        self.observations = {
            key: np.zeros((*shape, *self.obs_shape[key]), space.dtype)
            for key, space in self.observation_space.spaces.items()
        }
        self.actions = np.zeros((*shape, 1), np.int64)
        for name in ("rewards", "returns", "episode_starts", "values", "log_probs", "advantages"):
            setattr(self, name, np.zeros(shape, np.float32))

    def add(
        self,
        obs: Mapping[str, Array],
        action: Array,
        reward: Array,
        episode_start: Array,
        value: Tensor,
        log_prob: Tensor,
        action_masks: Array | None = None,
    ) -> None:
        """Takes one decision of each game in; without masks everything was legal."""
        pos = self.pos
        for key, kept in self.observations.items():
            kept[pos] = obs[key]
        self.action_masks[pos] = True if action_masks is None else action_masks
        self.actions[pos] = action.reshape(-1, 1)
        self.rewards[pos], self.episode_starts[pos] = reward, episode_start
        self.values[pos], self.log_probs[pos] = value.flatten().cpu().numpy(), log_prob.cpu().numpy()
        self.pos += 1
        self.full = self.pos == self.buffer_size

    def get(self, batch_size: int | None = None) -> Iterator[MaskableDictRolloutBufferSamples]:
        """All decisions in minibatches, in a random order.

        Args:
            batch_size: of a minibatch; the last one may be smaller. None: all at once.
        """
        size = self.buffer_size * self.n_envs
        order = np.random.permutation(size)  # noqa: NPY002 - the generator that stable-baselines3 seeds
        for low in range(0, size, batch_size or size):
            yield self._get_samples(order[low : low + (batch_size or size)])

    def _get_samples(self, batch_inds: npt.NDArray[np.int64], env: None = None) -> MaskableDictRolloutBufferSamples:
        if not self._flat:
            others = (self.actions, self.values, self.log_probs, self.advantages, self.returns, self.action_masks)
            arrays = (*self.observations.values(), *others)
            self._flat = [torch.from_numpy(array).flatten(0, 1).to(self.device) for array in arrays]
        chosen = torch.from_numpy(batch_inds).to(self.device)
        parts = [array.index_select(0, chosen) for array in self._flat]
        keys = list(self.observations)
        return MaskableDictRolloutBufferSamples(dict(zip(keys, parts)), *parts[len(keys) :])
