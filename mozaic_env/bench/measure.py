"""How speed is measured: many short repetitions, all cases in turn, so a busy moment of the machine hits all alike.

Where other programs took the processor away in the midst of a repetition, it says nothing of the case and is left out.
It shows: a thread that can have the processor uses as many seconds of it as pass.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

REPETITION = 0.002  # seconds; less than what a scheduler gives at once, so many are whole even on a busy machine
REPETITION_OF_THREADS = 0.02  # the system counts other threads' time in steps of milliseconds
WHOLE = 0.95  # of the processor time that its threads can use, or of what it usually gets: the 90th percentile
LEAST_REPETITIONS = 3
DECISIONS, MICROSECONDS, RATIO = "decisions/s", "µs a step", "ratio"

Progress = Callable[[float], None]  # called with the share that is done


def _nothing() -> None:
    pass


@dataclass(frozen=True)
class Case:
    """Something whose speed is measured.

    Attributes:
        name: what runs.
        produces: what each step gives, and what else its time includes.
        work: does some of it, best for a millisecond or so, and returns how many decisions that were.
        prepare: what has to happen before each `work`; not timed.
        unit: `DECISIONS` or `MICROSECONDS`.
        threads: how many work at least, if they can.
        shown: whether it gets a row; else it is only there for a ratio.
    """

    name: str
    produces: str
    work: Callable[[], float]
    prepare: Callable[[], None] = _nothing
    unit: str = DECISIONS
    threads: int = 1
    shown: bool = True


@dataclass(frozen=True)
class Ratio:
    """How many times as fast one case is as another, both by their names."""

    name: str
    fast: str
    slow: str


@dataclass(frozen=True)
class Row:
    """A figure.

    Attributes:
        group: the part of the benchmark.
        name: what was measured.
        value: the median; of a ratio: that of the medians.
        low: the smallest; of a ratio: in the thirds of the time.
        high: the largest.
        unit: of the three.
        repetitions: how many they are from.
        left_out: how many more were interrupted by other programs.
        cores: processor time in a second, which tells how many threads worked; None: not measured.
        produces: what each step gives.
    """

    group: str
    name: str
    value: float
    low: float
    high: float
    unit: str
    repetitions: int
    left_out: int
    cores: float | None
    produces: str

    def to_json(self) -> dict[str, Any]:
        """The row as JSON values."""
        return asdict(self)


def row_of(group: str, name: str, values: Sequence[float], unit: str, produces: str) -> Row:
    """A row of figures that were measured elsewhere."""
    return Row(group, name, float(np.median(values)), min(values), max(values), unit, len(values), 0, None, produces)


class _Samples:
    """What has been measured of a case."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self._repetitions: list[list[float]] = []  # what _run returns
        self._length = REPETITION if case.threads == 1 else REPETITION_OF_THREADS
        self._run()  # compiles
        self._is_short = self._run()[1] < self._length

    def _run(self) -> tuple[float, float, float]:
        """Decisions, seconds and processor seconds of one piece of work."""
        self.case.prepare()
        processor, start = time.process_time(), time.perf_counter()
        decisions = self.case.work()
        return decisions, time.perf_counter() - start, time.process_time() - processor

    def repeat(self) -> None:
        if self._is_short:
            self._run()  # not counted: brings the case's data back into the processor's caches
        total = np.zeros(3)
        while total[1] < self._length:
            total += self._run()
        self._repetitions.append(total.tolist())

    @property
    def seconds(self) -> float:
        """How long all repetitions took."""
        return sum(seconds for _, seconds, _ in self._repetitions)

    def is_done(self, seconds: float) -> bool:
        return self.seconds >= seconds and len(self._repetitions) >= LEAST_REPETITIONS

    def _whole(self) -> npt.NDArray[np.float64]:
        """The repetitions that were not interrupted, shape (n, 3)."""
        all_ = np.array(self._repetitions)
        cores = all_[:, 2] / all_[:, 1]
        return all_[cores >= WHOLE * min(self.case.threads, np.quantile(cores, 0.9))]

    def rates(self) -> npt.NDArray[np.float64]:
        """Decisions a second in each repetition that was not interrupted."""
        decisions, seconds, _ = self._whole().T
        return decisions / seconds

    def row(self, group: str) -> Row:
        case, values = self.case, self.rates()
        if case.unit == MICROSECONDS:
            values = 1e6 / values
        _, seconds, processor = self._whole().sum(axis=0)
        return replace(
            row_of(group, case.name, values.tolist(), case.unit, case.produces),
            left_out=len(self._repetitions) - len(values),
            cores=float(processor / seconds),
        )


def measure(
    group: str, cases: Sequence[Case], ratios: Sequence[Ratio], seconds: float, progress: Progress
) -> list[Row]:
    """The rows of some cases that take turns, and the ratios between them.

    Args:
        group: the rows' group.
        cases: of different names; each runs before it is timed.
        ratios: between cases.
        seconds: to be spent on each case.
        progress: called with the share that is done.
    """
    samples = {case.name: _Samples(case) for case in cases}
    if len(samples) < len(cases):
        raise ValueError(f"two cases have the same name: {[case.name for case in cases]}")
    while True:
        waiting = [sample for sample in samples.values() if not sample.is_done(seconds)]
        if not waiting:
            break
        for sample in waiting:
            sample.repeat()
        progress(sum(min(sample.seconds / seconds, 1) for sample in samples.values()) / len(samples))
    rows = [sample.row(group) for sample in samples.values() if sample.case.shown]
    return rows + [_ratio_row(group, ratio, samples) for ratio in ratios]


def _ratio_row(group: str, ratio: Ratio, samples: dict[str, _Samples]) -> Row:
    fast, slow = samples[ratio.fast].rates(), samples[ratio.slow].rates()
    parts = min(3, len(fast), len(slow))
    thirds = [
        float(np.median(some) / np.median(others))
        for some, others in zip(np.array_split(fast, parts), np.array_split(slow, parts), strict=True)
    ]
    value = float(np.median(fast) / np.median(slow))
    return Row(
        group=group,
        name=ratio.name,
        value=value,
        low=min(*thirds, value),
        high=max(*thirds, value),
        unit=RATIO,
        repetitions=min(len(fast), len(slow)),
        left_out=0,
        cores=None,
        produces=f"{ratio.fast} / {ratio.slow}",
    )
