import pytest

from training.runs import timing
from training.runs.timing import Stopwatch, share_outside, together


class Clock:
    """Time that passes as told."""

    def __init__(self, monkeypatch):
        self.now = 0.0
        monkeypatch.setattr(timing.time, "perf_counter", lambda: self.now)

    def work(self, seconds):
        self.now += seconds


def test_time_counts_where_it_passes_and_nowhere_twice(monkeypatch):
    clock, watch = Clock(monkeypatch), Stopwatch()

    def outer():
        with watch.part("environment"):
            clock.work(2)
            with watch.part("opponents"):
                clock.work(3)
            clock.work(2)

    outer()  # before any phase
    with watch.phase("warm_start"):
        clock.work(1)
        outer()
    clock.work(100)
    with watch.phase("self_play"), watch.part("opponents"):
        clock.work(4)
    parts = watch.seconds["warm_start"]
    assert {name: value for name, value in parts.items() if value} == {"rest": 1, "environment": 4, "opponents": 3}
    assert {name: value for name, value in watch.seconds["self_play"].items() if value} == {"opponents": 4}
    assert share_outside(parts) == pytest.approx(5 / 8)
    assert share_outside(together(watch.seconds.values())) == pytest.approx(5 / 12)


def test_an_error_inside_a_part_leaves_it(monkeypatch):
    clock, watch = Clock(monkeypatch), Stopwatch()

    def fail():
        with watch.part("update"):
            clock.work(1)
            raise ValueError

    with watch.phase("self_play"):
        with pytest.raises(ValueError):  # noqa: PT011
            fail()
        clock.work(2)
    assert watch.seconds["self_play"]["update"] == 1
    assert watch.seconds["self_play"]["rest"] == 2


def test_matches_and_saving_are_not_training():
    parts = dict.fromkeys((*timing.TORCH, *timing.OTHER, *timing.APART), 0.0)
    parts |= {"update": 9.0, "buffers": 1.0, "evaluation": 90.0, "saving": 5.0}
    assert share_outside(parts) == pytest.approx(0.1)
    assert share_outside(dict.fromkeys(parts, 0.0)) == 0
