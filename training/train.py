"""Self-play training of a policy for a game, from a configuration to an evaluated checkpoint.

    python -m training.train --config configs/quick.yaml --run-dir runs/quick
    python -m training.train --config configs/quick.yaml --run-dir runs/second seed=1 minutes=10
    python -m training.train --resume runs/second steps=2_000_000

Ctrl-C or SIGTERM ends the training early and keeps what was learnt. A run that ended, was stopped or
was killed goes on with `--resume`, with the configuration in its folder and what overrides it.
"""

import os
import sys
from collections.abc import Sequence

import torch

from mozaic_env.arena.report import console
from mozaic_env.core.exact import require_exact_values
from mozaic_env.core.game import Game
from training.command import run_script
from training.config import Config
from training.curves import draw_curves
from training.imitation.demonstrations import make_teacher
from training.ppo.policy import computes_in_bfloat16
from training.ppo.run import Run
from training.runs import state
from training.runs.budget import Budget, Stopped
from training.runs.command import make_parser, open_folder, parse, path_of, read_config, run_in, used_up
from training.runs.folder import RunFolder
from training.runs.metrics import make_logger
from training.runs.report import report
from training.runs.timing import SELF_PLAY, WARM_START

MODULE = "training.train"
MOST_THREADS = 8  # with networks as small as these, more would only wait for each other


def main(arguments: Sequence[str] | None = None) -> int:
    """The command.

    Args:
        arguments: as on the command line; None: those.

    Returns:
        The exit status: 0, 1 after a failure, 2 for bad input, 130 after a second Ctrl-C.
    """
    parser = make_parser(MODULE, "Trains a policy by self-play.", "quick")
    try:
        given = parse(parser, arguments)
        config = read_config(given, Config)
        game = check(config)
        goes_on = path_of(given)
        before = None if goes_on is None else state.read(goes_on)
        folder = open_folder(given, config)
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return run_in(folder, config, MODULE, lambda budget: train(config, game, folder, budget, before))


def check(config: Config) -> Game:
    """The configured game.

    Raises:
        ValueError: a value that no single key can tell: the game's options, an agent, the device.
    """
    game = config.make_game()
    if config.evaluation.regret:
        require_exact_values(game)
    if config.warm_start.teacher is not None:
        make_teacher(config.warm_start.teacher, game)
    if config.device == "cuda" and not torch.cuda.is_available():
        raise ValueError("device: cuda; torch finds no CUDA device here; accepted: auto or cpu")
    return game


def train(config: Config, game: Game, folder: RunFolder, budget: Budget, before: state.State | None = None) -> None:
    """Imitates if configured, trains by self-play, keeps checkpoints, and evaluates the best or the last one.

    Args:
        config: what to do.
        game: what is played.
        folder: of the run.
        budget: of the self-play.
        before: the state of a run that is to go on.
    """
    device, bfloat16 = choose_device(config)
    folder.note(device=device, threads=torch.get_num_threads(), precision="bfloat16" if bfloat16 else "float32")
    run = Run(config, game, folder, budget, device, bfloat16)
    if before is not None:
        run.restore(before)
        if run.warm.is_over and budget.used(run.steps) >= 1:
            print(used_up(config), file=sys.stderr)
    logger = make_logger(folder.path, run.steps, run.warm.decisions)
    try:
        try:
            run.evaluator.compile()
            if before is None:
                budget.start()
            if not run.warm.is_over:
                with run.clock.phase(WARM_START):
                    run.imitate(logger)
                budget.start()
            with run.clock.phase(SELF_PLAY):
                run.play(logger)
        except Stopped as reason:
            if budget.signal is not None:
                raise
            print(reason, file=sys.stderr)
        run.measure_and_save(logger, now=True)
    except Stopped:
        pass  # by a signal: `run_in` says so when all is kept
    finally:
        logger.close()
        run.saver.save_final()
        folder.note(steps=run.steps, training_seconds=round(budget.elapsed, 1), **run.clock.facts())
        if config.warm_start.teacher is not None:
            folder.note(warm_start_decisions=run.warm.decisions)
    try:
        if config.evaluation.share:
            draw_curves(folder.path)
        console.make_console().print(run.clock.table())
        report(config, game, folder, budget)
    except Stopped:
        pass


def choose_device(config: Config) -> tuple[str, bool]:
    """Where to compute, and whether in bfloat16; also sets the number of torch's threads."""
    device = config.device
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    threads = config.threads
    if threads == "auto":  # all that this process may run on, within reason
        get_affinity = getattr(os, "sched_getaffinity", None)
        allowed = len(get_affinity(0)) if get_affinity else os.cpu_count() or 1
        threads = min(allowed, MOST_THREADS)
    torch.set_num_threads(threads)
    precision = config.precision
    return device, precision == "bfloat16" or (precision == "auto" and computes_in_bfloat16(device))


if __name__ == "__main__":
    run_script(main)
