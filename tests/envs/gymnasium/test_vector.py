"""The vector environment on Mozaic: equal to singles, opponents, statistics, processes.

What holds for any game is in test_conformance.py. Reports that a test answers are named in it.
"""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers.vector import DictInfoToList, RecordEpisodeStatistics

from mozaic_env import make_game
from mozaic_env.envs.gymnasium.single import EpisodeOver, GameEnv
from mozaic_env.envs.gymnasium.vector import GameVectorEnv
from mozaic_env.testing import rows as on
from mozaic_env.testing.helpers import actions_for, assert_same
from mozaic_env.testing.vector_equal import compare_with_singles
from tests.cli.processes import run
from tests.envs.python_agents import Answers, Asked

ID = "mozaic_env:Mozaic-v0"
SMALL = {"rows": 4, "cols": 4}
EDITIONS = ("amethyst", "onyx")
both_editions = pytest.mark.parametrize("rules", EDITIONS)
every_mode = pytest.mark.parametrize("mode", AutoresetMode, ids=lambda mode: mode.name)


def make_vec(num_envs: int, **options: Any) -> GameVectorEnv:
    env = gym.make_vec(ID, num_envs, **options).unwrapped
    assert isinstance(env, GameVectorEnv)
    return env


def small(num_envs: int, **options: Any) -> GameVectorEnv:
    return make_vec(num_envs, **SMALL, **options)


def steps(env: Any, count: int, seed: int = 0) -> Any:
    """Random legal play."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        yield env.step(actions_for(env.unwrapped.action_masks(), rng))


# --- equal to singles ---------------------------------------------------------------------------


@both_editions
@every_mode
@pytest.mark.parametrize("seed", range(4))
def test_equal_to_singles(rules: str, mode: AutoresetMode, seed: int) -> None:
    """Ten seeds, four sizes and two numbers of threads, taking turns; test-slow crosses them."""
    fixed = {"rules": rules, **SMALL}
    for number in range(seed, 10, 4):
        compare_with_singles(
            partial(gym.make_vec, ID, **fixed),
            partial(GameEnv, "mozaic", **fixed),
            (1, 2, 7, 16)[number % 4],
            mode,
            seed=number,
            endings=3,
            illegal=0.01 * (number % 3),
            threads=1 + number % 2,
            copy=number % 3 == 0,
            opponent=("random", None, "pattern", "expectimax")[number // 2 % 4],
            reward=("outcome", "margin")[number % 2],
        )


@pytest.mark.slow
@both_editions
@every_mode
@pytest.mark.parametrize("num_envs", [1, 2, 7, 64])
@pytest.mark.parametrize("threads", [1, 2])
def test_equal_to_singles_everywhere(rules: str, mode: AutoresetMode, num_envs: int, threads: int) -> None:
    for seed in range(10):
        compare_with_singles(
            partial(gym.make_vec, ID, rules=rules),
            partial(GameEnv, "mozaic", rules=rules),
            num_envs,
            mode,
            seed=seed,
            illegal=0.002,
            threads=threads,
            opponent=(None, "pattern")[seed % 2],
        )


@every_mode
def test_an_opponent_in_python_is_asked_in_batches(mode: AutoresetMode) -> None:
    """Equal to singles and to the compiled agent, with far fewer questions than games."""
    agents = [Asked(make_game("mozaic", **SMALL), "pattern") for _ in range(2)]
    fixed = {**SMALL, "reward": "margin", "opponent": agents[0]}
    compare_with_singles(
        partial(gym.make_vec, ID, **fixed),
        partial(GameEnv, "mozaic", **fixed),
        7,
        mode,
        seed=3,
        illegal=0.01,
    )
    compiled = small(30, opponent="pattern", autoreset_mode=mode, max_decisions=5)
    python = small(30, opponent=agents[1], autoreset_mode=mode, max_decisions=5)
    assert_same(compiled.reset(seed=0)[0], python.reset(seed=0)[0], "reset")
    for one, other in zip(steps(compiled, 1), steps(python, 1)):
        assert_same(one[:4], other[:4], "steps")
    assert np.mean(agents[1].asked) > 5


@both_editions
def test_a_million_masked_steps(rules: str) -> None:
    """sb3-contrib 81, stable-baselines3 1596, 1553: always something legal, everything finite."""
    env, games = make_vec(1024, rules=rules, copy=False, reward="margin"), 0
    env.reset(seed=0)
    for number in range(500):
        observation, rewards, terminated, truncated, _ = env.step(env.sample_actions())
        over = terminated | truncated
        games += over.sum()
        if number % 10 == 0:
            assert env.action_masks().any(axis=1).all()
            assert np.isfinite(rewards).all()
            assert observation in env.observation_space
    assert games > 10_000
    assert not truncated.any()


# --- opponents ----------------------------------------------------------------------------------


def test_opponents_are_bound_for_whole_games() -> None:
    """PufferLib 620: drawn at the start of a game, by their shares, and named at its end."""
    env = small(400, autoreset_mode=AutoresetMode.SAME_STEP)
    env.set_opponents(["random", "greedy", "pattern"], [1, 0, 3])
    with pytest.raises(EpisodeOver, match="reset"):
        env.step(np.zeros(400, np.int64))
    env.reset(seed=0)
    told: list[str] = []
    for *_, infos in steps(env, 40):
        told += [name for name in infos.get("final_info", {}).get("opponent", []) if name]
    assert set(told) == {"random", "pattern"}
    assert abs(told.count("pattern") / len(told) - 0.75) < 0.1


@pytest.mark.parametrize("shares", [[1], [1, 2, 3], [0, 0], [-1, 2], [1, float("nan")], "ab"])
def test_shares_that_are_none(shares: Any) -> None:
    with pytest.raises(ValueError, match=r"shares|could not convert"):
        small(2).set_opponents(["random", "greedy"], shares)


def test_an_agent_that_answers_nonsense_is_named() -> None:
    game = make_game("mozaic", **SMALL)
    env = small(6, opponent=Answers(game, lambda n: np.full(n, 95)), seat=0)
    env.reset(seed=0)
    with pytest.raises(ValueError, match=r"stubborn.*index"):
        list(steps(env, 30))
    env.reset(seed=0)


def test_seats() -> None:
    """MicroRTS-Py 57: drawn for each game; `reset` can say otherwise for one."""
    env = small(1000)
    _, infos = env.reset(seed=0)
    assert abs(infos["seat"].mean() - 0.5) < 0.08
    _, infos = env.reset(options={"seat": 1})
    assert (infos["seat"] == 1).all()
    _, infos = env.reset()
    assert 0 < infos["seat"].mean() < 1
    assert (small(100, seat=np.int64(0)).reset(seed=0)[1]["seat"] == 0).all()


def test_all_games_from_one_position() -> None:
    env = small(5, opponent=None)
    position = "4/4/1b2/y3 b b 1 7,6,1,1,1,1 0-0"
    env.reset(seed=0, options={"position": position})
    assert env.positions == (position,) * 5
    list(steps(env, 4))
    assert len(set(env.positions)) == 5
    mask = np.array([True, False, False, True, False])
    env.reset(options={"position": position, "reset_mask": mask})
    assert [text == position for text in env.positions] == mask.tolist()


def test_seats_are_found_for_positions_close_to_the_end() -> None:
    position = "bybb/ybyb/yyby/1ybb b y 1 0,0,1,1,1,1 0-0"
    env = small(50)
    _, infos = env.reset(seed=0, options={"position": position})
    assert (infos["seat"] == 1).all()
    assert env.positions == (position,) * 50
    with pytest.raises(ValueError, match="seat"):
        env.reset(options={"position": position, "seat": 0})


# --- limits, statistics, info -------------------------------------------------------------------


@every_mode
def test_the_limit(mode: AutoresetMode) -> None:
    """ManiSkill 520, Gymnasium 393: truncated exactly there, game by game."""
    env = small(8, opponent=None, max_decisions=5, autoreset_mode=mode)
    env.reset(seed=0)
    period = 6 if mode is AutoresetMode.NEXT_STEP else 5
    for number in range(1, 40):
        (result,) = steps(env, 1, number)
        assert not result[2].any()
        assert (result[3] == (number % period == 5 % period)).all()
        if mode is AutoresetMode.DISABLED and result[3].any():
            env.reset(options={"reset_mask": result[3]})


@every_mode
def test_statistics_against_the_truth(mode: AutoresetMode) -> None:
    """Gymnasium 1103, 1504, 1624, cleanrl 534: a hundred games and more in every mode."""
    if mode is AutoresetMode.SAME_STEP and tuple(map(int, gym.__version__.split(".")[:2])) < (1, 4):
        pytest.skip("Gymnasium's RecordEpisodeStatistics loses the first step of each game in this mode before 1.4")
    env = RecordEpisodeStatistics(
        gym.make_vec(ID, 10, **SMALL, reward="margin", max_decisions=11, autoreset_mode=mode),
        buffer_length=1000,
    )
    env.reset(seed=0)
    returns, lengths, fresh = np.zeros(10), np.zeros(10, int), np.zeros(10, bool)
    told: list[tuple[float, int]] = []
    truth: list[tuple[float, int]] = []
    for _, rewards, terminated, truncated, infos in steps(env, 150):
        returns += rewards
        lengths += ~fresh
        assert not (mode is AutoresetMode.NEXT_STEP and rewards[fresh].any())
        over = terminated | truncated
        truth += [(returns[i], lengths[i]) for i in np.flatnonzero(over)]
        told += [(infos["episode"]["r"][i], infos["episode"]["l"][i]) for i in np.flatnonzero(over)]
        returns[over], lengths[over] = 0, 0
        fresh = over & (mode is AutoresetMode.NEXT_STEP)
        if mode is AutoresetMode.DISABLED and over.any():
            env.reset(options={"reset_mask": over})
    assert len(truth) > 100
    np.testing.assert_allclose(told, truth)
    assert list(env.length_queue) == [length for _, length in truth]


def test_infos_as_lists() -> None:
    env = DictInfoToList(gym.make_vec(ID, 3, **SMALL, max_decisions=4))
    _, infos = env.reset(seed=0)
    assert [set(info) for info in infos] == [{"action_mask", "seat"}] * 3
    for *_, truncated, infos in steps(env, 12):
        assert [info.get("opponent") for info in infos] == ["random" if t else None for t in truncated]


def test_calls_for_every_game() -> None:
    env = small(3, render_mode="ansi")
    env.reset(seed=0)
    assert_same(np.stack(env.call("action_masks")), env.action_masks(), "masks")
    assert env.call("position") == env.get_attr("position") == env.positions
    assert env.render() == env.call("render")
    assert env.render_one(1) == env.game.draw_text(env.states[1])
    assert env.get_attr("game") == (env.game,) * 3
    with pytest.raises(ValueError, match="nonsense"):
        env.call("nonsense")
    with pytest.raises(ValueError, match="seat"):
        env.set_attr("seat", 0)
    for index in (3, -1, "a", None, 1.0):
        with pytest.raises(ValueError, match="index"):
            env.render_one(index)
    env.close()


def test_gymnasiums_own_vectorization_works_too() -> None:
    for mode in ("sync", "vector_entry_point"):
        env = gym.make_vec(ID, 2, vectorization_mode=mode, **SMALL)
        env.reset(seed=0)
        env.step(env.action_space.sample())
        env.close()


def test_memory() -> None:
    """A million states fit in less than 200 MB."""
    assert make_game("mozaic").rows(1).nbytes * 10**6 < 200e6


def test_misses_and_double_turns() -> None:
    """Stoix 103, muzero-general 55, 108: the same seat twice running is common; rewards add up."""
    env = small(50, opponent=None, reward="margin")
    env.reset(seed=0)
    states, twice = env.states, 0
    for _, rewards, terminated, _, infos in steps(env, 100):
        seats = on.where(states)
        for i, (before, after) in enumerate(zip(states, env.states, strict=True)):
            if seats[i] >= 0:
                gained = on.margin(after, seats[i]) - on.margin(before, seats[i])
                assert rewards[i] == gained
                twice += infos["seat"][i] == seats[i] and not terminated[i]
        states = env.states
    assert twice > 100


# --- processes ----------------------------------------------------------------------------------

ASYNC = """
import numpy as np
from gymnasium.vector import AsyncVectorEnv
from functools import partial
import gymnasium as gym

def play(context):
    make = partial(gym.make, "mozaic_env:Mozaic-v0", rows=4, cols=4, opponent="greedy")
    env = AsyncVectorEnv([make] * 2, context=context)
    _, infos = env.reset(seed=0)
    for _ in range(40):
        actions = infos["action_mask"].argmax(axis=1)
        _, _, _, _, infos = env.step(actions)
    print(env.call("position"))
    env.close()

if __name__ == "__main__":
    play("spawn")
"""


def test_spawned_workers_of_a_fresh_script(tmp_path: Path) -> None:
    """stable-baselines3 1869, HighwayEnv 668: the id is registered in spawned workers."""
    out = run(ASYNC, tmp_path)
    env = small(2, opponent="greedy")
    _, infos = env.reset(seed=0)
    for _ in range(40):
        *_, infos = env.step(infos["action_mask"].argmax(axis=1))
    assert out.strip() == str(env.positions)


WORKERS = """
import multiprocessing
import gymnasium as gym

def play(number):
    env = gym.make_vec("mozaic_env:Mozaic-v0", 2, rows=4, cols=4, opponent="greedy")
    env.reset(seed=0)
    for _ in range(40):
        env.step(env.unwrapped.sample_actions())
    return env.unwrapped.positions

if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(8) as pool:
        found = pool.map(play, range(8), chunksize=1)
    assert found == found[:1] * 8
    print(found[0])
"""


@pytest.mark.slow
def test_workers_that_start_with_an_empty_cache(tmp_path: Path) -> None:
    """numba 2028, 4807, 8755: eight of them compile at once and do not harm each other."""
    cache = tmp_path / "cache"
    cache.mkdir()
    cold = run(WORKERS, tmp_path, timeout=1200, MOZAIC_ENV_CACHE=str(cache))
    files = {path: path.stat().st_mtime_ns for path in cache.rglob("*") if path.is_file()}
    assert any(path.suffix == ".nbc" for path in files)
    warm = run(WORKERS, tmp_path, MOZAIC_ENV_CACHE=str(cache))
    assert warm == cold
    assert {path: path.stat().st_mtime_ns for path in files if os.path.exists(path)} == files
