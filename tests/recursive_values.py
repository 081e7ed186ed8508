"""Exact values by plain recursion over the Game contract, and a toy game that offers them: nothing here is clever."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from nim import Nim

from mozaic_env.core import rows as kernels
from mozaic_env.core.contract import OVER
from mozaic_env.core.exact import MARGIN, OBJECTIVES, ExactValues
from mozaic_env.core.game import Game, Rows
from mozaic_env.core.grouping import Grouping


class RecursiveValues(ExactValues):
    """For games without chance in which no position comes again; each seat plays the first of its best actions."""

    residual = 0.0

    def __init__(self, game: Game, objective: str = MARGIN) -> None:
        self.game, self.objective = game, objective
        self._ends: dict[bytes, np.ndarray] = {}
        self._measure = kernels.margin if objective == MARGIN else kernels.outcome

    def _all_seats(self, row: np.void) -> np.ndarray:
        return np.array([self._measure(row, seat) for seat in range(self.game.num_players)])

    def _ending(self, rows: Rows) -> np.ndarray:
        """What every seat has at the end, from a row on."""
        plain = rows.copy()
        plain["key"] = plain["decisions"] = plain["draws"] = 0
        known = plain.tobytes()
        if known not in self._ends:
            seat = kernels.mover(rows[0])
            if seat == OVER:
                self._ends[known] = self._all_seats(rows[0])
            else:
                endings = [self._after(rows, action) for action in self._legal(rows)]
                self._ends[known] = max(endings, key=lambda ending: ending[seat])  # the first of the best
        return self._ends[known]

    def _after(self, rows: Rows, action: int) -> np.ndarray:
        after = rows.copy()
        kernels.apply(after[0], action)
        return self._ending(after)

    def _legal(self, rows: Rows) -> list[int]:
        masks = np.zeros((1, self.game.num_actions), np.int8)
        kernels.legal(rows[0], masks, 0)
        return np.flatnonzero(masks[0]).tolist()

    @property
    def start_value(self) -> float:
        start = self.game.rows(1)
        kernels.setup_rows(start)
        return float(self._ending(start)[0])

    def action_values(self, states: Rows) -> np.ndarray:
        values = np.full((len(states), self.game.num_actions), np.nan)
        for i in range(len(states)):
            rows = states[i : i + 1]
            seat = kernels.mover(rows[0])
            now = kernels.margin(rows[0], seat) if self.objective == MARGIN else 0.0
            for action in self._legal(rows):
                values[i, action] = self._after(rows, action)[seat] - now
        return values


class SolvedNim(Nim):
    """Nim for three with exact values."""

    margin_unit = "stones"

    def exact_values(self, objective: str = MARGIN) -> ExactValues:
        assert objective in OBJECTIVES
        return _solve(self, objective)

    def group_decisions(self, states: Rows) -> tuple[Grouping, ...]:
        return (Grouping("stones left", ("few", "many"), (states["pile"] > 6).astype(np.int64)),)


@functools.cache
def _solve(game: SolvedNim, objective: str) -> Any:
    return RecursiveValues(game, objective)
