"""What users put around the single environment: pictures, statistics, masks, fresh processes.

Reports that a test answers are named in it.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.wrappers import RecordEpisodeStatistics

from tests.cli.processes import run

ID = "mozaic_env:Mozaic-v0"


def test_pictures_in_text() -> None:
    env = gym.make(ID, rows=4, cols=4, render_mode="ansi")
    env.reset(seed=0)
    picture = env.render()
    assert isinstance(picture, str)
    assert "yellow" in picture
    assert len(picture.splitlines()) > 5


def test_a_picture_without_a_mode_is_a_warning() -> None:
    env = gym.make(ID).unwrapped
    env.reset(seed=0)
    with pytest.warns(UserWarning, match="render_mode"):
        assert env.render() is None


def test_gymnasiums_statistics_against_the_truth() -> None:
    """Gymnasium 1103, 1504, 1624: a hundred games."""
    env = RecordEpisodeStatistics(gym.make(ID, rows=3, cols=4, reward="margin"), buffer_length=200)
    total, length, games = 0.0, 0, 0
    for seed in range(100):
        env.reset(seed=seed)
        total, length, over, info = 0.0, 0, False, {}
        while not over:
            action = np.flatnonzero(env.get_wrapper_attr("action_masks")())[-1]
            _, reward, terminated, truncated, info = env.step(action)
            total, length, over = total + float(reward), length + 1, terminated or truncated
        games += 1
        assert info["episode"]["r"] == pytest.approx(total)
        assert info["episode"]["l"] == length
    assert len(env.return_queue) == games == 100


def test_masks_through_the_default_wrappers() -> None:
    """sb3-contrib 256: no attribute forwarding is needed, and nothing warns."""
    utils = pytest.importorskip("sb3_contrib.common.maskable.utils")
    from stable_baselines3.common.monitor import Monitor

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for env in (gym.make(ID), Monitor(gym.make(ID)), gym.make(ID, opponent=None)):
            env.reset(seed=0)
            masks = utils.get_action_masks(env)
            assert masks.dtype == np.bool_
            assert masks.shape == (384,)
            assert masks.any()
            assert utils.is_masking_supported(env)


def test_play_without_masks_ends() -> None:
    """sb3-contrib 142, 178, 212, 226: illegal actions end a game instead of hanging it."""
    env = gym.make(ID)
    env.action_space.seed(0)
    for seed in range(50):
        env.reset(seed=seed)
        steps, over = 0, False
        while not over:
            _, _, terminated, truncated, _ = env.step(env.action_space.sample())
            steps, over = steps + 1, terminated or truncated
        assert steps <= 64


def test_the_last_action_id() -> None:
    """pgx 204, 1049: ids above 127 are whole, the highest one too, and masks are never stale."""
    env = gym.make(ID, opponent=None).unwrapped
    position = "7y/8/8/8/8/8/8/8 b d 1 31,32,1,0,1,1 0-0"
    _, info = env.reset(seed=0, options={"position": position})
    assert np.flatnonzero(info["action_mask"]).tolist() == [383]
    _, _, terminated, _, info = env.step(np.int64(383))
    assert not terminated
    assert "7y" not in env.position
    assert 383 not in np.flatnonzero(info["action_mask"])


# --- fresh processes ----------------------------------------------------------------------------


def test_nothing_is_imported_that_is_not_used(tmp_path: Path) -> None:
    """PettingZoo 1252, Gymnasium 1586, gym 3037: no pygame after 1,000 steps, and no display."""
    script = """
import sys
import mozaic_env
heavy = ("numba", "torch", "stable_baselines3", "pygame", "pettingzoo", "matplotlib", "jax")
print([name for name in heavy if name in sys.modules])
import gymnasium as gym, numpy as np
env = gym.make("mozaic_env:Mozaic-v0", rows=4, cols=4, render_mode="ansi")
env.action_space.seed(0)
_, info = env.reset(seed=0)
for _ in range(1000):
    action = env.action_space.sample(info["action_mask"])
    _, _, terminated, truncated, info = env.step(action)
    if terminated or truncated:
        _, info = env.reset()
env.render()
env.close()
print([name for name in heavy if name in sys.modules])
print([name for name in sys.modules if name.startswith(("mozaic_env.testing", "pytest"))])
"""
    out = run(script, tmp_path, DISPLAY=None, WAYLAND_DISPLAY=None)
    assert out.splitlines() == ["[]", "['numba']", "[]"]
