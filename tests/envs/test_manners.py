"""What environments say of themselves, and what they say where they are used too early or wrongly."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import ResetNeeded

from mozaic_env.envs.single import GameEnv
from mozaic_env.envs.vector import GameVectorEnv

SMALL = {"rules": "onyx", "rows": 4, "cols": 6}


def stable(size: int) -> Any:
    return pytest.importorskip("mozaic_env.envs.sb3").GameVecEnv(size, "mozaic", opponent="greedy", **SMALL)


def test_repr_says_which_game_and_how_it_is_played() -> None:
    single = GameEnv("mozaic", opponent="greedy", seat=1, reward="margin", **SMALL)
    game = "Mozaic(rules='onyx', rows=4, cols=6)"
    assert repr(single) == f"<GameEnv {game}, opponent='greedy', seat=1, reward='margin'>"
    assert "opponent=None" in repr(GameEnv("mozaic", opponent=None))
    vector = GameVectorEnv(3, "mozaic", opponent="greedy", **SMALL)
    assert repr(vector) == f"<GameVectorEnv {game}, num_envs=3, opponent='greedy', seat='random', reward='outcome'>"
    vector.set_opponents(["random", "greedy"])
    assert "opponent='random, greedy'" in repr(vector)
    assert repr(stable(2)).startswith(f"<GameVecEnv {game}, num_envs=2, opponent='greedy'")


@pytest.mark.parametrize(
    "ask",
    [
        lambda env: env.sample_actions(),
        lambda env: env.positions,
        lambda env: env.states,
        lambda env: env.action_masks(),
        lambda env: env.render(),
        lambda env: env.render_one(0),
        lambda env: env.call("position"),
        lambda env: env.get_attr("state"),
        lambda env: env.step(np.zeros(2, np.int64)),
    ],
    ids=["sample_actions", "positions", "states", "action_masks", "render", "render_one", "call", "get_attr", "step"],
)
def test_before_the_first_reset_there_is_no_game(ask: Callable[[Any], Any]) -> None:
    env = gym.make_vec("mozaic_env:Mozaic-v0", 2, render_mode="ansi", **SMALL).unwrapped
    for begun in (False, True):
        if begun:  # other opponents take effect at the next reset, and until then nothing runs
            env.reset(seed=0)
            ask(env)
            env.set_opponents(["greedy"])
        with pytest.raises(ResetNeeded, match=r"call reset\(\) first"):
            ask(env)


@pytest.mark.parametrize("given", [None, "random", "", 3])
def test_opponents_that_are_no_list(given: Any) -> None:
    for env in (GameVectorEnv(2, "mozaic", **SMALL), stable(2)):
        with pytest.raises(ValueError, match=r"accepted: a list of agents' names or agents, such as \['random'"):
            env.set_opponents(given)
        env.set_opponents(("random", "greedy"))


def test_a_shallow_copy_shares_no_game() -> None:
    env = GameEnv("mozaic", opponent="greedy", **SMALL)
    env.reset(seed=3)
    twin, before = copy.copy(env), env.state
    action = int(np.flatnonzero(env.action_masks())[0])
    twin.step(np.int64(action))
    assert env.state == before
    assert twin.state != before
    env.step(np.int64(action))
    assert env.state == twin.state


def test_a_shallow_copy_of_many_games_shares_none() -> None:
    env = GameVectorEnv(4, "mozaic", opponent="greedy", **SMALL)
    env.reset(seed=3)
    twin, before = copy.copy(env), env.positions
    twin.step(twin.sample_actions())
    assert env.positions == before != twin.positions
    env.step(env.sample_actions())
    assert env.positions == twin.positions


def test_a_shallow_copy_for_stable_baselines3_shares_no_game() -> None:
    env = stable(4)
    env.seed(3)
    env.reset()
    twin, before = copy.copy(env), env.states
    twin.step(np.array([np.flatnonzero(mask)[0] for mask in twin.action_masks()]))
    assert (env.states == before).all()
    assert (twin.states != before).all()
