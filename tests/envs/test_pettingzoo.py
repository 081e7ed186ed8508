"""Every seat an agent: PettingZoo's own suites, and what they do not look at."""

from __future__ import annotations

import copy
import pickle
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from tests.oracles.nim import Nim

pytest.importorskip("pettingzoo", reason="PettingZoo is not installed")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # its tests import its own environments in a way that it deprecates
    import pettingzoo
    from pettingzoo.test import api_test, max_cycles_test, performance_benchmark, seed_test
    from pettingzoo.test.performance_benchmark import time as benchmark_time
    from pettingzoo.test.render_test import render_test
    from pettingzoo.utils import BaseWrapper, aec_to_parallel, turn_based_aec_to_parallel

from mozaic_env.envs.gymnasium.single import EpisodeOver, GameEnv
from mozaic_env.envs.pettingzoo import GameAEC, crystal_mosaic_v0, env, mozaic_v0, raw_env
from mozaic_env.games import GAMES, make_game
from mozaic_env.testing.helpers import assert_same

SMALL = {"rows": 4, "cols": 4}
VARIANTS = [
    {},
    {"flat": True},
    {"rules": "onyx", "reward": "margin", **SMALL},
    {"rows": 2, "cols": 2, "flat": True},
    {"max_decisions": 7, "illegal": "raise", **SMALL},
]
variants = pytest.mark.parametrize("options", VARIANTS, ids=str)


def choose(rng: np.random.Generator, mask: np.ndarray) -> int:
    return int(rng.choice(np.flatnonzero(mask)))


def decisions(game: GameAEC, seed: int) -> Iterator[tuple[str, int]]:
    """Random legal play to the end: who decided and what, before the step is made."""
    rng = np.random.default_rng(seed)
    while game.agents and not any(game.terminations.values()) and not any(game.truncations.values()):
        agent = game.agent_selection
        action = choose(rng, game.observe(agent)["action_mask"])
        yield agent, action
        game.step(action)


def play_out(game: GameAEC, seed: int) -> list[Any]:
    """All that the agents are told on the way to the end of a random game, and the record."""
    told: list[Any] = []
    for agent, action in decisions(game, seed):
        told += [agent, action, *game.last()]
    told += [game.last(), dict(game.rewards), game.position, game.record]
    return told


# --- PettingZoo's own suites --------------------------------------------------------------------


@pytest.fixture
def lenient() -> Iterator[None]:
    """Everything is an error but what PettingZoo says of every environment with an action mask that it doesn't know."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message="Observation is not a NumPy array")
        warnings.filterwarnings("ignore", message="Observation space for each agent probably should be")
        warnings.filterwarnings("ignore", message=r"reset options \['options'\] are left aside")
        yield


@variants
@pytest.mark.usefixtures("lenient")
def test_api(options: dict[str, Any]) -> None:
    for make in (mozaic_v0.env, mozaic_v0.raw_env):
        api_test(make(**options), num_cycles=100)


@pytest.mark.usefixtures("lenient")
def test_api_with_three_players() -> None:
    api_test(env(Nim()), num_cycles=100)
    seed_test(lambda: raw_env(Nim(30), flat=True), num_cycles=50)


@pytest.mark.usefixtures("lenient")
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("crystal_mosaic", {"players": 3, "max_rounds": 2}),
        ("crystal_mosaic", {"players": 4, "board": "base", "max_decisions": 30, "flat": True}),
        ("mosaic_chess", {"max_decisions": 30}),
    ],
)
def test_api_of_the_other_games(name: str, options: dict[str, Any]) -> None:
    api_test(env(name, **options), num_cycles=20)
    seed_test(lambda: env(name, **options), num_cycles=10)


@variants
def test_seeds(options: dict[str, Any]) -> None:
    seed_test(lambda: mozaic_v0.env(**options), num_cycles=50)


def test_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    if find_spec("pygame") is None:
        pytest.skip("pygame is not installed")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setitem(GameEnv.metadata, "render_fps", 100_000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pygame's own
        import pygame
    assert "human" in mozaic_v0.env().metadata["render_modes"]
    render_test(lambda render_mode: mozaic_v0.env(**SMALL, render_mode=render_mode))
    pygame.display.quit()


def test_performance(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The benchmark goes on for five seconds by its clock; ours is quicker."""
    clock = iter(range(0, 100, 2))
    monkeypatch.setattr(benchmark_time, "time", lambda: next(clock))
    performance_benchmark(mozaic_v0.env())
    assert "turns per second" in capsys.readouterr().out


class LegalInstead(BaseWrapper):  # type: ignore[misc]
    """Plays the first legal action instead of an illegal one, and always begins with the same seed."""

    metadata = {**GameAEC.metadata, "is_parallelizable": True}

    def reset(self, seed: int | None = None, options: Any = None) -> None:
        super().reset(seed=ALTERNATING, options=options)

    def step(self, action: Any) -> None:
        mask = self.observe(self.agent_selection)["action_mask"]
        super().step(action if action is None or mask[action] else int(np.flatnonzero(mask)[0]))


ALTERNATING = 3  # seed of a game whose first eight draws are colour gems, so that the players alternate


def test_the_limit_in_cycles() -> None:
    """PettingZoo's test counts how often each agent steps, without masks, so it needs games in which all step alike."""
    make = lambda max_cycles: LegalInstead(mozaic_v0.env(max_cycles=max_cycles))  # noqa: E731
    max_cycles_test(SimpleNamespace(env=make, parallel_env=lambda max_cycles: aec_to_parallel(make(max_cycles))))


def test_the_parallel_interface_by_its_own_wrapper() -> None:
    """In a turn-based game the wrapper asks for the one action that counts."""
    parallel = turn_based_aec_to_parallel(mozaic_v0.raw_env(rows=2, cols=2))
    observations, _ = parallel.reset(seed=0)
    rng, rewards = np.random.default_rng(0), {}
    while parallel.agents:
        actions = {a: choose(rng, o["action_mask"]) for a, o in observations.items() if o["action_mask"].any()}
        assert len(actions) == 1
        observations, rewards, *_ = parallel.step(actions)
    assert sum(rewards.values()) == 0


def test_pettingzoos_registry() -> None:
    made = pettingzoo.make("aec", "mozaic_env/mozaic-v0", rules="onyx", **SMALL)
    assert made.game == make_game("mozaic", rules="onyx", **SMALL)
    assert str(made) == made.metadata["name"] == "mozaic_v0"
    assert pettingzoo.make("aec", "mozaic_env/mozaic", max_cycles=3, **SMALL)
    for name in GAMES:
        made = pettingzoo.make("aec", f"mozaic_env/{name}")
        assert made.game == make_game(name)
        assert made.possible_agents == [f"player_{seat}" for seat in range(made.game.num_players)]


# --- turns --------------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", ["amethyst", "onyx"])
def test_equal_to_the_gymnasium_environment(rules: str) -> None:
    """Same seed and actions: the same seats decide and see the same, double turns and misses among them."""
    single = gym.make("mozaic_env:Mozaic-v0", rules=rules, opponent=None, **SMALL).unwrapped
    game = mozaic_v0.raw_env(rules=rules, **SMALL)
    again = 0
    for seed in range(12):
        observation, info = single.reset(seed=seed)
        game.reset(seed=seed)
        paid, before = 0.0, ""
        for agent, action in decisions(game, seed):
            assert agent == f"player_{info['seat']}"
            again += agent == before
            seen = game.observe(agent)
            assert_same(seen["observation"], observation, "observation")
            assert_same(seen["action_mask"], info["action_mask"], "mask")
            assert not game.observe(f"player_{1 - info['seat']}")["action_mask"].any()
            assert not any(game.rewards.values())
            observation, paid, terminated, truncated, info = single.step(np.int64(action))
            before = agent
        assert terminated
        assert not truncated
        assert game.rewards == {before: paid, f"player_{1 - int(before[-1])}": -paid}
        assert game.record == single.record
    assert again > 5


def points(game: GameAEC) -> np.ndarray:
    """Both scores, from the position string."""
    return np.array([int(number) for number in game.position.split()[-1].split("-")])


def test_margins_accrue_from_one_decision_to_the_next() -> None:
    """Through double turns and misses: what an agent is told is by how much its lead has grown since it last acted."""
    game = mozaic_v0.raw_env(reward="margin", rules="onyx")
    gained = 0
    for seed in range(4):
        game.reset(seed=seed)
        last, totals = {"player_0": 0.0, "player_1": 0.0}, {"player_0": 0.0, "player_1": 0.0}
        for agent, _ in decisions(game, seed):
            own, other = points(game)[:: 1 if agent == "player_0" else -1]
            lead = (own - other) / 4
            told = game.last()[1]
            assert told == lead - last[agent]
            last[agent] = lead
            totals[agent] += told
            gained += told != 0
            assert sum(game.rewards.values()) == 0
        lead = (points(game)[0] - points(game)[1]) / 4
        for agent in game.possible_agents:
            assert totals[agent] + game._cumulative_rewards[agent] == (lead if agent == "player_0" else -lead)
    assert gained > 20


def test_three_players_and_none_of_them_skipped() -> None:
    """Three taken give another turn; the one who takes the last stone loses, the others share."""
    game = raw_env(Nim(9))
    game.reset(seed=0)
    order = []
    for action in (2, 2, 0, 0, 0):  # 9, 6, 3, 2, 1 stones
        order.append(game.agent_selection)
        game.step(action)
    assert order == ["player_0", "player_0", "player_0", "player_1", "player_2"]
    assert game.rewards == {"player_0": 0.5, "player_1": 0.5, "player_2": -1.0}
    assert game.terminations == dict.fromkeys(game.possible_agents, True)
    seen = [game.observe(agent)["observation"]["taken"].tolist() for agent in game.possible_agents]
    assert seen == [[7, 1, 1], [1, 1, 7], [1, 7, 1]]
    for _ in range(3):
        assert game.agents
        game.step(None)
    assert game.agents == []
    with pytest.raises(EpisodeOver, match="reset"):
        game.step(None)


def test_margins_of_three_players() -> None:
    game = env(Nim(9), reward="margin")
    game.reset(seed=0)
    game.step(2)
    assert game.rewards == {"player_0": 3.0, "player_1": -3.0, "player_2": -3.0}
    game.step(0)
    game.step(1)
    assert game.rewards == {"player_0": -2.0, "player_1": 2.0, "player_2": 0.0}
    assert game._cumulative_rewards == {"player_0": -1.0, "player_1": 2.0, "player_2": -4.0}


# --- ends ---------------------------------------------------------------------------------------


def test_an_illegal_action_loses() -> None:
    game = mozaic_v0.env(**SMALL)
    game.reset(seed=0)
    agent, other = game.agents
    game.step(game.action_space(agent).n - 1)
    assert game.rewards == {agent: -1.0, other: 1.0}
    assert game.infos == {agent: {"illegal_action": True}, other: {}}
    assert all(game.terminations.values())
    assert not any(game.truncations.values())
    assert game.record.split()[-1] == "..."
    told = {}
    for stepping in game.agent_iter():
        told[stepping] = game.last()
        game.step(None)
    assert [told[name][1] for name in (agent, other)] == [-1.0, 1.0]
    assert all(one[0]["action_mask"].all() for one in told.values())


@pytest.mark.parametrize("reward", ["outcome", "margin"])
def test_the_others_share_what_an_illegal_action_costs(reward: str) -> None:
    game = crystal_mosaic_v0.env(players=3, reward=reward)
    game.reset(seed=0)
    first = game.agent_selection
    game.step(int(np.argmin(game.observe(first)["action_mask"])))
    assert game.rewards == {agent: -1.0 if agent == first else 0.5 for agent in game.agents}


def test_an_illegal_action_can_raise_and_changes_nothing() -> None:
    game = mozaic_v0.raw_env(illegal="raise", **SMALL)
    game.reset(seed=0)
    for action in (95, -1, 96, 0.5, None, "a1"):
        before = copy.deepcopy(game)
        with pytest.raises(ValueError, match="action"):
            game.step(action)
        assert_same(play_out(copy.deepcopy(game), 1), play_out(before, 1), f"after {action!r}")


def test_the_limit() -> None:
    """Exactly at it everyone is truncated, without a result."""
    game = mozaic_v0.raw_env(max_decisions=5, **SMALL)
    for seed in range(5):
        game.reset(seed=seed)
        assert len(list(decisions(game, seed))) == 5
        assert all(game.truncations.values())
        assert not any(game.terminations.values())
        assert set(game.rewards.values()) == {0.0}
    assert mozaic_v0.raw_env(max_cycles=3, **SMALL)._env._batch.settings["limit"] == 6


def test_a_reset_before_all_have_stepped_with_none() -> None:
    game = mozaic_v0.raw_env(**SMALL)
    for seed in range(3):
        game.reset(seed=seed)
        first = play_out(game, seed)
        game.step(None)
        assert len(game.agents) == 1
        game.reset(seed=seed)
        assert game.agents == ["player_0", "player_1"]
        assert_same(play_out(game, seed), first, "the game again")


def test_reset_goes_on_without_a_seed() -> None:
    game, other = mozaic_v0.raw_env(**SMALL), mozaic_v0.raw_env(**SMALL)
    for one in (game, other):
        one.reset(seed=5)
        one.reset()
    assert_same(play_out(game, 0), play_out(other, 0), "second games")
    other.reset(seed=5)
    assert play_out(other, 0)[-1] != game.record


# --- options ------------------------------------------------------------------------------------


def test_games_start_anywhere() -> None:
    game = mozaic_v0.env(**SMALL)
    position = "4/1y2/4/4 b d 1 7,8,1,0,1,1 0-0"
    game.reset(seed=0, options={"position": position})
    assert game.position == position
    assert game.agent_selection == "player_1"
    assert np.flatnonzero(game.last()[0]["action_mask"]).tolist() == [80 + 9]
    with pytest.raises(ValueError, match="position"):
        game.reset(options={"position": "4/4/4/4"})
    with pytest.warns(UserWarning, match="'postion'"):
        game.reset(options={"postion": position})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rules": "ruby"}, "amethyst"),
        ({"rows": 9}, "rows"),
        ({"opponent": "random"}, "opponent"),
        ({"reward": "points"}, "outcome"),
        ({"illegal": "pass"}, "lose"),
        ({"max_decisions": 0}, "max_decisions"),
        ({"max_cycles": 0}, "max_cycles"),
        ({"max_cycles": 5, "max_decisions": 5}, "one of the two"),
        ({"flat": 1}, "flat"),
        ({"render_mode": "svg"}, "render_mode"),
    ],
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        mozaic_v0.env(**options)


def test_agents_that_are_none() -> None:
    game = mozaic_v0.raw_env()
    with pytest.raises(EpisodeOver, match="reset"):
        game.step(0)
    with pytest.raises(EpisodeOver, match="reset"):
        game.observe("player_0")
    game.reset(seed=0)
    with pytest.raises(ValueError, match="player_0, player_1"):
        game.observe("yellow")


def test_flat_observations_hold_the_same_numbers() -> None:
    game, flat = mozaic_v0.raw_env(**SMALL), mozaic_v0.raw_env(flat=True, **SMALL)
    for one in (game, flat):
        one.reset(seed=2)
    for agent, action in decisions(game, 2):
        for name in game.agents:
            entries, vector = game.observe(name)["observation"], flat.observe(name)["observation"]
            assert vector.tolist() == np.concatenate([entry.ravel() for entry in entries.values()]).tolist()
        assert flat.agent_selection == agent
        flat.step(action)


# --- copies -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "copier",
    [copy.deepcopy, lambda game: pickle.loads(pickle.dumps(game)), lambda game: game.unwrapped.clone()],
    ids=["deepcopy", "pickle", "clone"],
)
@pytest.mark.parametrize("wrapped", [True, False])
def test_copies_carry_the_game(copier: Callable[[Any], Any], wrapped: bool) -> None:
    """PettingZoo 1186, 1307: mid-game copies go on identically to the end, and apart from the original."""
    game = (mozaic_v0.env if wrapped else mozaic_v0.raw_env)(reward="margin", render_mode="ansi", **SMALL)
    game.reset(seed=3)
    for _ in range(6):
        game.render()
        game.step(int(np.flatnonzero(game.last()[0]["action_mask"])[0]))
    twin = copier(game)
    position = game.position
    told = play_out(twin, 9)
    assert game.position == position
    assert_same(play_out(game, 9), told, "the copy")


def test_what_is_given_out_stays_as_it_was() -> None:
    game = mozaic_v0.raw_env(**SMALL)
    game.reset(seed=0)
    seen = game.observe("player_0")
    kept = copy.deepcopy(seen)
    game.step(0)
    assert_same(seen, kept, "an observation after a step")
    seen["action_mask"][:] = 7
    seen["observation"]["board"][:] = 7
    assert game.observe("player_0")["action_mask"].max() <= 1
    assert game.observe("player_0")["observation"]["board"].max() == 1
