"""What environments say of themselves, and what they say where they are used too early or wrongly."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import ResetNeeded

from mozaic_env.envs.gymnasium.single import GameEnv
from mozaic_env.envs.gymnasium.vector import GameVectorEnv

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


def vector() -> Any:
    return gym.make_vec("mozaic_env:Mozaic-v0", 2, render_mode="ansi", **SMALL).unwrapped


def stable_with_pictures() -> Any:
    stable(1)
    from mozaic_env.envs.sb3 import GameVecEnv

    return GameVecEnv(2, "mozaic", render_mode="rgb_array", **SMALL)


def zoo() -> Any:
    pytest.importorskip("pettingzoo")
    from mozaic_env.envs.pettingzoo import raw_env

    return raw_env("mozaic", render_mode="ansi", **SMALL)


def ray() -> Any:
    pytest.importorskip("ray")
    from mozaic_env.envs.rllib import GameMultiAgentEnv

    return GameMultiAgentEnv(render_mode="ansi", **SMALL)


NOTHING = np.zeros(2, np.int64)
ASKED: dict[Callable[[], Any], dict[str, Callable[[Any], Any]]] = {
    lambda: GameEnv("mozaic", render_mode="ansi", **SMALL): {
        "step": lambda env: env.step(0),
        "action_masks": lambda env: env.action_masks(),
        "position": lambda env: env.position,
        "state": lambda env: env.state,
        "record": lambda env: env.record,
        "render": lambda env: env.render(),
    },
    vector: {
        "sample_actions": lambda env: env.sample_actions(),
        "positions": lambda env: env.positions,
        "states": lambda env: env.states,
        "action_masks": lambda env: env.action_masks(),
        "render": lambda env: env.render(),
        "render_one": lambda env: env.render_one(0),
        "call": lambda env: env.call("position"),
        "get_attr": lambda env: env.get_attr("state"),
        "step": lambda env: env.step(NOTHING),
    },
    stable_with_pictures: {
        "step": lambda env: env.step(NOTHING),
        "action_masks": lambda env: env.action_masks(),
        "env_method": lambda env: env.env_method("action_masks", indices=[1]),
        "env_method render": lambda env: env.env_method("render"),
        "states": lambda env: env.states,
        "opponent_indices": lambda env: env.opponent_indices,
        "render": lambda env: env.render(),
        "get_images": lambda env: env.get_images(),
    },
    zoo: {
        "step": lambda env: env.step(0),
        "last": lambda env: env.last(),
        "observe": lambda env: env.observe("player_0"),
        "position": lambda env: env.position,
        "row": lambda env: env.row,
        "record": lambda env: env.record,
        "render": lambda env: env.render(),
    },
    ray: {
        "step": lambda env: env.step({"player_0": 0}),
        "position": lambda env: env.position,
        "state": lambda env: env.state,
        "render": lambda env: env.render(),
    },
}


@pytest.mark.parametrize(
    ("make", "ask"),
    [
        pytest.param(make, ask, id=f"{getattr(make, '__name__', 'single').strip('<>')}-{name}")
        for make, asked in ASKED.items()
        for name, ask in asked.items()
    ],
)
def test_before_the_first_reset_there_is_no_game(make: Callable[[], Any], ask: Callable[[Any], Any]) -> None:
    env = make()
    with pytest.raises(ResetNeeded, match=r"call reset\(\)"):
        ask(env)
    env.reset()
    if ask(env) is None:
        return
    if hasattr(env, "set_opponents"):  # other opponents than those of the games under way: until a reset nothing runs
        env.set_opponents(["greedy"])
        with pytest.raises(ResetNeeded, match=r"call reset\(\)"):
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
