"""When a run ends: its steps, its minutes, or a signal; looked at where stopping does no harm."""

import signal
import time
from types import FrameType


class Stopped(Exception):  # noqa: N818 - not an error
    """Training is to end here and now; the message says why."""


class Budget:
    """Steps and wall-clock time, and requests to stop before they are used up.

    The first SIGINT (Ctrl-C) or SIGTERM asks the run to stop at the next safe place; another SIGINT interrupts at once.
    """

    def __init__(self, steps: int, minutes: float | None) -> None:
        """Sets the limits; the clock starts with `start`."""
        self.steps, self.seconds = steps, None if minutes is None else 60 * minutes
        self.signal: signal.Signals | None = None
        self._began = time.monotonic()

    def start(self) -> None:
        """Starts the clock and takes over the signals."""
        self._began = time.monotonic()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._asked)

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
        if self.signal is not None:
            raise Stopped(f"stopped by {self.signal.name}")
        if self.seconds is not None and self.elapsed >= self.seconds:
            raise Stopped("the minutes are used up")
