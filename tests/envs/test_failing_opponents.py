"""An opponent that raises in the middle of a step: the error comes through, and then only a reset goes on."""

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from mozaic_env import Agent, make_game
from mozaic_env.envs.gymnasium.single import EpisodeOver


class Flaky(Agent):
    """Plays the first legal action, and fails when asked for the sixth time."""

    name = "flaky"

    def __init__(self) -> None:
        self.game, self.asked = make_game("mozaic"), 0

    def act(self, states: Any, masks: Any = None) -> Any:
        self.asked += 1
        if self.asked == 6:
            raise RuntimeError("out of memory")
        return masks.argmax(axis=1).astype(np.int64)


def play(count: int, step: Any) -> None:
    for _ in range(count):
        step()


@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_vector(mode: str) -> None:
    envs = gym.make_vec("mozaic_env:Mozaic-v0", num_envs=6, opponent=Flaky(), autoreset_mode=mode).unwrapped
    envs.reset(seed=0)
    with pytest.raises(RuntimeError, match="out of memory"):
        play(12, lambda: envs.step(envs.sample_actions()))
    with pytest.raises(EpisodeOver, match="reset"):
        envs.step(np.zeros(6, np.int64))
    envs.reset(seed=1)
    for _ in range(200):
        assert not envs.step(envs.sample_actions())[4].get("illegal_action", np.zeros(6)).any() or mode == "Disabled"
        if mode == "Disabled":
            break


def test_single() -> None:
    env = gym.make("mozaic_env:Mozaic-v0", opponent=Flaky()).unwrapped
    env.reset(seed=0)
    with pytest.raises(RuntimeError, match="out of memory"):
        play(60, lambda: env.step(int(env.action_masks().argmax())))
    for use in (lambda: env.step(0), lambda: env.record, lambda: env.position):
        with pytest.raises(EpisodeOver, match="reset"):
            use()
    _, info = env.reset(seed=1)
    assert info["action_mask"].sum() < 384
