"""Self-play training on RLlib, on one machine or on a Ray cluster, from a configuration to an evaluated checkpoint.

    python -m training.rllib_train --config configs/rllib.yaml --run-dir runs/rllib
    python -m training.rllib_train --config configs/rllib.yaml --run-dir runs/rllib --address auto
    python -m training.rllib_train --resume runs/rllib --address auto minutes=60

Without an address it starts Ray on this machine and ends it again. A node or a runner that is lost costs the fragment
that it was playing: training goes on with those that are left, and Ray starts the runner anew where there is room.
Ctrl-C or SIGTERM ends the training after the update under way and keeps what was learnt.
"""

import contextlib
import sys
from collections.abc import Sequence
from pathlib import Path

from mozaic_env.arena.cluster import LOCAL, connect
from mozaic_env.core.extras import MissingExtra, need
from mozaic_env.core.game import Game
from training.command import run_script
from training.rllib.config import RLlibConfig
from training.rllib.state import Run, latest_state, read_progress
from training.runs.budget import Budget, Stopped
from training.runs.command import make_parser, open_folder, parse, path_of, read_config, run_in, used_up
from training.runs.folder import RunFolder
from training.runs.metrics import UpdateMetrics, make_logger
from training.runs.progress import SAMPLED, ProgressBar
from training.runs.report import report
from training.runs.saving import Saver

MODULE = "training.rllib_train"
# Of RLlib; what needs them is imported where it is used, so that without them there is an answer, not a traceback.
MODULES = ("ray", "tree", "torch", "safetensors")


def main(arguments: Sequence[str] | None = None) -> int:
    """The command.

    Args:
        arguments: as on the command line; None: those.

    Returns:
        The exit status: 0, 1 after a failure, 2 for bad input, 130 after a second Ctrl-C.
    """
    parser = make_parser(MODULE, "Trains a policy by self-play on RLlib.", "rllib")
    parser.add_argument(
        "--address", metavar="HOST:PORT", help="of a Ray cluster, or auto for the one that this machine is part of"
    )
    try:
        given = parse(parser, arguments)
        config = read_config(given, RLlibConfig)
        goes_on = path_of(given)
        before = None if goes_on is None else latest_state(goes_on)
        so_far = (0, 0.0) if before is None else read_progress(before)
        game = config.make_game()
        cpus = config.runners.number * config.runners.cpus + config.learners.number + 1
        need("this", *MODULES)
        with connect(given.address or LOCAL, cpus=cpus):
            folder = open_folder(given, config)
            return run_in(folder, config, MODULE, lambda budget: train(config, game, folder, budget, before, so_far))
    except (ValueError, MissingExtra) as error:
        print(f"error: {error}", file=sys.stderr)
    return 2


def train(
    config: RLlibConfig,
    game: Game,
    folder: RunFolder,
    budget: Budget,
    before: Path | None = None,
    so_far: tuple[int, float] = (0, 0.0),
) -> None:
    """Trains until the budget is used up, keeps checkpoints, and evaluates the last one.

    Args:
        config: what to do.
        game: what is played.
        folder: of the run.
        budget: of steps and minutes.
        before: the state of a run that is to go on.
        so_far: its steps and seconds.
    """
    import ray

    from training.rllib.algorithm import make_algorithm
    from training.rllib.progress import Watch, write_numbers

    room, wanted = ray.cluster_resources().get("CPU", 0), config.runners.number * config.runners.cpus
    if room < wanted:
        print(
            f"the runners take {wanted:g} CPUs, the cluster has {room:g}: waiting until there is room", file=sys.stderr
        )
    steps, elapsed = so_far
    luck = config.seed, steps  # a run that goes on sees other luck than it has seen
    with make_algorithm(config, game, luck) as algorithm:
        if before is not None:
            algorithm.restore_from_path(str(before.resolve()))
        budget.start(elapsed)
        if before is not None and budget.used(steps) >= 1:
            print(used_up(config), file=sys.stderr)
        saver = Saver(config, game, folder, Run(algorithm, budget))
        logger = make_logger(folder.path, steps)
        metrics, watch = UpdateMetrics(logger, budget, steps), Watch(config, algorithm)
        try:
            with ProgressBar(budget) as progress:
                while budget.used(algorithm.decisions) < 1:
                    budget.check()
                    before_update, result = algorithm.decisions, algorithm.train()
                    if watch.look() and algorithm.decisions > before_update:
                        write_numbers(logger, metrics, result, algorithm)
                        progress.show(algorithm.decisions, {SAMPLED: metrics.scores})
                        saver.check_weights()
                        saver.save_if_time()
        except Stopped as reason:
            if budget.signal is None:  # else `run_in` says so when all is kept
                print(reason, file=sys.stderr)
        finally:
            logger.close()
            saver.save_final()
            facts = {"steps": algorithm.decisions, "training_seconds": round(budget.elapsed, 1)}
            folder.note(**facts, **watch.facts())
    with contextlib.suppress(Stopped):
        report(config, game, folder, budget)


if __name__ == "__main__":
    run_script(main)
