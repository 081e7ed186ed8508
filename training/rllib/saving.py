"""Saving a run on RLlib: checkpoints in the project's format, and states from which the run can go on.

A checkpoint holds no pickle and anyone can load it. A state, resume/state-N, is RLlib's own checkpoint of the whole
algorithm: learner, optimizer, counters, earlier selves. It holds pickles, which can run any program when they are read,
so it is for `--resume` alone and not for sharing. Games under way are not part of it.
"""

import json
import os
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from mozaic_env.agents.policy import checkpoint, folders
from mozaic_env.agents.policy.network import NetworkConfig
from mozaic_env.agents.policy.networks import make_network
from mozaic_env.core.game import Game
from mozaic_env.core.text.files import read_text
from mozaic_env.rllib.module import load_weights
from training.rllib.config import RLlibConfig
from training.runs.budget import Budget
from training.runs.folder import RunFolder

RESUME, PROGRESS = "resume", "progress.json"
KEPT = 2  # states


def latest_state(run: Path) -> Path:
    """The latest state in a run's folder; ValueError if there is none."""
    states = sorted((run / RESUME).glob("state-*"))
    if not states:
        raise ValueError(f"{run / RESUME} holds no state to go on from; start the run again with --overwrite")
    return states[-1]


def read_progress(state: Path) -> tuple[int, float]:
    """How far the run was: its steps, and seconds of training.

    Raises:
        ValueError: the state is damaged.
    """
    try:
        progress = json.loads(read_text(state / PROGRESS))
        return int(progress["steps"]), float(progress["elapsed"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{state} is damaged ({error}); remove it to go on from the one before") from None


class Saver:
    """Writes checkpoints, which anyone can load, and states, from which the run can go on."""

    def __init__(self, config: RLlibConfig, game: Game, folder: RunFolder, algorithm: Any, budget: Budget) -> None:
        """Takes the parts of the run; the first interval begins now."""
        self.config, self.game, self.folder, self.algorithm, self.budget = config, game, folder, algorithm, budget
        self._saved = time.monotonic()

    def check_weights(self) -> None:
        """Raises FloatingPointError if learning went wrong for good."""
        if not all(np.isfinite(weights).all() for weights in self.algorithm.weights.values()):
            raise FloatingPointError(
                f"after {self.algorithm.decisions:,} steps the weights are not finite any more; "
                "a lower ppo.learning_rate may help"
            )

    def save_if_time(self) -> None:
        """Saves when an interval is over. What can't be written is reported; earlier files stay, the run goes on."""
        if time.monotonic() - self._saved < 60 * self.config.checkpoint_minutes:
            return
        name = f"{folders.CHECKPOINTS}/step-{self.algorithm.decisions:012d}"
        try:
            self.save_checkpoint(name)
            self.save_state()
        except OSError as error:  # a full disk: there may be room again later
            print(f"{name} could not be written: {error}; training goes on", file=sys.stderr)
        self._saved = time.monotonic()

    def save_final(self) -> None:
        """Saves when training has ended, however it did, unless the weights are no good."""
        try:
            self.check_weights()
        except FloatingPointError:
            return
        self.save_checkpoint(folders.FINAL)
        try:
            self.save_state()
        except OSError as error:
            print(f"the state to resume from could not be written: {error}", file=sys.stderr)

    def save_checkpoint(self, name: str) -> None:
        """Exports the learner to the project's format, given its place in the run folder."""
        network = make_network(self.game, NetworkConfig(**self.config.network.model_dump()))
        checkpoint.save(
            self.folder.path / name,
            load_weights(network, self.algorithm.weights),
            self.game,
            steps=self.algorithm.decisions,
            seed=self.config.seed,
            training=self.config.model_dump(mode="json"),
        )
        self.folder.thin()

    def save_state(self) -> None:
        """Writes RLlib's checkpoint of the whole algorithm, whole or not at all; the latest two are kept."""
        folder = self.folder.path / RESUME
        folder.mkdir(exist_ok=True)
        state, new = folder / f"state-{self.algorithm.decisions:012d}", folder / ".new"
        shutil.rmtree(new, ignore_errors=True)
        try:
            self.algorithm.save_to_path(str(new.resolve()))
            progress = {"steps": self.algorithm.decisions, "elapsed": self.budget.elapsed}
            (new / PROGRESS).write_text(json.dumps(progress), "utf-8")
            shutil.rmtree(state, ignore_errors=True)
            os.replace(new, state)
        finally:
            shutil.rmtree(new, ignore_errors=True)
        for old in sorted(folder.glob("state-*"))[:-KEPT]:
            shutil.rmtree(old, ignore_errors=True)
