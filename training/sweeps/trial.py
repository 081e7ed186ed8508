"""One trial of a sweep: `training.train`, ended in good order when whoever started it is gone; and what came of it.

Whoever starts it holds the other end of its standard input and never writes there.
"""

import contextlib
import json
import os
import signal
import threading
from pathlib import Path

from mozaic_env.arena.evaluate import read_evaluations
from mozaic_env.core.text.files import read_text
from training.command import run_script
from training.config import Config
from training.curves import Measurement, read_curves
from training.runs.folder import FINISHED, RUN
from training.train import main


def end_with_starter() -> None:
    """Waits for the other end of standard input to be closed, then asks this process to stop."""
    os.read(0, 1)  # not through sys.stdin, whose lock this thread would hold while the process ends
    os.kill(os.getpid(), signal.SIGTERM)


def measured(folder: Path, opponent: str) -> list[Measurement]:
    """The matches on the way so far, or none if they can't be read just now."""
    with contextlib.suppress(ValueError):
        return read_curves(folder).get(opponent, [])
    return []


def used(config: Config, measurement: Measurement) -> float:
    """Which part of its training a run had behind it when it was measured, 0 to 1 and a little more."""
    warm = config.warm_start if config.warm_start.teacher is not None else None
    part = measurement.decisions / (config.steps + (warm.decisions if warm else 0))
    if config.minutes is not None and (warm is None or warm.minutes is not None) and measurement.minutes is not None:
        minutes = config.minutes + ((warm.minutes or 0.0) if warm else 0.0)
        part = max(part, measurement.minutes / minutes)
    return part


def is_finished(folder: Path) -> bool:
    """Whether a run came to its end by itself."""
    try:
        status: str = json.loads(read_text(folder / RUN))["status"]
    except (OSError, ValueError, KeyError):
        return False
    return status == FINISHED


def result(folder: Path, opponent: str) -> tuple[float, float, float]:
    """Points of a finished run against the last of its evaluation opponents, and the ends of their 95% interval.

    Raises:
        ValueError: there was no match.
    """
    evaluations = read_evaluations(folder)
    if evaluations:
        last = evaluations[-1]["results"][-1]
        return last["points"], *last["interval"]
    matches = measured(folder, opponent)
    if not matches:
        raise ValueError("no match was played; a longer trial may help")
    return matches[-1].points, matches[-1].low, matches[-1].high


def last_line(log: Path) -> str:
    """The last thing that a trial said."""
    lines = [line for line in log.read_text("utf-8", errors="replace").splitlines() if line.strip()]
    return lines[-1].removeprefix("error: ") if lines else ""


if __name__ == "__main__":
    threading.Thread(target=end_with_starter, daemon=True).start()
    run_script(main)
