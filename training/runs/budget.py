"""When a run ends: its steps, its minutes, or a signal; looked at where stopping does no harm."""

import signal
import time
from types import FrameType
from typing import Any


class Stopped(Exception):
    """Training is to end here and now; the message says why."""


class Budget:
    """Steps and wall-clock time, and requests to stop before they are used up.

    As a context it takes the signals over: the first SIGINT (Ctrl-C) or SIGTERM asks the run to
    stop at the next safe place, another SIGINT interrupts at once.

    Attributes:
        steps: the learner's decisions.
        seconds: of wall-clock time, or None.
        signal: what asked the run to stop, or None.
    """

    def __init__(self, steps: int, minutes: float | None) -> None:
        """Sets the limits; the clock starts now and again with `start`."""
        self.steps = steps
        self.seconds = None if minutes is None else 60 * minutes
        self.signal: signal.Signals | None = None
        self._before: dict[signal.Signals, Any] = {}
        self.start()

    def start(self, elapsed: float = 0.0) -> None:
        """Starts the clock, with so many seconds on it already."""
        self._began = time.monotonic() - elapsed

    def __enter__(self) -> "Budget":
        for number in (signal.SIGINT, signal.SIGTERM):
            self._before[number] = signal.signal(number, self._asked)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _asked(self, number: int, frame: FrameType | None) -> None:
        self.signal = signal.Signals(number)
        signal.signal(signal.SIGINT, signal.default_int_handler)

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._began

    def used(self, steps: int) -> float:
        """Which part of the budget is gone after so many steps, 0 to 1."""
        used = steps / self.steps
        if self.seconds is not None:
            used = max(used, self.elapsed / self.seconds)
        return min(used, 1.0)

    def check(self) -> None:
        """Raises `Stopped` when a signal has come or the time is up."""
        self.check_signal()
        if self.seconds is not None and self.elapsed >= self.seconds:
            raise Stopped("the minutes are used up")

    def check_signal(self) -> None:
        """Raises `Stopped` when a signal has come."""
        if self.signal is not None:
            raise Stopped(self.how_stopped())

    def how_stopped(self) -> str:
        """What to say after a signal."""
        return "" if self.signal is None else f"stopped by {self.signal.name}; what was learnt is kept"
