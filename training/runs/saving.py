"""Writing what a run leaves on its way: checkpoints, which anyone can load, and states, from which it can go on."""

import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from mozaic_env.agents.policy import checkpoint, folders
from mozaic_env.agents.policy.networks import Network
from mozaic_env.core.game import Game
from training.config import RunConfig
from training.runs import state
from training.runs.folder import RunFolder


class Trainer(Protocol):
    """What is saved of a trainer."""

    suffix: str  # of the name of a state

    @property
    def network(self) -> Network:
        """The learner's, as it is now."""

    @property
    def decisions(self) -> int:
        """Trained on so far, those of a warm start included."""

    def write_state(self, path: Path) -> None:
        """Writes a file or folder from which the run can go on; OSError if it can't."""


class Saver:
    """Saves at intervals and at the end."""

    def __init__(self, config: RunConfig, game: Game, folder: RunFolder, trainer: Trainer) -> None:
        """Takes the parts of the run; the first interval begins now."""
        self._config, self._game, self._folder, self._trainer = config, game, folder, trainer
        self._saved = time.monotonic()

    def check_weights(self) -> None:
        """Raises FloatingPointError if learning went wrong for good."""
        if not self._trainer.network.is_finite():
            raise FloatingPointError(
                f"after {self._trainer.decisions:,} decisions the weights are not finite any more; "
                "a lower ppo.learning_rate may help"
            )

    def save_if_time(self) -> None:
        """Saves when an interval is over. What can't be written is reported; earlier files stay, the run goes on."""
        if time.monotonic() - self._saved < 60 * self._config.checkpoint_minutes:
            return
        name = f"{folders.CHECKPOINTS}/step-{self._trainer.decisions:012d}"
        try:
            self.save_checkpoint(name)
            self._save_state()
        except OSError as error:  # a full disk: there may be room again later
            print(f"{name} could not be written: {error}; training goes on", file=sys.stderr)
        self._saved = time.monotonic()

    def save_final(self) -> None:
        """Saves when training has ended, however it did, unless the weights are no good.

        Raises:
            OSError: the last checkpoint can't be written; earlier ones are as they were.
        """
        if not self._trainer.network.is_finite():
            return
        self.save_checkpoint(folders.FINAL)
        try:
            self._save_state()
        except OSError as error:
            print(f"the state to resume from could not be written: {error}", file=sys.stderr)

    def save_best(self, results: Mapping[str, Any]) -> None:
        """Writes the best checkpoint so far, with what is known of its strength; what can't be written is reported."""
        try:
            self.save_checkpoint(folders.BEST, results)
        except OSError as error:
            print(f"the best checkpoint could not be written: {error}; training goes on", file=sys.stderr)

    def save_checkpoint(self, name: str, results: Mapping[str, Any] | None = None) -> None:
        """Writes a checkpoint, given its place in the run folder."""
        checkpoint.save(
            self._folder.path / name,
            self._trainer.network,
            self._game,
            steps=self._trainer.decisions,
            seed=self._config.seed,
            training=self._config.model_dump(mode="json"),
            results=results,
        )
        self._folder.thin()

    def _save_state(self) -> None:
        trainer = self._trainer
        state.write(self._folder.path, f"{trainer.decisions:012d}{trainer.suffix}", trainer.write_state)
