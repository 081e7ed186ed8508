"""A symmetry of a game, as tables: where each action and each number of the observation goes.

A game that looks different after a turn of the board but plays the same has such tables. A policy that is trained
on one position is then trained on all its images, and `Symmetry` makes these: of arrays of NumPy here, and since
tables are all there is to it, of tensors by the same indexing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

Permutation = npt.NDArray[np.int64]


def frozen(permutation: Any) -> Permutation:
    """The numbers as an int64 array that nobody can change, since all games of a kind share it."""
    table = np.array(permutation, np.int64)
    table.flags.writeable = False
    return table


@dataclass(frozen=True, eq=False)
class Symmetry:
    """One symmetry, written as permutations: entry i of a table is the place to which i goes.

    Attributes:
        name: what it does, such as "rotate 90".
        actions: the image of each action id, int64, shape (num_actions,).
        entries: for each entry of the observation that changes, by its key, the place to which each of its numbers
            goes, in the flattened entry; int64, shape (field.size,). Entries that are not named stay as they are.
    """

    name: str
    actions: Permutation
    entries: Mapping[str, Permutation] = field(default_factory=dict)

    def masks(self, masks: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The image of action masks, or of anything else with a number for each action; shape (..., num_actions)."""
        return _permuted(masks, self.actions)

    def observation(self, observation: Mapping[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[Any]]:
        """The image of an observation, or of a batch with any leading axes; entries that stay are not copied."""
        images = dict(observation)
        for key, to in self.entries.items():
            images[key] = _image(images[key], to)
        return images


def _image(entry: npt.NDArray[Any], to: Permutation) -> npt.NDArray[Any]:
    """The image of an entry whose last axes, however many, hold as many numbers as the table."""
    axes, size = 0, 1
    while size < len(to):
        axes += 1
        size *= entry.shape[-axes]
    flat = entry.reshape(*entry.shape[: entry.ndim - axes], len(to))
    return _permuted(flat, to).reshape(entry.shape)


def _permuted(numbers: npt.NDArray[Any], to: Permutation) -> npt.NDArray[Any]:
    image = np.empty_like(numbers)
    image[..., to] = numbers
    return image
