"""Games shared out among threads: the same results as on one, whoever takes which part."""

import os
import threading
import time
import weakref
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import mozaic_env  # noqa: F401  (registers the environments)
from mozaic_env.core.jit import jit
from mozaic_env.simulation.thread_pool import (
    NO_ORDER,
    NOTES,
    OPEN,
    SUM,
    Crew,
    Work,
    address_of,
    all_done,
    announce,
    array_at,
    crew,
    make_desk,
    part_done,
    take_part,
)

GAMES = 3100  # enough for three threads, and not a multiple of the parts


def steps(threads: int, mode: str, opponent: str | None, count: int) -> list[Any]:
    envs = gym.make_vec(
        "mozaic_env:Mozaic-v0", num_envs=GAMES, threads=threads, opponent=opponent, autoreset_mode=mode, rows=4, cols=4
    )
    envs.reset(seed=5)
    seen = []
    for _ in range(count):
        observation, rewards, terminated, truncated, infos = envs.step(envs.unwrapped.sample_actions())
        seen.append([*observation.values(), rewards, terminated, truncated, infos["action_mask"], infos["seat"]])
        if mode == "Disabled" and (terminated | truncated).any():
            envs.reset(options={"reset_mask": terminated | truncated})
    return seen


@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
@pytest.mark.parametrize("opponent", [None, "pattern"])
def test_results_do_not_depend_on_threads(mode: str, opponent: str | None) -> None:
    for alone, shared in zip(steps(1, mode, opponent, 40), steps(3, mode, opponent, 40), strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(alone, shared, strict=True))


def test_refused_actions_are_named_and_nothing_moves() -> None:
    envs = gym.make_vec("mozaic_env:Mozaic-v0", num_envs=GAMES, threads=2, opponent=None, illegal="raise").unwrapped
    envs.reset(seed=0)
    actions, before = envs.sample_actions(), envs.states
    actions[700] = 383
    with pytest.raises(ValueError, match="index 700"):
        envs.step(actions)
    assert np.array_equal(envs.states, before)


@jit
def mark(worker: int, looks: int, order: int, desk: Any, marks: Any) -> int:
    """Adds the order to the mark of each part; parts give 1 each."""
    if order != NO_ORDER:
        desk[NOTES, 0], desk[NOTES, 1] = order, address_of(marks)
        announce(desk)
    idle = 0
    while idle < looks:
        part = take_part(desk, worker)
        if part < 0:
            if worker == 0 and all_done(desk):
                return desk[SUM, 0]
            idle += 1
            continue
        idle = 0
        array_at(desk[NOTES, 1], marks)[part] += desk[NOTES, 0]
        part_done(desk, 1)
    return OPEN


def marking(workers: int, parts: int) -> tuple[Work, Any]:
    """Work on the marks of so many workers' parts."""
    desk, marks = make_desk(workers, parts), np.zeros(workers * parts, np.int64)
    return Work(mark, desk, marks), marks


def test_every_part_is_done_once() -> None:
    workers, (work, marks) = Crew(3), marking(3, 20)
    for order in range(500):
        assert workers.run(work, order, *work.arguments) == 60
    assert np.all(marks == sum(range(500)))


def test_each_order_says_where_its_arrays_are() -> None:
    workers, (work, first) = Crew(2), marking(2, 8)
    for _ in range(200):
        marks = np.zeros_like(first)
        workers.run(work, 5, work.arguments[0], marks)
        assert np.all(marks == 5)
    assert not first.any()


def test_callers_on_several_threads_take_turns() -> None:
    works = [marking(2, 8) for _ in range(4)]
    callers = [
        threading.Thread(target=lambda w=work: [crew(2).run(w, 1, *w.arguments) for _ in range(100)])
        for work, _ in works
    ]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert all(np.all(marks == 100) for _, marks in works)


def test_sleeping_threads_wake_up_again() -> None:
    workers, (work, marks) = Crew(2), marking(2, 4)
    for _ in range(5):
        workers.run(work, 1, *work.arguments)
        time.sleep(0.02)
    assert np.all(marks == 5)


def test_who_waits_keeps_nothing_alive() -> None:
    workers, (work, marks) = Crew(2), marking(2, 4)
    workers.run(work, 1, *work.arguments)
    reference = weakref.ref(marks)
    del work, marks
    deadline = time.monotonic() + 30
    while reference() is not None and time.monotonic() < deadline:
        time.sleep(0.01)
    assert reference() is None


def test_an_interruption_waits_until_all_parts_are_done(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C while another thread has a part: the arrays may be gone once the call has returned."""
    desk, marks, interrupted = make_desk(2, 1), np.zeros(2, np.int64), []
    work = Work(mark, desk, marks)

    def interrupt() -> None:
        if not interrupted:
            interrupted.append(True)
            raise KeyboardInterrupt

    calls = []

    def slow(worker: int, looks: int, order: int, *arguments: Any) -> int:
        calls.append(order)
        result: int = mark(worker, looks, order, *arguments)
        return OPEN if len(calls) < 3 else result  # as if another thread were still at it

    monkeypatch.setattr("mozaic_env.simulation.thread_pool._yield", interrupt)
    work.function = slow
    with pytest.raises(KeyboardInterrupt):
        Crew(1).run(work, 1, *work.arguments)
    assert calls == [1, NO_ORDER, NO_ORDER]
    assert np.all(marks == 1)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_can_step_with_threads() -> None:
    work, marks = marking(2, 2)
    crew(2).run(work, 1, *work.arguments)
    child = os.fork()
    if child == 0:
        crew(2).run(work, 1, *work.arguments)
        os._exit(0 if np.all(marks == 2) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_other_opponents_hold_for_all_threads() -> None:
    """Whoever still looks for the next step with the opponents of before must not do any of it."""
    seen = []
    for threads in (1, 2):
        envs = gym.make_vec("mozaic_env:Mozaic-v0", num_envs=GAMES, threads=threads, rows=4, cols=4).unwrapped
        envs.reset(seed=1)
        for opponents in (["random"], ["greedy", "random"], ["pattern"]):
            envs.set_opponents(opponents)
            envs.reset(seed=2)
            for _ in range(5):
                observation, rewards, *_ = envs.step(envs.sample_actions())
                seen.append((threads, observation["board"], rewards))
    half = len(seen) // 2
    for alone, shared in zip(seen[:half], seen[half:], strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(alone[1:], shared[1:], strict=True))
