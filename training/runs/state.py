"""What a run needs to go on where it was: read by `--resume` alone, and never shared.

A state is resume/state-N, N being all decisions trained on; written whole or not at all, and the latest two are kept.
That of `training.train` is a file: weights, optimizers, schedules, random states, league, and how far the run is, read
with torch's ``weights_only=True``, which makes tensors and plain data and nothing else. That of `training.rllib_train`
is a folder, see `training.rllib.run`.

Games under way are not part of it: a run that goes on begins new ones, with luck that it has not had before.
"""

import contextlib
import os
import pickle
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from mozaic_env.agents.policy.folders import BEST, CHECKPOINTS, FINAL

RESUME = "resume"
KEPT = 2
FORMAT = 3  # of what a state holds
SUFFIX = ".pt"

State = dict[str, Any]


def write(run: Path, number: str, save: Callable[[Path], None]) -> None:
    """Writes a state; then the oldest go.

    Args:
        run: the run's folder.
        number: of decisions so far, of twelve digits, and the suffix of the name.
        save: writes a file or folder.

    Raises:
        OSError: it can't be written; earlier ones are as they were.
    """
    folder = run / RESUME
    folder.mkdir(exist_ok=True)
    state, new = folder / f"state-{number}", folder / ".new"  # one name, so that what a killed process leaves goes
    _remove(new)
    try:
        save(new)
        if state.is_dir():
            _remove(state)
        os.replace(new, state)
    finally:
        _remove(new)
    for old in states(run)[:-KEPT]:
        _remove(old)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    with contextlib.suppress(OSError):
        path.unlink(missing_ok=True)


def states(run: Path) -> list[Path]:
    """A run's states, the latest last."""
    return sorted((run / RESUME).glob("state-*"))


def save_tensors(state: State, path: Path) -> None:
    """Writes tensors and plain data; OSError if that can't be done."""
    with path.open("wb") as stream:
        try:
            torch.save({"format": FORMAT, **state}, stream)
        except RuntimeError as error:  # how torch reports a disk that is full
            raise OSError(f"it could not be written: {error}") from error
        stream.flush()
        os.fsync(stream.fileno())


def read(run: Path) -> State | None:
    """The latest state of a run that can be read, or None if it has kept nothing yet and begins anew.

    Raises:
        ValueError: there are some, and none can be read; or there is none, but checkpoints, which would be lost.
    """
    files = states(run)
    for file in reversed(files):
        try:
            with file.open("rb") as stream:
                if stream.read(2) != b"PK":  # torch would take it for a pickle of an old version
                    continue
            state = torch.load(file, map_location="cpu", weights_only=True)
        except (OSError, EOFError, RuntimeError, ValueError, pickle.UnpicklingError):
            continue
        if isinstance(state, dict) and state.get("format") == FORMAT:
            return state
    if files:
        raise ValueError(
            f"{run / RESUME}: {files[-1].name} is damaged or of another version of this package; its checkpoints stay "
            "as they are: train in another folder"
        )
    kept = [run / FINAL, run / BEST, *(run / CHECKPOINTS).glob("step-*")]
    if any(path.exists() for path in kept):
        raise ValueError(
            f"{run} has checkpoints, but no {RESUME}/ to go on from; they stay as they are: train in another folder"
        )
    return None


def random_states() -> State:
    """The states of the generators that stable-baselines3 draws from."""
    name, keys, *rest = np.random.get_state(legacy=True)  # noqa: NPY002 - it shuffles minibatches with the global one
    return {
        "torch": torch.get_rng_state(),
        "cuda": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
        "numpy": [name, torch.from_numpy(np.asarray(keys).astype(np.int64)), *rest],
        "python": random.getstate(),
    }


def set_random_states(states: State) -> None:
    """The inverse of `random_states`."""
    torch.set_rng_state(states["torch"])
    if torch.cuda.is_available() and states["cuda"]:
        torch.cuda.set_rng_state_all(states["cuda"][: torch.cuda.device_count()])
    name, keys, *rest = states["numpy"]
    np.random.set_state((name, keys.numpy().astype(np.uint32), *rest))  # noqa: NPY002 - as above
    random.setstate(states["python"])
