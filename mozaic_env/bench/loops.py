"""The loops that are measured: random legal play with nothing around it, and a reference for the machine."""

import numpy as np
import numpy.typing as npt

from mozaic_env.agents.kernels import PolicySpec, choose
from mozaic_env.core.bits import ALL, ONE, count, nth
from mozaic_env.core.contract import (
    OVER,
    Bytes,
    Floats,
    Integers,
    Row,
    apply,
    deal,
    legal,
    mover,
    observe,
    random_action,
    setup,
)
from mozaic_env.core.jit import jit
from mozaic_env.core.stream import NEXT_GAME, SAMPLE, below, random_bits

Words = npt.NDArray[np.uint64]

PLANES, MASKED = 4, 6  # boards that the reference loop writes as an observation and as a mask, 64 bytes each

WORDS = np.zeros(256, np.uint64)  # eight bits as eight bytes of 0 and 1
for _bit in range(8):
    WORDS |= ((np.arange(256, dtype=np.uint64) >> np.uint64(_bit)) & ONE) << np.uint64(8 * _bit)


@jit(forceinline=True)
def _begin(row: Row) -> None:
    row.key = random_bits(row.key, NEXT_GAME, 0)
    setup(row)
    deal(row)


@jit(forceinline=True)
def _play(row: Row, action: int) -> None:
    """A decision and what follows by chance; the next game once this one is over."""
    apply(row, action)
    deal(row)
    if mover(row) == OVER:
        _begin(row)


@jit
def begin(rows: npt.NDArray[np.void]) -> None:
    """Begins a game in each row."""
    for i in range(len(rows)):
        _begin(rows[i])


@jit
def play_states(rows: npt.NDArray[np.void], first: int, steps: int) -> None:
    """Random legal decisions, one in each row in turn; nothing is written but the rows.

    Args:
        rows: games under way.
        first: number of the first step, which the random actions are a function of.
        steps: decisions of each row.
    """
    for step in range(first, first + steps):
        for i in range(len(rows)):
            row = rows[i]
            _play(row, random_action(row, random_bits(row.key, SAMPLE, step)))


@jit
def play_shown(rows: npt.NDArray[np.void], first: int, steps: int, frames: Bytes, masks: Bytes) -> None:
    """`play_states` that also writes what the next player sees and may do, as the environments do."""
    for step in range(first, first + steps):
        for i in range(len(rows)):
            row = rows[i]
            _play(row, random_action(row, random_bits(row.key, SAMPLE, step)))
            observe(row, mover(row), frames, i)
            legal(row, masks, i)


@jit
def play_agent(rows: npt.NDArray[np.void], policy: PolicySpec, steps: int, actions: Integers, values: Floats) -> None:
    """Decisions of a compiled agent on all seats; nothing is written but the rows."""
    for _ in range(steps):
        for i in range(len(rows)):
            row = rows[i]
            _play(row, choose(row, policy, actions, values))


@jit(forceinline=True)
def _write(words: Words, board: np.uint64, out: Words, index: int, at: int) -> None:
    for byte in range(8):
        out[index, at + byte] = words[(board >> np.uint64(8 * byte)) & np.uint64(255)]


@jit
def fill_boards(boards: Words, first: int, steps: int, words: Words, frames: Words, masks: Words) -> None:
    """The machine's reference: gems on random empty tiles by turns, and what a player would see of it.

    No chance, no points, no end but the full board: what is left is choosing a tile and writing ten boards as 640
    bytes, eight at a time from a table. Without vector instructions an environment that writes as much can hardly be
    faster.

    Args:
        boards: ten for each game, shape (games, 10): each player's gems, two that the observation shows as well (the
            empty tiles and one of zeros), and six of the mask (the empty tiles and five of zeros).
        first: number of the first step.
        steps: placements in each game.
        words: `WORDS`.
        frames: four boards as bytes, shape (games, 32).
        masks: six boards as bytes, shape (games, 48).
    """
    for step in range(first, first + steps):
        for i in range(len(boards)):
            empty = ALL ^ (boards[i, 0] | boards[i, 1])
            bits = random_bits(np.uint64(i), SAMPLE, step)
            boards[i, step & 1] |= ONE << np.uint64(nth(empty, below(bits, count(empty))))
            if count(empty) == 1:
                boards[i, 0] = boards[i, 1] = np.uint64(0)
            boards[i, 2] = boards[i, PLANES] = ALL ^ (boards[i, 0] | boards[i, 1])
            for plane in range(PLANES):
                _write(words, boards[i, plane], frames, i, 8 * plane)
            for plane in range(MASKED):
                _write(words, boards[i, PLANES + plane], masks, i, 8 * plane)
