"""Checks of a single environment: spaces, seeds, masks, ends, copies; whatever the game.

Each takes a factory: ``make(**options)`` gives an environment with these options of
`mozaic_env.envs.gymnasium.single.GameEnv`, such as ``functools.partial(gym.make, "mozaic_env:Mozaic-v0")``.
"""

import copy
import pickle
import random
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.utils.env_checker import check_env

from mozaic_env.testing import rows as on
from mozaic_env.testing.helpers import (
    Make,
    assert_refused,
    assert_same,
    difference,
    pick,
    play,
    some_way,
    whole_game,
)

LONG = 200  # decisions; of longer games not every moment is looked at


def check_gymnasiums_own_check(make: Make) -> None:
    """`gymnasium.utils.env_checker.check_env` passes without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = make().unwrapped
        check_env(env, skip_render_check=env.spec is None)


def check_stable_baselines3s_own_check(make: Make) -> None:
    """`stable_baselines3.common.env_checker.check_env` passes without a warning, if installed."""
    if find_spec("stable_baselines3") is None:
        return
    from stable_baselines3.common.env_checker import check_env as check_for_sb3

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_for_sb3(make().unwrapped)
        check_for_sb3(make())


def check_spaces(make: Make) -> None:
    """Every observation is in its space, exactly of its dtypes; actions are a Discrete from 0."""
    env = make(opponent=None).unwrapped
    assert isinstance(env.action_space, gym.spaces.Discrete), f"actions are {env.action_space}"
    assert env.action_space.start == 0, f"actions are {env.action_space}"
    for step in play(env, 0, 150, start=0):
        for key, space in env.observation_space.spaces.items():
            entry = step[0][key]
            assert entry.dtype == space.dtype, f"{key} is {entry.dtype}, its space {space}"
            assert entry in space, f"{key} = {entry} is not in {space}"
        assert step[0].keys() == env.observation_space.keys(), f"entries {list(step[0])}"


def check_types(make: Make) -> None:
    """Rewards are finite Python floats, flags Python bools and never both."""
    ends = 0
    for reward_kind in ("outcome", "margin"):
        env = make(reward=reward_kind, max_decisions=40).unwrapped
        for _, reward, terminated, truncated, info in play(env, 1, 150, start=1):
            kinds = (type(reward), type(terminated), type(truncated), type(info))
            assert kinds == (float, bool, bool, dict), f"a step gives {kinds}"
            assert np.isfinite(reward), f"reward {reward}"
            assert not (terminated and truncated), "both terminated and truncated"
            ends += terminated or truncated
    assert ends, "no game has ended in 300 steps"


def check_seeds(make: Make) -> None:
    """`reset(seed=)` repeats that game and all after it; other seeds give other games."""
    env, other = make().unwrapped, make().unwrapped
    first = list(play(env, 0, 150, start=5))
    assert_same(first, list(play(env, 0, 150, start=5)), "seed 5 again")
    assert_same(first, list(play(other, 0, 150, start=5)), "seed 5 in a new environment")
    assert difference(first, list(play(env, 0, 150, start=6))), "seeds 5 and 6 give the same games"


def check_reset_goes_on(make: Make) -> None:
    """`reset()` begins another game, not the same one again, also before the game is over."""
    env = make(opponent=None).unwrapped
    env.reset(seed=0)
    states = [env.state["key"]]
    for _ in range(20):
        env.reset()
        states.append(env.state["key"])
    assert len(set(states)) == 21, "reset() repeats a game"
    fresh = [make().unwrapped for _ in range(3)]
    for env in fresh:
        env.reset()
    assert len({env.state["key"] for env in fresh}) == 3, "unseeded environments are all alike"


def check_global_generators(make: Make) -> None:
    """Neither reads nor changes the state of `random` and `np.random`."""
    found = []
    for seed in (1, 2):
        random.seed(seed)
        np.random.seed(seed)  # noqa: NPY002  (that generator is the point)
        before = random.getstate(), np.random.get_state(legacy=False)  # noqa: NPY002
        found.append(list(play(make().unwrapped, 0, 120, start=3)))
        after = random.getstate(), np.random.get_state(legacy=False)  # noqa: NPY002
        assert before[0] == after[0], "the state of `random` has changed"
        assert_same(before[1], after[1], "the state of np.random")
    assert_same(found[0], found[1], "the same seed under other states of the global generators")


def check_masks(make: Make) -> None:
    """The mask is int8, the same by every way, exact at decisions, all ones at the end."""
    for options in ({"opponent": None}, {"seat": 0}, {"seat": 1}):
        env, ends = make(max_decisions=200, **options).unwrapped, 0
        allowed = np.zeros((1, int(env.action_space.n)), np.int8)
        for step in play(env, 2, 200, start=2):
            mask = step[4]["action_mask"]
            assert (mask.dtype, mask.shape) == (np.int8, (env.action_space.n,)), f"{mask.dtype}"
            assert env.action_masks().dtype == np.bool_, f"{env.action_masks().dtype}"
            assert np.array_equal(env.action_masks(), mask), "action_masks() differs from info"
            if step[2] or step[3]:
                ends += 1
                assert (mask == 1).all(), "the mask at the end is not all ones"
                continue
            on.is_legal(env.state, allowed)
            assert np.array_equal(mask, allowed[0]), f"mask at {env.position!r}"
            assert step[4]["seat"] == on.mover(env.state), f"seat at {env.position!r}"
        assert ends, f"no game has ended with {options}"


def check_truncation(make: Make) -> None:
    """Truncated exactly at the limit, whoever decides; what is over by then is over."""
    env = make(opponent=None).unwrapped
    for seed in range(20):  # random play may come to no end
        env.reset(seed=11)
        game = list(whole_game(env, seed))
        if game[-1][2]:
            break
    length = len(game)
    limits = range(1, length + 2) if length <= LONG else (1, 2, 3, 50, 51, length - 1, length, length + 1)
    for limit in limits:
        env = make(opponent=None, max_decisions=limit).unwrapped
        env.reset(seed=11)
        steps = list(whole_game(env, seed))
        flags = (len(steps), steps[-1][2], steps[-1][3])
        expected = (min(limit, length), limit >= length, limit < length)
        assert flags == expected, f"limit {limit}, game of {length}: {flags}, not {expected}"
    for seat in range(make().unwrapped.game.num_players):
        env = make(max_decisions=7, seat=seat).unwrapped
        for _, _, _, truncated, _ in play(env, seat, 100, start=seat):
            decisions = env.state["decisions"]
            assert decisions <= 7, f"{decisions} decisions at a limit of 7"
            assert truncated == (decisions == 7 and on.mover(env.state) >= 0), f"at {decisions}"


def check_steps_outside_a_game(make: Make) -> None:
    """`step` before the first reset and after the end is a ValueError that names reset."""
    env = make(max_decisions=3).unwrapped
    assert "reset" in assert_refused("step before reset", lambda: env.step(np.int64(0)))
    assert "reset" in assert_refused("masks before reset", env.action_masks)
    env.reset(seed=0)
    list(whole_game(env, 0))
    for _ in range(2):
        assert "reset" in assert_refused("step after the end", lambda: env.step(np.int64(0)))
    env.reset()
    env.step(np.int64(pick(np.random.default_rng(0), env.action_masks())))


def check_copies(make: Make) -> None:
    """Pickle, deepcopy and clone in mid-game, after a render too, go on identically, apart."""
    copiers: list[Callable[[Any], Any]] = [
        copy.deepcopy,
        lambda env: env.clone(),
        lambda env: pickle.loads(pickle.dumps(env)),
    ]
    for copier in copiers:
        for options in ({"opponent": None}, {"reward": "margin"}):
            env = make(render_mode="ansi", **options).unwrapped
            env.reset(seed=4)
            some_way(env, 4, 5)
            env.render()
            twin = copier(env)
            assert twin.position == env.position, "the copy stands elsewhere"
            assert_same(twin.action_masks(), env.action_masks(), "masks of the copy")
            kept = env.state
            theirs = [*play(twin, 5, 120), twin.record, twin.render()]
            assert env.state == kept, "the copy's steps have changed the original"
            ours = [*play(env, 5, 120), env.record, env.render()]
            assert_same(theirs, ours, "a copy goes on differently")


def check_results_are_not_reused(make: Make) -> None:
    """Observations and infos keep their values through the steps that follow."""
    env = make(opponent=None).unwrapped
    steps, kept = [], []
    for step in play(env, 0, 60, start=0):
        steps.append(step)
        kept.append(copy.deepcopy(step))
    assert_same(steps, kept, "results after later steps")
    state = env.state
    state["decisions"] += 1
    assert env.state != state, "`state` is no copy"
