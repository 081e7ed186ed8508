"""The wrappers that say what every action is worth: by hand on a toy game, and vector equal to single ones."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers import TransformAction

from mozaic_env.core.exact import MARGIN, OUTCOME, require_exact_values
from mozaic_env.core.symmetry import Symmetry, frozen
from mozaic_env.envs import wrappers as single
from mozaic_env.envs.gymnasium.single import GameEnv
from mozaic_env.envs.gymnasium.vector import GameVectorEnv
from mozaic_env.envs.wrappers import vector
from mozaic_env.testing.helpers import actions_for, assert_same
from tests.oracles.sorted_nim import SolvedNim

GAME = SolvedNim(9)
GAMES = 5


class TurnedNim(SolvedNim):
    """With a symmetry that is none, since what counts here is that actions are exchanged."""

    @property
    def symmetries(self) -> tuple[Symmetry, ...]:
        return Symmetry("identity", frozen([0, 1, 2])), Symmetry("turned", frozen([2, 0, 1]))


@pytest.mark.parametrize("opponent", ["random", None])
@pytest.mark.parametrize("objective", [MARGIN, OUTCOME])
def test_each_step_has_its_regret_and_each_decision_its_values(objective: str, opponent: str | None) -> None:
    env = single.ExactRegret(GameEnv(GAME, opponent=opponent), objective)
    values, rng, regrets = require_exact_values(GAME, objective), np.random.default_rng(0), set()
    for seed in range(20):
        _, info = env.reset(seed=seed)
        assert "regret" not in info
        over = False
        while not over:
            expected = values.action_values(env.unwrapped.state.reshape(1))[0]
            np.testing.assert_array_equal(info["action_values"], expected)
            np.testing.assert_array_equal(np.isnan(expected), info["action_mask"] == 0)
            action = rng.choice(np.flatnonzero(info["action_mask"]))
            *_, terminated, truncated, info = env.step(action)
            assert info["regret"] == np.nanmax(expected) - expected[action] >= 0
            regrets.add(info["regret"] > 0)
            over = terminated or truncated
        assert np.isnan(info["action_values"]).all()
    assert regrets == {True, False}


def test_an_illegal_action_has_no_value() -> None:
    env = single.ExactRegret(GameEnv(GAME))
    env.reset(seed=0, options={"position": "1 0 3,4,4"})
    *_, info = env.step(2)
    assert info["illegal_action"]
    assert np.isnan(info["regret"])


@pytest.mark.parametrize("mode", list(AutoresetMode), ids=lambda mode: mode.value)
@pytest.mark.parametrize("options", [{"opponent": "random"}, {"opponent": None, "max_decisions": 4}], ids=str)
def test_the_vector_wrapper_equals_single_ones(mode: AutoresetMode, options: dict[str, Any]) -> None:
    env = vector.ExactRegret(GameVectorEnv(GAMES, GAME, autoreset_mode=mode, **options))
    alone = [single.ExactRegret(GameEnv(GAME, **options)) for _ in range(GAMES)]
    rng, ended, illegal = np.random.default_rng(1), 0, 0
    _, infos = env.reset(seed=20)
    told = [one.reset(seed=20 + i)[1] for i, one in enumerate(alone)]
    over = np.zeros(GAMES, np.bool_)
    for _ in range(60):
        assert infos["_action_values"].all()
        for i in range(GAMES):
            np.testing.assert_array_equal(infos["action_values"][i], told[i]["action_values"])
        actions = actions_for(infos["action_mask"], rng, 0.5)
        previous = over
        _, _, terminated, truncated, infos = env.step(actions)
        over = terminated | truncated
        ended += int(over.sum())
        for i, one in enumerate(alone):
            if mode is AutoresetMode.NEXT_STEP and previous[i]:
                _, told[i] = one.reset()
                assert (infos["regret"][i], infos["_regret"][i]) == (0, False)
                continue
            *_, told[i] = one.step(actions[i])
            np.testing.assert_array_equal(infos["regret"][i], told[i]["regret"])
            assert infos["_regret"][i]
            illegal += np.isnan(told[i]["regret"])
            if over[i] and mode is AutoresetMode.SAME_STEP:
                for key in ("regret", "action_values"):
                    assert infos["final_info"][f"_{key}"][i]
                    np.testing.assert_array_equal(infos["final_info"][key][i], told[i][key])
                _, told[i] = one.reset()
        if mode is AutoresetMode.DISABLED and over.any():
            _, infos = env.reset(options={"reset_mask": over})
            assert "regret" not in infos
            for i in np.flatnonzero(over):
                _, told[i] = alone[i].reset()
    assert ended > GAMES
    assert illegal > 0


def test_games_that_wait_for_their_reset_have_no_values() -> None:
    env = vector.ExactRegret(GameVectorEnv(3, GAME, opponent=None, autoreset_mode=AutoresetMode.DISABLED))
    env.reset(seed=0, options={"position": "1 0 3,4,4"})
    env.step(np.zeros(3, np.int64))
    _, infos = env.reset(options={"reset_mask": np.array([True, False, True])})
    assert np.isnan(infos["action_values"]).all(axis=1).tolist() == [False, True, False]


def test_with_a_symmetry_around_it_values_are_those_of_the_actions_as_they_are_shown() -> None:
    game = TurnedNim(12)
    env = single.RandomSymmetry(single.ExactRegret(GameEnv(game, opponent=None)))
    envs = vector.RandomSymmetry(vector.ExactRegret(GameVectorEnv(8, game, opponent=None)))
    _, infos = envs.reset(seed=0)
    met = set()
    for seed in range(8):
        _, info = env.reset(seed=seed)
        shown = info["action_values"]
        met.add(env.symmetry.name)
        assert_same(infos["action_values"][seed], shown, "vector")
        *_, info = env.step(2)
        assert info["regret"] == np.nanmax(shown) - shown[2]
    assert len(met) == 2


def test_copies_share_the_values_and_pickles_find_them_again() -> None:
    env: Any = single.ExactRegret(GameEnv(GAME, opponent=None))
    env.reset(seed=3)
    twins = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
    assert twins[0]._exact is env._exact
    expected = env.step(1)
    for twin in twins:
        assert_same(twin.step(1)[-1], expected[-1], "info")


def test_what_changes_actions_goes_around_it() -> None:
    env, envs = GameEnv(GAME), GameVectorEnv(2, GAME)
    for bad in (
        lambda: single.ExactRegret(single.RandomSymmetry(env)),
        lambda: single.ExactRegret(TransformAction(env, lambda action: action, env.action_space)),
        lambda: vector.ExactRegret(vector.RandomSymmetry(envs)),
    ):
        with pytest.raises(ValueError, match="changes actions"):
            bad()


@pytest.mark.parametrize(
    ("name", "objective", "message"),
    [
        ("MosaicChess-v0", MARGIN, "the game has no solver"),
        ("CrystalMosaic-v0", "luck", "objective='luck'; accepted: margin, outcome"),
    ],
)
def test_games_without_values_are_refused(name: str, objective: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        single.ExactRegret(gym.make(f"mozaic_env:{name}"), objective)
    with pytest.raises(ValueError, match=message):
        vector.ExactRegret(gym.make_vec(f"mozaic_env:{name}", num_envs=2), objective)
