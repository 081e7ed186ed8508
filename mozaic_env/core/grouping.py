"""Decisions sorted into groups that a reader would ask for, such as by the gem in hand."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt


class Grouping(NamedTuple):
    """One way to sort decisions.

    Attributes:
        by: what they are sorted by, such as "gem in hand".
        names: of the groups, in the order in which they are shown.
        groups: which group each decision is in, int64, shape (n,).
    """

    by: str
    names: tuple[str, ...]
    groups: npt.NDArray[np.int64]
