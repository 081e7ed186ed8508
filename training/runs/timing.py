"""Where a run's wall time goes: torch, everything else, and what is no training; printed and noted at its end.

A part's time is what passes in its ``with clock.part(...)`` and in no part inside it. The parts:

    update        forward, backward and the optimizer's steps on minibatches
    policy        the learner's forward passes in the games
    opponents     those of its earlier selves that it plays against
    environment   rules, observations, advantages, and opponents but for their forward passes
    buffers       keeping the teacher's decisions, drawing minibatches of them
    teacher       waiting for the warm start's demonstrations
    league        earlier selves: taking over, drawing
    logging       metrics
    rest          all that is not named
    evaluation    matches on the way
    saving        checkpoints and states

On a GPU a call returns before its work is done; its time is counted where the results are waited for.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from rich.table import Table

TORCH = ("update", "policy", "opponents")
OTHER = ("environment", "buffers", "teacher", "league", "logging", "rest")
APART = ("evaluation", "saving")
WARM_START, SELF_PLAY = "warm_start", "self_play"

Parts = Mapping[str, float]


class Stopwatch:
    """Counts the seconds of one thread.

    Attributes:
        seconds: so far, for each phase those of its parts.
    """

    def __init__(self) -> None:
        """Stands still until a phase begins."""
        self.seconds: dict[str, dict[str, float]] = {}
        self._parts: dict[str, float] = {}
        self._inside: list[str] = []
        self._since = 0.0

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Counts what happens inside as a phase of the run; phases follow each other."""
        self._parts = self.seconds.setdefault(name, dict.fromkeys((*TORCH, *OTHER, *APART), 0.0))
        self._since = time.perf_counter()
        self._inside = ["rest"]
        try:
            yield
        finally:
            self._turn()
            self._inside = []

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Counts what happens inside as a part of the phase, if one lasts."""
        if not self._inside:
            yield
            return
        self._turn()
        self._inside.append(name)
        try:
            yield
        finally:
            self._turn()
            self._inside.pop()

    def _turn(self) -> None:
        now = time.perf_counter()
        self._parts[self._inside[-1]] += now - self._since
        self._since = now

    def facts(self) -> dict[str, Any]:
        """What run.json notes: seconds, and which share of training was not torch's."""
        seconds = {
            phase: {name: round(value, 3) for name, value in parts.items() if value}
            for phase, parts in self.seconds.items()
        }
        return {"seconds": seconds, "share_outside_torch": round(share_outside(together(self.seconds.values())), 4)}

    def table(self) -> Table:
        """Shares of the training time for each phase and altogether; evaluation and saving beside that."""
        columns = {**self.seconds, "altogether": together(self.seconds.values())}
        trained = [_sum(parts, TORCH + OTHER) for parts in columns.values()]
        table = Table(title="where the time went, % of what training took")
        table.add_column("part")
        for name in columns:
            table.add_column(name.replace("_", " "), justify="right")

        def row(label: str, *names: str, end_section: bool = False) -> None:
            shares = [_sum(parts, names) / (of or 1.0) for parts, of in zip(columns.values(), trained, strict=True)]
            table.add_row(label, *(f"{100 * share:.1f}" for share in shares), end_section=end_section)

        for group, label in ((TORCH, "torch"), (OTHER, "everything else")):
            for name in group:
                row(name, name)
            row(label, *group, end_section=True)
        for name in APART:
            row(f"besides: {name}", name)
        table.add_row("seconds of training", *(f"{seconds:,.1f}" for seconds in trained))
        return table


def share_outside(parts: Parts) -> float:
    """The share of the training time that was not torch's, evaluation and saving left out."""
    return _sum(parts, OTHER) / (_sum(parts, TORCH + OTHER) or 1.0)


def together(phases: Any) -> dict[str, float]:
    """The parts of all phases added up."""
    return {name: sum(parts[name] for parts in phases) for name in TORCH + OTHER + APART}


def _sum(parts: Parts, names: tuple[str, ...]) -> float:
    return sum(parts[name] for name in names)
