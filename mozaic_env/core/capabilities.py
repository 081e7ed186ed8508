"""What a game may offer beyond its rules, as data: a board, entities, several starts, groups of decisions."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, eq=False)
class BoardLayout:
    """Actions as planes over the board.

    Actions of one plane do the same thing on different tiles, so a policy can share its weights over the board.

    Attributes:
        planes: where each action stands, plane * tiles + tile, int64, shape (num_actions,).
        turned_by: the entry of the observation, one 0 or 1, that says that the board is shown upside down: rank r of
            the observation's board is then rank rows - 1 - r of `planes`. None: it never is.
    """

    planes: npt.NDArray[np.int64]
    turned_by: str | None = None


@dataclass(frozen=True)
class Entities:
    """Actions that belong to entities, and kinds of things on these, which are alike but for what the observation says.

    A policy can share its weights over entities and kinds. Block b of the actions is those from b * per on; the k-th
    action of each block does the same with its entity. In a block come first the actions for the first kind, then those
    for the second, as many for each.

    Attributes:
        key: the entry of the observation that counts what is on them: (entities, kinds), flattened.
        blocks: for each of them its block.
        per: how many actions each has.
        kinds: how many kinds there are.
        strides: other entries of the observation that tell kinds apart: the number at p of such an entry, flattened, is
            about kind p // stride % kinds. All that are left are about no kind.
    """

    key: str
    blocks: tuple[int, ...]
    per: int
    kinds: int
    strides: Mapping[str, int]


class Start(NamedTuple):
    """One of the ways in which a game can start, which `setup` draws by the key.

    Attributes:
        probability: of this start.
        fields: of the row, those that it sets.
    """

    probability: float
    fields: Mapping[str, int]


class Grouping(NamedTuple):
    """Decisions sorted into groups that a reader would ask for, such as by the gem in hand.

    Attributes:
        by: what they are sorted by, such as "gem in hand".
        names: of the groups, in the order in which they are shown.
        groups: which group each decision is in, int64, shape (n,).
    """

    by: str
    names: tuple[str, ...]
    groups: npt.NDArray[np.int64]
