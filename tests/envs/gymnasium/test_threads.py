"""Games shared out among threads: the same results as on one, whoever takes which part."""

import copy
import os
import pickle
import threading
import time
import weakref
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import mozaic_env  # noqa: F401  (registers the environments)
from mozaic_env.simulation import batch, threads
from mozaic_env.simulation.threads import call_in_threads

GAMES = 3100  # enough for three threads, and not a multiple of the parts


@pytest.fixture(autouse=True)
def share_all_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Quick work is shared as well, with as few games as here."""
    monkeypatch.setattr(batch, "LEAST_QUICK_GAMES", batch.LEAST_GAMES)


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


def count_up(marks: Any, number: int, seconds: float) -> int:
    time.sleep(seconds)
    marks[number] += 1
    return number


def test_every_call_is_made_once_and_results_keep_their_order() -> None:
    marks = np.zeros(20, np.int64)
    calls = [(marks, number, 0.002 * (number % 3)) for number in range(20)]
    for _ in range(5):
        assert call_in_threads(count_up, calls) == list(range(20))
    assert np.all(marks == 5)


def test_callers_on_several_threads_do_not_disturb_each_other() -> None:
    marks = np.zeros((4, 2), np.int64)
    calls = [[(row, number, 0.0) for number in range(2)] for row in marks]
    callers = [
        threading.Thread(target=lambda c=one: [call_in_threads(count_up, c) for _ in range(100)]) for one in calls
    ]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert np.all(marks == 100)


def test_what_a_call_raises_is_raised_when_all_are_done() -> None:
    marks = np.zeros(2, np.int64)
    with pytest.raises(IndexError):
        call_in_threads(count_up, [(marks, 5, 0.0), (marks, 1, 0.05)])
    assert marks.tolist() == [0, 1]


def test_who_waits_keeps_nothing_alive() -> None:
    marks = np.zeros(2, np.int64)
    call_in_threads(count_up, [(marks, 0, 0.0), (marks, 1, 0.0)])
    reference = weakref.ref(marks)
    del marks
    deadline = time.monotonic() + 30
    while reference() is not None and time.monotonic() < deadline:
        time.sleep(0.01)
    assert reference() is None


@pytest.mark.parametrize("when", ["submit", "wait"])
def test_an_interruption_waits_until_all_calls_are_made(monkeypatch: pytest.MonkeyPatch, when: str) -> None:
    """Ctrl-C while another thread is at it: the arrays may be gone once the call has returned."""
    marks, interrupted = np.zeros(2, np.int64), []

    def interrupt_once(method: Any) -> Any:
        def call(*arguments: Any) -> Any:
            if len(interrupted) < 1:
                interrupted.append(True)
                raise KeyboardInterrupt
            return method(*arguments)

        return call

    pool = threads._pool(2, os.getpid())
    if when == "submit":
        monkeypatch.setattr(pool, "submit", interrupt_once(pool.submit))
    else:
        monkeypatch.setattr(threading.Event, "wait", interrupt_once(threading.Event.wait))
    with pytest.raises(KeyboardInterrupt):
        call_in_threads(count_up, [(marks, 0, 0.05), (marks, 1, 0.05)])
    assert marks.tolist() == [1, 1]
    monkeypatch.undo()
    assert call_in_threads(count_up, [(marks, 0, 0.0), (marks, 1, 0.0)]) == [0, 1]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_can_use_threads() -> None:
    marks = np.zeros(2, np.int64)
    call_in_threads(count_up, [(marks, 0, 0.0), (marks, 1, 0.0)])
    child = os.fork()
    if child == 0:
        call_in_threads(count_up, [(marks, 0, 0.0), (marks, 1, 0.0)])
        os._exit(0 if np.all(marks == 2) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.parametrize("way", [copy.deepcopy, lambda envs: pickle.loads(pickle.dumps(envs))], ids=["copy", "pickle"])
def test_copies_go_on_alone(way: Any) -> None:
    envs = gym.make_vec("mozaic_env:Mozaic-v0", num_envs=GAMES, threads=2, rows=4, cols=4).unwrapped
    envs.reset(seed=3)
    envs.step(envs.sample_actions())
    twin = way(envs)
    actions = envs.sample_actions()
    assert np.array_equal(actions, twin.sample_actions())
    before = twin.states
    observation = envs.step(actions)[0]
    assert np.array_equal(twin.states, before)
    assert np.array_equal(observation["board"], twin.step(actions)[0]["board"])


def test_other_opponents_hold_for_all_threads() -> None:
    """Whoever still looks for the next step with the opponents of before must not do any of it."""
    seen = []
    for number in (1, 2):
        envs = gym.make_vec("mozaic_env:Mozaic-v0", num_envs=GAMES, threads=number, rows=4, cols=4).unwrapped
        envs.reset(seed=1)
        for opponents in (["random"], ["greedy", "random"], ["pattern"]):
            envs.set_opponents(opponents)
            envs.reset(seed=2)
            for _ in range(5):
                observation, rewards, *_ = envs.step(envs.sample_actions())
                seen.append((number, observation["board"], rewards))
    half = len(seen) // 2
    for alone, shared in zip(seen[:half], seen[half:], strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(alone[1:], shared[1:], strict=True))
