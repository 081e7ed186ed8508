"""A run's folder: what was asked for, what happened, and what came of it.

config.yaml      the whole configuration, defaults included
run.json         status, command, seed, versions, times, steps; after a failure what went wrong
metrics.jsonl    one line of numbers for each update, the same as in tensorboard/; see `training.runs.metrics`
checkpoints/     step-N/, as training went on: the latest, and of the older ones some, evenly spread
resume/          what a run needs to go on; see `training.runs.state`
best/            the strongest checkpoint, where matches are played on the way; see `training.evaluation`
final/           the last checkpoint, written when training ends, however it ends
.lock            held by the process that trains; the system lets it go with the process, however that ends
curves.svg       strength over time, where matches are played on the way
evaluation.json  the matches at the end, and those of `mozaic evaluate` after it
"""

import json
import os
import platform
import shutil
import sys
import traceback
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from mozaic_env.agents.policy.checkpoint import versions
from mozaic_env.agents.policy.folders import CHECKPOINTS
from mozaic_env.agents.policy.thinning import superfluous
from mozaic_env.cli.parser import INTERRUPTED as INTERRUPTED_AT_ONCE
from mozaic_env.core.text.files import read_text
from training.command import shell_command
from training.config import RunConfig, as_yaml

CONFIG, RUN, METRICS, LOCK = "config.yaml", "run.json", "metrics.jsonl", ".lock"
RUNNING, FINISHED, INTERRUPTED, FAILED = "running", "finished", "interrupted", "failed"
BUSY = "is in use: another process trains in it; wait for its end, or choose another folder"
LATEST = 5  # checkpoints along the way that stay whatever their age
OLDER = 10  # of those before; of more the one goes that is closest to its neighbours


def write_atomically(file: Path, text: str) -> None:
    """Writes a text file, whole or not at all."""
    new = file.with_name(f".{file.name}.new-{os.getpid()}")
    try:
        new.write_text(text, "utf-8")
        os.replace(new, file)
    finally:
        new.unlink(missing_ok=True)


def locked(folder: Path, busy: str) -> FileLock:
    """The lock of a folder, held.

    Args:
        folder: of a run or a study.
        busy: what to say of the folder where another process has it.

    Raises:
        ValueError: another process has it, or nothing can be written there.
    """
    lock = FileLock(folder / LOCK, timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise ValueError(f"{folder} {busy}") from None
    except OSError as error:
        raise ValueError(f"folder {folder} can't be written: {error.strerror}") from None
    return lock


class RunFolder:
    """The folder of a run under way, which no other process can train in meanwhile."""

    def __init__(self, path: Path, config: RunConfig, *, overwrite: bool = False) -> None:
        """Makes the folder.

        Raises:
            ValueError: it exists and is not to be overwritten, is no run, is being trained in, or can't be made.
        """
        self.path = path
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            is_run = (path / RUN).is_file()
            if not overwrite:
                raise ValueError(
                    f"{path} exists; choose another --run-dir"
                    + (", or --overwrite to replace this run" if is_run else "")
                )
            if not is_run:
                raise ValueError(
                    f"{path} is no run (it has no {RUN}), so it is not overwritten; choose another --run-dir"
                )
            with locked(path, BUSY):
                try:
                    shutil.rmtree(path)
                except OSError as error:
                    raise ValueError(f"{path} can't be replaced: {error.strerror}; choose another --run-dir") from None
        try:
            (path / CHECKPOINTS).mkdir(parents=True)
        except OSError as error:
            raise ValueError(f"run folder {path} can't be made: {error.strerror}; choose another --run-dir") from None
        self._lock = locked(path, BUSY)
        self._facts: dict[str, Any] = {
            "status": RUNNING,
            "command": _command(),
            "seed": config.seed,
            "started": _now(),
            "versions": versions(),
            "machine": {"system": platform.system(), "processor": platform.machine(), "cores": os.cpu_count()},
        }
        write_atomically(path / CONFIG, as_yaml(config))
        self.note()

    @classmethod
    def resume(cls, path: Path, config: RunConfig) -> "RunFolder":
        """The folder of a run that goes on.

        Raises:
            ValueError: its notes are damaged, another process trains in it, or nothing can be written there.
        """
        folder = cls.__new__(cls)
        folder.path, folder._lock = path, locked(path, BUSY)
        if (path / METRICS).exists() and not (path / METRICS).is_file():
            raise ValueError(f"{path / METRICS} is no file; move it away, and the run can go on")
        try:
            folder._facts = json.loads(read_text(path / RUN))
            earlier = [*folder._facts.get("resumed", [])]
        except (OSError, ValueError, AttributeError) as error:
            raise ValueError(f"{path / RUN} can't be read: {error}") from None
        for ending in ("ended", "error", "traceback"):
            folder._facts.pop(ending, None)
        earlier.append({"started": _now(), "command": _command(), "versions": versions()})
        try:
            (path / CHECKPOINTS).mkdir(exist_ok=True)
            folder.note(status=RUNNING, resumed=earlier)
            write_atomically(path / CONFIG, as_yaml(config))
        except OSError as error:
            raise ValueError(f"run folder {path} can't be written: {error.strerror}") from None
        return folder

    def release(self) -> None:
        """Lets other processes train in the folder."""
        self._lock.release()

    def resume_command(self, module: str) -> str:
        """The line that goes on with the run, given the module that trains."""
        return shell_command(module, "--resume", str(self.path))

    def note(self, **facts: Any) -> None:
        """Adds facts to run.json."""
        self._facts.update(facts)
        write_atomically(self.path / RUN, json.dumps(self._facts, indent=1) + "\n")

    def end(self, status: str, **facts: Any) -> None:
        """Notes how the run ended."""
        self.note(status=status, ended=_now(), **facts)

    def fail(self, error: BaseException) -> None:
        """Notes what went wrong, as far as the disk still takes it."""
        try:
            self.end(FAILED, error=f"{type(error).__name__}: {error}", traceback=traceback.format_exc().splitlines())
        except OSError as second:
            print(f"{self.path / RUN} can't be written: {second}", file=sys.stderr)

    def tell_failure(self, error: BaseException, module: str) -> int:
        """Notes and prints what ended the run too early; returns the exit status.

        Args:
            error: that came out of the training.
            module: that trains.
        """
        self.fail(error)
        if isinstance(error, KeyboardInterrupt):
            print(f"interrupted at once. To go on: {self.resume_command(module)}", file=sys.stderr)
            return INTERRUPTED_AT_ONCE
        print(f"error: the run failed: {error!r}; {self.path / RUN} has the details", file=sys.stderr)
        return 1

    def thin(self) -> None:
        """Of the checkpoints along the way keeps the latest, the first, and some between, evenly spread."""
        older = sorted((self.path / CHECKPOINTS).glob("step-*"))[:-LATEST]
        while len(older) > OLDER:
            gone = older.pop(superfluous([int(path.name.partition("-")[2]) for path in older]))
            shutil.rmtree(gone, ignore_errors=True)


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


def _command() -> list[str]:
    spec = getattr(sys.modules["__main__"], "__spec__", None)
    return [Path(sys.executable).name, "-m", spec.name if spec else "training.train", *sys.argv[1:]]
