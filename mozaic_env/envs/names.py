"""Opponents' names among the infos of many games."""

from typing import Any

import numpy as np
import numpy.typing as npt


class Names(np.ndarray):
    """Names by game, an array of objects: None where there is nothing to tell.

    What takes numbers alone, as Gymnasium's wrapper `NumpyToTorch`, gets each name's place in the list of opponents, -1
    for None.
    """

    _places: npt.NDArray[np.int64] | None = None

    @classmethod
    def of(cls, places: npt.NDArray[np.integer], told: npt.NDArray[np.bool_], names: npt.ArrayLike) -> "Names":
        """The names at the places, where `told`; places and told have shape (games,)."""
        found = np.full(len(places), None, object)
        found[told] = np.asarray(names, object)[places[told]]
        made = found.view(cls)
        made._places = np.where(told, places, -1).astype(np.int64)
        return made

    def __dlpack__(self, **options: Any) -> Any:
        """The places, for other libraries' arrays; BufferError for a part or a copy, as for any array of objects."""
        if self._places is None:
            raise BufferError("names are no numbers")
        return self._places.__dlpack__(**options)
