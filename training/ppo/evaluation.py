"""How strong the learner is on the way: matches on fixed seeds against fixed agents, in a share of the time.

The anchors are the agents of `evaluation.against`, the strongest last. The matches of a run have all the same luck, so
that its points can be compared; the evaluation at the end has another. The weights with most points against the
strongest anchor are kept in best/; with `evaluation.regret` those with least regret, which luck blurs far less.

Metrics: evaluation/decisions, learnt from so far; evaluation/minutes, of wall-clock time that the run has taken until
then, warm start and earlier matches included, interruptions not; and for each anchor evaluation/NAME/points, low and
high (95% interval), margin; with `evaluation.regret` evaluation/regret/mean, a game in the game's margin unit, low and
high, and mistakes, the share of decisions that are not best. `training.curves` draws them.
"""

import math
import sys
import time
from collections.abc import Callable, Mapping
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
from training.ppo.league import InPrecision
from training.runs.budget import Budget


class Anchors:
    """Measures the learner now and then.

    Attributes:
        best: what is known of the weights in best/: anchor and points, or regret, with interval, games and seed; empty
            before the first.
        latest: points against each anchor in the matches played last, 0 to 1.
    """

    def __init__(
        self,
        config: Config,
        game: Game,
        network: Network,
        budget: Budget,
        save_best: Callable[[Mapping[str, Any]], None],
        bfloat16: bool,
    ) -> None:
        """Prepares the matches.

        Args:
            config: of the run.
            game: what is played.
            network: the learner.
            budget: whose signals end a match.
            save_best: writes a checkpoint, given what is known of it.
            bfloat16: compute in mixed precision.
        """
        self.settings = config.evaluation
        self.seed = int(np.random.SeedSequence([config.seed, 1]).generate_state(1)[0])
        self._agent = PolicyAgent(game, InPrecision(network, bfloat16))
        self._anchors = [make_agent(spec, game) for spec in self.settings.against]
        self._budget, self._save_best = budget, save_best
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
    def are_on(self) -> bool:
        """Whether matches are played on the way."""
        settings = self.settings
        return bool(settings.share and settings.share_games and (self._anchors or settings.regret))

    def compile(self) -> None:
        """Has the compiler make what matches need, so that this takes nothing from the run's minutes."""
        if self.are_on:
            self._play(2)

    def measure_if_time(self, logger: Logger, decisions: int) -> None:
        """Measures, unless that has taken more than its share of the time since the run began or was resumed."""
        if self._spent <= self.settings.share * (time.monotonic() - self._began):
            self.measure(logger, decisions)

    def measure(self, logger: Logger, decisions: int) -> None:
        """Plays the matches unless they have been played; writes results down; keeps the weights if they are the best.

        Args:
            logger: of the run; all that it has collected is written down too.
            decisions: learnt from so far.

        Raises:
            Stopped: a signal came; what had been measured until then is dropped.
        """
        if not self.are_on or decisions == self._measured:
            return
        began, minutes = time.monotonic(), self.minutes
        self._agent.network.eval()
        found, best = self._play(self.settings.share_games)
        self._measured = decisions
        self.latest.update({spec: found[f"{spec}/points"] for spec in self.settings.against})  # others hold it
        for name, value in {"decisions": decisions, "minutes": minutes, **found}.items():
            logger.record(f"evaluation/{name}", value)
        logger.dump(decisions)
        if self._is_better(best):
            try:
                self._save_best(best)
                self.best = best
            except OSError as error:
                print(f"the best checkpoint could not be written: {error}; training goes on", file=sys.stderr)
        self._spent += time.monotonic() - began

    def _play(self, games: int) -> tuple[dict[str, float], dict[str, Any]]:
        """Plays the matches: metrics by their names, and what the best weights are told by."""
        metrics = dict[str, float]()

        def progress(done: float) -> None:
            self._budget.check_signal()

        results = evaluate(self._agent, self._anchors, games, self.seed, progress=progress)
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
