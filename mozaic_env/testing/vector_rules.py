"""Checks of what a vector environment has of its own: buffers, seeds, masks, bad input, copies.

Each takes two factories, as in `mozaic_env.testing.vector_equal`.
"""

import copy
import pickle
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode

from mozaic_env.testing.helpers import (
    Make,
    MakeVec,
    actions_for,
    assert_refused,
    assert_same,
    difference,
)


def check_copy_keeps_results(make_vec: MakeVec, make: Make) -> None:
    """With ``copy=True`` results never change again, with ``copy=False`` for one more step."""
    for mode in AutoresetMode:
        env = make_vec(4, autoreset_mode=mode, max_decisions=6).unwrapped
        results = [env.reset(seed=0)]
        kept = [copy.deepcopy(results[0])]
        rng = np.random.default_rng(0)
        for _ in range(30):
            results.append(env.step(actions_for(env.action_masks(), rng)))
            kept.append(copy.deepcopy(results[-1]))
            over = results[-1][2] | results[-1][3]
            if mode is AutoresetMode.DISABLED and over.any():
                results.append(env.reset(options={"reset_mask": over}))
                kept.append(copy.deepcopy(results[-1]))
        assert_same(results, kept, f"results after later steps, mode {mode.value}")
    env = make_vec(4, copy=False).unwrapped
    last = env.reset(seed=0)
    for _ in range(30):
        kept_last = copy.deepcopy(last)
        result = env.step(actions_for(env.action_masks(), rng))
        assert_same(last, kept_last, "copy=False: the results before, after one step")
        last = result


def check_reset_mask(make_vec: MakeVec, make: Make) -> None:
    """`reset_mask` begins those games and no other; the options given are left alone."""
    env = make_vec(4, opponent=None).unwrapped
    env.reset(seed=0)
    for number in range(3):
        env.step(actions_for(env.action_masks(), np.random.default_rng(number)))
    before, masks = env.states, env.action_masks()
    options = {"reset_mask": np.array([False, True, False, True])}
    given = copy.deepcopy(options)
    observation, infos = env.reset(options=options)
    assert_same(options, given, "the options given to reset")
    for i, fresh in enumerate(options["reset_mask"]):
        assert (env.states[i] != before[i]) == fresh, f"game {i}: reset is {fresh}"
        assert fresh or np.array_equal(env.action_masks()[i], masks[i]), f"mask of game {i}"
    assert observation in env.observation_space, "the observation after a reset of some"
    env.step(actions_for(infos["action_mask"], np.random.default_rng(0)))
    wrong: list[Any] = [[True] * 4, np.ones(4, int), np.ones(3, bool), np.zeros(4, bool), True]
    for mask in wrong:
        assert_refused(f"{mask!r}", lambda: env.reset(options={"reset_mask": mask}))  # noqa: B023
    fresh_env = make_vec(2).unwrapped
    part = {"reset_mask": np.array([True, False])}
    assert_refused("a first reset of some", lambda: fresh_env.reset(options=part))


def check_seeds(make_vec: MakeVec, make: Make) -> None:
    """An int counts up, a list seeds game by game, None goes on; anything else is a ValueError."""
    env, other = make_vec(3).unwrapped, make_vec(3).unwrapped
    first = env.reset(seed=5)
    assert_same(first, other.reset(seed=[5, 6, 7]), "seed 5 and [5, 6, 7]")
    assert_same(first, other.reset(seed=np.array([5, 6, 7])), "seeds in an array")
    assert_same(env.reset(), other.reset(), "the games after those seeds")
    keys = env.states["key"]
    env.reset(seed=[None, 6, None])
    other.reset()
    assert env.states["key"][0] == other.states["key"][0], "None in a list does not go on"
    assert env.states["key"][1] != other.states["key"][1], "a seed in a list is not heeded"
    assert not set(keys.tolist()) & set(env.states["key"].tolist()), "games come again"
    wrong: list[Any] = [
        -1,
        1.5,
        "7",
        True,
        [1, 2],
        [1, 2, -3],
        [1, 2, 3.0],
        {1: 2},
        [[1], [2], [3]],
    ]
    for seed in wrong:
        assert_refused(f"seed={seed!r}", lambda: env.reset(seed=seed))  # noqa: B023


def check_bad_actions(make_vec: MakeVec, make: Make) -> None:
    """Actions of wrong shape, dtype or range are a ValueError; one wrong one is named."""
    env = make_vec(4, opponent=None, illegal="raise").unwrapped
    env.reset(seed=0)
    rng, size = np.random.default_rng(0), int(env.single_action_space.n)
    good, before, masks = actions_for(env.action_masks(), rng), env.states, env.action_masks()
    for action in (-1, size, 2**62, int(np.flatnonzero(~masks[2])[0])):
        wrong = good.copy()
        wrong[2] = action
        said = assert_refused(f"{wrong}", lambda: env.step(wrong))  # noqa: B023
        assert "index 2" in said, f"{said!r} does not name index 2"
        assert str(action) in said, f"{said!r} does not name action {action}"
    bad: list[Any] = [good[:3], np.append(good, 0), good[:, None], good.astype(float), 0, None]
    bad += [
        good.astype(bool),
        good.astype(object),
        [0, 1, 2, None],
        [0, 1, 2, float("nan")],
        "0000",
    ]
    for actions in bad:
        assert_refused(f"actions {actions!r}", lambda: env.step(actions))  # noqa: B023
    assert_same(env.states, before, "states after refused actions")
    assert_same(env.action_masks(), masks, "masks after refused actions")
    _accepts_any_whole_numbers(env, good)


def _accepts_any_whole_numbers(env: Any, good: np.ndarray) -> None:
    wide = np.full((4, 3), -1)
    wide[:, 1] = good
    frozen = good.copy()
    frozen.flags.writeable = False
    found = []
    for actions in (
        good,
        good.tolist(),
        good.astype(np.int16),
        wide[:, 1],
        good[::-1][::-1],
        frozen,
    ):
        env.reset(seed=0)
        found.append((env.step(actions), env.states))
    for i, result in enumerate(found):
        assert_same(found[0], result, f"the same actions in another form, number {i}")


def check_steps_outside_games(make_vec: MakeVec, make: Make) -> None:
    """`step` before reset, and in DISABLED mode after an end, is a ValueError that names reset."""
    env = make_vec(3, autoreset_mode=AutoresetMode.DISABLED, max_decisions=3, opponent=None).unwrapped
    zeros = np.zeros(3, np.int64)
    assert "reset" in assert_refused("step before reset", lambda: env.step(zeros))
    assert "reset" in assert_refused("masks before reset", env.action_masks)
    env.reset(seed=0)
    rng, over = np.random.default_rng(0), np.zeros(3, bool)
    while not over.any():
        _, _, terminated, truncated, _ = env.step(actions_for(env.action_masks(), rng))
        over = terminated | truncated
    said = assert_refused("step after an end", lambda: env.step(zeros))
    assert f"index {np.flatnonzero(over)[0]}" in said, said
    assert "reset" in said, said
    env.reset(options={"reset_mask": over})
    env.step(actions_for(env.action_masks(), rng))


def check_copies(make_vec: MakeVec, make: Make) -> None:
    """Pickle and deepcopy in mid-game go on identically, apart from each other."""
    for options in ({"opponent": None, "copy": False}, {"reward": "margin"}):
        env = make_vec(5, autoreset_mode=AutoresetMode.SAME_STEP, **options).unwrapped
        env.reset(seed=0)
        rng = np.random.default_rng(0)
        for _ in range(5):
            env.step(actions_for(env.action_masks(), rng))
        for twin in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
            ours = copy.deepcopy(env)
            for number in range(100):
                actions = actions_for(ours.action_masks(), np.random.default_rng(number))
                assert_same(ours.step(actions), twin.step(actions), f"step {number} of a copy")
            assert difference(twin.states, env.states), "a copy moves the original"


def check_spaces(make_vec: MakeVec, make: Make) -> None:
    """Spaces are those of the single environment, batched, and hold the results."""
    single = make().unwrapped
    for mode in AutoresetMode:
        env = make_vec(3, autoreset_mode=mode)
        assert env.unwrapped.num_envs == 3
        assert env.metadata["autoreset_mode"] is mode, f"{env.metadata}"
        assert env.single_observation_space == single.observation_space
        assert env.single_action_space == single.action_space
        observation, _ = env.reset(seed=0)
        assert observation in env.observation_space, "the first observation is outside its space"
        env.action_space.seed(0)
        observation, rewards, *flags, _ = env.step(env.action_space.sample())
        assert observation in env.observation_space, "an observation is outside its space"
        assert (rewards.dtype, rewards.shape) == (np.float64, (3,)), f"rewards {rewards.dtype}"
        assert all((flag.dtype, flag.shape) == (np.bool_, (3,)) for flag in flags), f"{flags}"


def check_sampled_actions(make_vec: MakeVec, make: Make) -> None:
    """`sample_actions` gives legal actions that repeat with the seeds and change with each call."""
    runs = []
    for threads in (1, 2):
        env, chosen = make_vec(8, opponent=None, illegal="raise", threads=threads).unwrapped, []
        env.reset(seed=0)
        chosen.append(env.sample_actions())
        for _ in range(40):
            chosen.append(env.sample_actions())
            env.step(chosen[-1])
        runs.append(chosen)
    assert_same(runs[0], runs[1], "sampled actions with other threads")
    assert (runs[0][0] != runs[0][1]).any(), "the same actions are sampled again"


def check_bad_options(make_vec: MakeVec, make: Make) -> None:
    """Options that are none of those accepted are ValueErrors; large numbers are not."""
    for size in (0, -1, 1.5, "4", True, None):
        assert_refused(f"num_envs={size!r}", lambda: make_vec(size).unwrapped)  # noqa: B023
    bad: dict[str, list[Any]] = {
        "threads": [0, -1, 1.5, "2", True, None],
        "autoreset_mode": ["never", None, 3],
        "opponent": ["nobody", 5],
        "max_decisions": [0, 2.5],
        "no_such_option": [1],
    }
    for name, values in bad.items():
        for value in values:
            option = {name: value}
            assert_refused(f"{option}", lambda: make_vec(2, **option).unwrapped)  # noqa: B023
    env = make_vec(2, threads=64, max_decisions=10**30).unwrapped
    env.reset(seed=0)
    env.step(actions_for(env.action_masks(), np.random.default_rng(0)))
