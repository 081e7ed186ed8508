"""A training run's folder as numbers to show, read while it is being written.

Whatever is missing, cut off or damaged is left out; the next reading may have it. The names of the metrics are in
`training/runs/metrics.py`, `training/evaluation.py` and `training/imitation/imitation.py`.
"""

import json
import math
import os
from array import array
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mozaic_env.agents.policy.folders import BEST, CARD, CHECKPOINTS, FINAL, WEIGHTS
from mozaic_env.arena.evaluate import EVALUATION_FILE
from mozaic_env.core.text.files import read_text, user_path

RUN, METRICS = "run.json", "metrics.jsonl"
LARGEST_FILE = 32 * 1024 * 1024  # bytes of a JSON file that is read as a whole
LARGEST_PIECE = 16 * 1024 * 1024  # bytes of the metrics that are read at once

Json = dict[str, Any]


@dataclass
class Series:
    """One metric: `y` over `x`, the decisions trained on until then."""

    x: "array[float]" = field(default_factory=lambda: array("d"))
    y: "array[float]" = field(default_factory=lambda: array("d"))


class Metrics:
    """The numbers of ``metrics.jsonl``; reads only what has been added since the last time.

    Attributes:
        series: by the metric's name.
        warm_start: decisions of the warm start; 0 without one.
        decisions: trained on so far, those of the warm start included.
        damaged: lines that are not what they should be.
    """

    def __init__(self, path: Path) -> None:
        """Reads nothing yet.

        Args:
            path: of the file.
        """
        self._path = path
        self._forget()

    def _forget(self) -> None:
        self.series: dict[str, Series] = defaultdict(Series)
        self.warm_start, self.decisions, self.damaged = 0.0, 0.0, 0
        self._place = 0  # in the file, behind the last whole line
        self._file: tuple[int, int] | None = None  # which one it was

    def read(self) -> None:
        """Takes in the lines that are new. A file that has taken the place of the old one is read from its start."""
        try:
            with self._path.open("rb") as file:
                state = os.fstat(file.fileno())
                which = (state.st_dev, state.st_ino)
                if which != self._file or state.st_size < self._place:
                    self._forget()
                    self._file = which
                while self._read_piece(file):
                    pass
        except OSError:  # not there yet, or not any more
            return

    def _read_piece(self, file: Any) -> bool:
        """Takes in some whole lines; returns whether there may be more. One that is still being written waits."""
        file.seek(self._place)
        piece = file.read(LARGEST_PIECE)
        whole, newline, rest = piece.rpartition(b"\n")
        if not newline:
            if len(piece) == LARGEST_PIECE:  # no line of numbers is that long
                self._place += len(piece)
                self.damaged += 1
                return True
            return False
        self._place += len(piece) - len(rest)
        for line in whole.split(b"\n"):
            if line.strip():
                self._take(line)
        return len(piece) == LARGEST_PIECE

    def _take(self, line: bytes) -> None:
        try:
            numbers = json.loads(line)
        except (ValueError, RecursionError):
            self.damaged += 1
            return
        if not isinstance(numbers, dict):
            self.damaged += 1
            return
        numbers = {key: float(value) for key, value in numbers.items() if _is_number(value)}
        if "warm_start/decisions" in numbers:
            self.warm_start = numbers["warm_start/decisions"]
        steps = numbers.get("time/steps", numbers.get("time/total_timesteps", 0.0))
        self.decisions = max(self.decisions, self.warm_start + steps)
        for key, value in numbers.items():
            x = numbers.get("evaluation/decisions") if key.startswith("evaluation/") else None
            series = self.series[key]
            series.x.append(self.decisions if x is None else x)
            series.y.append(value)

    def get(self, name: str) -> list[tuple[float, float]]:
        """The (x, y) of a metric; none where it has not been noted."""
        series = self.series.get(name)
        return [] if series is None else list(zip(series.x, series.y, strict=True))

    def last(self, name: str) -> float | None:
        """After how many decisions a metric was noted last."""
        series = self.series.get(name)
        return series.x[-1] if series is not None and series.x else None

    def names(self, begin: str, end: str) -> list[str]:
        """The parts between `begin` and `end` of metric names, in order of appearance."""
        return [
            key[len(begin) : -len(end)]
            for key in self.series
            if key.startswith(begin) and key.endswith(end) and len(key) > len(begin) + len(end)
        ]


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value)


@dataclass(frozen=True)
class Found:
    """A checkpoint of the run.

    Attributes:
        folder: that holds it.
        card: its card.
        key: changes when other weights are written there.
    """

    folder: Path
    card: Json
    key: str

    @property
    def decisions(self) -> float:
        """Decisions trained on until then."""
        steps: Any = self.card.get("steps")
        return float(steps) if _is_number(steps) else 0.0


class RunFolder:
    """A run to look at."""

    def __init__(self, path: str | Path) -> None:
        """Takes the folder of a run, running, finished or broken off.

        Raises:
            ValueError: it is no run.
        """
        self.path = user_path(path)
        if not self.path.is_dir():
            what = "is a file" if self.path.exists() else "does not exist"
            raise ValueError(f"{path} {what}; accepted: the folder of a training run, such as runs/quick")
        if not any((self.path / name).is_file() for name in (RUN, METRICS)):
            raise ValueError(f"{path} is no training run: it has neither {RUN} nor {METRICS}")
        self.name = self.path.resolve().name
        self.metrics = Metrics(self.path / METRICS)

    def facts(self) -> Json:
        """What is noted of the run itself: status, seed, times; empty if that cannot be read."""
        found = read_json(self.path / RUN)
        return found if isinstance(found, dict) else {}

    def evaluations(self) -> list[Json]:
        """The matches at the end of the run and after it, the latest last."""
        found = read_json(self.path / EVALUATION_FILE)
        return [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []

    def modified(self) -> float | None:
        """When a number was noted last, in seconds since the epoch."""
        try:
            return (self.path / METRICS).stat().st_mtime
        except OSError:
            return None

    def best(self) -> Found | None:
        """The strongest checkpoint, where matches are played on the way."""
        return _checkpoint(self.path / BEST)

    def latest(self) -> Found | None:
        """The checkpoint trained on most decisions."""
        found = [one for folder in self._folders() if (one := _checkpoint(folder)) is not None]
        return max(found, key=lambda one: one.decisions, default=None)

    def _folders(self) -> Iterator[Path]:
        yield self.path / FINAL
        yield self.path / BEST
        try:
            steps = sorted(path for path in (self.path / CHECKPOINTS).iterdir() if not path.name.startswith("."))
        except OSError:
            return
        yield from steps[-3:]  # the latest may be gone or unfinished when it is looked at


def _checkpoint(folder: Path) -> Found | None:
    card = read_json(folder / CARD)
    if not isinstance(card, dict) or not (folder / WEIGHTS).is_file():
        return None
    weights = card.get("weights")
    return Found(folder, card, str(weights.get("sha256")) if isinstance(weights, dict) else str(folder))


def read_json(path: Path) -> Any:
    """What a JSON file holds; None where it is missing, unfinished, damaged or too long."""
    try:
        if path.stat().st_size > LARGEST_FILE:
            return None
        return json.loads(read_text(path))
    except (OSError, ValueError, RecursionError):
        return None
