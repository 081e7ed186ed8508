"""The compiled heart of a match: games from first row to end, for any game and any agents.

Each game of a match is a row (the game's state) and a `SLOT` (how it stands). Compiled agents are
played in place. Where a Python agent is to decide, the slot waits: the caller asks that agent and
calls `answer`.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from mozaic_env.agents.kernels import PYTHON, choose
from mozaic_env.core.contract import (
    CHANCE,
    OVER,
    Floats,
    Integers,
    Row,
    apply,
    cut_off,
    deal,
    is_legal,
    margin,
    mover,
    outcome,
    resolve,
    sample,
    setup,
)
from mozaic_env.core.jit import jit
from mozaic_env.core.stream import random_bits

RUNNING, WAITING, FINISHED, TRUNCATED, FORFEITED = range(5)  # a slot's status

SLOT = np.dtype(
    [
        ("course", np.uint64),  # digest of all that happened: draws, and who decided what
        ("status", np.int8),
        (
            "player",
            np.int8,
        ),  # who is to be asked while WAITING; who lost by an illegal action when FORFEITED
    ],
    align=True,
)

Rows = npt.NDArray[Any]
Seating = npt.NDArray[np.int64]  # which player holds each seat of each game, shape (games, seats)
_DRAW = np.uint64(0)  # streams that keep draws and decisions apart in the digest


@jit(forceinline=True)
def _decide(row: Row, slot: Row, action: int, log: Rows, index: int) -> None:
    """Makes a legal decision and notes it where the log has room; one of no columns has none."""
    if row.decisions < log.shape[1]:
        log[index, row.decisions] = action
    slot.course = random_bits(slot.course, np.uint64(1 + mover(row)), np.uint64(action))
    apply(row, action)


@jit
def begin(rows: Rows, slots: Rows) -> None:
    """Sets games up; their keys and options are in the rows."""
    for i in range(len(rows)):
        setup(rows[i])
        slots[i].course = np.uint64(0)
        slots[i].status = RUNNING


@jit
def play(
    rows: Rows,
    slots: Rows,
    seating: Seating,
    recipes: Rows,
    limit: int,
    log: Rows,
    scratch: tuple[Integers, Floats],
) -> None:
    """Plays every running game until it ends or a Python agent has to be asked.

    Args:
        rows: states, shape (games,).
        slots: type `SLOT`, shape (games,).
        seating: int64, shape (games, seats).
        recipes: of the players, type `mozaic_env.agents.kernels.RECIPE`; kind PYTHON for those to
            be asked.
        limit: number of decisions after which a game is truncated.
        log: int16, shape (games, room), takes the actions.
        scratch: room for one number for each action, int64 and float64.
    """
    actions, values = scratch
    for i in range(len(rows)):
        row, slot = rows[i], slots[i]
        while slot.status == RUNNING:
            while mover(row) == CHANCE:
                code = sample(row)
                resolve(row, code)
                slot.course = random_bits(slot.course, _DRAW, np.uint64(code))
            seat = mover(row)
            if seat == OVER:
                slot.status = TRUNCATED if cut_off(row) else FINISHED
            elif row.decisions >= limit:
                slot.status = TRUNCATED
            else:
                player = seating[i, seat]
                if recipes[player].kind == PYTHON:
                    slot.status = WAITING
                    slot.player = player
                else:
                    _decide(row, slot, choose(row, recipes[player], actions, values), log, i)


@jit
def answer(games: Integers, answers: Integers, actions: int, rows: Rows, slots: Rows, log: Rows) -> None:
    """Makes the decisions of Python agents in the waiting games that `games` lists.

    Args:
        games: indices of games.
        answers: an action for each; one that is out of range or illegal forfeits its game.
        actions: how many actions the game has.
        rows: as for `play`.
        slots: as for `play`.
        log: as for `play`.
    """
    for k in range(len(games)):
        i, action = games[k], answers[k]
        if action < 0 or action >= actions or not is_legal(rows[i], action):
            slots[i].status = FORFEITED
        else:
            _decide(rows[i], slots[i], action, log, i)
            slots[i].status = RUNNING


@jit
def score(rows: Rows, slots: Rows, seating: Seating, results: Floats, margins: Floats) -> None:
    """Writes each player's result and final margin, both of shape (games, players).

    The games have ended. A truncated game is a draw. A forfeited one is lost by who played the illegal action, and the
    others share the win; its margin is the board's.
    """
    players = results.shape[1]
    for i in range(len(rows)):
        for seat in range(players):
            player = seating[i, seat]
            margins[i, player] = margin(rows[i], seat)
            if slots[i].status == FINISHED:
                results[i, player] = outcome(rows[i], seat)
            elif slots[i].status == TRUNCATED:
                results[i, player] = 0.0
            else:
                results[i, player] = -1.0 if player == slots[i].player else 1.0 / (players - 1)


@jit
def trace(rows: Rows, seats: Integers, lengths: Integers, actions: Rows, margins: Floats) -> None:
    """Replays games and writes the margin after each decision; behind the end the last one stays.

    Args:
        rows: the games' first rows, only their keys and options matter; shape (games,).
        seats: from whose view, shape (games,).
        lengths: number of decisions, shape (games,).
        actions: what was decided, int16, shape (games, longest).
        margins: overwritten, shape (games, longest + 1); column k is the margin after k decisions.
    """
    for i in range(len(rows)):
        row = rows[i]
        setup(row)
        for k in range(margins.shape[1]):
            if k > 0 and k <= lengths[i]:
                deal(row)
                apply(row, actions[i, k - 1])
            margins[i, k] = margin(row, seats[i])


@jit
def deciders(rows: Rows, seating: Seating, lengths: Integers, actions: Rows, players: Rows) -> None:
    """Replays games and writes which player made each decision, -1 behind the end.

    Args:
        rows: as for `trace`.
        seating: as for `play`.
        lengths: as for `trace`.
        actions: as for `trace`.
        players: int64, shape (games, longest), overwritten.
    """
    for i in range(len(rows)):
        row = rows[i]
        setup(row)
        for k in range(players.shape[1]):
            players[i, k] = -1
            if k < lengths[i]:
                deal(row)
                players[i, k] = seating[i, mover(row)]
                apply(row, actions[i, k])


@jit
def decisions_of(
    rows: Rows,
    seating: Seating,
    lengths: Integers,
    actions: Rows,
    player: int,
    states: Rows,
    games: Integers,
    chosen: Integers,
) -> int:
    """Replays games and writes what a player decided, in order.

    Args:
        rows: as for `trace`.
        seating: as for `play`.
        lengths: as for `trace`.
        actions: as for `trace`.
        player: whose decisions.
        states: overwritten with the rows at these; there is room for all decisions.
        games: overwritten with the index of each one's game.
        chosen: overwritten with the actions.

    Returns:
        How many there are.
    """
    count = 0
    for i in range(len(rows)):
        row = rows[i]
        setup(row)
        for k in range(lengths[i]):
            deal(row)
            if seating[i, mover(row)] == player:
                states[count] = row
                games[count], chosen[count] = i, actions[i, k]
                count += 1
            apply(row, actions[i, k])
    return count
