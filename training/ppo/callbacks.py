"""What happens beside learning: the league is refreshed, numbers are noted, checkpoints written, progress shown.

The metrics, in metrics.jsonl and TensorBoard under the same names, one value for each update; TensorBoard's steps are
all decisions learnt from, those of the warm start included:

    games/finished          how many games ended
    opponents/NAME/score    wins + draws / 2 against mirror, past, prioritised or a fixed agent, 0 to 1; the learner's
                            moves are sampled, drawn by their probabilities, which is weaker than its argmax action
    opponents/NAME/margin   mean final lead against them
    opponents/NAME/games    how many games against them ended
    past_selves/...         how hard earlier selves are to beat, see `training.ppo.league`
    time/elapsed            seconds of self-play so far
    time/steps              the learner's decisions so far
    time/steps_per_second   of these, since the start or since the run was resumed
    train/entropy           of the policy, in nats
    train/divergence        of the policy from the one that `warm_start.keep` keeps it close to, Kullback-Leibler
    train/...               stable-baselines3's own, of the update before: loss, approx_kl, clip_fraction, ...
"""

import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from rich.console import RenderableType
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
from rich.text import Text
from stable_baselines3.common.callbacks import BaseCallback

from mozaic_env.agents.policy.networks import Network
from mozaic_env.arena.report.console import make_console
from training.ppo.environment import PaidEnv
from training.ppo.league import League, strategy_of
from training.runs.budget import Budget

ARGMAX, SAMPLED = "argmax", "sampled"  # how the learner chose its moves where a score is from
LINE_SECONDS = 15  # between two lines of progress where there is no terminal


class RunCallback(BaseCallback):
    """Steers a run from inside stable-baselines3's loop."""

    def __init__(
        self,
        env: PaidEnv,
        league: League,
        budget: Budget,
        network: Network,
        save: Callable[[], None],
        strength: Mapping[str, float],
    ) -> None:
        """Takes the parts of the run.

        Args:
            env: whose endings are counted.
            league: refreshed at each update.
            budget: checked at each step.
            network: looked at after each update.
            save: called between two updates, to save if it is time.
            strength: points of the argmax policy in the latest matches on the way, kept up to date by who plays them.
        """
        super().__init__()
        self.env, self.league, self.budget = env, league, budget
        self.network, self._save, self._strength = network, save, strength
        self._shown: dict[str, float] = {}
        self._progress = ProgressBar(budget)

    def _on_training_start(self) -> None:
        self._first, self._first_elapsed = self.num_timesteps, self.budget.elapsed
        self._progress.start()

    def _on_rollout_start(self) -> None:
        self.check_weights()
        self.league.refresh(self.env.games, self.num_timesteps)
        self._save()

    def check_weights(self) -> None:
        """Raises FloatingPointError if learning went wrong for good."""
        if not self.network.is_finite():
            raise FloatingPointError(
                f"after {self.num_timesteps:,} steps the weights are not finite any more; "
                "a lower ppo.learning_rate may help"
            )

    def _on_step(self) -> bool:
        self._progress.show(self.num_timesteps, {ARGMAX: self._strength, SAMPLED: self._shown})
        self.budget.check()
        return True

    def _on_rollout_end(self) -> None:
        endings = self.env.take_endings()
        self.league.note(endings)
        by_name: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for ending in endings:
            by_name[strategy_of(ending["opponent"])].append(ending)
        self.logger.record("games/finished", len(endings))
        for name, games in by_name.items():
            score = float(np.mean([(ending["outcome"] + 1) / 2 for ending in games]))
            self.logger.record(f"opponents/{name}/score", score)
            margin = float(np.mean([ending["margin"] for ending in games]))
            self.logger.record(f"opponents/{name}/margin", margin)
            self.logger.record(f"opponents/{name}/games", len(games))
            self._shown[name] = score
        for name, value in self.league.metrics().items():
            self.logger.record(name, value)
        self.logger.record("time/elapsed", self.budget.elapsed)
        self.logger.record("time/steps", self.num_timesteps)
        seconds = self.budget.elapsed - self._first_elapsed
        self.logger.record("time/steps_per_second", (self.num_timesteps - self._first) / max(seconds, 1e-9))

    def close(self) -> None:
        """Takes the progress bar down."""
        self._progress.stop()


class _Bar(Progress):
    """A bar with text below it, which breaks between words where the bar's line would be cut."""

    below = ""

    def get_renderables(self) -> Iterator[RenderableType]:
        yield from super().get_renderables()
        if self.below:
            yield Text(self.below)


class ProgressBar:
    """How far the run is and how long it will take: a bar on a terminal, elsewhere a line now and then."""

    def __init__(self, budget: Budget, what: str = "training") -> None:
        """Decides which of the two, and says what is under way."""
        self._budget, self._what, self._last = budget, what, 0.0
        self._bar: _Bar | None = None
        if sys.stderr.isatty():
            self._bar = _Bar(
                TextColumn(what),
                BarColumn(bar_width=20),
                TaskProgressColumn(),
                TextColumn("{task.fields[text]}"),
                console=make_console(stderr=True),
            )
            self._task = self._bar.add_task(what, total=1.0, text="")

    def start(self) -> None:
        """Shows it."""
        if self._bar is not None:
            self._bar.start()

    def stop(self) -> None:
        """Removes it."""
        if self._bar is not None:
            self._bar.stop()

    def show(self, steps: int, scores: Mapping[str, Mapping[str, float]]) -> None:
        """Brings it up to date.

        Args:
            steps: so far.
            scores: shares by their names, for each way in which they were measured.
        """
        now = time.monotonic()
        if now - self._last < (0.2 if self._bar else LINE_SECONDS):
            return
        used, elapsed = self._budget.used(steps), self._budget.elapsed
        left = _clock(elapsed / used - elapsed) if used > 0.01 else "?"
        text = f"{steps:,} steps, {steps / max(elapsed, 1e-9):,.0f}/s, {left} left"
        below = "; ".join(
            f"{way}: " + ", ".join(f"{name} {share:.0%}" for name, share in sorted(shares.items()))
            for way, shares in scores.items()
            if shares
        )
        if self._bar is not None:
            self._bar.below = below
            self._bar.update(self._task, completed=used, text=text)
        elif self._last:
            line = f"{self._what} {used:4.0%} {text}" + (f"; {below}" if below else "")
            print(line, file=sys.stderr, flush=True)
        self._last = now


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"
