"""Render modes: arrays without a display, the window, videos, and copies after a picture."""

from __future__ import annotations

import copy
import itertools
import pickle
import sys
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from mozaic_env.drawing.raster import to_rgb
from mozaic_env.envs.gymnasium import window
from mozaic_env.envs.gymnasium.single import GameEnv
from mozaic_env.envs.gymnasium.window import NoWindow
from mozaic_env.testing.helpers import assert_same, play, some_way
from tests.cli.processes import run
from tests.envs.wrappers import videos

ID = "mozaic_env:Mozaic-v0"


def make(**options: Any) -> GameEnv:
    env = gym.make(ID, **{"rows": 4, "cols": 4, "render_mode": "rgb_array"} | options).unwrapped
    assert isinstance(env, GameEnv)
    return env


# --- arrays -------------------------------------------------------------------------------------


def test_frames_are_arrays_of_their_own() -> None:
    env = make()
    env.reset(seed=0)
    first = env.render()
    assert (first.shape, first.dtype) == ((512, 512, 3), np.uint8)
    kept = first.copy()
    some_way(env, 0, 1)
    second = env.render()
    assert (first == kept).all()
    assert (first != second).any()
    second[:] = 0
    assert env.render().any()


def test_a_frame_marks_what_the_step_changed() -> None:
    """The agent's move and the opponent's since the frame before, the last of them most."""
    env = make(rows=8, cols=8, seat=0, opponent="pattern")
    env.reset(seed=3)
    before = env.state
    env.step(np.flatnonzero(env.action_masks())[0])
    action = env.game.parse_action(env.record.split()[-1].partition(":")[2])
    assert env.state["decisions"] > before["decisions"] + 1
    assert (env.render() == to_rgb(env.game.draw(env.state, before, action))).all()
    assert (env.render() != to_rgb(env.game.draw(env.state))).any()


def test_the_first_frame_marks_what_the_opponent_began_with() -> None:
    for seat in range(2):
        env = make(seat=seat)
        env.reset(seed=0)
        assert (env.render() != to_rgb(env.game.draw(env.state))).any() == (seat == 1)  # yellow begins


def test_an_illegal_action_shows() -> None:
    env = make(opponent=None)
    env.reset(seed=0)
    frame = env.render()
    assert env.step(np.int64(95))[2]
    assert (env.render() != frame).any()


def test_the_end_can_be_drawn() -> None:
    env = make()
    env.reset(seed=0)
    over = False
    while not over:
        _, _, terminated, truncated, _ = env.step(np.flatnonzero(env.action_masks())[0])
        over = terminated or truncated
        assert env.render().shape == (512, 512, 3)


def test_vector_environments_draw_each_game() -> None:
    env = gym.make_vec(ID, 3, rows=4, cols=4, render_mode="rgb_array")
    env.reset(seed=0)
    frames = env.render()
    assert isinstance(frames, tuple)
    assert len(frames) == 3
    for index, row in enumerate(env.unwrapped.states):
        assert (frames[index] == to_rgb(env.unwrapped.game.draw(row))).all()
        assert (frames[index] == env.unwrapped.render_one(index)).all()
    env.close()


@pytest.mark.parametrize(
    "copier",
    [copy.deepcopy, lambda env: env.clone(), lambda env: pickle.loads(pickle.dumps(env))],
    ids=["deepcopy", "clone", "pickle"],
)
def test_a_copy_after_a_picture_goes_on_identically(copier: Callable[[GameEnv], GameEnv]) -> None:
    """PettingZoo 1186, 1307."""
    env = make(reward="margin")
    env.reset(seed=4)
    some_way(env, 4, 5)
    env.render()
    twin = copier(env)
    assert (twin.render() == env.render()).all()
    ours, theirs = ([*play(one, 5, 60), one.record, one.render()] for one in (env, twin))
    assert_same(ours, theirs, "a copy goes on differently")


def test_pictures_need_neither_pygame_nor_a_display(tmp_path: Path) -> None:
    """PettingZoo 1252, Gymnasium 1586, gym 3037."""
    script = """
import sys
import gymnasium as gym
env = gym.make("mozaic_env:Mozaic-v0", render_mode="rgb_array")
env.action_space.seed(0)
_, info = env.reset(seed=0)
frames = set()
for step in range(1000):
    _, _, terminated, truncated, info = env.step(env.action_space.sample(info["action_mask"]))
    if step % 50 == 0:
        frames.add(env.render().tobytes())
    if terminated or truncated:
        _, info = env.reset()
env.close()
print(len(frames), [name for name in ("pygame", "matplotlib") if name in sys.modules])
"""
    assert run(script, tmp_path, DISPLAY=None, WAYLAND_DISPLAY=None) == "20 []\n"


# --- the window ---------------------------------------------------------------------------------


@pytest.fixture
def pygame(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """pygame with a display that nobody sees, and frames that do not wait."""
    if find_spec("pygame") is None:
        pytest.skip("pygame is not installed")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setitem(GameEnv.metadata, "render_fps", 100_000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pygame's own
        import pygame
    yield pygame
    pygame.display.quit()


def shown(pygame: Any) -> np.ndarray:
    return pygame.surfarray.array3d(pygame.display.get_surface()).swapaxes(0, 1)


def test_the_window_shows_every_position_and_closes(pygame: Any) -> None:
    env, silent = make(render_mode="human"), make()
    assert not pygame.display.get_init()
    for one in (env, silent):
        one.reset(seed=0)
    assert (shown(pygame) == silent.render()).all()
    for _ in range(3):
        for one in (env, silent):
            one.step(np.flatnonzero(one.action_masks())[0])
        assert (shown(pygame) == silent.render()).all()
    assert env.render() is None
    env.close()
    assert not pygame.display.get_init()
    env.close()


def test_a_window_that_the_user_closes_stays_closed(pygame: Any) -> None:
    env = make(render_mode="human")
    env.reset(seed=0)
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    some_way(env, 0, 5)
    assert not pygame.display.get_init()
    assert env.state["decisions"] >= 5


def test_copies_of_an_environment_with_a_window(pygame: Any) -> None:
    env = make(render_mode="human")
    env.reset(seed=0)
    frame = shown(pygame)
    clone = env.clone()
    some_way(clone, 0, 3)
    assert (shown(pygame) == frame).all()
    assert clone.render_mode is None
    for twin in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        some_way(twin, 0, 3)
        assert twin.state == clone.state
        twin.close()
    some_way(env, 0, 3)  # opens it again
    assert env.state == clone.state
    assert pygame.display.get_init()
    env.close()


def test_gymnasiums_check_with_a_window(pygame: Any) -> None:
    env = make(render_mode=None)
    assert "human" in env.metadata["render_modes"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env)


def test_no_display_is_said(pygame: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "no_such_driver")
    with pytest.raises(NoWindow, match="rgb_array"):
        make(render_mode="human").reset(seed=0)


def test_without_pygame_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pygame", None)
    with pytest.raises(
        ValueError, match=r"needs pygame, which the extra 'play' brings: pip install 'mozaic_env\[play\]'"
    ):
        gym.make(ID, render_mode="human")
    assert make().metadata["render_modes"] == ["ansi", "rgb_array"]
    assert "human" in GameEnv.metadata["render_modes"]
    check_env(make(render_mode=None))


def test_a_window_is_likely_where_there_is_a_display(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(window, "is_installed", lambda name: True)
    monkeypatch.setattr(sys, "platform", "linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER"):
        monkeypatch.delenv(name, raising=False)
    assert not window.is_likely()
    monkeypatch.setenv("DISPLAY", ":0")
    assert window.is_likely()


# --- videos -------------------------------------------------------------------------------------


def test_three_episodes_are_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What reaches the writer of the files, whether or not there is one: every position, not blank, and moving."""
    films: list[tuple[str, list[np.ndarray]]] = []

    class Clip:
        def __init__(self, frames: list[np.ndarray], fps: float) -> None:
            self.frames = frames

        def write_videofile(self, path: str, **options: Any) -> None:
            films.append((path, self.frames))

    for name in ("moviepy", "moviepy.video", "moviepy.video.io", "moviepy.video.io.ImageSequenceClip"):
        module = ModuleType(name)
        module.__dict__.update(ImageSequenceClip=Clip, __path__=[])
        monkeypatch.setitem(sys.modules, name, module)
    env = gym.wrappers.RecordVideo(
        gym.make(ID, rows=4, cols=4, render_mode="rgb_array"),
        str(tmp_path / "videos"),
        episode_trigger=lambda episode: True,
    )
    steps = [play_episode(env, seed) for seed in range(3)]
    env.close()
    assert [len(frames) for _, frames in films] == [number + 1 for number in steps]
    assert len({path for path, _ in films}) == 3
    for _, frames in films:
        assert {(frame.shape, frame.dtype) for frame in frames} == {((512, 512, 3), np.dtype(np.uint8))}
        assert min(frame.std() for frame in frames) > 10
        assert all((before != after).any() for before, after in itertools.pairwise(frames))


def play_episode(env: gym.Env[Any, Any], seed: int) -> int:
    """Plays first legal actions to the end of a game; returns how many."""
    _, info = env.reset(seed=seed)
    steps, over = 0, False
    while not over:
        _, _, terminated, truncated, info = env.step(np.flatnonzero(info["action_mask"])[0])
        steps, over = steps + 1, terminated or truncated
    return steps


def test_three_episodes_give_three_videos(tmp_path: Path) -> None:
    """HighwayEnv 393, Gymnasium-Robotics 103: not blank, and moving."""
    pytest.importorskip("moviepy", reason="moviepy is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # moviepy's own
        from gymnasium.wrappers import RecordVideo
        from moviepy.video.io.VideoFileClip import VideoFileClip

        folder = tmp_path / "videos"
        env = RecordVideo(
            gym.make(ID, rows=4, cols=4, render_mode="rgb_array"), str(folder), episode_trigger=lambda episode: True
        )
        for seed in range(3):
            play_episode(env, seed)
        env.close()
        files = sorted(folder.glob("*.mp4"))
        assert len(files) == 3
        for file in files:
            clip = VideoFileClip(str(file))
            first, last = clip.get_frame(0), clip.get_frame(clip.duration - 0.3)
            clip.close()
            assert first.shape == (512, 512, 3)
            assert first.std() > 10
            assert np.abs(first.astype(int) - last).max() > 100


# --- notebooks and stable-baselines3 ------------------------------------------------------------


@pytest.mark.parametrize("kind", ["single", "PettingZoo"])
def test_a_notebook_draws_the_environment(kind: str) -> None:
    """Without a render mode; before the first game, where there is no picture, it shows the text instead."""
    env: Any = GameEnv("mozaic", rows=4, cols=4, opponent=None)
    if kind == "PettingZoo":
        env = pytest.importorskip("mozaic_env.envs.pettingzoo").raw_env("mozaic", rows=4, cols=4)
    assert env._repr_svg_() is None
    env.reset(seed=0)
    first = env._repr_svg_()
    assert first.startswith("<svg")
    env.step(0)
    assert env._repr_svg_() != first


def test_stable_baselines3_films_all_games(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    recorder = pytest.importorskip("stable_baselines3.common.vec_env").VecVideoRecorder
    from mozaic_env.envs.sb3 import GameVecEnv

    clips = videos.kept(monkeypatch)
    games = GameVecEnv(2, "mozaic", rows=4, cols=4, opponent=None, render_mode="rgb_array")
    env = recorder(games, str(tmp_path), record_video_trigger=lambda step: step == 0, video_length=3)
    env.reset()
    assert_same(np.stack(games.get_images()), np.stack(env.env_method("render")), "pictures of all games")
    for _ in range(4):
        env.step(games.action_masks().argmax(axis=1))
    env.close()
    (clip,) = clips
    assert clip.fps == GameVecEnv.metadata["render_fps"]
    assert len(clip.frames) == 4
    for one, following in zip(clip.frames, clip.frames[1:], strict=False):
        assert one.std() > 10
        assert (one != following).any()
