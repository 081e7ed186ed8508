"""`mozaic tournament`: a round robin, its cross table and the ladder that comes of it."""

from __future__ import annotations

import argparse
import sys
from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from mozaic_env.cli.options import AGENT_HELP, add_game_options, add_match_options, agents_and
from mozaic_env.core.extras import need

if TYPE_CHECKING:
    from mozaic_env.arena.results import MatchResult
    from mozaic_env.arena.statistics.ratings import Rating
    from mozaic_env.core.game import Game


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options of the verb."""
    parser.epilog = agents_and("mozaic tournament random greedy pattern --results ladder.jsonl --report report")
    parser.add_argument("agents", nargs="*", metavar="AGENT", help=AGENT_HELP + "; none: show the results so far")
    add_match_options(parser, 1000)
    parser.add_argument(
        "--results",
        metavar="FILE",
        help="JSON Lines file to add the results to; what it holds already counts and is not "
        "played again, so an interrupted tournament goes on where it was",
    )
    parser.add_argument("--report", metavar="DIR", help="write a report with pictures")
    parser.add_argument(
        "--records",
        metavar="FILE",
        help="write one game record per game that is played now; with --results they are added to the file, like those",
    )
    parser.add_argument(
        "--ray",
        metavar="ADDRESS",
        help="spread the matches over a Ray cluster: HOST:PORT of its head, auto on one of its machines, or local to "
        "start Ray here; changes no result",
    )
    add_game_options(parser)


def run(arguments: Namespace) -> int:
    """Plays what is missing, prints and writes."""
    from mozaic_env.cli.contestants import modules_of

    need(
        "this",
        *("rich", "choix", *modules_of(arguments.agents)),
        *(["matplotlib"] if arguments.report is not None else []),
        *(["ray"] if arguments.ray is not None else []),
    )
    from mozaic_env.arena.report import console
    from mozaic_env.arena.results_file import merge, read_results
    from mozaic_env.arena.statistics.ratings import merge_pairs, rate
    from mozaic_env.core.storage.outputs import check_output_file, make_output_folder

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
    from mozaic_env.arena.match import whole_rotations
    from mozaic_env.arena.records import append_records, write_records
    from mozaic_env.arena.report import console
    from mozaic_env.arena.results_file import append_result
    from mozaic_env.arena.tournament import pairings, play_tournament
    from mozaic_env.cli.contestants import make_contestants
    from mozaic_env.games import make_game

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
    from mozaic_env.arena.statistics.ratings import choose_anchor

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
