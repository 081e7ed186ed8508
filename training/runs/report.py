"""The evaluation at the end of a run."""

import shlex

from mozaic_env.agents.names import folder_name
from mozaic_env.agents.policy.agent import PolicyAgent
from mozaic_env.agents.specs import make_agent
from mozaic_env.arena.evaluate import append_evaluation, evaluate
from mozaic_env.arena.exact.regret import measure_regret
from mozaic_env.arena.match import further
from mozaic_env.arena.report import console
from mozaic_env.core.game import Game
from training.config import EvaluationSection, RunConfig
from training.runs.budget import Budget
from training.runs.folder import RunFolder


def report(config: RunConfig, game: Game, folder: RunFolder, budget: Budget) -> None:
    """Plays the run's checkpoint against the agents of the configuration and prints the table.

    That is the best one; the last, if none was measured on the way.
    """
    games, specs = config.evaluation.games, config.evaluation.against
    with_regret = isinstance(config.evaluation, EvaluationSection) and config.evaluation.regret
    if not (games and (specs or with_regret)):
        return
    agent = PolicyAgent.load(folder.path, game)
    opponents = [make_agent(spec, game) for spec in specs]
    total, regret = games * (len(opponents) + with_regret), None
    with console.progress_bar("evaluating", total) as progress:

        def show(done: float) -> None:
            budget.check_signal()
            progress(done)

        show(0)
        results = evaluate(agent, opponents, games, config.seed, progress=show)
        if with_regret:
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
