"""Wrappers around the native vector environment: in every autoreset mode equal to single ones, and Gymnasium's own."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv
from gymnasium.wrappers.vector import FlattenObservation, RecordEpisodeStatistics

from mozaic_env.core.record import parse_record
from mozaic_env.envs import wrappers as single
from mozaic_env.envs.wrappers import vector
from mozaic_env.games import game_of_record, make_game
from mozaic_env.testing.helpers import actions_for, assert_same
from tests.envs.python_agents import Asked
from tests.envs.wrappers import videos

ID = "mozaic_env:Mozaic-v0"
GAMES = 5
SMALL = {"rows": 4, "cols": 4}
MODES = list(AutoresetMode)
every_mode = pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.value)


def make_vec(mode: AutoresetMode, num_envs: int = GAMES, **options: Any) -> VectorEnv[Any, Any, Any]:
    return gym.make_vec(ID, num_envs, autoreset_mode=mode, **SMALL | options)


def begin_again(env: VectorEnv[Any, Any, Any], over: np.ndarray) -> tuple[Any, dict[str, Any]]:
    return env.reset(options={"reset_mask": over})


def compare(env: Any, alone: list[gym.Env[Any, Any]], mode: AutoresetMode, steps: int, illegal: float = 0.0) -> int:
    """Plays both, with the same seeds and actions, and says how many games have ended."""
    rng, ended = np.random.default_rng(3), 0
    observations, infos = env.reset(seed=20)
    expected = [one.reset(seed=20 + i) for i, one in enumerate(alone)]
    over = np.zeros(len(alone), np.bool_)
    for _ in range(steps):
        for i in range(len(alone)):
            assert_same({key: entry[i] for key, entry in observations.items()}, expected[i][0], f"observation {i}")
            assert_same(infos["action_mask"][i], expected[i][-1]["action_mask"], f"mask {i}")
        actions = actions_for(infos["action_mask"], rng, illegal)
        previous = over
        observations, rewards, terminated, truncated, infos = env.step(actions)
        over = terminated | truncated
        ended += int(over.sum())
        for i, one in enumerate(alone):
            if mode is AutoresetMode.NEXT_STEP and previous[i]:
                expected[i] = one.reset()
                assert (rewards[i], over[i]) == (0, False)
                continue
            expected[i] = one.step(actions[i])
            assert rewards[i] == pytest.approx(expected[i][1], abs=1e-12)
            assert (terminated[i], truncated[i]) == expected[i][2:4]
            if over[i] and mode is AutoresetMode.SAME_STEP:
                assert_same(infos["final_obs"][i], expected[i][0], f"last observation {i}")
                assert_same(infos["final_info"]["action_mask"][i], expected[i][4]["action_mask"], f"last mask {i}")
                expected[i] = one.reset()
        if mode is AutoresetMode.DISABLED and over.any():
            observations, infos = begin_again(env, over)
            for i in np.flatnonzero(over):
                expected[i] = alone[i].reset()
    return ended


@every_mode
@pytest.mark.parametrize("opponent", ["random", None])
def test_symmetry_equals_that_of_singles(mode: AutoresetMode, opponent: str | None) -> None:
    env = vector.RandomSymmetry(make_vec(mode, opponent=opponent))
    alone = [single.RandomSymmetry(gym.make(ID, opponent=opponent, **SMALL)) for _ in range(GAMES)]
    met = set()
    assert compare(env, alone, mode, 60, illegal=0.02) > GAMES
    for _ in range(20):
        env.reset()
        met |= set(env.chosen.tolist())
    assert met == set(range(8))
    _, infos = env.reset()
    assert (env.action_masks() == infos["action_mask"]).all()


@every_mode
@pytest.mark.parametrize("options", [{"opponent": "random"}, {"opponent": None, "max_decisions": 9}])
def test_shaping_equals_that_of_singles(mode: AutoresetMode, options: dict[str, Any]) -> None:
    if mode is AutoresetMode.SAME_STEP and "max_decisions" in options:
        pytest.skip("there the potential of a truncated game is gone, as documented")
    arguments: dict[str, Any] = {"scale": 0.1, "gamma": 0.95}
    env = vector.PotentialReward(make_vec(mode, **options), **arguments)
    alone = [single.PotentialReward(gym.make(ID, **SMALL, **options), **arguments) for _ in range(GAMES)]
    assert compare(env, alone, mode, 60, illegal=0.02) > GAMES


def test_a_truncated_game_in_same_step_mode_counts_as_over() -> None:
    options = {"opponent": None, "max_decisions": 5, "reward": "margin"}
    env = vector.PotentialReward(make_vec(AutoresetMode.SAME_STEP, **options), scale=1)
    _, infos = env.reset(seed=0)
    total = np.zeros((2, GAMES))
    for _ in range(5):
        actions, seats = env.unwrapped.sample_actions(), infos["seat"]
        before = env._before.copy()
        _, rewards, _, truncated, infos = env.step(actions)
        total[seats, np.arange(GAMES)] += rewards
    assert truncated.all()
    plain = make_vec(AutoresetMode.SAME_STEP, **options)
    plain.reset(seed=0)
    for _ in range(5):
        raw = plain.step(plain.unwrapped.sample_actions())[1]
    assert rewards == pytest.approx(raw - before)


# --- records ------------------------------------------------------------------------------------


@every_mode
@pytest.mark.parametrize(
    "options",
    [
        {"opponent": "greedy", "rules": "onyx"},
        {"opponent": None, "max_decisions": 12},
        {"opponent": Asked(make_game("mozaic", **SMALL), "greedy"), "seat": 1, "illegal": "raise"},
    ],
    ids=["compiled", "none", "python"],
)
def test_records_equal_those_of_singles(mode: AutoresetMode, options: dict[str, Any], tmp_path: Path) -> None:
    env = vector.RecordGames(make_vec(mode, **options), tmp_path / "vector")
    alone = [single.RecordGames(gym.make(ID, **SMALL, **options), tmp_path / "single") for _ in range(GAMES)]
    illegal = 0.0 if "illegal" in options else 0.02
    ended = compare(env, alone, mode, 100, illegal)
    lines = env.record_path.read_text().splitlines()
    assert len(lines) == ended > GAMES
    expected = [line for one in alone for line in one.record_path.read_text().splitlines()]
    assert sorted(lines) == sorted(expected)
    for line in lines:
        record = parse_record(line)
        assert len(list(game_of_record(record).replay(record))) == len(record.words)
    assert len(env._history) < 100 + 64


def test_records_of_games_from_positions(tmp_path: Path) -> None:
    env = vector.RecordGames(make_vec(AutoresetMode.NEXT_STEP, num_envs=2), tmp_path, "late")
    position = "bbyb/byyb/yy1b/yyb1 y y 1 0,1,1,1,1,1 8-4"
    env.reset(seed=0)
    env.reset(options={"position": position, "seat": 0, "reset_mask": np.array([False, True])})
    for _ in range(40):
        env.step(env.unwrapped.sample_actions())
    lines = (tmp_path / "late-0.txt").read_text().splitlines()
    assert [f"position={position.replace(' ', '_')}" in line for line in lines].count(True) == 1
    assert len(lines) > 3
    for line in lines:
        record = parse_record(line)
        assert list(game_of_record(record).replay(record))


def test_a_long_recording_forgets_what_is_written(tmp_path: Path) -> None:
    env = vector.RecordGames(make_vec(AutoresetMode.SAME_STEP), tmp_path, episode_trigger=lambda number: number == 100)
    env.reset(seed=0)
    for _ in range(600):
        env.step(env.unwrapped.sample_actions())
    assert len(env._history) < 200
    assert len(env.record_path.read_text().splitlines()) == 1


# --- all ----------------------------------------------------------------------------------------


def test_other_vector_environments_are_refused(tmp_path: Path) -> None:
    env = SyncVectorEnv([lambda: gym.make(ID, **SMALL)] * 2)
    for wrapper in (vector.RandomSymmetry, vector.PotentialReward, lambda env: vector.RecordGames(env, tmp_path)):
        with pytest.raises(ValueError, match="native vector environment"):
            wrapper(env)
    with pytest.raises(ValueError, match="below any that changes"):
        vector.RandomSymmetry(vector.FlattenObservation(make_vec(AutoresetMode.NEXT_STEP)))
    with pytest.raises(ValueError, match="right around"):
        vector.RecordGames(vector.RandomSymmetry(make_vec(AutoresetMode.NEXT_STEP)), tmp_path)


def test_singles_in_their_wrappers_make_other_vector_environments(tmp_path: Path) -> None:
    def make() -> gym.Env[Any, Any]:
        env = single.RecordGames(single.RandomSymmetry(gym.make(ID, **SMALL)), tmp_path)
        return single.PotentialReward(env)

    env = SyncVectorEnv([make] * 3)
    _, infos = env.reset(seed=0)
    rng = np.random.default_rng(0)
    for _ in range(40):
        _, _, _, _, infos = env.step(actions_for(infos["action_mask"], rng))
    assert len(list(tmp_path.iterdir())) == 3
    env.close()


def test_copies_of_the_arrays_are_not_needed(tmp_path: Path) -> None:
    """With copy=False too, what a wrapper has kept is not overwritten under it."""
    results = []
    for kept in (True, False):
        env = make_vec(AutoresetMode.NEXT_STEP, copy=kept)
        env = vector.RandomSymmetry(vector.PotentialReward(vector.RecordGames(env, tmp_path, f"copy-{kept}")))
        env.reset(seed=1)
        given = []
        for _ in range(60):
            observations, rewards, *_, infos = env.step(env.sample_actions())
            given.append(copy.deepcopy((observations, rewards, infos["action_mask"])))
        results.append(given)
    assert_same(results[0], results[1], "copy=False")
    assert (tmp_path / "copy-True-0.txt").read_text() == (tmp_path / "copy-False-0.txt").read_text()


def test_bad_actions_are_named_by_the_environment() -> None:
    env = vector.RandomSymmetry(make_vec(AutoresetMode.NEXT_STEP, illegal="raise"))
    env.reset(seed=0)
    before = env.unwrapped.positions
    for actions in (np.full(GAMES, 96), np.zeros(2, np.int64), np.zeros(GAMES), np.full(GAMES, -1)):
        with pytest.raises(ValueError, match="action"):
            env.step(actions)
    wrong = env.sample_actions()
    wrong[3] = np.flatnonzero(~env.action_masks()[3])[0]
    with pytest.raises(ValueError, match="index 3"):
        env.step(wrong)
    assert env.unwrapped.positions == before
    env.step(env.sample_actions())


# --- Gymnasium's own ----------------------------------------------------------------------------


@every_mode
@pytest.mark.parametrize("wrapper", [vector.FlattenObservation, FlattenObservation], ids=["ours", "gymnasium's"])
def test_flat_observations(mode: AutoresetMode, wrapper: Any) -> None:
    if mode is AutoresetMode.SAME_STEP and wrapper is FlattenObservation:
        with pytest.raises((ValueError, AssertionError)):  # until 1.1 an assertion
            wrapper(make_vec(mode))
        return
    env, plain = wrapper(make_vec(mode)), make_vec(mode)
    flat, infos = env.reset(seed=0)
    observations, _ = plain.reset(seed=0)
    rng, finals = np.random.default_rng(0), 0
    assert env.single_observation_space.shape == flat.shape[1:] == (2 + 48 + 6 + 4 + 1,)
    assert env.single_observation_space == single_flat().observation_space
    for _ in range(40):
        assert_flat(flat, observations)
        assert flat in env.observation_space
        actions = actions_for(infos["action_mask"], rng)
        flat, _, terminated, truncated, infos = env.step(actions)
        observations, *_, plain_infos = plain.step(actions)
        over = terminated | truncated
        for i in np.flatnonzero(over) if mode is AutoresetMode.SAME_STEP else ():
            finals += 1
            entries = {key: entry[None] for key, entry in plain_infos["final_obs"][i].items()}
            assert_flat(infos["final_obs"][i][None], entries)
        if mode is AutoresetMode.DISABLED and over.any():
            flat, infos = begin_again(env, over)
            observations, _ = begin_again(plain, over)
    assert (finals > GAMES) == (mode is AutoresetMode.SAME_STEP)


def single_flat() -> gym.Env[Any, Any]:
    return gym.wrappers.FlattenObservation(gym.make(ID, **SMALL))


def assert_flat(flat: np.ndarray, observations: dict[str, np.ndarray]) -> None:
    expected = np.concatenate([entry.reshape(len(flat), -1) for entry in observations.values()], axis=1)
    assert flat.dtype == np.int32
    np.testing.assert_array_equal(flat, expected)


@every_mode
def test_statistics_around_all_wrappers(mode: AutoresetMode, tmp_path: Path) -> None:
    """Returns of shaped rewards and lengths, against what was really given."""
    if mode is AutoresetMode.SAME_STEP and tuple(map(int, gym.__version__.split(".")[:2])) < (1, 4):
        pytest.skip("Gymnasium's RecordEpisodeStatistics loses the first step of each game in this mode before 1.4")
    inner = vector.RecordGames(make_vec(mode), tmp_path)
    env = RecordEpisodeStatistics(vector.PotentialReward(vector.RandomSymmetry(inner)), buffer_length=1000)
    _, infos = env.reset(seed=0)
    rng, games = np.random.default_rng(0), 0
    totals, lengths, over = np.zeros(GAMES), np.zeros(GAMES, int), np.zeros(GAMES, bool)
    for _ in range(80):
        skipped = over if mode is AutoresetMode.NEXT_STEP else np.zeros(GAMES, bool)
        _, rewards, terminated, truncated, infos = env.step(actions_for(infos["action_mask"], rng))
        over = terminated | truncated
        totals, lengths = np.where(skipped, 0, totals + rewards), np.where(skipped, 0, lengths + 1)
        for i in np.flatnonzero(over):
            told = infos["episode"] if "episode" in infos else infos["final_info"]["episode"]
            assert told["r"][i] == pytest.approx(totals[i])
            assert told["l"][i] == lengths[i]
            games += 1
        if mode is not AutoresetMode.NEXT_STEP:
            totals[over], lengths[over] = 0, 0
        if mode is AutoresetMode.DISABLED and over.any():
            _, infos = begin_again(env, over)
    assert games == len(env.return_queue) > GAMES
    assert len(inner.record_path.read_text().splitlines()) == games


def test_videos_hold_every_position_of_all_games(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    clips = videos.kept(monkeypatch)
    recorder = getattr(gym.wrappers.vector, "RecordVideo", None)
    if recorder is None:
        pytest.skip("this release of Gymnasium has no RecordVideo for vector environments")
    env = make_vec(AutoresetMode.NEXT_STEP, num_envs=4, render_mode="rgb_array")
    env = recorder(env, str(tmp_path / "videos"), step_trigger=lambda step: step == 0, video_length=6)
    env.reset(seed=0)
    for _ in range(8):
        env.step(env.unwrapped.sample_actions())
    env.close()
    (clip,) = clips
    assert len(clip.frames) >= 6
    for one, following in zip(clip.frames, clip.frames[1:]):
        assert one.shape == (1024, 1024, 3)
        assert one.std() > 10
        assert (one != following).any()
