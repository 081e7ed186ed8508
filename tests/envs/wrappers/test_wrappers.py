"""Wrappers around the single environment: the package's own, and Gymnasium's that the package counts on."""

from __future__ import annotations

import copy
import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cloudpickle
import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.wrappers import FlattenObservation, RecordEpisodeStatistics, RecordVideo

from mozaic_env.core.record import parse_record
from mozaic_env.envs.wrappers import PotentialReward, RandomSymmetry, RecordGames
from mozaic_env.games import game_of_record, make_game
from mozaic_env.testing.helpers import assert_same
from tests.envs.wrappers import videos

ID = "mozaic_env:Mozaic-v0"
SMALL = {"rows": 4, "cols": 4}


def make(**options: Any) -> gym.Env[Any, Any]:
    return gym.make(ID, **SMALL | options)


def play(env: gym.Env[Any, Any], seed: int | None, choice: int = 0) -> list[Any]:
    """A random legal game, by the masks that the environment shows: all that it gives."""
    rng = np.random.default_rng(choice)
    given: list[Any] = [env.reset(seed=seed)]
    over = False
    while not over:
        mask = given[-1][-1]["action_mask"]
        given.append(env.step(rng.choice(np.flatnonzero(mask))))
        over = given[-1][2] or given[-1][3]
    return given


# --- symmetry -----------------------------------------------------------------------------------


@pytest.mark.parametrize("board", [(4, 4), (3, 4)])
@pytest.mark.parametrize("opponent", ["greedy", None])
def test_a_turned_game_is_the_game_turned(board: tuple[int, int], opponent: str | None) -> None:
    """The image of every action in the wrapper is the action itself outside: everything else is the image too."""
    options = {"opponent": opponent, "rows": board[0], "cols": board[1], "reward": "margin"}
    shown, plain = RandomSymmetry(make(**options)), make(**options)
    met = set()
    for seed in range(40):
        rng = np.random.default_rng(seed)
        _, info = plain.reset(seed=seed)
        observation, image_info = shown.reset(seed=seed)
        symmetry = shown.symmetry
        met.add(symmetry.name)
        over = False
        while not over:
            action = rng.choice(np.flatnonzero(info["action_mask"]))
            assert image_info["action_mask"][symmetry.actions[action]]
            found, reward, terminated, truncated, info = plain.step(action)
            observation, *rest, image_info = shown.step(symmetry.actions[action])
            assert rest == [reward, terminated, truncated]
            assert shown.symmetry is symmetry
            assert_same(observation, symmetry.observation(found), "observation")
            masks = symmetry.masks(info["action_mask"])
            assert_same(image_info, {**info, "action_mask": masks}, "info")
            assert (shown.action_masks() == masks).all()
            over = terminated or truncated
        assert shown.unwrapped.record == plain.unwrapped.record
    assert met == {symmetry.name for symmetry in plain.unwrapped.game.symmetries}


def test_symmetries_follow_from_the_seed_and_go_on() -> None:
    names = []
    for _ in range(2):
        env = RandomSymmetry(make())
        env.reset(seed=5)
        names.append([env.symmetry.name])
        for _ in range(30):
            env.reset()
            names[-1].append(env.symmetry.name)
    assert names[0] == names[1]
    assert len(set(names[0])) == 8


def test_gymnasiums_check_of_the_symmetry_wrapper() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*different from the unwrapped version.*")
        check_env(RandomSymmetry(gym.make(ID)))


def test_actions_that_are_none_reach_the_environment() -> None:
    env = RandomSymmetry(make(illegal="raise"))
    env.reset(seed=0)
    for action in (-1, 96, "a1", None, 0.5, [1, 2]):
        with pytest.raises(ValueError, match="action"):
            env.step(action)
    env = RandomSymmetry(make())
    _, info = env.reset(seed=0)
    assert env.step(int(np.flatnonzero(info["action_mask"] == 0)[0]))[4]["illegal_action"]


def test_masks_for_sb3_contrib_are_turned_too() -> None:
    utils = pytest.importorskip("sb3_contrib.common.maskable.utils", reason="sb3-contrib is not installed")
    env = RandomSymmetry(make(opponent=None))
    env.reset(seed=0, options={"position": "3y/4/4/4 b d 1 7,8,1,0,1,1 0-0"})
    assert utils.get_action_masks(env).sum() == 1
    assert (utils.get_action_masks(env) == env.action_masks()).all()


# --- shaping ------------------------------------------------------------------------------------


def lead(env: gym.Env[Any, Any], seat: int) -> int:
    """The seat's lead in points, from the position string."""
    scores = [int(number) for number in env.unwrapped.position.split()[-1].split("-")]
    return scores[seat] - scores[1 - seat]


@pytest.mark.parametrize("opponent", ["random", None])
@pytest.mark.parametrize("gamma", [1.0, 0.9])
def test_shaped_rewards_are_what_the_formula_says(opponent: str | None, gamma: float) -> None:
    """With greedy, whose potential is the lead in points: computed from the position strings."""
    env = PotentialReward(make(opponent=opponent), heuristic="greedy", scale=0.01, gamma=gamma)
    plain = make(opponent=opponent)
    changed = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        _, info = env.reset(seed=seed)
        plain.reset(seed=seed)
        over = False
        while not over:
            seat, before = info["seat"], lead(env, info["seat"])
            action = rng.choice(np.flatnonzero(info["action_mask"]))
            _, shaped, terminated, truncated, info = env.step(action)
            reward = plain.step(action)[1]
            after = 0 if terminated else lead(env, seat)
            assert shaped == pytest.approx(reward + 0.01 * (gamma * after - before), abs=1e-12)
            assert type(shaped) is float
            changed += shaped != reward
            over = terminated or truncated
    assert changed > 5


def test_what_is_added_cancels_out_over_a_game() -> None:
    """Without discount and with a result at the end: only the potential of the start is left, for every policy."""
    env, plain = PotentialReward(make(seat=0, reward="margin"), scale=0.5), make(seat=0, reward="margin")
    for seed in range(10):
        shaped = sum(step[1] for step in play(env, seed)[1:])
        assert shaped == pytest.approx(sum(step[1] for step in play(plain, seed)[1:]), abs=1e-9)
    late = {"position": "bbyb/byyb/yy1b/yyb1 y y 1 0,1,1,1,1,1 8-4"}
    env.reset(seed=0, options=late)
    start = env._before
    assert start > 0.5 * 4
    total = sum(play_on(env))
    plain.reset(seed=0, options=late)
    assert total == pytest.approx(sum(play_on(plain)) - start, abs=1e-9)


def play_on(env: gym.Env[Any, Any]) -> list[float]:
    """The rewards from here on, always with the first legal action."""
    rewards, over = [], False
    while not over:
        action = np.flatnonzero(env.get_wrapper_attr("action_masks")())[0]
        _, reward, terminated, truncated, _ = env.step(action)
        rewards.append(float(reward))
        over = terminated or truncated
    return rewards


def test_a_truncated_game_keeps_its_potential_and_a_lost_one_does_not() -> None:
    env = PotentialReward(make(opponent=None, max_decisions=1), "greedy", scale=1)
    position = "4/4/yy2/y3 y y 1 4,8,1,1,1,1 0-0"
    env.reset(seed=0, options={"position": position})
    _, reward, terminated, truncated, _ = env.step(1)  # b1 completes the square: 4 points
    assert (reward, terminated, truncated) == (4.0, False, True)
    env.reset(seed=0, options={"position": position.replace("0-0", "8-0")})
    _, reward, terminated, truncated, info = env.step(0)
    assert info["illegal_action"]
    assert (reward, terminated, truncated) == (-1.0 - 8.0, True, False)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"heuristic": "gready"}, "greedy, pattern"),
        ({"scale": -1}, "scale"),
        ({"scale": float("nan")}, "scale"),
        ({"scale": "1"}, "a number"),
        ({"gamma": 1.5}, "gamma"),
        ({"gamma": True}, "gamma"),
    ],
)
def test_bad_shaping(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        PotentialReward(make(), **arguments)


# --- records ------------------------------------------------------------------------------------


def test_games_are_recorded_and_replay(tmp_path: Path) -> None:
    folder = tmp_path / "some" / "records"
    env = RecordGames(make(opponent="greedy", rules="onyx"), folder)
    assert env.record_path is None
    expected = []
    for seed in range(5):
        play(env, seed)
        expected.append(env.unwrapped.record)
    env.reset(seed=9)
    env.step(int(np.flatnonzero(env.get_wrapper_attr("action_masks")())[0]))
    env.close()  # one that is not over is not written
    assert env.record_path == folder / "games-0.txt"
    lines = env.record_path.read_text("utf-8").splitlines()
    assert lines == expected
    for line in lines:
        record = parse_record(line)
        assert "greedy" in record.header.values()
        assert len(list(game_of_record(record).replay(record))) == len(record.words)


def test_which_games_are_recorded_and_where(tmp_path: Path) -> None:
    env = RecordGames(make(max_decisions=6), tmp_path, "every-third", lambda number: number % 3 == 2)
    other = RecordGames(make(), tmp_path, "every-third")
    for seed in range(7):
        play(env, seed)
        if seed == 2:
            play(other, seed)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["every-third-0.txt", "every-third-1.txt"]
    lines = (tmp_path / "every-third-0.txt").read_text().splitlines()
    assert len(lines) == 2
    assert all(line.endswith(" ...") for line in lines)
    assert len(other.record_path.read_text().splitlines()) == 1


def test_an_illegal_end_is_recorded(tmp_path: Path) -> None:
    env = RecordGames(make(opponent=None), tmp_path)
    env.reset(seed=0)
    env.step(95)
    assert "forfeit=yellow" in env.record_path.read_text()


def test_bad_recorders(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match="cannot make the folder"):
        RecordGames(make(), tmp_path / "file" / "folder")
    for prefix in ("", "a/b", 5):
        with pytest.raises(ValueError, match="name_prefix"):
            RecordGames(make(), tmp_path, prefix)
    with pytest.raises(ValueError, match="episode_trigger"):
        RecordGames(make(), tmp_path, episode_trigger=3)


# --- all ----------------------------------------------------------------------------------------

WRAPPERS: dict[str, Callable[[gym.Env[Any, Any], Path], gym.Env[Any, Any]]] = {
    "symmetry": lambda env, folder: RandomSymmetry(env),
    "shaping": lambda env, folder: PotentialReward(env),
    "records": lambda env, folder: RecordGames(env, folder),
    "all": lambda env, folder: FlattenObservation(
        RecordEpisodeStatistics(RecordGames(PotentialReward(RandomSymmetry(env)), folder))
    ),
}
every_wrapper = pytest.mark.parametrize("wrap", WRAPPERS.values(), ids=WRAPPERS)


@every_wrapper
def test_copies_and_pickles_in_the_middle_of_a_game(wrap: Any, tmp_path: Path) -> None:
    env = wrap(make(), tmp_path)
    env.reset(seed=1)
    for _ in range(3):
        env.step(np.flatnonzero(env.get_wrapper_attr("action_masks")())[0])
    twins = [copy.deepcopy(env), pickle.loads(cloudpickle.dumps(env))]  # Gymnasium's flat one has a lambda
    expected = play_on(env)
    for twin in twins:
        assert play_on(twin) == expected
        assert twin.unwrapped.record == env.unwrapped.record


@every_wrapper
def test_other_environments_are_refused(wrap: Any, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="accepted: environments of this package"):
        wrap(gym.make("CartPole-v1"), tmp_path)


def test_the_symmetry_wrapper_goes_below_what_changes_observations() -> None:
    with pytest.raises(ValueError, match="below any that changes"):
        RandomSymmetry(FlattenObservation(make()))
    assert RandomSymmetry(RecordEpisodeStatistics(PotentialReward(make())))


@every_wrapper
def test_wrappers_are_part_of_the_spec(wrap: Any, tmp_path: Path) -> None:
    env = wrap(make(), tmp_path)
    again = gym.make(env.spec)
    assert str(again) == str(env)
    assert_same(play(again, 3)[-1][:4], play(env, 3)[-1][:4], "made by its spec")


# --- Gymnasium's own ----------------------------------------------------------------------------


def test_flat_observations() -> None:
    env, plain = FlattenObservation(make()), make()
    size = sum(field.size for field in make_game("mozaic", **SMALL).fields)
    assert env.observation_space.shape == (size,)
    for flat, entries in zip(play(env, 0), play(plain, 0), strict=True):
        assert flat[0] in env.observation_space
        assert flat[0].tolist() == np.concatenate([entry.ravel() for entry in entries[0].values()]).tolist()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*different from the unwrapped version.*")
        check_env(env)


def test_statistics_around_all_wrappers(tmp_path: Path) -> None:
    env = RecordEpisodeStatistics(RecordGames(PotentialReward(RandomSymmetry(make())), tmp_path))
    for seed in range(5):
        given = play(env, seed)
        assert given[-1][4]["episode"]["r"] == pytest.approx(sum(step[1] for step in given[1:]))
        assert given[-1][4]["episode"]["l"] == len(given) - 1


def test_videos_hold_every_position(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """HighwayEnv 393, Gymnasium-Robotics 103: three episodes, three videos, a frame for each position."""
    clips = videos.kept(monkeypatch)
    env = RecordVideo(
        RandomSymmetry(make(rows=2, cols=2, render_mode="rgb_array")),
        str(tmp_path / "videos"),
        episode_trigger=lambda number: True,
    )
    lengths = [len(play(env, seed)) for seed in range(3)]
    env.close()
    assert [len(clip.frames) for clip in clips] == lengths
    assert len(list((tmp_path / "videos").glob("*.mp4"))) == 3
    for clip in clips:
        assert clip.fps == env.metadata["render_fps"]
        for one, following in zip(clip.frames, clip.frames[1:]):
            assert one.shape == (512, 512, 3)
            assert one.std() > 10
            assert (one != following).any()
