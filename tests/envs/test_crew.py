"""Games shared out among threads: the same results as on one, whoever takes which part."""

import os
import threading
import time
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import mozaic_env  # noqa: F401  (registers the environments)
from mozaic_env.core.jit import jit
from mozaic_env.envs.crew import Crew, crew, join, part_done, take_part

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
def mark(worker: int, signal: Any, tickets: Any, parts: int, marks: Any) -> None:
    join(worker, signal)
    while True:
        part = take_part(tickets, worker, parts)
        if part < 0:
            return
        marks[part] += 1
        part_done(tickets)


def test_every_part_is_done_once() -> None:
    marks = np.zeros(64, np.int64)
    workers = Crew(3)
    for _ in range(500):
        workers.run(mark, 64, marks)
    assert np.all(marks == 500)


def test_callers_on_several_threads_take_turns() -> None:
    marks = [np.zeros(16, np.int64) for _ in range(4)]
    callers = [threading.Thread(target=lambda m=m: [crew(2).run(mark, 16, m) for _ in range(100)]) for m in marks]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert all(np.all(m == 100) for m in marks)


def test_sleeping_threads_wake_up_again() -> None:
    marks = np.zeros(8, np.int64)
    workers = Crew(2)
    for _ in range(5):
        workers.run(mark, 8, marks)
        time.sleep(0.02)
    assert np.all(marks == 5)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_can_step_with_threads() -> None:
    crew(2).run(mark, 4, np.zeros(4, np.int64))
    child = os.fork()
    if child == 0:
        marks = np.zeros(4, np.int64)
        crew(2).run(mark, 4, marks)
        os._exit(0 if np.all(marks == 1) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
