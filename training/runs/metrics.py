"""The numbers of a run: where they go, and those that both trainers note at each update.

They go to metrics.jsonl and TensorBoard under the same names, one value for each update; TensorBoard's steps are all
decisions trained on, those of a warm start included:

    games/finished          how many games ended
    opponents/NAME/score    wins + draws / 2 against past, prioritised or a fixed agent, 0 to 1; the learner's moves are
                            sampled, drawn by their probabilities, which is weaker than its argmax action. In mirror
                            games, where it holds all seats: that of the first seat
    opponents/NAME/margin   mean final lead in these games
    opponents/NAME/games    how many of them ended
    past_selves/...         how hard earlier selves are to beat, see `mozaic_env.agents.policy.league`
    time/elapsed            seconds of self-play so far
    time/steps              the learner's decisions so far
    time/steps_per_second   of these, since the start or since the run was resumed
    train/...               of the update, means over its minibatches: loss, policy_gradient_loss, value_loss,
                            approx_kl, clip_fraction; explained_variance, learning_rate
    train/entropy           of the policy, in nats
    train/divergence        of the policy from the imitated one, Kullback-Leibler, with `warm_start.kl_coefficient`

`training.evaluation` and `training.imitation.imitation` list theirs.
"""

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from stable_baselines3.common.logger import JSONOutputFormat, KVWriter, Logger, TensorBoardOutputFormat

from mozaic_env.agents.policy.league import Score
from mozaic_env.core.text.files import read_text
from training.runs.budget import Budget
from training.runs.folder import METRICS, write_atomically

TENSORBOARD = "tensorboard"


class UpdateMetrics:
    """Notes what both trainers tell of an update.

    Attributes:
        scores: the latest by opponent, 0 to 1.
    """

    def __init__(self, logger: Logger, budget: Budget, steps: int) -> None:
        """Takes what is known when this process begins: so many steps, and the budget's time."""
        self._logger, self._budget = logger, budget
        self._first_steps, self._first_elapsed = steps, budget.elapsed
        self.scores: dict[str, float] = {}

    def record(self, scores: Mapping[str, Score], steps: int) -> None:
        """Notes the games that ended in an update, and how far the run is."""
        logger = self._logger
        for name, score in scores.items():
            self.scores[name] = score.points / score.games
            logger.record(f"opponents/{name}/score", self.scores[name])
            logger.record(f"opponents/{name}/margin", score.margin / score.games)
            logger.record(f"opponents/{name}/games", score.games)
        logger.record("games/finished", sum(score.games for score in scores.values()))
        logger.record("time/elapsed", self._budget.elapsed)
        logger.record("time/steps", steps)
        seconds = self._budget.elapsed - self._first_elapsed
        logger.record("time/steps_per_second", (steps - self._first_steps) / max(seconds, 1e-9))


class _JSONLines(JSONOutputFormat):
    """Stable-baselines3's, but it writes on where the file ends."""

    def __init__(self, file: Path) -> None:
        self.file = file.open("a", encoding="utf-8")


class _Patient(KVWriter):
    """Writes as another does; where that can't, on a full disk, says so once and lets training go on."""

    def __init__(self, writer: KVWriter, where: Path) -> None:
        self._writer, self._where, self._complained = writer, where, False

    def write(self, key_values: dict[str, Any], key_excluded: dict[str, tuple[str, ...]], step: int = 0) -> None:
        self._do(self._writer.write, key_values, key_excluded, step)

    def close(self) -> None:
        self._do(self._writer.close)

    def _do(self, act: Callable[..., None], *arguments: Any) -> None:
        try:
            act(*arguments)
        except OSError as error:
            if not self._complained:
                print(f"{self._where} could not be written: {error}; training goes on", file=sys.stderr)
            self._complained = True


def make_logger(folder: Path, steps: int = 0, warm_decisions: int = 0) -> Logger:
    """Where the numbers of a run go: TensorBoard and JSON Lines, under the same names.

    Args:
        folder: of the run.
        steps: the learner's decisions so far; numbers noted later than that, before the run was killed, go.
        warm_decisions: the same of the warm start.
    """
    file = folder / METRICS
    if file.exists():
        text = read_text(file, errors="replace")
        write_atomically(file, "".join(_lines_until(text, steps, warm_decisions)))
    board = folder / TENSORBOARD
    formats: list[KVWriter] = [
        _Patient(TensorBoardOutputFormat(str(board)), board),
        _Patient(_JSONLines(file), file),
    ]
    return Logger(str(folder), formats)


def _lines_until(text: str, steps: int, warm_decisions: int) -> Iterator[str]:
    for line in text.splitlines(keepends=True):
        limits = {
            "time/steps": steps,
            "warm_start/decisions": warm_decisions,
            "evaluation/decisions": steps + warm_decisions,
        }
        try:
            noted = json.loads(line)
            is_known = all(noted.get(key, 0) <= limit for key, limit in limits.items())
        except (ValueError, AttributeError, TypeError):  # cut short when the run was killed, or damaged since
            continue
        if is_known:
            yield line
