"""Self-play training of a policy for a game, from a configuration to an evaluated checkpoint.

    python -m training.train --config configs/quick.yaml --run-dir runs/quick
    python -m training.train --config configs/quick.yaml --run-dir runs/second seed=1 minutes=10

Ctrl-C or SIGTERM ends the training early and keeps what was learnt.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import torch

from mozaic_env.agents import checkpoint
from mozaic_env.agents.network import BoardNetwork, layout_of
from mozaic_env.agents.policy import PolicyAgent
from mozaic_env.agents.specs import make_agent
from mozaic_env.arena import console
from mozaic_env.arena.evaluate import append_evaluation, evaluate
from mozaic_env.core.game import Game
from mozaic_env.games import make_game
from training.budget import Budget, Stopped
from training.callbacks import RunCallback
from training.config import Config, load_config
from training.environment import PaidEnv
from training.league import League
from training.learner import computes_in_bfloat16, make_learner
from training.run_folder import FINISHED, INTERRUPTED, RunFolder, make_logger

MOST_THREADS = 8  # with networks as small as these, more would only wait for each other


def main(arguments: Sequence[str] | None = None) -> int:
    """The command.

    Args:
        arguments: as on the command line; None: those.

    Returns:
        The exit status: 0, 1 after a failure, 2 for bad input, 130 after a second Ctrl-C.
    """
    parser = argparse.ArgumentParser(prog="python -m training.train", description="Trains a policy by self-play.")
    parser.add_argument("--config", required=True, metavar="FILE", help="what to do; see configs/")
    parser.add_argument("--run-dir", required=True, metavar="FOLDER", help="where to keep the run, such as runs/quick")
    parser.add_argument("--overwrite", action="store_true", help="replace a run that is there")
    parser.add_argument("overrides", nargs="*", metavar="KEY=VALUE", help="wins over the file, as in ppo.epochs=4")
    given = parser.parse_args(arguments)
    try:
        config = load_config(given.config, given.overrides)
        game = check(config)
        folder = RunFolder(Path(given.run_dir), config, overwrite=given.overwrite)
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    try:
        with Budget(config.steps, config.minutes) as budget:
            train(config, game, folder, budget)
    except BaseException as error:
        folder.fail(error)
        note = folder.path / "run.json"
        print(f"error: the run failed: {error!r}; {note} has the details", file=sys.stderr)
        return 130 if isinstance(error, KeyboardInterrupt) else 1
    return 0


def check(config: Config) -> Game:
    """The configured game.

    Raises:
        ValueError: a value that no single key can tell: the game's options, an agent, the device.
    """
    game = make_game(config.game.name, **config.game.options)
    layout_of(game)
    for spec in (*config.opponents.fixed, *config.evaluation.against):
        make_agent(spec, game)
    if config.device == "cuda" and not torch.cuda.is_available():
        raise ValueError("device: cuda; torch finds no CUDA device here; accepted: auto or cpu")
    return game


def train(config: Config, game: Game, folder: RunFolder, budget: Budget) -> None:
    """Trains, keeps checkpoints, and evaluates the last one."""
    device, bfloat16 = choose_device(config)
    folder.note(
        device=device,
        threads=torch.get_num_threads(),
        precision="bfloat16" if bfloat16 else "float32",
    )
    env = PaidEnv(game, config.ppo.games, config.reward)
    env.seed(config.seed)
    model = make_learner(config, game, env, budget, device, bfloat16)
    network: BoardNetwork = model.policy.network
    league = League(
        config.opponents,
        game,
        network,
        per_update=config.ppo.games * config.ppo.rollout,
        seed=config.seed,
        bfloat16=bfloat16,
    )
    league.refresh(env.games, 0)

    def save(name: str) -> None:
        checkpoint.save(
            folder.path / name,
            network,
            game,
            steps=model.num_timesteps,
            seed=config.seed,
            training=config.model_dump(mode="json"),
        )
        folder.thin()

    def save_on_the_way(name: str) -> None:
        try:
            save(name)
        except OSError as error:  # a full disk: what is there stays, and there may be room again later
            print(f"{name} could not be written: {error}; training goes on", file=sys.stderr)

    logger = make_logger(folder.path)
    model.set_logger(logger)
    callback = RunCallback(env, league, budget, network, save_on_the_way, config.checkpoint_minutes)
    try:
        model.learn(config.steps, callback=callback)
    except Stopped as reason:
        print(reason, file=sys.stderr)
    finally:
        callback.close()
        logger.close()
        if network.is_finite():
            save(checkpoint.FINAL)
            folder.note(steps=model.num_timesteps, training_seconds=round(budget.elapsed, 1))
    try:
        report(config, game, folder, budget)
    except Stopped as reason:
        print(reason, file=sys.stderr)
    folder.end(FINISHED if budget.signal is None else INTERRUPTED)


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


def report(config: Config, game: Game, folder: RunFolder, budget: Budget) -> None:
    """Plays the last checkpoint against the agents of the configuration and prints the table."""
    games, specs = config.evaluation.games, config.evaluation.against
    if not (games and specs):
        return
    agent = PolicyAgent.load(folder.path, game)
    opponents = [make_agent(spec, game) for spec in specs]
    with console.progress_bar("evaluating", games * len(opponents)) as progress:

        def show(done: float) -> None:
            budget.check_signal()
            progress(done)

        show(0)
        results = evaluate(agent, opponents, games, config.seed, progress=show)
    append_evaluation(folder.path, results)
    title = f"{agent.name} on {game!r}, {games:,} games each, seed {config.seed}"
    out = console.make_console()
    out.print(console.match_table(title, results, game.seat_names))
    for note in console.match_notes(results):
        out.print(note, markup=False)


if __name__ == "__main__":
    sys.exit(main())
