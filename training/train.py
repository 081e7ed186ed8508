"""Self-play training of a policy for a game, from a configuration to an evaluated checkpoint.

    python -m training.train --config configs/quick.yaml --run-dir runs/quick
    python -m training.train --config configs/quick.yaml --run-dir runs/onyx game.options.rules=onyx seed=1

Ctrl-C or SIGTERM ends the training early and keeps what was learnt.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import torch

from mozaic_env.agents import checkpoint
from mozaic_env.agents.network import NetworkConfig, layout_of
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
from training.learner import NetworkPolicy, SelfPlayPPO, computes_in_bfloat16
from training.logs import make_logger
from training.run_folder import FINISHED, INTERRUPTED, RunFolder

MOST_THREADS = 8  # more than this only wait for each other with networks as small as these


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m training.train", description="Trains a policy by self-play.")
    parser.add_argument("--config", required=True, metavar="FILE", help="what to do; see configs/")
    parser.add_argument("--run-dir", required=True, metavar="FOLDER", help="where to keep the run, such as runs/quick")
    parser.add_argument("--overwrite", action="store_true", help="replace a run that is there already")
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
        train(config, game, folder)
    except KeyboardInterrupt as error:
        folder.fail(error)
        return 130
    except Exception as error:
        folder.fail(error)
        print(f"error: the run failed: {error}; {folder.path / 'run.json'} has the details", file=sys.stderr)
        return 1
    return 0


def check(config: Config) -> Game:
    """The configured game; ValueError for what only shows when things are made."""
    game = make_game(config.game.name, **config.game.options)
    layout_of(game)
    for spec in (*config.opponents.fixed, *config.evaluation.against):
        make_agent(spec, game)
    if config.device == "cuda" and not torch.cuda.is_available():
        raise ValueError("device: cuda; torch finds no CUDA device here; accepted then: auto or cpu")
    return game


def train(config: Config, game: Game, folder: RunFolder) -> None:
    """Trains, writes checkpoints, evaluates."""
    device = config.device
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(threads(config))
    bfloat16 = config.precision == "bfloat16" or (config.precision == "auto" and computes_in_bfloat16(device))

    budget = Budget(config.steps, config.minutes)
    env = PaidEnv(game, config.ppo.games, config.reward)
    env.seed(config.seed)
    rates = config.ppo.learning_rate, config.ppo.learning_rate_end
    model = SelfPlayPPO(
        NetworkPolicy,
        env,
        budget=budget,
        learning_rate=lambda left: rates[1] + left * (rates[0] - rates[1]),
        n_steps=config.ppo.rollout,
        batch_size=config.ppo.minibatch,
        n_epochs=config.ppo.epochs,
        gamma=config.ppo.discount,
        gae_lambda=config.ppo.gae_lambda,
        clip_range=config.ppo.clip,
        ent_coef=config.ppo.entropy,
        vf_coef=config.ppo.value_weight,
        max_grad_norm=config.ppo.max_grad_norm,
        policy_kwargs={
            "game": game,
            "network": NetworkConfig(**config.network.model_dump()),
            "bfloat16": bfloat16,
            "budget": budget,
        },
        seed=config.seed,
        device=device,
    )
    network = model.policy.network
    logger = make_logger(folder.path)
    model.set_logger(logger)
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

    def save_on_the_way(steps: int) -> None:
        save(f"{checkpoint.CHECKPOINTS}/step-{steps:012d}")
        folder.thin()

    folder.note(device=device, threads=torch.get_num_threads(), precision="bfloat16" if bfloat16 else "float32")
    callback = RunCallback(env, league, budget, save_on_the_way, config.checkpoint_minutes)
    budget.start()
    try:
        model.learn(config.steps, callback=callback, log_interval=1)
    except Stopped as reason:
        print(reason, file=sys.stderr)
    finally:
        callback.close()
        logger.close()
        save(checkpoint.FINAL)
    folder.note(steps=model.num_timesteps, training_seconds=round(budget.elapsed, 1))
    if budget.signal is None and config.evaluation.games:
        report(config, game, folder)
    folder.end(FINISHED if budget.signal is None else INTERRUPTED)


def threads(config: Config) -> int:
    """How many threads torch is to use: those this process may run on, within reason."""
    if config.threads != "auto":
        return config.threads
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(allowed, MOST_THREADS)


def report(config: Config, game: Game, folder: RunFolder) -> None:
    """Plays the final checkpoint against the agents of the configuration and prints the table."""
    agent = PolicyAgent.load(folder.path, game)
    opponents = [make_agent(spec, game) for spec in config.evaluation.against]
    total = config.evaluation.games * len(opponents)
    with console.progress_bar("evaluating", total) as progress:
        results = evaluate(agent, opponents, config.evaluation.games, config.seed, progress=progress)
    append_evaluation(folder.path, results)
    title = f"{agent.name} on {game!r}, {config.evaluation.games:,} games each, seed {config.seed}"
    out = console.make_console()
    out.print(console.match_table(title, results, game.seat_names))
    for note in console.match_notes(results):
        out.print(note, markup=False)


if __name__ == "__main__":
    sys.exit(main())
