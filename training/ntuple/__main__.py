"""Trains n-tuple tables for a game by self-play, in compiled code: on one thread, on several, or on a Ray cluster.

    python -m training.ntuple --config configs/mozaic-ntuple.yaml --run-dir runs/ntuple
    python -m training.ntuple --config configs/mozaic-ntuple.yaml --run-dir runs/second seed=1 decisions=50_000_000
    python -m training.ntuple --resume runs/second
    python -m training.ntuple --config configs/mozaic-ntuple.yaml --run-dir runs/wide --threads 2 parts=8

What is learnt depends on `parts`, not on who plays them: threads, the nodes of a cluster, or one after the other.
Ctrl-C or SIGTERM ends the run after its batch; what was learnt is kept. A run that was stopped or killed goes on with
`--resume`, and learns what it would have learnt without that.
"""

import argparse
import contextlib
import signal
import sys
import time
from collections.abc import Sequence
from types import FrameType

from mozaic_env.agents.specs import make_agent
from mozaic_env.cli.options import add_threads
from mozaic_env.cli.parser import Parser
from mozaic_env.core.afterstates import features_of
from mozaic_env.core.exact import require_exact_values
from mozaic_env.core.extras import MissingExtra
from mozaic_env.core.game import Game
from mozaic_env.core.storage.outputs import check_names
from mozaic_env.core.text.files import user_path
from mozaic_env.games import make_game
from training.command import run_script
from training.config import load_config
from training.curves import draw_curves
from training.ntuple.config import NTupleConfig
from training.ntuple.parts import players
from training.ntuple.run import Run
from training.runs.folder import CONFIG, FINISHED, INTERRUPTED, RUN, RunFolder

MODULE = "training.ntuple"


class _Stopped(Exception):
    """A signal has come."""


def main(arguments: Sequence[str] | None = None) -> int:
    """The command.

    Args:
        arguments: as on the command line; None: those.

    Returns:
        The exit status: 0, 1 after a failure, 2 for bad input.
    """
    parser = Parser(prog=f"python -m {MODULE}", description="Trains n-tuple tables by self-play.")
    parser.add_argument("--config", metavar="FILE", help="what to do; see configs/mozaic-ntuple.yaml")
    parser.add_argument("--run-dir", metavar="FOLDER", help="where to keep the run, such as runs/ntuple")
    parser.add_argument("--resume", metavar="RUN", help="the folder of a run that is to go on, in place of these two")
    parser.add_argument("--overwrite", action="store_true", help="replace a run that is there")
    add_threads(parser, "that play the parts of a batch; changes no result")
    parser.add_argument("--ray", metavar="ADDRESS", help="play the parts on a Ray cluster: local, auto or HOST:PORT")
    parser.add_argument("overrides", nargs="*", metavar="KEY=VALUE", help="wins over the file, as in policy.batch=100")
    given = parser.parse_args(arguments)
    if given.resume is None and None in (given.config, given.run_dir):
        parser.error("give --config and --run-dir, or --resume")
    if given.threads < 1:
        parser.error(f"--threads {given.threads}; accepted: a whole number of at least 1")
    if given.ray is not None and given.threads > 1:
        parser.error("--threads is for this machine alone; leave it out with --ray")
    if given.resume is not None and (given.config or given.run_dir or given.overwrite or given.overrides):
        parser.error("--resume RUN takes the run's own configuration; leave all else out")
    with contextlib.ExitStack() as stack:
        try:
            check_names(sys.argv[1:] if arguments is None else arguments)
            run = _prepare(given, stack)
        except (ValueError, MissingExtra) as error:
            print(f"error: {error}", file=sys.stderr)
            return 2
        try:
            _train(run)
        except BaseException as error:
            return run.folder.tell_failure(error, MODULE)
        finally:
            run.folder.release()
    return 0


def _prepare(given: argparse.Namespace, stack: contextlib.ExitStack) -> Run:
    """The run that the command asks for; who plays its games is closed by the stack."""
    path = None if given.resume is None else user_path(given.resume)
    if path is None:
        config = load_config(given.config, given.overrides, NTupleConfig)
    elif (path / RUN).is_file():
        config = load_config(path / CONFIG, kind=NTupleConfig)
    else:
        raise ValueError(f"{path} is no run (it has no {RUN}); --resume takes the folder that --run-dir named")
    game = check(config, shared=given.ray is not None or given.threads > 1)
    play = stack.enter_context(players(game, given.threads, given.ray)) if config.parts > 1 else None
    if path is None:
        run = Run(config, game, RunFolder(user_path(given.run_dir), config, overwrite=given.overwrite))
    else:
        run = Run(config, game, RunFolder.resume(path, config))
        run.restore()
    run.play_parts = play
    if given.ray is not None:
        run.clock = time.perf_counter  # the processors are elsewhere
    return run


def check(config: NTupleConfig, *, shared: bool = False) -> Game:
    """The configured game.

    Args:
        config: of the run.
        shared: whether several threads or nodes are to play.

    Raises:
        ValueError: there is nothing to share; the game offers no features; an option or agent is wrong; or a regret is
            asked for and the board has yet to be solved.
    """
    game = make_game(config.game.name, **config.game.options)
    features_of(game)
    if shared and config.parts == 1:
        raise ValueError("parts=1, so there is nothing to share; accepted: 2 or more, as in parts=8 policy.batch=800")
    for spec in config.evaluation.against:
        make_agent(spec, game)
    if config.evaluation.regret:
        require_exact_values(game)
    return game


def _train(run: Run) -> None:
    def stop(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, before)
        raise _Stopped(signal.Signals(number).name)

    before = signal.getsignal(signal.SIGINT)
    handlers = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        run.learn()
        run.finish()
        draw_curves(run.folder.path)
        run.folder.end(FINISHED)
    except _Stopped as reason:
        run.folder.end(INTERRUPTED)
        print(f"stopped by {reason}. To go on: {run.folder.resume_command(MODULE)}", file=sys.stderr)
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


if __name__ == "__main__":
    run_script(main)
