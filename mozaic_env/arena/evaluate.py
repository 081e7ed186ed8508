"""`mozaic evaluate`: one agent against others."""

import json
from argparse import Namespace
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from mozaic_env import __version__
from mozaic_env.agents.base import Agent
from mozaic_env.agents.names import read_spec
from mozaic_env.arena.contestants import make_contestants, modules_of
from mozaic_env.arena.exact.regret import RegretResult, measure_regret
from mozaic_env.arena.match import Progress, further, play_match, whole_rotations
from mozaic_env.arena.records import write_records
from mozaic_env.arena.results import MatchResult
from mozaic_env.core.exact import MARGIN, require_exact_values
from mozaic_env.core.extras import need
from mozaic_env.core.storage.outputs import check_output_file, make_output_folder, write_json
from mozaic_env.core.text.files import read_text, user_path

EVALUATION_FILE = "evaluation.json"  # in a run folder


def evaluate(
    agent: Agent,
    opponents: Sequence[Agent],
    games: int,
    seed: int = 0,
    *,
    progress: Progress | None = None,
    **options: Any,
) -> list[MatchResult]:
    """A match of an agent against each opponent, all with the same luck.

    Args:
        agent: who is evaluated.
        opponents: against whom.
        games: of each match, an even number; for n players rounded up to a multiple of n.
        seed: of each match.
        progress: called with the number of games done, all matches together.
        **options: more arguments of `mozaic_env.arena.match.play_match`.
    """
    results, games = [], whole_rotations(games, agent.game.num_players)
    for number, opponent in enumerate(opponents):
        report = further(progress, number * games)
        results.append(play_match(agent, opponent, games, seed, progress=report, **options))
    return results


def results_json(results: Sequence[MatchResult], regret: RegretResult | None = None) -> dict[str, Any]:
    """What results files hold; with a regret also that, the match against perfect play within it."""
    values = {
        "time": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "version": __version__,
        "results": [result.to_json() for result in results],
    }
    return values if regret is None else {**values, "regret": regret.to_json()}


def is_run_folder(path: str | Path) -> bool:
    """Whether the path is a folder that a training run left."""
    path = user_path(path)
    return any((path / name).is_file() for name in ("run.json", "config.yaml"))


def read_evaluations(run: str | Path) -> list[Any]:
    """What evaluations a run folder holds so far.

    Raises:
        ValueError: its evaluation file is damaged.
    """
    path = user_path(run) / EVALUATION_FILE
    if not path.exists():
        return []
    try:
        evaluations = json.loads(read_text(path))
    except ValueError as error:  # also json.JSONDecodeError
        raise ValueError(f"cannot read {path}: {error}; move it away to begin a new one") from None
    if not isinstance(evaluations, list):
        raise ValueError(f"{path} is not a JSON list of evaluations; move it away to begin a new one")
    return evaluations


def append_evaluation(run: str | Path, results: Sequence[MatchResult], regret: RegretResult | None = None) -> None:
    """Adds results to those in a run folder, atomically."""
    write_json(user_path(run) / EVALUATION_FILE, [*read_evaluations(run), results_json(results, regret)])


def run(arguments: Namespace) -> int:
    """The command; `arguments` as `mozaic_env.cli` reads them."""
    specs = [arguments.who, *arguments.against]
    need("this", "rich", *modules_of(specs), *(["matplotlib"] if arguments.report is not None else []))
    from mozaic_env.arena import console

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
    read = read_spec(spec)
    return read.folder if read.folder is not None and not read.words and is_run_folder(read.folder) else None


def _report_folder(arguments: Namespace, run_folder: Path | None) -> Path | None:
    if arguments.report is None:
        return None
    if arguments.report == "":
        if run_folder is None:
            raise ValueError(
                f"--report: name a folder; without one the report goes into the run folder, and {arguments.who} is none"
            )
        return make_output_folder(run_folder / "report")
    return make_output_folder(arguments.report)
