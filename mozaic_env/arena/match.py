"""A match: an agent against another one, games with the same luck in all rotations of the seats."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from typing import Any

import numpy as np
import numpy.typing as npt

from mozaic_env.agents.base import Agent
from mozaic_env.arena.results import Games, MatchResult, summarise
from mozaic_env.core.checks import check_whole_number
from mozaic_env.core.stream import keys_from_seeds
from mozaic_env.simulation.play import play_games
from mozaic_env.simulation.queries import seat_margins
from mozaic_env.simulation.reward import seat_results
from mozaic_env.simulation.state import Simulation

COMPILED_BATCH = 64  # games between two looks at the clock and at Ctrl-C, where no Python agent plays
MOST_GAMES = 10**8  # of a match; what happened in each is kept in memory, some 70 bytes a game
ASKED_BATCH = 512  # games for which a Python agent is asked at once

Progress = Callable[[float], None]


def play_match(
    first: Agent,
    second: Agent,
    games: int,
    seed: int = 0,
    *,
    threads: int = 1,
    batch: int | None = None,
    max_decisions: int | None = None,
    keep_actions: bool = False,
    progress: Progress | None = None,
) -> MatchResult:
    """Plays a match of two agents.

    Games 2p and 2p + 1 are pair p: both have the luck of the p-th number that
    ``np.random.SeedSequence(seed)`` gives, the first agent sits in seat 0 in the one and in seat 1
    in the other. Luck is a function of the game's key and the draw's number, an agent's own chance
    one of key, seat and decision. So an agent against itself scores exactly 50%, the match of the
    agents exchanged is this one mirrored, a longer match begins with the shorter one of the same
    seed, and nothing depends on the batch or on the number of threads.

    In a game for n players the second agent holds all seats but one, and n games in a row have the same luck: the first
    agent sits once in each seat.

    A game at the limit of decisions is a draw. An agent that answers with an illegal action loses
    that game.

    Args:
        first: whose wins are counted.
        second: the opponent.
        games: how many; an even number, since half a pair would favour a seat; for n players a multiple of n.
        seed: a whole number of at least 0.
        threads: for games between compiled agents. A Python agent is always asked from this thread.
        batch: how many games are under way at once; None: 64 for compiled agents, 512 for Python
            ones.
        max_decisions: None: the game's own limit.
        keep_actions: whether to keep all actions, for records and reports.
        progress: called now and then with how many games are done, shares of games under way
            included.

    Raises:
        ValueError: an argument is none of these, the agents play different games, or an agent answered with
            something else than one whole number for each state.
    """
    game = first.game
    if second.game != game:
        raise ValueError(
            f"agent {first.name!r} plays {game!r}, agent {second.name!r} plays {second.game!r}; "
            "a match needs both for the same game"
        )
    players = game.num_players
    agents = (first, *[second] * (players - 1))
    check_games(games, players)
    check_whole_number("seed", seed, 0)
    threads = check_whole_number("threads", threads, 1)
    limit = check_whole_number("max_decisions", game.max_decisions if max_decisions is None else max_decisions, 1)
    compiled = all(agent.policy_spec() is not None for agent in agents)
    if batch is None:
        batch = COMPILED_BATCH if compiled else ASKED_BATCH
    size = check_whole_number("batch", batch, 1)

    seeds, seating = pair_seeds(seed, games, players), np.tile(rotations(players), (games // players, 1))
    # Without games: compiles what is needed, before the clock runs and threads begin.
    play_games(game, agents, np.empty(0, np.uint64), seating[:0], limit, log=keep_actions)
    began = time.perf_counter()
    report = progress or (lambda done: None)

    def play_part(low: int) -> Games:
        part = slice(low, min(low + size, games))
        firsts = slice(low - low % players, part.stop, players)  # first games of the part's pairs or rotations
        keys = np.repeat(keys_from_seeds(seeds[firsts]), players)[low - firsts.start :][: part.stop - low]
        told = None if compiled else lambda share: report(low + share * len(keys))
        played = play_games(game, agents, keys, seating[part], limit, log=keep_actions, progress=told)
        return _games(played, seeds[part], seating[part])

    parts = []
    for part in _in_order(play_part, range(0, games, size), threads if compiled else 1):
        parts.append(part)
        report(min(len(parts) * size, games))
    return summarise(
        _join(parts),
        players=(first.name, second.name),
        game=game.name,
        options=game.options,
        seed=int(seed),
        max_decisions=limit,
        seconds=time.perf_counter() - began,
    )


def further(progress: Progress | None, before: float) -> Progress | None:
    """The progress of a part of the work, before which so many games have been done."""
    return None if progress is None else lambda done: progress(before + done)


def check_games(games: int, players: int = 2) -> None:
    """ValueError if a match cannot have so many games."""
    if check_whole_number("games", games, 2) % players:
        if players == 2:
            raise ValueError(
                f"games={games}; accepted: an even number, because games are played in pairs with the seats swapped"
            )
        raise ValueError(
            f"games={games}; accepted: a multiple of {players}, because games are played in all {players} rotations of "
            "the seats"
        )
    if games > MOST_GAMES:
        raise ValueError(f"games={games}; accepted: at most {MOST_GAMES:,}, since all results are kept in memory")


def whole_rotations(games: int, players: int) -> int:
    """The number of games, for more than two players rounded up to whole rotations of the seats."""
    if players > 2:
        games = -(-check_whole_number("games", games, 2) // players) * players
    check_games(games, players)
    return games


def rotations(players: int) -> npt.NDArray[np.int64]:
    """All rotations of the players over the seats: who sits where, shape (rotations, seats)."""
    seats = np.arange(players)
    return (seats - seats[:, None]) % players


def pair_seeds(seed: int, games: int, players: int = 2) -> npt.NDArray[np.uint64]:
    """The seeds of the games of a match, equal within a pair or rotation; uint64, shape (games,)."""
    # One bit less than uint64 has: readers of records that know signed numbers alone can hold them.
    drawn = np.random.SeedSequence(int(seed)).generate_state(games // players, np.uint64) >> np.uint64(1)
    return np.repeat(drawn, players)


def _games(played: Simulation, seeds: npt.NDArray[np.uint64], seating: npt.NDArray[np.int64]) -> Games:
    """What happened; all games have ended."""
    results, margins = np.empty(seating.shape), np.empty(seating.shape)
    seat_results(played.rows, played.episodes, results)
    seat_margins(played.rows, margins)
    seats = np.arange(len(seating))[:, None], np.argsort(seating, axis=1)  # where each player sits
    lengths = played.rows["decisions"].astype(np.int64)
    return Games(
        seeds=seeds,
        seating=seating,
        results=results[seats],
        margins=margins[seats],
        lengths=lengths,
        endings=played.episodes["status"].copy(),
        courses=played.courses,
        actions=played.log[:, : lengths.max()].copy() if played.log.shape[1] else None,
    )


def _in_order(play_part: Callable[[int], Games], starts: range, threads: int) -> Iterator[Games]:
    """A match's parts in order; compiled loops hold no interpreter lock, so threads help."""
    if threads == 1:
        yield from map(play_part, starts)
        return
    with ThreadPoolExecutor(threads) as pool:
        try:
            yield from pool.map(play_part, starts)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)  # an error or Ctrl-C: the parts under way are the last
            raise


def _join(parts: list[Games]) -> Games:
    if parts[0].actions is not None:
        longest = max(part.actions.shape[1] for part in parts if part.actions is not None)
    joined: dict[str, Any] = {}
    for field in fields(Games):
        arrays = [getattr(part, field.name) for part in parts]
        if field.name == "actions" and arrays[0] is not None:
            arrays = [np.pad(array, ((0, 0), (0, longest - array.shape[1])), constant_values=-1) for array in arrays]
        joined[field.name] = None if arrays[0] is None else np.concatenate(arrays)
    return Games(**joined)
