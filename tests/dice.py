"""A game for three with 21 outcomes of each draw, over the Game contract: to see that no size above counts on few.

In turn each rolls two dice, which has 21 results, `rolls` times; the last roll counts. Then it takes the sum and the
next player is to roll, or the difference (not of a pair) and rolls again. Who rolls two ones misses the turn, so chance
can go in circles. After `turns` decisions the most points win, among equals the earlier seat.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations_with_replacement
from typing import Any, ClassVar

import numpy as np

from mozaic_env.core.contract import CHANCE, OVER
from mozaic_env.core.game import Field, Game, Rows, binary, counts
from mozaic_env.core.jit import jit
from mozaic_env.core.record import Record
from mozaic_env.core.registry import HEADER, register
from mozaic_env.core.stream import LUCK, below, random_bits
from mozaic_env.drawing.picture import Picture

PLAYERS = 3
ROLLS = np.array(list(combinations_with_replacement(range(1, 7), 2)))
OUTCOMES = len(ROLLS)
SUM, DIFFERENCE = range(2)
# Of an odd number of bytes, and `seen` keeps apart what differs in earlier rolls alone.
ROW = np.dtype(
    [
        *(*HEADER, ("score", np.int32, (PLAYERS,)), ("seen", np.uint32)),
        *((name, np.uint8) for name in ("turns", "rolls", "left", "owed", "turn", "roll", "spare")),
    ]
)


@jit
def _begin_turn(row: Any) -> None:
    row.owed, row.roll, row.seen = row.rolls, 0, 0


@jit
def setup(row: Any) -> None:
    row.draws = row.decisions = 0
    row.left, row.turn = row.turns, 0
    for seat in range(PLAYERS):
        row.score[seat] = 0
    _begin_turn(row)


@jit
def mover(row: Any) -> int:
    if row.left == 0:
        return OVER
    return CHANCE if row.owed > 0 else np.int64(row.turn)


@jit
def _gain(row: Any, action: int) -> int:
    low, high = ROLLS[row.roll, 0], ROLLS[row.roll, 1]
    return high + low if action == SUM else high - low


@jit
def apply(row: Any, action: int) -> None:
    row.decisions += 1
    row.left -= 1
    row.score[row.turn] += _gain(row, action)
    if action == SUM:
        row.turn = (row.turn + 1) % PLAYERS
    _begin_turn(row)


@jit
def sample(row: Any) -> int:
    number = below(random_bits(row.key, LUCK, row.draws), 36)
    low, high = min(number // 6, number % 6), max(number // 6, number % 6)
    return 6 * low - low * (low - 1) // 2 + high - low


@jit
def outcomes(row: Any, codes: Any, probabilities: Any) -> int:
    for code in range(OUTCOMES):
        codes[code], probabilities[code] = code, (1.0 if ROLLS[code, 0] == ROLLS[code, 1] else 2.0) / 36.0
    return OUTCOMES


@jit
def resolve(row: Any, code: int) -> None:
    row.draws += 1
    row.owed -= 1
    row.roll, row.seen = code, OUTCOMES * row.seen + code
    if row.owed == 0 and code == 0:
        row.turn = (row.turn + 1) % PLAYERS
        _begin_turn(row)


@jit
def is_legal(row: Any, action: int) -> bool:
    return action == SUM or ROLLS[row.roll, 0] != ROLLS[row.roll, 1]


@jit
def legal(row: Any, masks: Any, index: int) -> None:
    for action in range(2):
        masks[index, action] = is_legal(row, action)


@jit
def random_action(row: Any, bits: np.uint64) -> int:
    return below(bits, 2) if is_legal(row, DIFFERENCE) else SUM


@jit
def outcome(row: Any, seat: int) -> float:
    winner = 0
    for other in range(PLAYERS):
        if row.score[other] > row.score[winner]:
            winner = other
    return 1.0 if winner == seat else -1.0 / (PLAYERS - 1)


@jit
def margin(row: Any, seat: int) -> float:
    most = 0
    for other in range(PLAYERS):
        if other != seat:
            most = max(most, np.int64(row.score[other]))
    return np.float64(np.int64(row.score[seat]) - most)


@jit
def observe(row: Any, seat: int, frames: Any, index: int) -> None:
    for other in range(PLAYERS):
        frames[index, other] = row.score[(seat + other) % PLAYERS]
        frames[index, PLAYERS + other] = row.turn == (seat + other) % PLAYERS
    frames[index, 2 * PLAYERS] = row.left
    for code in range(OUTCOMES):
        frames[index, 2 * PLAYERS + 1 + code] = row.owed == 0 and row.roll == code


@jit
def value(row: Any, seat: int, weights: Any) -> float:
    return weights[0] * margin(row, seat)


@jit
def action_values(row: Any, seat: int, weights: Any, actions: Any, values: Any) -> int:
    now, size = margin(row, seat), 0
    for action in range(2):
        if is_legal(row, action):
            gain = _gain(row, action)
            row.score[row.turn] += gain
            actions[size], values[size] = action, weights[0] * (margin(row, seat) - now)
            row.score[row.turn] -= gain
            size += 1
    return size


@jit
def decision_kind(row: Any) -> int:
    return OUTCOMES * np.int64(row.turn) + np.int64(row.roll)


register(ROW, sys.modules[__name__])


class Dice(Game):
    """Two dice for three players."""

    name: ClassVar[str] = "dice"
    dtype: ClassVar[np.dtype[Any]] = ROW
    heuristics: ClassVar[Mapping[str, tuple[float, ...]]] = {"greedy": (1.0,)}
    max_outcomes: ClassVar[int] = OUTCOMES
    decision_kinds: ClassVar[int] = PLAYERS * OUTCOMES
    max_decisions: ClassVar[int] = 100
    players: ClassVar[tuple[int, int]] = (PLAYERS, PLAYERS)
    num_players = PLAYERS
    num_actions = 2

    def __init__(self, turns: int = 9, rolls: int = 1) -> None:
        if not (1 <= turns <= 10 and 1 <= rolls <= 6):
            raise ValueError(f"turns={turns!r}, rolls={rolls!r}; accepted: 1 to 10, 1 to 6")
        self.turns, self.rolls = turns, rolls
        self.fields: tuple[Field, ...] = (
            counts("score", np.int8, (120,) * PLAYERS, "points, own first"),
            binary("turn", (PLAYERS,), "whose turn it is or was, own first"),
            counts("left", np.int8, (10,), "decisions left"),
            binary("roll", (OUTCOMES,), "the roll"),
        )

    @property
    def options(self) -> dict[str, Any]:
        return {"turns": self.turns, "rolls": self.rolls}

    @classmethod
    def of_header(cls, header: Mapping[str, str]) -> Dice:
        return cls(int(header["turns"]), int(header["rolls"]))

    @property
    def seat_names(self) -> tuple[str, ...]:
        return ("first", "second", "third")

    def rows(self, size: int) -> Rows:
        made = np.zeros(size, self.dtype)
        made["turns"], made["rolls"] = self.turns, self.rolls
        return made

    def format_action(self, action: int) -> str:
        return ("sum", "difference")[action]

    def parse_action(self, text: str) -> int:
        return ("sum", "difference").index(text)

    def outcome_name(self, code: int) -> str:
        return "-".join(map(str, ROLLS[code]))

    def format_position(self, row: np.void) -> str:
        return f"{','.join(map(str, row['score']))} {row['left']} {row['turn']} {self.outcome_name(int(row['roll']))}"

    def parse_position(self, text: str) -> Rows:
        raise NotImplementedError

    def write_record(self, start: np.void, actions: Sequence[int], header: Mapping[str, Any], ending: str) -> Record:
        raise NotImplementedError

    def replay(self, record: Record) -> Iterator[tuple[str, np.void]]:
        raise NotImplementedError

    def draw_text(self, row: np.void) -> str:
        return self.format_position(row)

    def draw(
        self, row: np.void, before: np.void | None = None, action: int | None = None, caption: str = ""
    ) -> Picture:
        return Picture(512, 512, "#ffffff", title=self.draw_text(row))
