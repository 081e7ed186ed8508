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

from mozaic_env.agents.policy.network import NetworkConfig
from mozaic_env.agents.policy.networks import check_network
from mozaic_env.agents.specs import make_agent
from mozaic_env.arena.cluster import LOCAL, connect
from mozaic_env.cli.parser import Parser
from mozaic_env.core.extras import MissingExtra, need
from mozaic_env.core.game import Game
from mozaic_env.core.storage.outputs import check_names
from mozaic_env.core.text.files import user_path
from mozaic_env.games import make_game
from training.command import run_script
from training.config import load_config
from training.ppo.callbacks import SAMPLED, ProgressBar
from training.rllib.config import RLlibConfig
from training.runs.budget import Budget, Stopped
from training.runs.folder import CONFIG, FINISHED, INTERRUPTED, RUN, RunFolder, make_logger
from training.train import report

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
    parser = Parser(prog="python -m training.rllib_train", description="Trains a policy by self-play on RLlib.")
    parser.add_argument("--config", metavar="FILE", help="what to do, such as configs/rllib.yaml")
    parser.add_argument("--run-dir", metavar="FOLDER", help="where to keep the run, such as runs/rllib")
    parser.add_argument("--resume", metavar="RUN", help="the folder of a run that is to go on, in place of these two")
    parser.add_argument(
        "--address", metavar="HOST:PORT", help="of a Ray cluster, or auto for the one that this machine is part of"
    )
    parser.add_argument("--overwrite", action="store_true", help="replace a run that is there")
    parser.add_argument("overrides", nargs="*", metavar="KEY=VALUE", help="wins over the file, as in ppo.epochs=4")
    given = parser.parse_args(arguments)
    if given.resume is None and None in (given.config, given.run_dir):
        parser.error("give --config and --run-dir, or --resume")
    if given.resume is not None and (given.config or given.run_dir or given.overwrite):
        parser.error("--resume RUN takes the run's own configuration; leave --config, --run-dir and --overwrite out")
    try:
        check_names(sys.argv[1:] if arguments is None else arguments)
        if given.resume is None:
            config, before = load_config(given.config, given.overrides, RLlibConfig), None
        else:
            config, before = resume(user_path(given.resume), given.overrides)
        game = check(config)
        cpus = config.runners.number * config.runners.cpus + config.learners.number + 1
        need("this", *MODULES)
        with connect(given.address or LOCAL, cpus=cpus):
            if given.resume is None:
                folder = RunFolder(user_path(given.run_dir), config, overwrite=given.overwrite)
            else:
                folder = RunFolder.resume(user_path(given.resume), config)
            try:
                return run(config, game, folder, before)
            finally:
                folder.release()
    except (ValueError, MissingExtra) as error:
        print(f"error: {error}", file=sys.stderr)
    return 2


def check(config: RLlibConfig) -> Game:
    """The configured game.

    Raises:
        ValueError: a value that no single key can tell: the game's options, its network, or an agent.
    """
    game = make_game(config.game.name, **config.game.options)
    check_network(game, NetworkConfig(**config.network.model_dump()))
    for spec in (*config.opponents.fixed, *config.evaluation.against):
        make_agent(spec, game)
    return game


def resume(run: Path, overrides: Sequence[str]) -> tuple[RLlibConfig, Path]:
    """The configuration with which a run goes on, and the state in its folder from which it does.

    Raises:
        ValueError: there is no run or no state, or an override changes what can't change any more.
    """
    if not (run / RUN).is_file():
        raise ValueError(f"{run} is no run (it has no {RUN}); --resume takes the folder that --run-dir named")
    old = load_config(run / CONFIG, (), RLlibConfig)
    new = load_config(run / CONFIG, overrides, RLlibConfig)
    for name in ("game", "network"):
        if getattr(old, name) != getattr(new, name):
            raise ValueError(f"{name} can't change when a run goes on; start another run")
    from training.rllib.saving import latest_state

    return new, latest_state(run)


def run(config: RLlibConfig, game: Game, folder: RunFolder, before: Path | None) -> int:
    """Trains and evaluates; whatever goes wrong is noted in the folder. Returns the exit status."""
    try:
        with Budget(config.steps, config.minutes) as budget:
            train(config, game, folder, budget, before)
            folder.end(FINISHED if budget.signal is None else INTERRUPTED)
        if budget.signal is not None:
            print(f"{budget.how_stopped()}. To go on: {folder.resume_command(MODULE)}", file=sys.stderr)
    except BaseException as error:
        return folder.tell_failure(error, MODULE)
    return 0


def train(config: RLlibConfig, game: Game, folder: RunFolder, budget: Budget, before: Path | None) -> None:
    """Trains until the budget is used up, keeps checkpoints, and evaluates the last one.

    Args:
        config: what to do.
        game: what is played.
        folder: of the run.
        budget: of steps and minutes.
        before: the state of a run that is to go on.
    """
    import ray

    from training.rllib.algorithm import make_algorithm
    from training.rllib.progress import Watch, write_numbers
    from training.rllib.saving import Saver, read_progress

    room, wanted = ray.cluster_resources().get("CPU", 0), config.runners.number * config.runners.cpus
    if room < wanted:
        print(
            f"the runners take {wanted:g} CPUs, the cluster has {room:g}: waiting until there is room", file=sys.stderr
        )
    steps, elapsed = (0, 0.0) if before is None else read_progress(before)
    luck = config.seed, steps  # a run that goes on sees other luck than it has seen
    with make_algorithm(config, game, luck) as algorithm:
        if before is not None:
            algorithm.restore_from_path(str(before.resolve()))
        budget.start(elapsed)
        saver = Saver(config, game, folder, algorithm, budget)
        logger = make_logger(folder.path, steps)
        watch, bar = Watch(config, algorithm), ProgressBar(budget)
        bar.start()
        try:
            while budget.used(algorithm.decisions) < 1:
                budget.check()
                before_update, result = algorithm.decisions, algorithm.train()
                if watch.look() and algorithm.decisions > before_update:
                    scores = write_numbers(logger, result, algorithm, budget, (steps, elapsed))
                    bar.show(algorithm.decisions, {SAMPLED: scores})
                    saver.check_weights()
                    saver.save_if_time()
        except Stopped as reason:
            if budget.signal is None:  # else `run` says so when all is kept
                print(reason, file=sys.stderr)
        finally:
            bar.stop()
            logger.close()
            saver.save_final()
            facts = {"steps": algorithm.decisions, "training_seconds": round(budget.elapsed, 1)}
            folder.note(**facts, **watch.facts())
    with contextlib.suppress(Stopped):
        report(config, game, folder, budget)


if __name__ == "__main__":
    run_script(main)
