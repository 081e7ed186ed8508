"""The driver: plays games from decision to decision, for environments and matches alike.

Each seat of a game is held by the caller, by a compiled agent or by a Python agent. `advance` plays chance and compiled
agents, until somebody else decides or the game ends.
"""

import numpy as np

from mozaic_env.agents.kernels import PYTHON, choose
from mozaic_env.core.contract import CHANCE, OVER, Integers, apply, cut_off, is_legal, mover, resolve, sample, setup
from mozaic_env.core.jit import jit
from mozaic_env.core.stream import random_bits
from mozaic_env.simulation.state import CALLER, FORFEITED, READY, TERMINATED, TRUNCATED, WAITING, Simulation


@jit(forceinline=True)
def decide(sim: Simulation, index: int, action: int) -> None:
    """Makes a legal decision, and notes it where there is room: a log of no columns notes nothing."""
    row = sim.rows[index]
    if row.decisions < sim.log.shape[1]:
        sim.log[index, row.decisions] = action
    if index < len(sim.courses):
        sim.courses[index] = random_bits(sim.courses[index], np.uint64(1 + mover(row)), np.uint64(action))
    apply(row, action)


@jit(forceinline=True)
def draw(sim: Simulation, index: int) -> None:
    """Lets chance happen, by the row's own stream, until someone decides or the game is over."""
    row = sim.rows[index]
    while mover(row) == CHANCE:
        code = sample(row)
        resolve(row, code)
        if index < len(sim.courses):
            sim.courses[index] = random_bits(sim.courses[index], np.uint64(0), np.uint64(code))


@jit(forceinline=True)
def advance(sim: Simulation, index: int) -> int:
    """Chance and compiled agents' moves, until the caller decides, a Python agent has to be asked, or the game ends.

    Returns:
        The game's new status: READY, WAITING, TERMINATED or TRUNCATED.
    """
    row = sim.rows[index]
    while True:
        draw(sim, index)
        seat = mover(row)
        if seat == OVER:
            return TRUNCATED if cut_off(row) else TERMINATED
        if row.decisions >= sim.settings[0].limit:
            return TRUNCATED
        player = sim.seating[index, seat]
        if player == CALLER:
            return READY
        policy = sim.policies[player]
        if policy.kind == PYTHON:
            return WAITING
        decide(sim, index, choose(row, policy, sim.actions, sim.values))


@jit
def begin_matches(sim: Simulation) -> None:
    """Sets up every game, its seating given, and plays it until a Python agent is to be asked or it ends."""
    for i in range(len(sim.rows)):
        setup(sim.rows[i])
        sim.episodes[i].status = advance(sim, i)


@jit
def answer_matches(sim: Simulation, games: Integers, answers: Integers) -> None:
    """Makes Python agents' decisions in the waiting games that `games` lists, and plays on.

    An answer that is no legal action forfeits the game.
    """
    for k in range(len(games)):
        i = games[k]
        if 0 <= answers[k] < len(sim.actions) and is_legal(sim.rows[i], answers[k]):
            decide(sim, i, answers[k])
            sim.episodes[i].status = advance(sim, i)
        else:
            sim.episodes[i].acted, sim.episodes[i].status = mover(sim.rows[i]), FORFEITED


@jit
def waiting_games(sim: Simulation, games: Integers, ends: Integers) -> None:
    """Lists the games that wait for a Python agent, grouped by agent.

    Args:
        sim: the games.
        games: written: first the games that wait for player 0, then those for 1, and so on.
        ends: written: for each player where its part of the list ends.
    """
    ends[:] = 0
    for i in range(len(sim.rows)):
        if sim.episodes[i].status == WAITING:
            ends[sim.seating[i, mover(sim.rows[i])]] += 1
    begin = 0
    for k in range(len(ends)):
        count, ends[k] = ends[k], begin
        begin += count
    for i in range(len(sim.rows)):
        if sim.episodes[i].status == WAITING:
            player = sim.seating[i, mover(sim.rows[i])]
            games[ends[player]] = i
            ends[player] += 1
