"""A game for three with 21 outcomes of each draw, over the Game contract: to see that no size above counts on few.

In turn each rolls two dice, which has 21 results, `rolls` times; the last roll counts. Then it takes the sum and the
next player is to roll, or the difference (not of a pair) and rolls again. Who rolls two ones misses the turn, so chance
can go in circles. After `TURNS` decisions the most points win, among equals the earlier seat.
"""

import re
import sys
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np

from mozaic_env.core.contract import CHANCE, OVER
from mozaic_env.core.game import Game, Rows, binary, counts
from mozaic_env.core.jit import jit
from mozaic_env.core.registry import HEADER, register
from mozaic_env.core.stream import LUCK, below, random_bits

PLAYERS, TURNS = 3, 9
ACTIONS = ("sum", "difference", "nothing")  # the last one is never legal
ROLLS = list(combinations_with_replacement(range(1, 7), 2))
GAINS = np.array([(low + high, high - low, 0) for low, high in ROLLS])  # by outcome and action
CODES = np.array([ROLLS.index((min(roll), max(roll))) for roll in product(range(1, 7), repeat=2)])  # all as likely
CHANCES = np.bincount(CODES) / len(CODES)
# Of an odd number of bytes. `seen` has all rolls of a turn, the last one lowest: it tells apart what differs in others.
_BYTES = ("rolls", "left", "owed", "turn", "spare")
ROW = np.dtype([*HEADER, ("score", np.int32, PLAYERS), ("seen", np.uint32), *((name, np.uint8) for name in _BYTES)])


@jit
def setup(row: Any) -> None:
    row.draws, row.decisions, row.left, row.turn, row.owed, row.seen = 0, 0, TURNS, 0, row.rolls, 0
    row.score[:] = 0


@jit
def mover(row: Any) -> int:
    return OVER if row.left == 0 else CHANCE if row.owed > 0 else np.int64(row.turn)


@jit
def apply(row: Any, action: int) -> None:
    row.score[row.turn] += GAINS[row.seen % len(CHANCES), action]
    row.turn = (row.turn + 1 - action) % PLAYERS
    row.decisions, row.left, row.owed, row.seen = row.decisions + 1, row.left - 1, row.rolls, 0


@jit
def sample(row: Any) -> int:
    return CODES[below(random_bits(row.key, LUCK, row.draws), len(CODES))]


@jit
def outcomes(row: Any, codes: Any, probabilities: Any) -> int:
    for code in range(len(CHANCES)):
        codes[code], probabilities[code] = code, CHANCES[code]
    return len(CHANCES)


@jit
def resolve(row: Any, code: int) -> None:
    row.draws, row.owed, row.seen = row.draws + 1, row.owed - 1, len(CHANCES) * row.seen + code
    if row.owed == 0 and code == 0:
        row.turn, row.owed, row.seen = (row.turn + 1) % PLAYERS, row.rolls, 0


@jit
def is_legal(row: Any, action: int) -> bool:
    return GAINS[row.seen % len(CHANCES), action] > 0


@jit
def random_action(row: Any, bits: np.uint64) -> int:
    return below(bits, 1 + is_legal(row, 1))


@jit
def outcome(row: Any, seat: int) -> float:
    return 1.0 if np.argmax(row.score) == seat else -1.0 / (PLAYERS - 1)


@jit
def margin(row: Any, seat: int) -> float:
    return np.float64(row.score[seat] - max(row.score[(seat + 1) % PLAYERS], row.score[(seat + 2) % PLAYERS]))


@jit
def observe(row: Any, seat: int, frames: Any, index: int) -> None:
    for other in range(PLAYERS):
        frames[index, other] = row.score[(seat + other) % PLAYERS]
        frames[index, PLAYERS + other] = row.turn == (seat + other) % PLAYERS
    frames[index, 2 * PLAYERS] = row.left
    for code in range(len(CHANCES)):
        frames[index, 2 * PLAYERS + 1 + code] = row.owed == 0 and row.seen % len(CHANCES) == code


@jit
def action_values(row: Any, seat: int, weights: Any, actions: Any, values: Any) -> int:
    now, size = margin(row, seat), 1 + is_legal(row, 1)
    for action in range(size):
        row.score[row.turn] += GAINS[row.seen % len(CHANCES), action]
        actions[action], values[action] = action, weights[0] * (margin(row, seat) - now)
        row.score[row.turn] -= GAINS[row.seen % len(CHANCES), action]
    return size


register(ROW, sys.modules[__name__])


class Dice(Game):
    """Two dice for three players."""

    name, dtype, option_fields = "dice", ROW, ("rolls",)
    heuristics, win_lead, max_outcomes, max_decisions = {"greedy": (1.0,)}, 12.0, len(CHANCES), 100
    players, num_players, num_actions, last_action = (PLAYERS, PLAYERS), PLAYERS, len(ACTIONS), 1

    def __init__(self, rolls: int = 1) -> None:
        if rolls not in range(1, 7):
            raise ValueError(f"rolls={rolls!r}; accepted: 1 to 6")
        self.options = {"rolls": int(rolls)}
        turn = binary("turn", (PLAYERS,), "whose turn it is or was, own first")
        score = counts("score", np.int8, (120,) * PLAYERS, "points, own first")
        left, roll = counts("left", np.int8, (TURNS,), "decisions left"), binary("roll", CHANCES.shape, "the roll")
        self.fields = (score, turn, left, roll)

    def rows(self, size: int) -> Rows:
        made = np.zeros(size, ROW)
        made["rolls"] = self.options["rolls"]
        return made

    def format_action(self, action: int) -> str:
        return ACTIONS[range(3).index(action)]

    def parse_action(self, text: str) -> int:
        return ACTIONS.index(text)

    def format_position(self, row: np.void) -> str:
        return " ".join(str(number) for number in (*row["score"], row["left"], row["turn"], row["seen"]))

    def read_position(self, text: str, row: np.void) -> None:
        if not isinstance(text, str) or not re.fullmatch(r"(\d{1,3} ){3}\d [0-2] \d{1,8}", text):
            raise ValueError(
                f"position {text!r}; accepted: scores, decisions left, turn, rolls, such as '7 0 3 6 0 20'"
            )
        *score, row["left"], row["turn"], row["seen"] = map(int, text.split())
        row["score"], row["owed"] = score, row["rolls"] if row["left"] == 0 else 0
