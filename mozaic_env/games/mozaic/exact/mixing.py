"""Anderson acceleration of a fixed-point iteration (D. G. Anderson, 1965; H. F. Walker, P. Ni, 2011).

The next point is not the last image but that mixture of the last images whose own changes cancel most.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Arrays = Sequence[npt.NDArray[np.float64]]

DEPTH = 4  # images that are mixed
FIRST = 2  # sweeps before it begins; the first ones are far from linear


class Mixing:
    """Remembers points and their images; gives the next point."""

    def __init__(self) -> None:
        """Begins with none."""
        self._images: list[npt.NDArray[np.float64]] = []
        self._changes: list[npt.NDArray[np.float64]] = []
        self._point: npt.NDArray[np.float64] | None = None
        self._shapes: list[tuple[int, ...]] = []
        self._sweeps = 0

    def begin(self, point: Arrays) -> None:
        """The point whose image comes next; one array for each player."""
        self._shapes = [part.shape for part in point]
        self._point = np.concatenate([part.ravel() for part in point])

    def note(self, image: Arrays) -> None:
        """Its image."""
        assert self._point is not None
        self._sweeps += 1
        now = np.concatenate([part.ravel() for part in image])
        self._images = [*self._images[1 - DEPTH :], now]
        self._changes = [*self._changes[1 - DEPTH :], np.subtract(now, self._point, out=self._point)]
        self._point = None

    def guess(self) -> list[npt.NDArray[np.float64]]:
        """The next point, one array for each player; none where nothing better than the last image is known."""
        if self._sweeps < FIRST or len(self._images) < 2:
            return []
        weights = _weights(self._changes)
        mixed = weights[0] * self._images[0]
        for weight, image in zip(weights[1:], self._images[1:], strict=True):
            mixed += weight * image
        ends = np.cumsum([int(np.prod(shape)) for shape in self._shapes])[:-1]
        parts = np.split(mixed, ends)
        return [part.reshape(shape) for part, shape in zip(parts, self._shapes, strict=True)]


def _weights(changes: Arrays) -> npt.NDArray[np.float64]:
    """The weights, of sum 1, with which the changes' mixture is shortest."""
    products = np.array([[float(one @ other) for other in changes] for one in changes])
    size = len(changes)
    steps = np.diff(np.eye(size), axis=0)  # differences of neighbours, by which one gets from the last to any mixture
    last = np.eye(size)[-1]
    shares = np.linalg.lstsq(steps @ products @ steps.T, steps @ products @ last, rcond=1e-12)[0]
    weights: npt.NDArray[np.float64] = last - shares @ steps
    return weights
