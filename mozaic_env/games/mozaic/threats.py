"""Threats on Mozaic's board: 2 x 2 windows with three gems of a colour and an empty tile.

The threats of both colours together are one feature, so that a race of one against the other has a value of its own,
which a sum over windows can't give.
"""

import numpy as np
import numpy.typing as npt

from mozaic_env.core.jit import jit

MOST_THREATS = 14  # of a colour that are told apart
OF_THREATS = (MOST_THREATS + 1) ** 2  # features
_OTHER = 64  # what a threat of the other colour adds to a count; a board has 49 windows


def _count_each() -> npt.NDArray[np.int64]:
    """What a 2 x 2 window adds to the count, by its index; 0 for the indices of windows that leave the board."""
    counts = np.zeros(3 * 3**4, np.int64)
    for index in range(3**4):
        gems = [index // 3**place % 3 for place in range(4)]
        if gems.count(0) == 1 and 3 in (gems.count(1), gems.count(2)):
            counts[index] = 1 if gems.count(1) else _OTHER
    return counts


THREATS = _count_each()


@jit(forceinline=True)
def threat_feature(total: int) -> np.uint64:
    """The feature of a count of threats, within a phase."""
    own, other = min(total % _OTHER, MOST_THREATS), min(total // _OTHER, MOST_THREATS)
    return np.uint64(own * (MOST_THREATS + 1) + other)
