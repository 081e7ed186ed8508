"""Nim with all that tables of regret ask of a game."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from mozaic_env.core.capabilities import Grouping
from mozaic_env.core.game import Rows
from tests.oracles.nim import Nim


class SolvedNim(Nim):
    """Nim for three, its decisions sorted by the stones that are left."""

    margin_unit: ClassVar[str] = "stones"

    def group_decisions(self, states: Rows) -> tuple[Grouping, ...]:
        return (Grouping("stones left", ("few", "many"), (states["pile"] > 6).astype(np.int64)),)
