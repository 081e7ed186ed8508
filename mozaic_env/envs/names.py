"""Opponents' names among the infos of many games."""

from typing import Any

import numpy as np
import numpy.typing as npt


class Names(np.ndarray):
    """Names by game, an array of objects: None where there is nothing to tell.

    What takes numbers alone, as Gymnasium's wrapper `NumpyToTorch`, gets each name's place in the list of opponents, -1
    for None.
    """

    _opponents: npt.NDArray[Any] | None = None

    @classmethod
    def of(cls, names: npt.NDArray[Any], opponents: npt.NDArray[Any]) -> "Names":
        """The names as such an array; `opponents` lists those that there are."""
        made = names.view(cls)
        made._opponents = opponents
        return made

    def __dlpack__(self, **options: Any) -> Any:
        """The places, for other libraries' arrays; BufferError for a part or a copy, as for any array of objects."""
        if self._opponents is None:
            raise BufferError("names are no numbers")
        places = {None: -1} | {name: place for place, name in reversed(list(enumerate(self._opponents)))}
        return np.array([places[name] for name in self], np.int64).__dlpack__(**options)
