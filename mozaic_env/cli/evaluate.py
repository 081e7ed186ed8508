"""`mozaic evaluate`: one agent against others."""

import argparse
from argparse import Namespace
from pathlib import Path

from mozaic_env.agents.names import read_spec
from mozaic_env.cli.options import AGENT_HELP, add_game_options, add_match_options, add_objective, agents_and
from mozaic_env.core.extras import need


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options of the verb."""
    parser.epilog = agents_and(
        "mozaic evaluate runs/quick --against random greedy pattern --games 2000 --seed 1",
        "mozaic evaluate pattern --regret --rows 4 --cols 4",
    )
    parser.add_argument("who", metavar="WHO", help=AGENT_HELP)
    parser.add_argument(
        "--against",
        nargs="+",
        default=[],
        metavar="AGENT",
        help="the opponents, named in the same way",
    )
    parser.add_argument(
        "--regret",
        action="store_true",
        help="play against perfect play too, and add up what each decision gives away, on a board that is solved",
    )
    add_objective(parser, "with --regret: what perfect play maximises")
    add_match_options(parser, 1000)
    parser.add_argument("--records", metavar="FILE", help="write one game record per game")
    parser.add_argument("--json", metavar="FILE", help="write all figures as JSON")
    parser.add_argument(
        "--report",
        metavar="DIR",
        nargs="?",
        const="",
        help="write a report with pictures; no DIR: into the run folder that is evaluated",
    )
    add_game_options(parser)


def run(arguments: Namespace) -> int:
    """Plays, prints and writes."""
    from mozaic_env.arena.evaluate import EVALUATION_FILE, append_evaluation, evaluate, read_evaluations, results_json
    from mozaic_env.arena.exact.regret import measure_regret
    from mozaic_env.arena.match import further, whole_rotations
    from mozaic_env.arena.records import write_records
    from mozaic_env.cli.contestants import make_contestants, modules_of
    from mozaic_env.core.exact import MARGIN, require_exact_values
    from mozaic_env.core.storage.outputs import check_output_file, write_json

    specs = [arguments.who, *arguments.against]
    need("this", "rich", *modules_of(specs), *(["matplotlib"] if arguments.report is not None else []))
    from mozaic_env.arena.report import console

    if not (arguments.against or arguments.regret):
        raise ValueError("nothing to play; accepted: --against AGENT ..., --regret, or both")
    if arguments.objective != MARGIN and not arguments.regret:
        raise ValueError(f"--objective {arguments.objective} says what regret is counted in; add --regret")
    game, (agent, *opponents) = make_contestants(specs, arguments)
    if arguments.regret:
        require_exact_values(game, arguments.objective)
    games = whole_rotations(arguments.games, game.num_players)
    run_folder = _run_folder(arguments.who)
    report = _report_folder(arguments, run_folder)
    for path in (arguments.records, arguments.json):
        if path is not None:
            check_output_file(path)
    if run_folder is not None:
        read_evaluations(run_folder)
        check_output_file(run_folder / EVALUATION_FILE)

    total, regret = games * (len(opponents) + arguments.regret), None
    with console.progress_bar(f"{agent.name}: playing", total) as progress:
        results = evaluate(
            agent,
            opponents,
            games,
            arguments.seed,
            threads=arguments.threads,
            keep_actions=arguments.records is not None or report is not None,
            progress=progress,
        )
        if arguments.regret:
            shown = further(progress, games * len(opponents))
            regret = measure_regret(agent, games, arguments.seed, objective=arguments.objective, progress=shown)
    played = results if regret is None else [*results, regret.match]
    title = f"{agent.name} on {game!r}, {games:,} games each, seed {arguments.seed}"
    console.print_evaluation(title, game, results, regret)
    seconds = sum(result.seconds for result in played)
    console.make_console(stderr=True).print(
        f"{total:,} games in {seconds:.2f} s, {total / seconds:,.0f} games per second"
    )
    if arguments.json is not None:
        write_json(arguments.json, results_json(results, regret))
    if run_folder is not None:
        append_evaluation(run_folder, results, regret)
    if arguments.records is not None:
        with console.progress_bar("writing records", total) as progress:
            write_records(arguments.records, game, played, progress)
    if report is not None:
        from mozaic_env.arena.report.report import write_report

        with console.waiting("drawing the report"):
            write_report(report, game, results, title=title, regret=regret)
    return 0


def _run_folder(spec: str) -> Path | None:
    """The run that a spec means; None for agents, and for a run that plays with options."""
    from mozaic_env.arena.evaluate import is_run_folder

    read = read_spec(spec)
    return read.folder if read.folder is not None and not read.words and is_run_folder(read.folder) else None


def _report_folder(arguments: Namespace, run_folder: Path | None) -> Path | None:
    from mozaic_env.core.storage.outputs import make_output_folder

    if arguments.report is None:
        return None
    if arguments.report == "":
        if run_folder is None:
            raise ValueError(
                f"--report: name a folder; without one the report goes into the run folder, and {arguments.who} is none"
            )
        return make_output_folder(run_folder / "report")
    return make_output_folder(arguments.report)
