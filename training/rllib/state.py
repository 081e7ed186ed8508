"""The state of a run on RLlib: RLlib's own checkpoint of the whole algorithm, and how far the run is.

That is learner, optimizer, counters, earlier selves. It holds pickles, which can run any program when they are read, so
it is for `--resume` alone and not for sharing. Games under way are not part of it.
"""

import json
from pathlib import Path
from typing import Any

from mozaic_env.agents.policy.networks import Network
from mozaic_env.core.text.files import read_text
from training.runs.budget import Budget
from training.runs.state import FORMAT, RESUME, states

PROGRESS = "progress.json"


def latest_state(run: Path) -> Path:
    """The latest state in a run's folder; ValueError if there is none."""
    found = states(run)
    if not found:
        raise ValueError(f"{run / RESUME} holds no state to go on from; start the run again with --overwrite")
    return found[-1]


def read_progress(state: Path) -> tuple[int, float]:
    """How far the run was: its steps, and seconds of training.

    Raises:
        ValueError: the state is damaged, or of another version of this package.
    """
    try:
        progress = json.loads(read_text(state / PROGRESS))
        if progress.get("format") == FORMAT:
            return int(progress["steps"]), float(progress["elapsed"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{state} is damaged ({error}); remove it to go on from the one before") from None
    raise ValueError(f"{state} is of another version of this package; train in another folder")


class Run:
    """What is saved of a run, `training.runs.saving.Trainer`."""

    suffix = ""

    def __init__(self, algorithm: Any, budget: Budget) -> None:
        """Takes RLlib's algorithm and the run's budget."""
        self._algorithm, self._budget = algorithm, budget

    @property
    def network(self) -> Network:
        """The learner's, a copy."""
        network: Network = self._algorithm.network
        return network

    @property
    def decisions(self) -> int:
        """Trained on so far."""
        return int(self._algorithm.decisions)

    def write_state(self, path: Path) -> None:
        """Writes RLlib's checkpoint of the whole algorithm."""
        self._algorithm.save_to_path(str(path.resolve()))
        progress = {"format": FORMAT, "steps": self.decisions, "elapsed": self._budget.elapsed}
        (path / PROGRESS).write_text(json.dumps(progress), "utf-8")
