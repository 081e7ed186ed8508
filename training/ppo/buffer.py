"""The decisions of one update on the learner's device, handed out in minibatches."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from mozaic_env.simulation.self_play import Fragment


class Minibatch(NamedTuple):
    """Decisions in an order drawn at random; the names are those of sb3-contrib's samples."""

    observations: dict[str, Tensor]
    actions: Tensor
    old_values: Tensor
    old_log_prob: Tensor
    advantages: Tensor
    returns: Tensor
    action_masks: Tensor


class FragmentBuffer:
    """What MaskablePPO has in place of a rollout buffer: it is filled with a fragment of self-play at once."""

    def __init__(self, *_: Any, device: torch.device | str = "cpu", **__: Any) -> None:
        """Takes the arguments of a rollout buffer, of which a fragment needs none but the device."""
        self.device = torch.device(device)
        self._columns: list[Tensor] = []
        self._keys: list[str] = []

    def fill(self, fragment: Fragment) -> None:
        """Takes over a fragment; its advantages are normalised."""
        advantages = fragment.advantages
        normalised = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        values = fragment.targets - advantages
        self._keys = list(fragment.observation)
        columns = (
            *fragment.observation.values(),
            fragment.actions,
            values,
            fragment.log_probabilities,
            normalised,
            fragment.targets,
            fragment.masks.view(np.bool_),
        )
        self._columns = [torch.from_numpy(column).to(self.device) for column in columns]
        self.values, self.returns = values, fragment.targets

    def get(self, batch_size: int | None = None) -> Iterator[Minibatch]:
        """All decisions once, in a random order.

        Args:
            batch_size: of a minibatch; the last one has from half as many to half as many more, since a fragment's size
                varies. None: all at once.
        """
        size = len(self.returns)
        order = np.random.permutation(size)  # noqa: NPY002 - the generator that stable-baselines3 seeds
        batch_size = batch_size or size
        for part in np.split(order, range(batch_size, size - batch_size // 2, batch_size)):
            chosen = torch.from_numpy(part).to(self.device)
            columns = [column.index_select(0, chosen) for column in self._columns]
            yield Minibatch(dict(zip(self._keys, columns)), *columns[len(self._keys) :])
