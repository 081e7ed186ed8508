"""What can follow an action before the next decision, and how likely each is: chance gone through by its probabilities.

Chance can go in circles before anyone decides (in Mozaic a missed turn puts its gem back, and the next draw may miss
again), so all states that can follow each other are gathered once, and the probability is passed along until none is
left. Several ways to the same state count as one.

A row of chance outcomes can be too long to be gathered (a refill in Crystal Mosaic has millions of results). Then as
many states are gathered as there is room for; some of them are still at chance, and hold the probability of all that
would follow them. No probability is lost: whoever asks values these states as well.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mozaic_env.core.contract import CHANCE, Floats, mover, outcomes, resolve
from mozaic_env.core.game import Game
from mozaic_env.core.jit import jit

LEAST_STATES = 64
MOST_STATES = 1024  # since each state found is compared with those before
_NO_PROBABILITY = 1e-17

States = npt.NDArray[Any]


class Draws(NamedTuple):
    """Workspace of one gathering; what stands there means nothing afterwards."""

    targets: npt.NDArray[np.int64]  # number of the state behind each outcome, shape (states, outcomes)
    chances: npt.NDArray[np.float64]  # probability of each outcome, the same shape
    sizes: npt.NDArray[np.int64]  # how many outcomes each state has, shape (states,)
    codes: npt.NDArray[np.int64]  # outcomes of one state, shape (outcomes,)


class Followers(NamedTuple):
    """Workspace for the states that can follow an action, and what `gather` finds; by ply."""

    states: States  # rows of the game, shape (plies, states)
    words: npt.NDArray[Any]  # the same memory as whole words, shape (plies, states, words of a row)
    shares: npt.NDArray[np.float64]  # the probability of each state, shape (plies, states)


def count_states(game: Game) -> int:
    """For how many states there is room: for all that one draw can lead to, or two draws if those are not too many."""
    most = game.max_outcomes
    return max(LEAST_STATES, 1 + most, min(1 + most + most**2, MOST_STATES))


def make_draws(game: Game) -> Draws:
    """Workspace of one gathering at a time."""
    shape = (count_states(game), game.max_outcomes)
    return Draws(
        np.zeros(shape, np.int64), np.zeros(shape), np.zeros(shape[0], np.int64), np.zeros(game.max_outcomes, np.int64)
    )


def make_followers(game: Game, plies: int = 1) -> Followers:
    """Workspace for the states that can follow an action, at each ply."""
    states = np.zeros((plies, count_states(game)), game.dtype)
    word = next(size for size in (8, 4, 2, 1) if states.itemsize % size == 0)
    return Followers(states, states.view(np.dtype(f"u{word}")).reshape(*states.shape, -1), np.zeros(states.shape))


@jit
def _same(words: npt.NDArray[Any], first: int, second: int) -> bool:
    for k in range(words.shape[1] - 1, -1, -1):  # what chance changes tends to stand last
        if words[first, k] != words[second, k]:
            return False
    return True


@jit
def gather(followers: Followers, ply: int, draws: Draws) -> int:
    """Finds what can follow the state at `followers.states[ply, 0]` before the next decision, and how likely each is.

    Args:
        followers: written at the ply; `shares` are the probabilities of ending in each state. States at chance have 0,
            but for those beyond which there was no room.
        ply: which of them.
        draws: from `make_draws`.

    Returns:
        How many states were found.
    """
    states, words, shares = followers.states[ply], followers.words[ply], followers.shares[ply]
    targets, chances, sizes, codes = draws
    size, seen = 1, 0
    while seen < size:
        shares[seen], sizes[seen] = 0.0, 0
        if mover(states[seen]) == CHANCE and size + len(codes) <= len(states):
            sizes[seen] = outcomes(states[seen], codes, chances[seen])
        for branch in range(sizes[seen]):
            states[size] = states[seen]
            resolve(states[size], codes[branch])
            states[size].draws = states[0].draws  # how often was drawn makes no difference
            target = 0
            while not _same(words, target, size):
                target += 1
            targets[seen, branch] = target
            size += target == size
        seen += 1
    _pass_probability(size, shares, targets, chances, sizes)
    return size


@jit
def _pass_probability(
    size: int,
    shares: Floats,
    targets: npt.NDArray[np.int64],
    chances: npt.NDArray[np.float64],
    sizes: npt.NDArray[np.int64],
) -> None:
    """Starting with all of it in state 0, until what is still in states with outcomes is next to nothing."""
    shares[0] = 1.0
    moving = 1.0
    while moving > _NO_PROBABILITY:
        moving = 0.0
        for state in range(size):
            share = shares[state]
            if sizes[state] == 0 or share <= _NO_PROBABILITY:
                continue
            shares[state] = 0.0
            moving += share
            for branch in range(sizes[state]):
                shares[targets[state, branch]] += share * chances[state, branch]
