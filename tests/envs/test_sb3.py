"""The stable-baselines3 environment: a DummyVecEnv of single ones, only faster; and MaskablePPO on all.

Reports that a test answers are named in it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from tests.cli.processes import run
from tests.envs.python_agents import Asked

pytest.importorskip("sb3_contrib")

from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import (
    DummyVecEnv,
    VecCheckNan,
    VecEnv,
    VecMonitor,
    VecNormalize,
)

from mozaic_env import make_game
from mozaic_env.envs.gymnasium.single import GameEnv
from mozaic_env.envs.sb3 import GameVecEnv
from mozaic_env.testing.helpers import actions_for, assert_same

ID = "mozaic_env:Mozaic-v0"
SMALL = {"rows": 3, "cols": 4}


def native(num_envs: int = 4, **options: Any) -> GameVecEnv:
    return GameVecEnv(num_envs, "mozaic", **SMALL, **options)


def dummy(num_envs: int = 4, **options: Any) -> DummyVecEnv:
    return DummyVecEnv([partial(GameEnv, "mozaic", **SMALL, **options)] * num_envs)


def play(env: VecEnv, steps: int, seed: int = 0, illegal: float = 0.0) -> Any:
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        yield env.step(actions_for(get_action_masks(env), rng, illegal))


# --- equal to singles ---------------------------------------------------------------------------


@pytest.mark.parametrize("rules", ["amethyst", "onyx"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"opponent": None, "reward": "margin"},
        {"opponent": "pattern", "seat": 1, "max_decisions": 9},
        {"opponent": "greedy", "threads": 2},
    ],
)
def test_equal_to_a_dummy_vec_env(rules: str, options: dict[str, Any]) -> None:
    """Observations, rewards, ends, final observations and masks, illegal actions included."""
    env = native(rules=rules, **options)
    options = {key: value for key, value in options.items() if key != "threads"}
    other = dummy(rules=rules, **options)
    env.seed(5)
    other.seed(5)
    assert_same(dict(env.reset()), dict(other.reset()), "reset")
    ends = 0
    for one, two in zip(play(env, 150, illegal=0.01), play(other, 150, illegal=0.01)):
        assert_same(dict(one[0]), dict(two[0]), "observation")
        assert_same(one[1:3], two[1:3], "rewards and dones")
        assert_same(get_action_masks(env), get_action_masks(other), "masks")
        for i in np.flatnonzero(one[2]):
            ends += 1
            ours, theirs = one[3][i], two[3][i]
            for key in ("terminal_observation", "TimeLimit.truncated", "seat"):
                assert_same(ours[key], theirs[key], key)
            assert ours.get("opponent") == theirs.get("opponent")
            assert ours.get("illegal_action") == theirs.get("illegal_action")
    assert ends > 20


def test_infos_are_empty_until_a_game_ends() -> None:
    """stable-baselines3 618: half of a step can go into copies of infos; here into none."""
    env = native(8, opponent="greedy")
    env.reset()
    ended = 0
    for _, _, dones, infos in play(env, 60):
        for done, info in zip(dones, infos, strict=True):
            assert bool(info) == done
            ended += done
    assert ended > 20


def test_what_is_told_of_a_game_that_ended() -> None:
    """stable-baselines3's `is_success`, and result and margin of the seat; truncated is no success."""
    env = native(50, opponent="random", reward="margin", max_decisions=13)
    env.seed(0)
    env.reset()
    seen = set()
    for _, _, dones, infos in play(env, 60):
        for i in np.flatnonzero(dones):
            info = infos[i]
            own, other = info["terminal_observation"]["score"].tolist()
            assert info["margin"] == (own - other) / 4
            truncated = info["TimeLimit.truncated"]
            assert info["outcome"] == (0 if truncated else np.sign(own - other))
            assert info["is_success"] == (info["outcome"] > 0)
            seen.add((truncated, info["outcome"]))
    assert seen == {(False, 1.0), (False, 0.0), (False, -1.0), (True, 0.0)}


def test_a_success_without_opponent_is_that_of_the_seat_that_acted_last() -> None:
    env = GameVecEnv(1, "mozaic", rows=4, cols=4, opponent=None)
    for mover, success in (("y", True), ("b", False)):
        position = f"bybb/ybyb/yyby/1ybb {mover} y 1 0,0,1,1,1,1 0-0"
        env.set_options({"position": position})
        env.reset()
        _, rewards, _, infos = env.step(np.zeros(1, np.int64))
        assert infos[0]["is_success"] == success
        assert rewards[0] == (1 if success else -1)


# --- the VecEnv interface -----------------------------------------------------------------------


def test_seeds() -> None:
    one, two = native(), native()
    one.seed(7)
    two.seed(7)
    first = one.reset()
    assert_same(first, two.reset(), "seed 7")
    after = one.reset()
    assert_same(after, two.reset(), "the games after")
    one.seed(7)
    assert_same(first, one.reset(), "seed 7 again")
    for seed in (-5, 1.9, "7", True, np.array(7), [1, 2, 3, 4]):
        with pytest.raises(ValueError, match="accepted: a whole number of at least 0"):
            one.seed(seed)
    assert_same(one.reset(), after, "after seeds that were refused")


def test_options() -> None:
    env = GameVecEnv(3, "mozaic", rows=4, cols=4, opponent=None)
    position = "4/4/1b2/y3 b b 1 7,6,1,1,1,1 0-0"
    env.set_options({"position": position})
    env.reset()
    assert [env.game.format_position(row) for row in env.states] == [position] * 3
    assert env.reset_infos == [{"seat": 1}] * 3
    env.reset()
    assert position not in [env.game.format_position(row) for row in env.states]


def test_bad_actions() -> None:
    env = native(3, opponent=None, illegal="raise")
    with pytest.raises(ValueError, match="reset"):
        env.step(np.zeros(3, np.int64))
    env.reset()
    states = env.states
    for actions in (np.zeros(2, int), np.zeros(3), [[0], [0], [0]], None, np.ones(3, bool)):
        with pytest.raises(ValueError, match="accepted"):
            env.step(actions)
    for action in (-1, 10**6, int(np.flatnonzero(~env.action_masks()[1])[0])):
        good = env.action_masks().argmax(axis=1)
        good[1] = action
        with pytest.raises(ValueError, match="index 1"):
            env.step(good)
    assert_same(env.states, states, "states after refused actions")
    wide = np.full((3, 2), 10**6)
    wide[:, 0] = env.action_masks().argmax(axis=1)
    env.step(wide[:, 0])


@pytest.mark.parametrize("num_envs", [0, -1, 1.5, "4", None, True])
def test_bad_sizes(num_envs: Any) -> None:
    with pytest.raises(ValueError, match="num_envs"):
        native(num_envs)


def test_what_can_be_asked_of_single_games() -> None:
    env = native(4, render_mode="ansi")
    env.reset()
    assert_same(np.stack(env.env_method("action_masks")), env.action_masks(), "masks")
    assert len(env.env_method("action_masks", indices=[0, 2])) == 2
    assert len(env.env_method("render", indices=1)) == 1
    assert env.get_attr("game", indices=0) == [env.game]
    assert env._get_indices(np.array(1)) == [1]
    assert env._get_indices(np.array([0, -1])) == [0, -1]
    for wrong in (np.array(99), np.array(1.0), np.array(True)):
        with pytest.raises(ValueError, match="indices="):
            env.get_attr("game", indices=wrong)
    assert env.get_attr("render_mode") == ["ansi"] * 4
    assert env.env_is_wrapped(Monitor) == [False] * 4
    assert is_masking_supported(env)
    assert not env.has_attr("nonsense")
    with pytest.raises(AttributeError, match="nonsense"):
        env.env_method("nonsense")
    with pytest.raises(AttributeError, match="seat"):
        env.set_attr("seat", 0)
    env.close()


def test_results_are_not_reused() -> None:
    """SuperSuit 116, baselines 418, tianshou 1309."""
    env = native(opponent=None)
    env.reset()
    results = []
    kept = []
    for observation, rewards, dones, infos in play(env, 40):
        results.append((observation, rewards, dones, infos))
        kept.append(({k: v.copy() for k, v in observation.items()}, rewards.copy(), dones.copy()))
    assert_same([(dict(r[0]), *r[1:3]) for r in results], kept, "results after later steps")


def test_opponents_change_from_game_to_game() -> None:
    """PufferLib 620: a game under way keeps its opponent to the end."""
    env = native(60, opponent="random")
    env.seed(0)
    env.reset()
    list(play(env, 2))
    env.set_opponents(["random", "greedy"], [0, 1])
    games = np.zeros(60, int)
    for _, _, dones, infos in play(env, 40, seed=1):
        for i in np.flatnonzero(dones):
            assert infos[i]["opponent"] == ("greedy" if games[i] else "random")
            games[i] += 1
    assert (games >= 1).all()
    assert games.sum() > 120


def test_opponents_in_python() -> None:
    agent = Asked(make_game("mozaic", **SMALL), "greedy")
    one, two = native(20, opponent="greedy"), native(20, opponent=agent)
    one.seed(0)
    two.seed(0)
    assert_same(one.reset(), two.reset(), "reset")
    for mine, theirs in zip(play(one, 50), play(two, 50)):
        assert_same(mine[:3], theirs[:3], "step")
    assert np.mean(agent.asked) > 3


# --- training -----------------------------------------------------------------------------------


def learn(env: VecEnv) -> MaskablePPO:
    """A few steps of training; what an illegal action would do in it is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = MaskablePPO(
            "MultiInputPolicy",
            env,
            n_steps=32,
            batch_size=32,
            n_epochs=1,
            seed=0,
            device="cpu",
            policy_kwargs={"net_arch": [16]},
        )
        model.learn(64 * env.num_envs)
    assert model.num_timesteps == 64 * env.num_envs
    env.close()
    return model


WAYS: dict[str, Callable[[], VecEnv]] = {
    "native": lambda: native(illegal="raise"),
    "VecMonitor": lambda: VecMonitor(native(illegal="raise")),
    "VecNormalize": lambda: VecNormalize(native(illegal="raise"), norm_obs_keys=["score", "bag"], norm_reward=True),
    "VecNormalize(VecMonitor)": lambda: VecNormalize(VecMonitor(native(illegal="raise")), norm_obs=False),
    "VecCheckNan": lambda: VecCheckNan(native(illegal="raise"), raise_exception=True),
    "DummyVecEnv": lambda: dummy(illegal="raise"),
    "DummyVecEnv of Monitors": lambda: DummyVecEnv([lambda: Monitor(gym.make(ID, **SMALL, illegal="raise"))] * 2),
}


@pytest.mark.parametrize("way", WAYS)
def test_maskable_ppo_learns(way: str) -> None:
    """sb3-contrib 49, 68, 279, 200, 208: masks arrive by every way; an illegal action would raise."""
    model = learn(WAYS[way]())
    if "Monitor" in way:
        assert len(model.ep_info_buffer) > 5
        assert all(3 <= episode["l"] <= 100 for episode in model.ep_info_buffer)
        assert {episode["r"] for episode in model.ep_info_buffer} <= {-1.0, 0.0, 1.0}


def test_the_monitor_counts_the_truth() -> None:
    """Gymnasium 1103, 1504: lengths and returns of a hundred games and more."""
    env = VecMonitor(native(10, reward="margin"))
    env.seed(0)
    env.reset()
    returns, lengths, games = np.zeros(10), np.zeros(10, int), 0
    for _, rewards, dones, infos in play(env, 200):
        returns += rewards
        lengths += 1
        for i in np.flatnonzero(dones):
            episode = infos[i]["episode"]
            assert (episode["r"], episode["l"]) == (pytest.approx(returns[i]), lengths[i])
            returns[i], lengths[i], games = 0, 0, games + 1
    assert games > 100


SUBPROCESSES = """
from functools import partial
import gymnasium as gym
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import SubprocVecEnv

if __name__ == "__main__":
    make = partial(gym.make, "mozaic_env:Mozaic-v0", rows=3, cols=4, illegal="raise")
    env = SubprocVecEnv([make] * 2, start_method="spawn")
    model = MaskablePPO("MultiInputPolicy", env, n_steps=32, batch_size=32, n_epochs=1, device="cpu")
    model.learn(128)
    env.close()
    print(model.num_timesteps)
"""


def test_maskable_ppo_learns_in_spawned_processes(tmp_path: Path) -> None:
    """sb3-contrib 49, 68; stable-baselines3 1869, 2130: from a fresh script, its main guarded."""
    assert run(SUBPROCESSES, tmp_path).strip() == "128"


def test_training_repeats() -> None:
    """stable-baselines3 2097, 292, 369: the same seed gives the same weights, to the bit."""
    weights = []
    for _ in range(2):
        env = native(4)
        env.seed(3)
        state = learn(env).policy.state_dict()
        weights.append({key: value.numpy().copy() for key, value in state.items()})
    assert_same(weights[0], weights[1], "weights")
