"""A game for three without chance, over the Game contract: to see that nothing above counts on two players or luck.

A pile of stones; whoever's turn it is takes one, two or three. Three taken give another turn. The last stone loses.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from mozaic_env.core.contract import OVER
from mozaic_env.core.exact import MARGIN, OUTCOME, ExactValues
from mozaic_env.core.game import Field, Game, Rows, binary, counts
from mozaic_env.core.jit import jit
from mozaic_env.core.registry import HEADER, register
from mozaic_env.core.stream import below

PLAYERS = 3
ROW = np.dtype([*HEADER, ("pile", np.uint8), ("turn", np.uint8), ("stones", np.uint8), ("taken", np.uint8, (3,))])


@jit
def setup(row: Any) -> None:
    row.draws = row.decisions = 0
    row.pile, row.turn = row.stones, 0
    for seat in range(PLAYERS):
        row.taken[seat] = 0


@jit
def mover(row: Any) -> int:
    return OVER if row.pile == 0 else np.int64(row.turn)


@jit
def apply(row: Any, action: int) -> None:
    row.decisions += 1
    row.pile -= action + 1
    row.taken[row.turn] += action + 1
    if action < 2 and row.pile > 0:
        row.turn = (row.turn + 1) % PLAYERS


@jit
def is_legal(row: Any, action: int) -> bool:
    return action < row.pile


@jit
def legal(row: Any, masks: Any, index: int) -> None:
    for action in range(3):
        masks[index, action] = action < row.pile


@jit
def random_action(row: Any, bits: np.uint64) -> int:
    return below(bits, min(3, row.pile))


@jit
def outcome(row: Any, seat: int) -> float:
    return -1.0 if row.turn == seat else 1.0 / (PLAYERS - 1)


@jit
def margin(row: Any, seat: int) -> float:
    most = 0
    for other in range(PLAYERS):
        if other != seat:
            most = max(most, np.int64(row.taken[other]))
    return np.float64(np.int64(row.taken[seat]) - most)


@jit
def observe(row: Any, seat: int, frames: Any, index: int) -> None:
    frames[index, 0] = row.pile
    for other in range(PLAYERS):
        frames[index, 1 + other] = row.taken[(seat + other) % PLAYERS]
    for other in range(PLAYERS):
        frames[index, 4 + other] = row.turn == (seat + other) % PLAYERS


@jit
def action_values(row: Any, seat: int, weights: Any, actions: Any, values: Any) -> int:
    size = min(3, np.int64(row.pile))
    for action in range(size):
        actions[action], values[action] = action, weights[0] * ((row.pile - action - 2) % 4 == 0)
    return size


@jit
def value(row: Any, seat: int, weights: Any) -> float:
    return 0.0


@jit
def decision_kind(row: Any) -> int:
    return np.int64(row.turn)


register(ROW, sys.modules[__name__])


@cache
def solve(pile: int, turn: int, taken: tuple[int, ...], objective: str) -> tuple[float, ...]:
    """What each seat gets in the end if all play perfectly, each for itself; of equal actions the first is taken."""
    if pile == 0:
        if objective == OUTCOME:
            return tuple(-1.0 if seat == turn else 1.0 / (PLAYERS - 1) for seat in range(PLAYERS))
        return leads(taken)
    found = [solve(*after(pile, turn, taken, action), objective) for action in range(min(3, pile))]
    return max(found, key=lambda ends: ends[turn])


def after(pile: int, turn: int, taken: tuple[int, ...], action: int) -> tuple[int, int, tuple[int, ...]]:
    more = tuple(stones + (action + 1) * (seat == turn) for seat, stones in enumerate(taken))
    left = pile - action - 1
    return left, (turn + 1) % PLAYERS if action < 2 and left > 0 else turn, more


def leads(taken: tuple[int, ...]) -> tuple[float, ...]:
    others = [max(taken[:seat] + taken[seat + 1 :]) for seat in range(PLAYERS)]
    return tuple(float(own - other) for own, other in zip(taken, others, strict=True))


class NimValues(ExactValues):
    """Exact values by recursion."""

    residual = 0.0

    def __init__(self, game: Nim, objective: str) -> None:
        self.game, self.objective = game, objective

    @property
    def start_value(self) -> float:
        return solve(self.game.options["stones"], 0, (0,) * PLAYERS, self.objective)[0]

    def action_values(self, states: Rows) -> np.ndarray[Any, Any]:
        found = np.full((len(states), self.game.num_actions), np.nan)
        for values, row in zip(found, states, strict=True):
            pile, turn, taken = int(row["pile"]), int(row["turn"]), tuple(map(int, row["taken"]))
            now = leads(taken)[turn] if self.objective == MARGIN else 0.0
            for action in range(min(3, pile)):
                values[action] = solve(*after(pile, turn, taken, action), self.objective)[turn] - now
        return found


class Nim(Game):
    """Nim for three players, the last stone loses."""

    name: ClassVar[str] = "nim"
    dtype: ClassVar[np.dtype[Any]] = ROW
    heuristics: ClassVar[Mapping[str, tuple[float, ...]]] = {"greedy": (1.0,)}
    win_lead: ClassVar[float] = 12.0
    max_decisions: ClassVar[int] = 100
    players: ClassVar[tuple[int, int]] = (PLAYERS, PLAYERS)
    num_players = PLAYERS
    seat_names = ("first", "second", "third")
    num_actions = 3

    def __init__(self, stones: int = 12) -> None:
        if not isinstance(stones, int) or not 1 <= stones <= 100:
            raise ValueError(f"stones={stones!r}; accepted: 1 to 100")
        self.stones = stones
        self.options = {"stones": stones}
        self.fields: tuple[Field, ...] = (
            counts("pile", np.int8, (100,), "stones left"),
            counts("taken", np.int8, (100,) * PLAYERS, "stones taken, own first"),
            binary("turn", (PLAYERS,), "whose turn it is or was, own first"),
        )

    def exact_values(self, objective: str = MARGIN, file: str | Path | None = None) -> ExactValues:
        return NimValues(self, objective)

    def rows(self, size: int) -> Rows:
        made = np.zeros(size, self.dtype)
        made["stones"] = self.stones
        return made

    def format_action(self, action: int) -> str:
        if not 0 <= action < 3:
            raise ValueError(f"action {action}; accepted: 0 to 2")
        return str(action + 1)

    def parse_action(self, text: str) -> int:
        if text not in ("1", "2", "3"):
            raise ValueError(f"{text!r}; accepted: 1, 2, 3")
        return int(text) - 1

    def format_position(self, row: np.void) -> str:
        return f"{row['pile']} {row['turn']} {','.join(map(str, row['taken']))}"

    def read_position(self, text: str, row: np.void) -> None:
        words = text.split(" ")
        if len(words) != 3 or not words[0].isdecimal() or int(words[0]) > self.stones:
            raise ValueError(f"position {text!r}; accepted: such as '7 0 2,3,0'")
        row["pile"], row["turn"], row["taken"] = int(words[0]), int(words[1]), [int(n) for n in words[2].split(",")]

    def draw_text(self, row: np.void) -> str:
        return "o" * int(row["pile"])
