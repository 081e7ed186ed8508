"""The compiled heart of the environments: decisions in, observations, masks and rewards out, for any game.

Single, vector and every other way in run these same functions, so they cannot differ. Each game of the batch is
a row (the game's state) and a slot (what the environment knows about it). A slot whose opponent is a Python agent
can come to wait: then the caller asks that agent and calls `answer_rows`.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from mozaic_env.agents.kernels import PYTHON, choose
from mozaic_env.core.contract import (
    OVER,
    Bytes,
    Floats,
    Integers,
    Row,
    apply,
    cut_off,
    deal,
    is_legal,
    legal,
    margin,
    mover,
    observe,
    outcome,
    random_action,
    setup,
)
from mozaic_env.core.jit import jit
from mozaic_env.core.stream import NEXT_GAME, SAMPLE, SETUP, below, random_bits, unit

READY, WAITING, TERMINATED, TRUNCATED = range(4)  # a slot's status: decide; ask a Python opponent; over; at the limit
NEXT_STEP, SAME_STEP, DISABLED = range(3)  # when a finished game is replaced by the next one
BOTH, ANY_SEAT = -1, -2  # seats of a slot or of the options: whoever decides; drawn for each game
BY_ILLEGAL = 1 << 32  # what a game that an illegal action ended adds to the number of those that have ended
TRIES = 1000  # games begun before giving up on one in which the seat decides

SLOT = np.dtype(
    [
        ("margin", np.float64),  # of the view's seat at the last decision
        ("outcome", np.float64),  # of the last viewer, once the game is over
        ("opponent", np.int16),  # index into the recipes
        ("tries", np.int16),  # games begun in vain
        ("status", np.int8),
        ("seat", np.int8),  # whose view and reward, or BOTH
        ("viewer", np.int8),  # the seat whose observation was written last
        ("acted", np.int8),  # the seat that made the last decision through `step`
        ("start", np.bool_),  # a new game is being begun, nobody has been asked yet
        ("illegal", np.bool_),  # the last action through `step` was illegal
        ("finished", np.bool_),  # the last step ended a game and begun the next one
    ],
    align=True,
)

OPTIONS = np.dtype(
    [
        ("seat", np.int64),  # BOTH, ANY_SEAT or a seat
        ("players", np.int64),
        ("margin_weight", np.float64),  # of the reward: for each unit by which the lead grows
        ("outcome_weight", np.float64),  # and for the outcome at the end
        ("limit", np.int64),  # decisions of a game
        ("autoreset", np.int64),
        ("raises", np.bool_),  # illegal actions are refused instead of losing the game
    ],
    align=True,
)

Rows = npt.NDArray[Any]
Flags = npt.NDArray[np.bool_]
Results = tuple[Bytes, Bytes, Integers, Floats, Flags]  # frames, masks, seats, rewards, (terminated, truncated)
Finals = tuple[Bytes, Bytes, Rows]  # frames, masks, slots
Scratch = tuple[Integers, Floats, Integers]  # overwritten: for each action, for each action, for each game


@jit(forceinline=True)
def _begin(row: Row, slot: Row, options: Row, recipes: Rows) -> None:
    """Seats the players of a new game; its key is set, and so is the position if it starts elsewhere."""
    slot.start = True
    slot.seat = options.seat
    if options.seat == ANY_SEAT:
        slot.seat = below(random_bits(row.key, SETUP, 0), options.players)
    draw = unit(random_bits(row.key, SETUP, 2))
    slot.opponent = 0
    while slot.opponent < len(recipes) - 1 and draw >= recipes[slot.opponent].share:
        slot.opponent += 1


@jit(forceinline=True)
def _begin_next(row: Row, slot: Row, options: Row, recipes: Rows) -> None:
    row.key = random_bits(row.key, NEXT_GAME, 0)
    setup(row)
    _begin(row, slot, options, recipes)


@jit(forceinline=True)
def _decide(row: Row, action: int, log: Rows, index: int) -> None:
    """Makes a decision and notes it where there is room: a log of no columns notes nothing."""
    if row.decisions < log.shape[1]:
        log[index, row.decisions] = action
    apply(row, action)


@jit(forceinline=True)
def _advance(row: Row, slot: Row, options: Row, recipes: Rows, log: Rows, index: int, scratch: Scratch) -> int:
    """Chance and opponents' moves, until the slot's seat decides, the game ends, or Python has to be asked."""
    while True:
        deal(row)
        seat = mover(row)
        if seat == OVER:
            return TRUNCATED if cut_off(row) else TERMINATED
        if row.decisions >= options.limit:
            return TRUNCATED
        if slot.seat == BOTH or seat == slot.seat:
            return READY
        if recipes[slot.opponent].kind == PYTHON:
            return WAITING
        _decide(row, choose(row, recipes[slot.opponent], scratch[0], scratch[1]), log, index)


@jit(forceinline=True)
def _show(row: Row, slot: Row, frames: Bytes, masks: Bytes, index: int) -> int:
    """Writes observation and mask for the slot's seat, else for who decides, else for who decided last.

    Once the game has ended the mask is all ones. Returns that seat.
    """
    seat = np.int64(slot.seat)
    if seat == BOTH:
        seat = mover(row) if slot.status == READY else np.int64(slot.acted)
    slot.margin = margin(row, seat)
    observe(row, seat, frames, index)
    if slot.status == READY:
        legal(row, masks, index)
    else:
        masks[index] = 1
    return seat  # type: ignore[return-value]


@jit(forceinline=True)
def _go_on(
    row: Row,
    slot: Row,
    options: Row,
    recipes: Rows,
    results: Results,
    finals: Finals,
    log: Rows,
    index: int,
    scratch: Scratch,
) -> None:
    """Carries a slot on from wherever it stands to the end of its step, or until it waits."""
    frames, masks, seats, rewards, flags = results
    while True:
        slot.status = TERMINATED if slot.illegal else _advance(row, slot, options, recipes, log, index, scratch)
        if slot.status == WAITING:
            return
        if slot.start:
            if slot.status != READY and slot.tries < TRIES:
                slot.tries += 1  # over before the seat was asked: possible on the smallest boards alone
                _begin_next(row, slot, options, recipes)
                continue
            break
        seat = np.int64(slot.acted if slot.seat == BOTH else slot.seat)
        slot.outcome = outcome(row, seat) if slot.status == TERMINATED else 0.0
        if slot.illegal:
            slot.outcome = rewards[index] = -1.0
        else:
            rewards[index] = options.outcome_weight * slot.outcome
            if options.margin_weight != 0.0:
                rewards[index] += options.margin_weight * (margin(row, seat) - slot.margin)
        flags[0, index] = slot.status == TERMINATED
        flags[1, index] = slot.status == TRUNCATED
        if slot.status == READY or options.autoreset != SAME_STEP:
            break
        slot.viewer = _show(row, slot, finals[0], finals[1], index)
        finals[2][index] = slot
        slot.finished, slot.illegal, slot.tries = True, False, 0
        _begin_next(row, slot, options, recipes)
    slot.start = False
    slot.viewer = seats[index] = _show(row, slot, frames, masks, index)


@jit
def first_refused(rows: Rows, slots: Rows, chosen: Integers, options: Rows, actions: int) -> int:
    """The first game whose action is not in 0..actions-1 or, where illegal ones raise, illegal; else -1."""
    wrong = 0
    for i in range(len(chosen)):  # to the end, so that it is compiled to vector instructions
        if np.uint64(chosen[i]) >= np.uint64(actions):
            wrong += 1
    for i in range(len(chosen) if wrong else 0):
        if chosen[i] < 0 or chosen[i] >= actions:
            return i
    if options[0].raises:
        for i in range(len(rows)):
            if slots[i].status == READY and not is_legal(rows[i], chosen[i]):
                return i
    return -1


@jit(forceinline=True)
def _goes_on(row: Row, slot: Row, options: Row) -> bool:
    """Whether the slot's seat decides next, chance having been dealt: what happens in nearly every step."""
    seat = mover(row)
    return seat >= 0 and row.decisions < options.limit and (slot.seat == BOTH or slot.seat == seat)


@jit(forceinline=True)
def _report(row: Row, slot: Row, options: Row, results: Results, index: int) -> None:
    """What `_go_on` writes in that case."""
    frames, masks, seats, rewards, flags = results
    seat = mover(row)
    rewards[index] = slot.outcome = 0.0
    if options.margin_weight != 0.0:
        lead = margin(row, slot.acted if slot.seat == BOTH else slot.seat)
        rewards[index] = options.margin_weight * (lead - slot.margin)
    flags[0, index] = flags[1, index] = False
    slot.margin = margin(row, seat)
    observe(row, seat, frames, index)
    legal(row, masks, index)
    slot.viewer = seats[index] = seat


@jit
def _decide_all(
    low: int,
    high: int,
    rows: Rows,
    slots: Rows,
    chosen: Integers,
    options: Row,
    results: Results,
    log: Rows,
    unfinished: Integers,
) -> int:
    """The first half of `step_range`: does the steps that end at once.

    Returns:
        How many steps have more to do; `unfinished` lists their games.
    """
    size = 0
    for i in range(low, high):
        row, slot = rows[i], slots[i]
        slot.finished = slot.illegal = False
        done = False
        if slot.status < TERMINATED:
            slot.acted = mover(row)
            if is_legal(row, chosen[i]):
                _decide(row, chosen[i], log, i)
                deal(row)
                done = _goes_on(row, slot, options)
            else:
                slot.illegal = True
        if done:
            _report(row, slot, options, results, i)
        else:
            unfinished[low + size] = i
            size += 1
    return size


@jit
def step_range(
    low: int,
    high: int,
    rows: Rows,
    slots: Rows,
    chosen: Integers,
    options: Rows,
    recipes: Rows,
    results: Results,
    finals: Finals,
    log: Rows,
    scratch: Scratch,
) -> int:
    """One step of the games from `low` to `high`: `chosen` holds the actions, in range, legal if illegal ones raise.

    Args:
        low: first game.
        high: one behind the last game.
        rows: states, shape (games,).
        slots: type `SLOT`, shape (games,).
        chosen: actions, shape (games,).
        options: type `OPTIONS`, shape (1,).
        recipes: the opponents, type `mozaic_env.agents.kernels.RECIPE`.
        results: frames (games, bytes), masks (games, actions), seats, rewards, and flags
            (2, games): terminated, truncated; all overwritten.
        finals: frames, masks and slots of games that ended in a step that also begun the next one.
        log: int16, shape (games, decisions); takes down every seat's actions as far as it has columns.
        scratch: room for as many integers and numbers as there are actions, and for an integer for each game.

    Returns:
        How many games have ended, and `BY_ILLEGAL` more for each that an illegal action ended; not known in SAME_STEP
        mode. Where games wait for a Python agent this leaves them out.
    """
    option, ended = options[0], 0
    # Two loops, because the second one's code is so long that the first one would run out of registers.
    size = _decide_all(low, high, rows, slots, chosen, option, results, log, scratch[2])
    for k in range(low, low + size):
        i = scratch[2][k]
        row, slot = rows[i], slots[i]
        if slot.status >= TERMINATED:  # the step that only begins the next game
            slot.tries = 0
            _begin_next(row, slot, option, recipes)
        results[3][i], results[4][0, i], results[4][1, i] = 0.0, False, False
        _go_on(row, slot, option, recipes, results, finals, log, i, scratch)
        if results[4][0, i] or results[4][1, i]:
            ended += 1 + slot.illegal * BY_ILLEGAL
    return ended


@jit
def step_rows(
    rows: Rows,
    slots: Rows,
    chosen: Integers,
    options: Rows,
    recipes: Rows,
    results: Results,
    finals: Finals,
    log: Rows,
    scratch: Scratch,
) -> int:
    """`step_range` over the whole batch, if all actions are in order.

    Returns:
        What `step_range` does, or -1 - i if game i's action is refused; then nothing has been done.
    """
    refused = first_refused(rows, slots, chosen, options, results[1].shape[1])
    if refused >= 0:
        return -1 - refused
    return step_range(0, len(rows), rows, slots, chosen, options, recipes, results, finals, log, scratch)


@jit
def begin_rows(
    games: Integers,
    fresh: bool,
    rows: Rows,
    slots: Rows,
    options: Rows,
    recipes: Rows,
    results: Results,
    finals: Finals,
    log: Rows,
    scratch: Scratch,
) -> None:
    """Begins a game in each slot that `games` lists; keys are set, and unless `fresh`, positions too."""
    option = options[0]
    for i in games:
        row, slot = rows[i], slots[i]
        if fresh:
            setup(row)
        slot.finished = slot.illegal = False
        slot.tries = 0 if fresh else TRIES
        results[3][i], results[4][0, i], results[4][1, i] = 0.0, False, False
        _begin(row, slot, option, recipes)
        _go_on(row, slot, option, recipes, results, finals, log, i, scratch)


@jit
def answer_rows(
    games: Integers,
    answers: Integers,
    rows: Rows,
    slots: Rows,
    options: Rows,
    recipes: Rows,
    results: Results,
    finals: Finals,
    log: Rows,
    scratch: Scratch,
) -> int:
    """Makes the moves of Python opponents in the waiting slots that `games` lists, and goes on.

    Returns:
        -1, or the index into `games` of the first answer that is no legal action; then nothing has been done.
    """
    for k in range(len(games)):
        if answers[k] < 0 or answers[k] >= results[1].shape[1] or not is_legal(rows[games[k]], answers[k]):
            return k
    for k in range(len(games)):
        i = games[k]
        _decide(rows[i], answers[k], log, i)
        _go_on(rows[i], slots[i], options[0], recipes, results, finals, log, i, scratch)
    return -1


@jit
def waiting_rows(slots: Rows, games: Integers, ends: Integers) -> None:
    """Lists the games that wait for a Python opponent, grouped by opponent.

    Args:
        slots: of all games.
        games: written: first the games that wait for opponent 0, then those for 1, and so on.
        ends: written: for each opponent where its part of the list ends.
    """
    ends[:] = 0
    for i in range(len(slots)):
        if slots[i].status == WAITING:
            ends[slots[i].opponent] += 1
    begin = 0
    for k in range(len(ends)):
        count, ends[k] = ends[k], begin
        begin += count
    for i in range(len(slots)):
        if slots[i].status == WAITING:
            games[ends[slots[i].opponent]] = i
            ends[slots[i].opponent] += 1


@jit
def first_ended(slots: Rows) -> int:
    """The first game that has ended and not been reset, or -1."""
    for i in range(len(slots)):
        if slots[i].status >= TERMINATED:
            return i
    return -1


@jit
def masks_of(rows: Rows, masks: Bytes) -> None:
    """The action mask of every row; all are at a decision."""
    for i in range(len(rows)):
        legal(rows[i], masks, i)


@jit
def show_rows(rows: Rows, slots: Rows, results: Results) -> None:
    """Writes what every game has shown last once more: observation, mask and seat."""
    for i in range(len(rows)):
        results[2][i] = _show(rows[i], slots[i], results[0], results[1], i)


@jit
def show_masks(rows: Rows, slots: Rows, masks: Bytes) -> None:
    """Writes every game's mask alone once more: as `_show`, which a function for both makes slower."""
    for i in range(len(rows)):
        if slots[i].status == READY:
            legal(rows[i], masks, i)
        else:
            masks[i] = 1


@jit
def sample_range(low: int, high: int, rows: Rows, slots: Rows, counter: int, chosen: Integers) -> None:
    """`sample_rows` for the games from `low` to `high`."""
    for i in range(low, high):
        chosen[i] = 0
        if slots[i].status == READY:
            chosen[i] = random_action(rows[i], random_bits(rows[i].key, SAMPLE, counter))


@jit
def sample_rows(rows: Rows, slots: Rows, counter: int, chosen: Integers) -> None:
    """A uniformly random legal action for each game, 0 where none is due; a function of key and counter."""
    sample_range(0, len(rows), rows, slots, counter, chosen)


@jit
def setup_row(row: Row) -> None:
    """`setup`, callable from Python for any game."""
    setup(row)


@jit
def is_over(row: Row) -> bool:
    """Whether the game has ended."""
    return mover(row) == OVER


@jit
def advance_keys(keys: npt.NDArray[np.uint64]) -> None:
    """Replaces each key by that of its next game."""
    for i in range(len(keys)):
        keys[i] = random_bits(keys[i], NEXT_GAME, 0)
