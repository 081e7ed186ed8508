"""Every wrapper of Gymnasium, single and vector: around our environments it plays on as they do, or the guide says why.

A wrapper that a new release brings has to be put into one of these tables, and into the guide's.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import wrappers as single
from gymnasium.error import DependencyNotInstalled
from gymnasium.wrappers import vector

from mozaic_env.envs.gymnasium.single import GameEnv
from tests.cli.processes import ROOT
from tests.envs.wrappers import videos

ID = "mozaic_env:Mozaic-v0"
SMALL = {"rows": 2, "cols": 2, "render_mode": "rgb_array"}
STEPS = 25
SIZE = 2 + 12 + 6 + 4 + 1  # of a flat observation
MODES = ("NextStep", "SameStep", "Disabled")
Wrap = Callable[[Any], Any]


def pixels(env: Any) -> Any:
    return single.AddRenderObservation(env)


def flat(env: Any) -> Any:
    return single.FlattenObservation(env)


def many_flat(env: Any) -> Any:
    return vector.FlattenObservation(env)


def to_torch(kind: Any) -> Wrap:
    def wrap(env: Any) -> Any:
        torch = pytest.importorskip("torch")
        return single.TransformAction(kind(env), lambda action: torch.tensor(int(action)), None)

    return wrap


def many_to_torch(kind: Any) -> Wrap:
    def wrap(env: Any) -> Any:
        torch = pytest.importorskip("torch")
        return vector.TransformAction(kind(env), lambda actions: torch.tensor(actions))

    return wrap


SINGLE: dict[str, Wrap | None] = {  # None: the guide says why not
    "AtariPreprocessing": None,
    "DelayObservation": lambda env: single.DelayObservation(flat(env), 1),
    "DtypeObservation": lambda env: single.DtypeObservation(flat(env), np.float32),
    "DiscretizeObservation": None,
    "FilterObservation": lambda env: single.FilterObservation(env, ["board", "hand"]),
    "FlattenObservation": flat,
    "FrameStackObservation": lambda env: single.FrameStackObservation(env, 2),
    "GrayscaleObservation": lambda env: single.GrayscaleObservation(pixels(env)),
    "TransformObservation": lambda env: single.TransformObservation(env, lambda seen: seen["board"], None),
    "MaxAndSkipObservation": None,
    "NormalizeObservation": lambda env: single.NormalizeObservation(flat(env)),
    "AddRenderObservation": pixels,
    "ResizeObservation": lambda env: single.ResizeObservation(pixels(env), (64, 64)),
    "ReshapeObservation": lambda env: single.ReshapeObservation(flat(env), (1, SIZE)),
    "RescaleObservation": lambda env: single.RescaleObservation(flat(env), np.float32(0), np.float32(1)),
    "TimeAwareObservation": lambda env: single.TimeAwareObservation(single.TimeLimit(env, 100), flatten=False),
    "ClipAction": None,
    "DiscretizeAction": None,
    "TransformAction": lambda env: single.TransformAction(env, lambda action: action, None),
    "RescaleAction": None,
    "StickyAction": None,
    "RepeatAction": None,
    "ClipReward": lambda env: single.ClipReward(env, -1, 1),
    "TransformReward": lambda env: single.TransformReward(env, lambda reward: 2 * float(reward)),
    "NormalizeReward": single.NormalizeReward,
    "TimeLimit": lambda env: single.TimeLimit(env, 100),
    "Autoreset": single.Autoreset,
    "PassiveEnvChecker": single.PassiveEnvChecker,
    "OrderEnforcing": single.OrderEnforcing,
    "RecordEpisodeStatistics": single.RecordEpisodeStatistics,
    "AddWhiteNoise": lambda env: single.AddWhiteNoise(env, 0.1),
    "ObstructView": lambda env: single.ObstructView(env, 0.1, 8),
    "RenderCollection": single.RenderCollection,
    "RecordVideo": lambda env: single.RecordVideo(env, "videos"),
    "HumanRendering": single.HumanRendering,
    "ArrayConversion": to_torch(lambda env: single.ArrayConversion(env, np, pytest.importorskip("torch"))),
    "JaxToNumpy": None,
    "JaxToTorch": None,
    "NumpyToTorch": to_torch(lambda env: single.NumpyToTorch(env)),
}
VECTOR: dict[str, Wrap | None] = {
    "VectorizeTransformObservation": lambda env: vector.VectorizeTransformObservation(env, single.FlattenObservation),
    "VectorizeTransformAction": lambda env: vector.VectorizeTransformAction(
        env, single.TransformAction, func=lambda action: action, action_space=env.single_action_space
    ),
    "VectorizeTransformReward": lambda env: vector.VectorizeTransformReward(
        env, single.TransformReward, func=lambda reward: 2 * reward
    ),
    "DictInfoToList": vector.DictInfoToList,
    "TransformObservation": lambda env: vector.TransformObservation(env, lambda seen: seen["board"]),
    "FilterObservation": lambda env: vector.FilterObservation(env, ["board"]),
    "FlattenObservation": many_flat,
    "GrayscaleObservation": None,
    "ResizeObservation": None,
    "ReshapeObservation": lambda env: vector.ReshapeObservation(many_flat(env), (1, SIZE)),
    "RescaleObservation": lambda env: vector.RescaleObservation(many_flat(env), np.float32(0), np.float32(1)),
    "DtypeObservation": lambda env: vector.DtypeObservation(many_flat(env), np.float32),
    "NormalizeObservation": lambda env: vector.NormalizeObservation(many_flat(env)),
    "TransformAction": lambda env: vector.TransformAction(env, lambda actions: actions),
    "ClipAction": None,
    "RescaleAction": None,
    "TransformReward": lambda env: vector.TransformReward(env, lambda rewards: 2 * rewards),
    "ClipReward": lambda env: vector.ClipReward(env, -1, 1),
    "NormalizeReward": vector.NormalizeReward,
    "RecordEpisodeStatistics": vector.RecordEpisodeStatistics,
    "RecordVideo": lambda env: vector.RecordVideo(env, "videos", video_length=3, step_trigger=lambda step: step == 0),
    "HumanRendering": vector.HumanRendering,
    "ArrayConversion": many_to_torch(lambda env: vector.ArrayConversion(env, np, pytest.importorskip("torch"))),
    "JaxToNumpy": None,
    "JaxToTorch": None,
    "NumpyToTorch": many_to_torch(lambda env: vector.NumpyToTorch(env)),
}
# The modes that the guide leaves out; Gymnasium refuses them when the wrapper is made, or its own infos don't convert.
OBSERVES = {name for name in VECTOR if "Observation" in name}
LEFT_OUT = {
    "SameStep": OBSERVES | {"ArrayConversion", "NumpyToTorch"},
    "Disabled": {"NormalizeObservation"},
    "NextStep": set[str](),
}
CHANGES_REWARDS = {"TransformReward", "VectorizeTransformReward", "NormalizeReward"}


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Films are kept in memory, windows opened nowhere and without a pause between pictures."""
    videos.kept(monkeypatch)
    monkeypatch.setitem(GameEnv.metadata, "render_fps", 1000)
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.chdir(tmp_path)


def begun(wrap: Any, env: Any) -> Any:
    """The wrapped environment after its first reset; skips where the wrapper misses a library."""
    try:
        env = wrap(env)
        env.reset(seed=3)
        return env
    except (DependencyNotInstalled, ModuleNotFoundError) as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("module", [single, vector], ids=["single", "vector"])
def test_every_wrapper_is_in_a_table_and_in_the_guide(module: Any) -> None:
    table = SINGLE if module is single else VECTOR
    missing = {name for name in module.__all__ if name != "vector"} - set(table)
    assert not missing, "new in Gymnasium: try them, and say in docs/guides/wrappers.md if they work"
    guide = (ROOT / "docs" / "guides" / "wrappers.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in row.strip(" |").split("|")] for row in guide.splitlines() if row.startswith("|")]
    column = 1 if module is single else 2
    said = {name: row[column] for row in rows for name in re.findall(r"`(\w+)`", row[0])}
    for name, wrap in table.items():
        assert said[name].split()[0].rstrip(",:") == ("no" if wrap is None else "yes"), name
    assert all(said[name] == "-" for name in set(said) - set(table))


def known(module: Any, table: dict[str, Wrap | None]) -> list[str]:
    """The wrappers that work and that the installed release has."""
    return [name for name in module.__all__ if table.get(name)]


@pytest.mark.parametrize("opponent", ["greedy", None])
@pytest.mark.parametrize("name", known(single, SINGLE))
def test_a_wrapped_game_goes_on_as_the_game_does(name: str, opponent: str | None) -> None:
    """To the first end and beyond: the same ends and rewards, actions and seeds being the same."""
    plain = gym.make(ID, opponent=opponent, **SMALL)
    inner = gym.make(ID, opponent=opponent, **SMALL)
    env = begun(SINGLE[name], inner)
    plain.reset(seed=3)
    ends = 0
    for _ in range(STEPS):
        action = np.flatnonzero(plain.get_wrapper_attr("action_masks")())[-1]
        _, reward, *over, _ = plain.step(action)
        _, given, *given_over, _ = env.step(action)
        assert given_over == over
        assert np.sign(float(given)) == np.sign(float(reward))
        if name not in CHANGES_REWARDS:
            assert given == reward
        if any(over):
            ends += 1
            plain.reset()
            if name == "Autoreset":
                env.step(action)
            else:
                env.reset()
    assert ends > 1
    assert (plain.unwrapped.state == inner.unwrapped.state).all()
    env.close()


@pytest.mark.filterwarnings("ignore:.*will not contain the last frame")
@pytest.mark.parametrize("opponent", ["greedy", None])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", known(vector, VECTOR))
def test_wrapped_games_go_on_as_the_games_do(name: str, mode: str, opponent: str | None) -> None:
    if name in LEFT_OUT[mode] and name not in ("ArrayConversion", "NumpyToTorch"):
        with pytest.raises((ValueError, AssertionError)):  # Gymnasium's own word, until 1.1 an assertion
            begun(VECTOR[name], gym.make_vec(ID, 3, autoreset_mode=mode, **SMALL))
        return
    if name in LEFT_OUT[mode]:
        pytest.skip("the last observations are an array of dicts, as in Gymnasium's own environments")
    plain = gym.make_vec(ID, 3, opponent=opponent, autoreset_mode=mode, **SMALL)
    inner = gym.make_vec(ID, 3, opponent=opponent, autoreset_mode=mode, **SMALL)
    env = begun(VECTOR[name], inner)
    plain.reset(seed=3)
    ends = 0
    for _ in range(STEPS):
        actions = plain.unwrapped.sample_actions()
        _, rewards, terminated, truncated, _ = plain.step(actions)
        _, given, *given_over, _ = env.step(actions)
        assert np.array_equal(np.asarray(given_over[0]), terminated)
        assert np.array_equal(np.asarray(given_over[1]), truncated)
        assert np.array_equal(np.sign(np.asarray(given)), np.sign(rewards))
        if name not in CHANGES_REWARDS:
            assert np.array_equal(np.asarray(given), rewards)
        over = terminated | truncated
        ends += over.sum()
        if mode == "Disabled" and over.any():
            plain.reset(options={"reset_mask": over})
            env.reset(options={"reset_mask": over})
    assert ends > 3
    assert (plain.unwrapped.states == inner.unwrapped.states).all()
    env.close()


def test_names_are_numbers_to_libraries_that_know_no_texts() -> None:
    """As `NumpyToTorch` reads infos, also where array-api-compat, which it needs, is not installed."""
    torch = pytest.importorskip("torch")
    env = gym.make_vec(ID, 8, **SMALL)
    env.unwrapped.set_opponents(["random", "greedy"])
    env.reset(seed=0)
    told: set[tuple[Any, int]] = set()
    for _ in range(STEPS):
        infos = env.step(env.unwrapped.sample_actions())[4]
        if "opponent" in infos:
            told |= set(zip(infos["opponent"].tolist(), torch.from_dlpack(infos["opponent"]).tolist(), strict=True))
            assert [name is not None for name in infos["opponent"]] == infos["_opponent"].tolist()
            with pytest.raises(BufferError):
                torch.from_dlpack(infos["opponent"][::2])
    assert told == {("random", 0), ("greedy", 1), (None, -1)}
