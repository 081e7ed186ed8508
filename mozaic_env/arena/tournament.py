"""Tournaments: a round robin, what of it is known already left out."""

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, permutations
from typing import Any

from mozaic_env.agents.base import Agent
from mozaic_env.arena.cluster import Pairing, play_on_cluster
from mozaic_env.arena.match import Progress, further, play_match, whole_rotations
from mozaic_env.arena.results import MatchResult
from mozaic_env.arena.results_file import identity, pairing_seed


def play_tournament(
    agents: Sequence[Agent],
    games: int,
    seed: int = 0,
    *,
    known: Sequence[MatchResult] = (),
    on_result: Callable[[MatchResult], None] | None = None,
    progress: Progress | None = None,
    ray: str | None = None,
    **options: Any,
) -> list[MatchResult]:
    """Every two agents play a match; at more than two seats two, in which the one and then the other is alone.

    Args:
        agents: who takes part, of different names.
        games: of each match, an even number; for n players rounded up to a multiple of n.
        seed: of the tournament; each pairing has a seed of its own that follows from it.
        known: results that need not be played again, if there are as many games of the same seed.
        on_result: called with each new result as soon as it is there.
        progress: called with the number of games done.
        ray: address of a Ray cluster that is to play the matches, see `mozaic_env.arena.cluster`; None: they are
            played here, one after the other. The results are the same.
        **options: more arguments of `mozaic_env.arena.match.play_match`.

    Returns:
        The new results, in the order of the pairings.

    Raises:
        ValueError: fewer than two agents, two of the same name, or no cluster at that address.
    """
    names = [agent.name for agent in agents]
    if len(names) < 2 or len(set(names)) < len(names):
        given = ", ".join(names) or "none"
        raise ValueError(f"a tournament needs at least two agents, all different; got {given}")
    played = {_identity(result): result.games for result in known}
    games = whole_rotations(games, agents[0].game.num_players)
    due: list[Pairing] = []
    for number, (first, second) in enumerate(pairings(agents)):
        pairing = pairing_seed(seed, first.name, second.name)
        game, players = first.game, (first.name, second.name)
        limit = options.get("max_decisions") or game.max_decisions
        known_games = played.get(identity(players, pairing, limit, game.name, game.options, game.num_players), 0)
        if known_games < games:
            due.append((number, first, second, pairing))
    if ray is None:
        matches = _play_here(due, games, progress, options)
    else:
        matches = play_on_cluster(due, games, ray, further(progress, games * (number + 1 - len(due))), options)
    results: dict[int, MatchResult] = {}
    for number, result in matches:
        results[number] = result
        if on_result is not None:
            on_result(result)
    if progress is not None:
        progress(games * (number + 1))
    return [results[number] for number, *_ in due]


def _play_here(
    due: Sequence[Pairing], games: int, progress: Progress | None, options: dict[str, Any]
) -> Iterator[tuple[int, MatchResult]]:
    for number, first, second, pairing in due:
        report = further(progress, number * games)
        yield number, play_match(first, second, games, pairing, progress=report, **options)


def pairings(agents: Sequence[Agent]) -> list[tuple[Agent, Agent]]:
    """Who plays whom: with two seats each two agents, with more each against copies of each other one."""
    of_two = combinations if agents[0].game.num_players == 2 else permutations
    return list(of_two(agents, 2))


def _identity(result: MatchResult) -> tuple[Any, ...]:
    seats = len(result.seats)
    return identity(result.players, result.seed, result.max_decisions, result.game, result.options, seats)
