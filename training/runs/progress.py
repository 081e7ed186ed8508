"""What is shown of a run while it goes on."""

import sys
import time
from collections.abc import Iterator, Mapping

from rich.console import RenderableType
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
from rich.text import Text

from mozaic_env.arena.report.console import make_console
from training.runs.budget import Budget

ARGMAX, SAMPLED = "argmax", "sampled"  # how the learner chose its moves where a score is from
LINE_SECONDS = 15  # between two lines of progress where there is no terminal


class _Bar(Progress):
    """A bar with text below it, which breaks between words where the bar's line would be cut."""

    below = ""

    def get_renderables(self) -> Iterator[RenderableType]:
        yield from super().get_renderables()
        if self.below:
            yield Text(self.below)


class ProgressBar:
    """How far the run is and how long it will take: a bar on a terminal, elsewhere a line now and then; a context."""

    def __init__(self, budget: Budget, what: str = "training") -> None:
        """Decides which of the two, and says what is under way."""
        self._budget, self._what, self._last = budget, what, 0.0
        self._bar: _Bar | None = None
        if sys.stderr.isatty():
            self._bar = _Bar(
                TextColumn(what),
                BarColumn(bar_width=20),
                TaskProgressColumn(),
                TextColumn("{task.fields[text]}"),
                console=make_console(stderr=True),
            )
            self._task = self._bar.add_task(what, total=1.0, text="")

    def __enter__(self) -> "ProgressBar":
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def show(self, steps: int, scores: Mapping[str, Mapping[str, float]]) -> None:
        """Brings it up to date.

        Args:
            steps: so far.
            scores: shares by their names, for each way in which they were measured.
        """
        now = time.monotonic()
        if now - self._last < (0.2 if self._bar else LINE_SECONDS):
            return
        used, elapsed = self._budget.used(steps), self._budget.elapsed
        left = _clock(elapsed / used - elapsed) if used > 0.01 else "?"
        text = f"{steps:,} steps, {steps / max(elapsed, 1e-9):,.0f}/s, {left} left"
        below = "; ".join(
            f"{way}: " + ", ".join(f"{name} {share:.0%}" for name, share in sorted(shares.items()))
            for way, shares in scores.items()
            if shares
        )
        if self._bar is not None:
            self._bar.below = below
            self._bar.update(self._task, completed=used, text=text)
        elif self._last:
            line = f"{self._what} {used:4.0%} {text}" + (f"; {below}" if below else "")
            print(line, file=sys.stderr, flush=True)
        self._last = now


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"
