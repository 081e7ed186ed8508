"""Which of many moments to keep: the first, the latest, and between them what leaves the widest gaps even."""

from collections.abc import Sequence


def superfluous(moments: Sequence[int]) -> int:
    """The index of the moment to do without: the one whose neighbours are closest together, the earliest of equals.

    Args:
        moments: in ascending order, at least one; the first and the last are kept while there are three.
    """
    gaps = [later - earlier for earlier, later in zip(moments, moments[2:])]
    return 1 + gaps.index(min(gaps)) if gaps else 0
