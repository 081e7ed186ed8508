"""`mozaic tournament`: a round robin, its cross table and the ladder that comes of it."""

import sys
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, permutations
from typing import Any

from mozaic_env.agents.base import Agent
from mozaic_env.arena.cluster import Pairing, play_on_cluster
from mozaic_env.arena.contestants import make_contestants, modules_of
from mozaic_env.arena.ladder import append_result, identity, merge, pairing_seed, read_results
from mozaic_env.arena.match import Progress, further, play_match, whole_rotations
from mozaic_env.arena.records import append_records, write_records
from mozaic_env.arena.results import MatchResult
from mozaic_env.arena.statistics.ratings import Rating, choose_anchor, merge_pairs, rate
from mozaic_env.core.extras import need
from mozaic_env.core.game import Game
from mozaic_env.core.storage.outputs import check_output_file, make_output_folder
from mozaic_env.games import make_game


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


def run(arguments: Namespace) -> int:
    """The command; `arguments` as `mozaic_env.cli` reads them."""
    need(
        "this",
        *("rich", "choix", *modules_of(arguments.agents)),
        *(["matplotlib"] if arguments.report is not None else []),
        *(["ray"] if arguments.ray is not None else []),
    )
    from mozaic_env.arena import console

    known: list[MatchResult] = []
    if arguments.results is not None:
        check_output_file(arguments.results)
        known, complaints = read_results(arguments.results)
        for complaint in complaints:
            print(f"mozaic tournament: {complaint}", file=sys.stderr)
    if arguments.records is not None:
        check_output_file(arguments.records)
    report = None if arguments.report is None else make_output_folder(arguments.report)
    game, new = _play(arguments, known, report is not None or arguments.records is not None)

    counted = merge([*known, *new], game)
    pairs = merge_pairs(counted)
    with console.waiting("rating"):
        ratings = rate(pairs, arguments.seed)
    names = [rating.name for rating in ratings]
    title = f"{game!r}, {sum(result.games for result in counted):,} games"
    notes = ladder_notes(ratings, [*known, *new], counted)
    out = console.make_console()
    out.print(console.ladder_table(f"Ladder: {title}", ratings))
    out.print(console.cross_table("Points % of the row against the column", names, pairs))
    for note in notes:
        out.print(note, markup=False)
    if report is not None:
        from mozaic_env.arena.report.report import write_ladder_report

        with console.waiting("drawing the report"):
            write_ladder_report(report, game, ratings, counted, title=title, notes=notes)
    return 0


def _play(arguments: Namespace, known: Sequence[MatchResult], keep_actions: bool) -> tuple[Game, list[MatchResult]]:
    """The game and the new results; without agents the last known result says what the game is."""
    from mozaic_env.arena import console

    if not arguments.agents:
        if not known:
            raise ValueError("name at least two agents, or with --results a file that holds results already")
        return make_game(known[-1].game, **known[-1].options), []
    game, agents = make_contestants(arguments.agents, arguments, versions=True)

    replacing = arguments.results is None

    def keep(result: MatchResult) -> None:
        """Match by match, so that what a tournament was stopped in loses nothing but its last match."""
        nonlocal replacing
        if arguments.records is not None:
            write = write_records if replacing else append_records
            write(arguments.records, game, [result])
            replacing = False
        if arguments.results is not None:
            append_result(arguments.results, result)

    games = whole_rotations(arguments.games, game.num_players)
    total = games * len(pairings(agents))
    with console.progress_bar("tournament", total) as progress:
        new = play_tournament(
            agents,
            games,
            arguments.seed,
            known=known,
            on_result=keep,
            progress=progress,
            ray=arguments.ray,
            threads=arguments.threads,
            keep_actions=keep_actions,
        )
    return game, new


def ladder_notes(
    ratings: Sequence[Rating], results: Sequence[MatchResult], counted: Sequence[MatchResult]
) -> list[str]:
    """What a reader of the ladder has to know as well, one sentence each."""
    names = [name for result in counted for name in result.players]
    notes = [f"Elo points above {choose_anchor(names)}, with 95% intervals; a draw is half a win."]
    unrated = [rating.name for rating in ratings if rating.elo is None]
    if unrated:
        notes.append(f"No rating, since no chain of matches leads there: {', '.join(unrated)}.")
    left_out = len(results) - len(counted)
    if left_out:
        notes.append(
            f"{left_out} results are left out: of another game or variant, or contained in a "
            "longer match of the same seed."
        )
    return notes
