"""Self-play training of a policy for a game, from a configuration to an evaluated checkpoint.

    python -m training.train --config configs/quick.yaml --run-dir runs/quick
    python -m training.train --config configs/quick.yaml --run-dir runs/second seed=1 minutes=10
    python -m training.train --resume runs/second minutes=20

Ctrl-C or SIGTERM ends the training early and keeps what was learnt. A run that ended, was stopped or
was killed goes on with `--resume`, with the configuration in its folder and what overrides it.
"""

import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

import torch

from mozaic_env.agents.names import folder_name
from mozaic_env.agents.policy.agent import PolicyAgent
from mozaic_env.agents.policy.network import NetworkConfig
from mozaic_env.agents.policy.networks import Network, check_network
from mozaic_env.agents.specs import make_agent
from mozaic_env.arena.evaluate import append_evaluation, evaluate
from mozaic_env.arena.exact.regret import measure_regret
from mozaic_env.arena.match import further
from mozaic_env.arena.report import console
from mozaic_env.cli.parser import Parser
from mozaic_env.core.exact import require_exact_values
from mozaic_env.core.game import Game
from mozaic_env.core.storage.outputs import check_names
from mozaic_env.core.text.files import user_path
from mozaic_env.games import make_game
from training.command import run_script
from training.config import Config, load_config
from training.curves import draw_curves
from training.imitation.demonstrations import make_teacher
from training.imitation.imitation import WarmStart
from training.ppo.callbacks import RunCallback
from training.ppo.environment import PaidEnv
from training.ppo.league import League
from training.ppo.learner import SelfPlayPPO, computes_in_bfloat16, make_learner
from training.runs import state
from training.runs.budget import Budget, Stopped
from training.runs.folder import CONFIG, FINISHED, INTERRUPTED, RUN, RunFolder, make_logger
from training.runs.saving import Saver
from training.runs.timing import SELF_PLAY, WARM_START, Stopwatch, watch_run

MODULE = "training.train"
MOST_THREADS = 8  # with networks as small as these, more would only wait for each other


def main(arguments: Sequence[str] | None = None) -> int:
    """The command.

    Args:
        arguments: as on the command line; None: those.

    Returns:
        The exit status: 0, 1 after a failure, 2 for bad input, 130 after a second Ctrl-C.
    """
    parser = Parser(prog="python -m training.train", description="Trains a policy by self-play.")
    parser.add_argument("--config", metavar="FILE", help="what to do; see configs/")
    parser.add_argument("--run-dir", metavar="FOLDER", help="where to keep the run, such as runs/quick")
    parser.add_argument("--resume", metavar="RUN", help="the folder of a run that is to go on, in place of these two")
    parser.add_argument("--overwrite", action="store_true", help="replace a run that is there")
    parser.add_argument("overrides", nargs="*", metavar="KEY=VALUE", help="wins over the file, as in ppo.epochs=4")
    given = parser.parse_args(arguments)
    if given.resume is None and None in (given.config, given.run_dir):
        parser.error("give --config and --run-dir, or --resume")
    if given.resume is not None and (given.config or given.run_dir or given.overwrite):
        parser.error("--resume RUN takes the run's own configuration; leave --config, --run-dir and --overwrite out")
    before: state.State | None = None
    try:
        check_names(sys.argv[1:] if arguments is None else arguments)
        if given.resume is not None:
            path = user_path(given.resume)
            config = load_config_to_resume(path, given.overrides)
            game = check(config)
            before = state.read(path)
            folder = RunFolder.resume(path, config)
        else:
            config = load_config(given.config, given.overrides)
            game = check(config)
            folder = RunFolder(user_path(given.run_dir), config, overwrite=given.overwrite)
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    try:
        with Budget(config.steps, config.minutes) as budget:
            train(config, game, folder, budget, before)
        if budget.signal is not None:
            print(f"{budget.how_stopped()}. To go on: {folder.resume_command(MODULE)}", file=sys.stderr)
    except BaseException as error:
        return folder.tell_failure(error, MODULE)
    finally:
        folder.release()
    return 0


def check(config: Config) -> Game:
    """The configured game.

    Raises:
        ValueError: a value that no single key can tell: the game's options, an agent, the device.
    """
    game = make_game(config.game.name, **config.game.options)
    check_network(game, NetworkConfig(**config.network.model_dump()))
    for spec in (*config.opponents.fixed, *config.evaluation.against):
        make_agent(spec, game)
    if config.evaluation.regret:
        require_exact_values(game)
    if config.warm_start.teacher is not None:
        make_teacher(config.warm_start.teacher, game)
    if config.device == "cuda" and not torch.cuda.is_available():
        raise ValueError("device: cuda; torch finds no CUDA device here; accepted: auto or cpu")
    return game


def load_config_to_resume(run: Path, overrides: Sequence[str]) -> Config:
    """The configuration with which a run goes on.

    Raises:
        ValueError: there is no run, or an override changes what can't change any more.
    """
    if not (run / RUN).is_file():
        raise ValueError(f"{run} is no run (it has no {RUN}); --resume takes the folder that --run-dir named")
    old, new = load_config(run / CONFIG), load_config(run / CONFIG, overrides)
    for name, was, now in (
        ("game", old.game, new.game),
        ("network", old.network, new.network),
        ("opponents.past_size", old.opponents.past_size, new.opponents.past_size),
    ):
        if was != now:
            raise ValueError(f"{name} can't change when a run goes on; start another run")
    return new


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
    folder.note(
        device=device,
        threads=torch.get_num_threads(),
        precision="bfloat16" if bfloat16 else "float32",
    )
    env = PaidEnv(game, config.ppo.games, config.reward)
    env.seed(config.seed)
    model = make_learner(config, game, env, budget, device, bfloat16)
    network: Network = model.policy.network
    warm = WarmStart(config, game, network, budget, device, bfloat16)
    league = League(config.opponents, game, network, seed=config.seed, bfloat16=bfloat16)
    saver = Saver(config, game, folder, model, league, warm, budget, bfloat16)
    if before is not None:
        saver.restore(before, env)
        if warm.is_over and budget.used(model.num_timesteps) >= 1:
            print(_used_up(config), file=sys.stderr)
    logger = make_logger(folder.path, model.num_timesteps, warm.decisions)
    model.set_logger(logger)
    clock = Stopwatch()
    watch_run(clock, model, env, league, warm, saver)
    try:
        try:
            saver.anchors.compile()
            if before is None:
                budget.start()
            if not warm.is_over:
                with clock.phase(WARM_START):
                    warm.run(logger, saver.between_updates, saver.anchors.latest)
                if config.warm_start.keep:
                    model.policy.keep_close_to(network)
                budget.start()
            model.decisions_before = warm.decisions
            with clock.phase(SELF_PLAY):
                play(config, model, env, league, budget, saver)
        except Stopped as reason:
            if budget.signal is not None:
                raise
            print(reason, file=sys.stderr)
        saver.anchors.measure(logger, saver.decisions)
    except Stopped:
        pass  # by a signal: `main` says so when all is kept
    finally:
        logger.close()
        saver.save_final()
        folder.note(steps=model.num_timesteps, training_seconds=round(budget.elapsed, 1), **clock.facts())
        if config.warm_start.teacher is not None:
            folder.note(warm_start_decisions=warm.decisions)
    try:
        if config.evaluation.share:
            draw_curves(folder.path)
        console.make_console().print(clock.table())
        report(config, game, folder, budget)
    except Stopped:
        pass
    folder.end(FINISHED if budget.signal is None else INTERRUPTED)


def _used_up(config: Config) -> str:
    minutes = "" if config.minutes is None else f" or minutes={config.minutes:g}"
    return f"the run's budget, steps={config.steps}{minutes}, is used up: both count from its start; give more to go on"


def play(config: Config, model: SelfPlayPPO, env: PaidEnv, league: League, budget: Budget, saver: Saver) -> None:
    """Learns by self-play until the budget is used up.

    Raises:
        Stopped: by time or signal.
        FloatingPointError: the weights are not numbers any more.
    """
    callback = RunCallback(env, league, budget, saver.network, saver.between_updates, saver.anchors.latest)
    if not model.num_timesteps:  # the first games need opponents
        league.refresh(env.games, 0)
    try:
        left = config.steps - model.num_timesteps
        if left > 0 and budget.used(model.num_timesteps) < 1:
            model.learn(left, callback=callback, reset_num_timesteps=False)
            callback.check_weights()
    finally:
        callback.close()


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
    """Plays the run's checkpoint against the agents of the configuration and prints the table.

    That is the best one; the last, if none was measured on the way.
    """
    games, specs = config.evaluation.games, config.evaluation.against
    if not (games and (specs or config.evaluation.regret)):
        return
    agent = PolicyAgent.load(folder.path, game)
    opponents = [make_agent(spec, game) for spec in specs]
    total, regret = games * (len(opponents) + config.evaluation.regret), None
    with console.progress_bar("evaluating", total) as progress:

        def show(done: float) -> None:
            budget.check_signal()
            progress(done)

        show(0)
        results = evaluate(agent, opponents, games, config.seed, progress=show)
        if config.evaluation.regret:
            regret = measure_regret(agent, games, config.seed, progress=further(show, games * len(opponents)))
    append_evaluation(folder.path, results, regret)
    title = f"{agent.name} on {game!r}, {games:,} games each, seed {config.seed}"
    console.print_evaluation(title, game, results, regret)
    out = console.make_console()
    where = shlex.quote(folder_name(folder.path))
    for note in [
        f"It is kept in {folder.path}. Next: mozaic play --agents {where}",
        f"Curves: tensorboard --logdir {where}/tensorboard",
    ]:
        out.print(note, markup=False, soft_wrap=True)


if __name__ == "__main__":
    run_script(main)
