"""What is said of a run on RLlib while it goes on: its numbers, and which runners come and go."""

import sys
import time
from collections.abc import Mapping
from typing import Any

from stable_baselines3.common.logger import Logger

from mozaic_env.agents.policy.league import Score
from training.rllib.config import RLlibConfig
from training.runs.metrics import UpdateMetrics

RETRY_SECONDS = 2  # between two looks for runners while there are none
TRAINED = {  # what stable-baselines3 calls what RLlib tells
    "loss": "total_loss",
    "policy_gradient_loss": "policy_loss",
    "value_loss": "vf_loss",
    "explained_variance": "vf_explained_var",
    "approx_kl": "approx_kl",
    "clip_fraction": "clip_fraction",
    "learning_rate": "default_optimizer_learning_rate",
}


class Watch:
    """Looks which runners are there, and says what has changed."""

    def __init__(self, config: RLlibConfig, algorithm: Any) -> None:
        """Takes all for healthy."""
        self._config, self._algorithm = config, algorithm
        self._wanted = self._there = config.runners.number
        self._seen = time.monotonic()
        self._lost = self._back = 0

    def look(self) -> bool:
        """Whether anyone plays; waits a little where not.

        Raises:
            RuntimeError: nobody has been there for the configured time.
        """
        there = self._algorithm.env_runner_group.num_healthy_remote_env_runners()
        steps = self._algorithm.decisions
        if there < self._there:
            self._lost += self._there - there
            print(f"after {steps:,} steps: a runner is gone, {there} of {self._wanted} play on", file=sys.stderr)
        elif there > self._there:
            self._back += there - self._there
            print(f"after {steps:,} steps: a runner is back, {there} of {self._wanted} play", file=sys.stderr)
        self._there = there
        if there or not self._wanted:
            self._seen = time.monotonic()
            return True
        if time.monotonic() - self._seen > 60 * self._config.runners.patience:
            raise RuntimeError(f"no runner was there for {self._config.runners.patience} minutes (runners.patience)")
        time.sleep(RETRY_SECONDS)
        return False

    def facts(self) -> dict[str, int]:
        """For run.json."""
        return {"runners_lost": self._lost, "runners_back": self._back}


def write_numbers(logger: Logger, metrics: UpdateMetrics, result: Mapping[str, Any], algorithm: Any) -> None:
    """Writes the numbers of an update to metrics.jsonl and TensorBoard.

    The names are those of `training.runs.metrics`, and besides:

        ray/runners         how many runners are there
        time/playing        seconds of the update in which the runners played
        time/learning       seconds in which the learners trained

    Args:
        logger: where to.
        metrics: of the run.
        result: what RLlib tells of the update.
        algorithm: that made it.
    """
    played, trained, timers = result["env_runners"], result["learners"]["default_policy"], result["timers"]
    scores = {
        name: Score(int(sums["games"]), float(sums["points"]), float(sums["margin"]))
        for name, sums in played.get("opponents", {}).items()
        if sums["games"] > 0  # NaN where none ended in this update
    }
    metrics.record(scores, algorithm.decisions)
    logger.record("ray/runners", algorithm.env_runner_group.num_healthy_remote_env_runners())
    logger.record("time/playing", float(timers["env_runner_sampling_timer"]))
    logger.record("time/learning", float(timers["learner_update_timer"]))
    logger.record("train/entropy", float(trained["entropy"]))
    for ours, theirs in TRAINED.items():
        logger.record(f"train/{ours}", float(trained[theirs]))
    logger.dump(algorithm.decisions)
