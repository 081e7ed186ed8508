"""The compiled heart of the environments: decisions in, observations, masks and rewards out, for any game.

Single, vector and every other interface run these same functions, so they cannot differ. A game whose opponent is a
Python agent can come to wait: then the caller asks that agent and calls `answer_games`.
"""

import numpy as np

from mozaic_env.core.contract import Bytes, Integers, is_legal, legal, margin, mover, observe, random_action, setup
from mozaic_env.core.game import Rows
from mozaic_env.core.jit import jit
from mozaic_env.core.stream import NEXT_GAME, SAMPLE, SETUP, below, random_bits, unit
from mozaic_env.simulation.driver import advance, decide, draw
from mozaic_env.simulation.reward import result, reward
from mozaic_env.simulation.state import (
    ALL_SEATS,
    ANY_SEAT,
    CALLER,
    FORFEITED,
    READY,
    SAME_STEP,
    TERMINATED,
    TRUNCATED,
    WAITING,
    Outputs,
    Simulation,
)

TRIES = 1000  # games begun before giving up on one in which the seat decides


@jit(forceinline=True)
def _seat_players(sim: Simulation, i: int) -> None:
    """Seats the players of a new game; its key is set, and so is the position if it starts elsewhere."""
    key, episode, policies = sim.rows[i].key, sim.episodes[i], sim.policies
    players = sim.seating.shape[1]
    episode.start, episode.status = True, READY
    episode.seat = sim.settings[0].seat
    if sim.settings[0].seat == ANY_SEAT:
        episode.seat = below(random_bits(key, SETUP, 0), players)
    share = unit(random_bits(key, SETUP, 2))
    episode.opponent = 0
    while episode.opponent < len(policies) - 1 and share >= policies[episode.opponent].share:
        episode.opponent += 1
    for seat in range(players):
        mine = episode.seat == ALL_SEATS or episode.seat == seat
        sim.seating[i, seat] = CALLER if mine else episode.opponent


@jit(forceinline=True)
def _begin_next(sim: Simulation, i: int) -> None:
    sim.rows[i].key = random_bits(sim.rows[i].key, NEXT_GAME, 0)
    setup(sim.rows[i])
    _seat_players(sim, i)


@jit(forceinline=True)
def _show(sim: Simulation, i: int, frames: Bytes, masks: Bytes) -> int:
    """Writes observation and mask for the caller's seat, else for who decides, else for who decided last.

    Once the game has ended the mask is all ones. Returns that seat.
    """
    row, episode = sim.rows[i], sim.episodes[i]
    seat = np.int64(episode.seat)
    if seat == ALL_SEATS:
        seat = mover(row) if episode.status == READY else np.int64(episode.acted)
    episode.margin = margin(row, seat)
    observe(row, seat, frames, i)
    if episode.status == READY:
        legal(row, masks, i)
    else:
        masks[i] = 1
    return seat  # type: ignore[return-value]


@jit(forceinline=True)
def _go_on(sim: Simulation, out: Outputs, i: int) -> None:
    """Carries a game on from wherever it stands to the end of its step, or until it waits."""
    row, episode, settings = sim.rows[i], sim.episodes[i], sim.settings[0]
    while True:
        if episode.status != FORFEITED:
            episode.status = advance(sim, i)
        if episode.status == WAITING:
            return
        if episode.start:
            if episode.status != READY and episode.tries < TRIES:
                episode.tries += 1  # over before the seat was asked: possible on the smallest boards alone
                _begin_next(sim, i)
                continue
            break
        seat = np.int64(episode.acted if episode.seat == ALL_SEATS else episode.seat)
        episode.outcome = result(row, seat, episode.status, episode.acted, sim.seating.shape[1])
        out.rewards[i] = reward(row, seat, episode.margin, episode.status, episode.outcome, settings)
        out.terminated[i] = episode.status == TERMINATED or episode.status == FORFEITED
        out.truncated[i] = episode.status == TRUNCATED
        if episode.status == READY or settings.autoreset != SAME_STEP:
            break
        episode.viewer = _show(sim, i, sim.final_frames, sim.final_masks)
        sim.final_episodes[i] = episode
        episode.tries = 0
        _begin_next(sim, i)
    episode.start = False
    episode.viewer = out.seats[i] = _show(sim, i, out.frames, out.masks)


@jit(forceinline=True)
def _goes_on(sim: Simulation, i: int) -> bool:
    """Whether the caller decides next, chance having been dealt: what happens in nearly every step."""
    seat = mover(sim.rows[i])
    return seat >= 0 and sim.rows[i].decisions < sim.settings[0].limit and sim.seating[i, seat] == CALLER


@jit(forceinline=True)
def _report(sim: Simulation, out: Outputs, i: int) -> None:
    """What `_go_on` writes in that case."""
    row, episode = sim.rows[i], sim.episodes[i]
    seat = mover(row)
    paid = np.int64(episode.acted if episode.seat == ALL_SEATS else episode.seat)
    episode.outcome = 0.0
    out.rewards[i] = reward(row, paid, episode.margin, READY, 0.0, sim.settings[0])
    out.terminated[i] = out.truncated[i] = False
    episode.margin = margin(row, seat)
    observe(row, seat, out.frames, i)
    legal(row, out.masks, i)
    episode.viewer = out.seats[i] = seat


@jit
def _decide_all(sim: Simulation, out: Outputs, chosen: Integers, low: int, high: int) -> int:
    """The first half of `step_games`: does the steps that end at once.

    Returns:
        How many steps have more to do; `sim.unfinished` lists their games from `low` on.
    """
    size = 0
    for i in range(low, high):
        row, episode = sim.rows[i], sim.episodes[i]
        done = False
        if episode.status < TERMINATED:
            episode.acted = mover(row)
            if is_legal(row, chosen[i]):
                decide(sim, i, chosen[i])
                draw(sim, i)
                done = _goes_on(sim, i)
            else:
                episode.status = FORFEITED
        else:
            episode.start = True
        if done:
            _report(sim, out, i)
        else:
            sim.unfinished[low + size] = i
            size += 1
    return size


@jit
def step_games(sim: Simulation, out: Outputs, chosen: Integers, low: int, high: int) -> tuple[int, int]:
    """One step of the games from `low` to `high`: `chosen` holds the actions, in range, legal if illegal ones raise.

    Returns:
        How many games have ended, and how many of them by an illegal action; the second is not known in SAME_STEP mode.
        Games that wait for a Python agent are left out.
    """
    ended, forfeited = 0, 0
    # Two loops, because the second one's code is so long that the first one would run out of registers.
    size = _decide_all(sim, out, chosen, low, high)
    for k in range(low, low + size):
        i = sim.unfinished[k]
        episode = sim.episodes[i]
        out.rewards[i], out.terminated[i], out.truncated[i] = 0.0, False, False
        if episode.start:  # the step that only begins the next game
            episode.tries = 0
            _begin_next(sim, i)
        _go_on(sim, out, i)
        if out.terminated[i] or out.truncated[i]:
            ended += 1
            forfeited += episode.status == FORFEITED
    return ended, forfeited


@jit
def first_refused(sim: Simulation, chosen: Integers) -> int:
    """The first game whose action is out of range or, where illegal ones raise, illegal; else -1."""
    actions = len(sim.actions)
    wrong = 0
    for i in range(len(chosen)):  # to the end, so that it is compiled to vector instructions
        if np.uint64(chosen[i]) >= np.uint64(actions):
            wrong += 1
    for i in range(len(chosen) if wrong else 0):
        if chosen[i] < 0 or chosen[i] >= actions:
            return i
    if sim.settings[0].raises:
        for i in range(len(sim.rows)):
            if sim.episodes[i].status == READY and not is_legal(sim.rows[i], chosen[i]):
                return i
    return -1


@jit
def step_all(sim: Simulation, out: Outputs, chosen: Integers) -> tuple[int, int, int]:
    """`step_games` over the whole batch, if all actions are in order.

    Returns:
        The game whose action is refused, or -1; then what `step_games` does. After a refusal nothing has been done.
    """
    refused = first_refused(sim, chosen)
    if refused >= 0:
        return refused, 0, 0
    ended, forfeited = step_games(sim, out, chosen, 0, len(sim.rows))
    return -1, ended, forfeited


@jit
def begin_games(sim: Simulation, out: Outputs, games: Integers, fresh: bool) -> None:
    """Begins a game in each place that `games` lists; keys are set, and unless `fresh`, positions too."""
    for i in games:
        if fresh:
            setup(sim.rows[i])
        sim.episodes[i].tries = 0 if fresh else TRIES
        out.rewards[i], out.terminated[i], out.truncated[i] = 0.0, False, False
        _seat_players(sim, i)
        _go_on(sim, out, i)


@jit
def answer_games(sim: Simulation, out: Outputs, games: Integers, answers: Integers) -> int:
    """Makes the moves of Python opponents in the waiting games that `games` lists, and goes on.

    Returns:
        -1, or the index into `games` of the first answer that is no legal action; then nothing has been done.
    """
    for k in range(len(games)):
        if answers[k] < 0 or answers[k] >= len(sim.actions) or not is_legal(sim.rows[games[k]], answers[k]):
            return k
    for k in range(len(games)):
        decide(sim, games[k], answers[k])
        _go_on(sim, out, games[k])
    return -1


@jit
def first_ended(episodes: Rows) -> int:
    """The first game that has ended and not been reset, or -1."""
    for i in range(len(episodes)):
        if episodes[i].status >= TERMINATED:
            return i
    return -1


@jit
def show_games(sim: Simulation, out: Outputs) -> None:
    """Writes what every game has shown last once more: observation, mask and seat."""
    for i in range(len(sim.rows)):
        out.seats[i] = _show(sim, i, out.frames, out.masks)


@jit
def show_masks(rows: Rows, episodes: Rows, masks: Bytes) -> None:
    """Writes every game's mask alone once more: as `_show`, which a function for both makes slower."""
    for i in range(len(rows)):
        if episodes[i].status == READY:
            legal(rows[i], masks, i)
        else:
            masks[i] = 1


@jit
def sample_games(sim: Simulation, counter: int, chosen: Integers, low: int, high: int) -> None:
    """A random legal action for each game from `low` to `high`, 0 where none is due; a function of key and counter."""
    for i in range(low, high):
        chosen[i] = 0
        if sim.episodes[i].status == READY:
            chosen[i] = random_action(sim.rows[i], random_bits(sim.rows[i].key, SAMPLE, counter))
