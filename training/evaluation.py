"""How strong the learner is on the way: matches on fixed seeds against fixed agents, in a share of the time.

The evaluation opponents are the agents of `evaluation.against`, the strongest last. The matches of a run have all the
same luck, so that its points can be compared; the evaluation at the end has another. The weights with most points
against the strongest opponent are kept in best/; with `evaluation.regret` those with least regret, which luck blurs far
less.

Metrics: evaluation/decisions, trained on so far; evaluation/minutes, of wall-clock time that the run has taken until
then, warm start and earlier matches included, interruptions not; and for each opponent evaluation/NAME/points, low and
high (95% interval), margin; with `evaluation.regret` evaluation/regret/mean, a game in the game's margin unit, low and
high, and mistakes, the share of decisions that are not best. `training.curves` draws them.
"""

import math
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from stable_baselines3.common.logger import Logger

from mozaic_env.agents.policy.agent import PolicyAgent
from mozaic_env.agents.policy.networks import Network
from mozaic_env.agents.specs import make_agent
from mozaic_env.arena.evaluate import evaluate
from mozaic_env.arena.exact.regret import measure_regret
from mozaic_env.core.game import Game
from training.config import Config
from training.ppo.policy import Player
from training.runs.budget import Budget


class Evaluator:
    """Measures the learner now and then.

    Attributes:
        best: what is known of the best weights so far: opponent and points, or regret, with interval, games and seed;
            empty before the first.
        latest: points against each opponent in the matches played last, 0 to 1.
    """

    def __init__(self, config: Config, game: Game, network: Network, budget: Budget, bfloat16: bool) -> None:
        """Prepares the matches.

        Args:
            config: of the run.
            game: what is played.
            network: the learner.
            budget: whose signals end a match.
            bfloat16: compute in mixed precision.
        """
        self.settings = config.evaluation
        self.seed = int(np.random.SeedSequence([config.seed, 1]).generate_state(1)[0])
        self._agent = PolicyAgent(game, Player(network, bfloat16))
        self._opponents = [make_agent(spec, game) for spec in self.settings.against]
        self._budget = budget
        self.best: dict[str, Any] = {}
        self.latest: dict[str, float] = {}
        self._spent, self._measured = 0.0, -1  # seconds, and the decisions at the last match
        self.start()

    def start(self, minutes: float = 0.0) -> None:
        """Starts the clock, with so many minutes on it already."""
        self._began, self._before = time.monotonic(), minutes

    @property
    def minutes(self) -> float:
        """Of wall-clock time that the run has taken so far, while it was under way."""
        return self._before + (time.monotonic() - self._began) / 60

    @property
    def is_on(self) -> bool:
        """Whether matches are played on the way."""
        settings = self.settings
        return bool(settings.share and settings.share_games and (self._opponents or settings.regret))

    def compile(self) -> None:
        """Has the compiler make what matches need, so that this takes nothing from the run's minutes."""
        if self.is_on:
            self._play(2)

    def is_due(self) -> bool:
        """Whether matches have taken no more than their share of the time since the run began or was resumed."""
        return self._spent <= self.settings.share * (time.monotonic() - self._began)

    def measure(self, logger: Logger, decisions: int) -> bool:
        """Plays the matches unless they have been played, and writes their results down.

        Args:
            logger: of the run; all that it has collected is written down too.
            decisions: trained on so far.

        Returns:
            Whether the weights are the best so far, so that they are worth keeping.

        Raises:
            Stopped: a signal came; what had been measured until then is dropped.
        """
        if not self.is_on or decisions == self._measured:
            return False
        began, minutes = time.monotonic(), self.minutes
        self._agent.network.eval()
        found, best = self._play(self.settings.share_games)
        self._measured = decisions
        self.latest.update({spec: found[f"{spec}/points"] for spec in self.settings.against})  # others hold it
        for name, value in {"decisions": decisions, "minutes": minutes, **found}.items():
            logger.record(f"evaluation/{name}", value)
        logger.dump(decisions)
        if is_better := self._is_better(best):
            self.best = best
        self._spent += time.monotonic() - began
        return is_better

    def _play(self, games: int) -> tuple[dict[str, float], dict[str, Any]]:
        """Plays the matches: metrics by their names, and what the best weights are told by."""
        metrics = dict[str, float]()

        def progress(done: float) -> None:
            self._budget.check_signal()

        results = evaluate(self._agent, self._opponents, games, self.seed, progress=progress)
        best: dict[str, Any] = {}
        for spec, result in zip(self.settings.against, results):
            low, high = result.interval
            figures = {"points": result.points, "low": low, "high": high, "margin": result.margin}
            metrics |= {f"{spec}/{name}": value for name, value in figures.items()}
            best = {"against": spec, "points": result.points, "interval": [low, high]}
        if self.settings.regret:
            regret = measure_regret(self._agent, games, self.seed, progress=progress)
            low, high = regret.interval or (regret.regret, regret.regret)
            figures = {"mean": regret.regret, "low": low, "high": high, "mistakes": regret.mistakes}
            metrics |= {f"regret/{name}": value for name, value in figures.items()}
            best = {"regret": regret.regret, "unit": regret.unit, "interval": [low, high]}
        return metrics, {**best, "games": games, "seed": self.seed}

    def _is_better(self, found: Mapping[str, Any]) -> bool:
        if "regret" in found:
            return bool(found["regret"] < self.best.get("regret", math.inf))
        return bool(found["points"] > self.best.get("points", -1.0))
