"""What the commands of both trainers have in common: their arguments, what they go on from, how they end."""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from mozaic_env.cli.parser import Parser
from mozaic_env.core.storage.outputs import check_names
from mozaic_env.core.text.files import user_path
from training.config import RunConfig, load_config
from training.runs.budget import Budget
from training.runs.folder import CONFIG, FINISHED, INTERRUPTED, RUN, RunFolder

FIXED = ("game", "network")  # sections that can't change when a run goes on

Kind = TypeVar("Kind", bound=RunConfig)


def make_parser(module: str, description: str, config: str) -> Parser:
    """The parser of a trainer's command, given the name of a configuration to start from."""
    parser = Parser(prog=f"python -m {module}", description=description)
    parser.add_argument("--config", metavar="FILE", help=f"what to do, such as configs/{config}.yaml")
    parser.add_argument("--run-dir", metavar="FOLDER", help=f"where to keep the run, such as runs/{config}")
    parser.add_argument("--resume", metavar="RUN", help="the folder of a run that is to go on, in place of these two")
    parser.add_argument("--overwrite", action="store_true", help="replace a run that is there")
    parser.add_argument("overrides", nargs="*", metavar="KEY=VALUE", help="wins over the file, as in ppo.epochs=4")
    return parser


def parse(parser: Parser, arguments: Sequence[str] | None) -> argparse.Namespace:
    """The arguments, once they go together; SystemExit if they don't, ValueError for names that no file can have."""
    given = parser.parse_args(arguments)
    if given.resume is None and None in (given.config, given.run_dir):
        parser.error("give --config and --run-dir, or --resume")
    if given.resume is not None and (given.config or given.run_dir or given.overwrite):
        parser.error("--resume RUN takes the run's own configuration; leave --config, --run-dir and --overwrite out")
    check_names(sys.argv[1:] if arguments is None else arguments)
    return given


def read_config(given: argparse.Namespace, kind: type[Kind]) -> Kind:
    """The configuration of a run that begins or goes on.

    Args:
        given: what `parse` gave.
        kind: of the configuration.

    Raises:
        ValueError: no good configuration, no run, or an override of a key that can't change any more.
    """
    if given.resume is None:
        return load_config(given.config, given.overrides, kind)
    run = user_path(given.resume)
    if not (run / RUN).is_file():
        raise ValueError(f"{run} is no run (it has no {RUN}); --resume takes the folder that --run-dir named")
    old, new = load_config(run / CONFIG, (), kind), load_config(run / CONFIG, given.overrides, kind)
    for name in FIXED:
        if getattr(old, name) != getattr(new, name):
            raise ValueError(f"{name} can't change when a run goes on; start another run")
    return new


def open_folder(given: argparse.Namespace, config: RunConfig) -> RunFolder:
    """The run's folder, made or taken up again; ValueError if that can't be done."""
    if given.resume is not None:
        return RunFolder.resume(user_path(given.resume), config)
    return RunFolder(user_path(given.run_dir), config, overwrite=given.overwrite)


def run_in(folder: RunFolder, config: RunConfig, module: str, train: Callable[[Budget], None]) -> int:
    """Trains in a folder, notes there how that ended, and lets the folder go; returns the exit status."""
    try:
        with Budget(config.steps, config.minutes) as budget:
            train(budget)
            folder.end(FINISHED if budget.signal is None else INTERRUPTED)
        if budget.signal is not None:
            print(f"{budget.how_stopped()}. To go on: {folder.resume_command(module)}", file=sys.stderr)
    except BaseException as error:
        return folder.tell_failure(error, module)
    finally:
        folder.release()
    return 0


def used_up(config: RunConfig) -> str:
    """What to say where a run that is to go on has nothing left to do."""
    minutes = "" if config.minutes is None else f" or minutes={config.minutes:g}"
    return f"the run's budget, steps={config.steps}{minutes}, is used up: both count from its start; give more to go on"


def path_of(given: argparse.Namespace) -> Path | None:
    """The folder of the run that is to go on, or None."""
    return None if given.resume is None else user_path(given.resume)
