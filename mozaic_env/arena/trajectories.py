"""Kept games played again, decision by decision, for records, reports and regret."""

import numpy as np
import numpy.typing as npt

from mozaic_env.core.contract import Floats, Integers, apply, deal, margin, mover, setup
from mozaic_env.core.game import Rows
from mozaic_env.core.jit import jit

Seating = npt.NDArray[np.int64]  # which player holds each seat of each game, shape (games, seats)


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
        seating: the number of the player in each seat, shape (games, seats).
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
        seating: the number of the player in each seat, shape (games, seats).
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
