"""What a run needs to go on where it was: read by `--resume` alone, and never shared.

A state is one file, resume/state-N.pt, N being all decisions learnt from: weights, optimizers, schedules, random
states, league, and how far the run is. Written whole or not at all; the latest two are kept. Read with torch's
``weights_only=True``, which makes tensors and plain data and nothing else.

Games under way are not part of it: a run that goes on begins new ones, with luck that it has not had before.
"""

import contextlib
import os
import pickle
import random
from pathlib import Path
from typing import Any

import numpy as np
import torch

from mozaic_env.agents.policy.folders import BEST, CHECKPOINTS, FINAL

RESUME = "resume"
KEPT = 2
FORMAT = 2  # of what a state holds

State = dict[str, Any]


def write(folder: Path, number: int, state: State) -> None:
    """Writes a state; then the oldest go.

    Args:
        folder: of the run.
        number: of decisions so far.
        state: tensors and plain data.

    Raises:
        OSError: it can't be written; earlier ones are as they were.
    """
    folder = folder / RESUME
    folder.mkdir(exist_ok=True)
    file = folder / f"state-{number:012d}.pt"
    new = folder / f".{file.name}.new"  # one name, so that what a killed process leaves is overwritten
    try:
        with new.open("wb") as stream:
            _dump({"format": FORMAT, **state}, stream)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(new, file)
    finally:
        with contextlib.suppress(OSError):
            new.unlink(missing_ok=True)
    for old in _files(folder)[:-KEPT]:
        with contextlib.suppress(OSError):
            old.unlink()


def _dump(state: State, stream: Any) -> None:
    try:
        torch.save(state, stream)
    except RuntimeError as error:  # how torch reports a disk that is full
        raise OSError(f"it could not be written: {error}") from error


def read(folder: Path) -> State | None:
    """The latest state of a run that can be read, or None if it has kept nothing yet and begins anew.

    Raises:
        ValueError: there are some, and none can be read; or there is none, but checkpoints, which would be lost.
    """
    files = _files(folder / RESUME)
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
        raise ValueError(f"{folder / RESUME}: {files[-1].name} is damaged or of another version; train again")
    kept = [folder / FINAL, folder / BEST, *(folder / CHECKPOINTS).glob("step-*")]
    if any(path.exists() for path in kept):
        raise ValueError(
            f"{folder} has checkpoints, but no {RESUME}/ to go on from; they stay as they are: train in another folder"
        )
    return None


def _files(folder: Path) -> list[Path]:
    return sorted(folder.glob("state-*.pt"))


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
