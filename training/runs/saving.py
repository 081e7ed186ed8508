"""Saving a run under way and taking it up again."""

import sys
import time
from collections.abc import Mapping
from typing import Any

from mozaic_env.agents.policy import checkpoint, folders
from mozaic_env.agents.policy.networks import Network
from mozaic_env.core.game import Game
from training.config import Config
from training.imitation.imitation import WarmStart
from training.ppo.environment import PaidEnv
from training.ppo.evaluation import Anchors
from training.ppo.league import League
from training.ppo.learner import SelfPlayPPO
from training.runs import state
from training.runs.budget import Budget
from training.runs.folder import RunFolder


class Saver:
    """Writes checkpoints, which anyone can load, and states, from which the run can go on."""

    def __init__(
        self,
        config: Config,
        game: Game,
        folder: RunFolder,
        model: SelfPlayPPO,
        league: League,
        warm: WarmStart,
        budget: Budget,
        bfloat16: bool,
    ) -> None:
        """Takes the parts of the run; the first interval begins now."""
        self.config, self.game, self.folder = config, game, folder
        self.model, self.league, self.warm, self.budget = model, league, warm, budget
        self.network: Network = model.policy.network
        self.anchors = Anchors(config, game, self.network, budget, self.save_best, bfloat16)
        self._saved = time.monotonic()

    @property
    def decisions(self) -> int:
        """Learnt from so far, those of the warm start included."""
        return self.warm.decisions + self.model.num_timesteps

    def between_updates(self) -> None:
        """What is done while nothing learns: matches and saving, each if it is time."""
        if self.decisions:
            self.anchors.measure_if_time(self.model.logger, self.decisions)
            self.save_if_time()

    def save_if_time(self) -> None:
        """Saves when an interval is over. What can't be written is reported; earlier files stay, the run goes on."""
        if time.monotonic() - self._saved < 60 * self.config.checkpoint_minutes:
            return
        name = f"{folders.CHECKPOINTS}/step-{self.decisions:012d}"
        try:
            self.save_checkpoint(name)
            self.save_state()
        except OSError as error:  # a full disk: there may be room again later
            print(f"{name} could not be written: {error}; training goes on", file=sys.stderr)
        self._saved = time.monotonic()

    def save_final(self) -> None:
        """Saves when training has ended, however it did, unless the weights are no good.

        Raises:
            OSError: the last checkpoint can't be written; earlier ones are as they were.
        """
        if not self.network.is_finite():
            return
        self.save_checkpoint(folders.FINAL)
        try:
            self.save_state()
        except OSError as error:
            print(f"the state to resume from could not be written: {error}", file=sys.stderr)

    def save_best(self, results: Mapping[str, Any]) -> None:
        """Writes the best checkpoint so far, with what is known of its strength."""
        self.save_checkpoint(folders.BEST, results)

    def save_checkpoint(self, name: str, results: Mapping[str, Any] | None = None) -> None:
        """Writes a checkpoint, given its place in the run folder."""
        checkpoint.save(
            self.folder.path / name,
            self.network,
            self.game,
            steps=self.decisions,
            seed=self.config.seed,
            training=self.config.model_dump(mode="json"),
            results=results,
        )
        self.folder.thin()

    def save_state(self) -> None:
        """Writes all that `restore` needs."""
        kept = self.model.policy.kept
        whole: dict[str, Any] = {
            "steps": self.model.num_timesteps,
            "updates": self.model._n_updates,
            "elapsed": self.budget.elapsed if self.warm.is_over else 0.0,
            "network": self.network.state_dict(),
            "kept": None if kept is None else kept.state_dict(),
            "optimizer": self.model.policy.optimizer.state_dict(),
            "warm_start": self.warm.state(),
            "league": self.league.state(),
            "best": self.anchors.best,
            "minutes": self.anchors.minutes,
            "random": state.random_states(),
        }
        state.write(self.folder.path, self.decisions, whole)

    def restore(self, whole: state.State, env: PaidEnv) -> None:
        """Makes everything as it was, but for the games under way: new ones begin.

        Args:
            whole: what `state.read` gave.
            env: whose games have not begun.
        """
        model = self.model
        if whole["kept"] is not None:
            self.network.load_state_dict(whole["kept"])
            model.policy.keep_close_to(self.network)
        self.network.load_state_dict(whole["network"])
        model.policy.optimizer.load_state_dict(whole["optimizer"])
        model.num_timesteps, model._n_updates = whole["steps"], whole["updates"]
        self.warm.restore(whole["warm_start"])
        self.league.restore(whole["league"], env.games)
        env.seed(self.config.seed + self.decisions)  # other luck than the games had that were played before
        self.budget.start(whole["elapsed"])
        self.anchors.best = whole["best"]
        self.anchors.start(whole["minutes"])
        state.set_random_states(whole["random"])
