"""The single environment on Mozaic: opponents, seats, rewards, starts, records, wrappers.

What holds for any game is in test_conformance.py. Reports that a test answers are named in it.
"""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from mozaic_env import make_agent, make_game
from mozaic_env.core.record import parse_record
from mozaic_env.core.stream import keys_from_seeds
from mozaic_env.envs.gymnasium.single import EpisodeOver, GameEnv
from mozaic_env.testing import rows as on
from mozaic_env.testing.helpers import assert_same, play, some_way, whole_game
from tests.envs.python_agents import Answers, Asked

ID = "mozaic_env:Mozaic-v0"
LAST_TILE = "bybb/ybyb/yyby/1ybb {mover} y 1 0,0,1,1,1,1 0-0"  # a1 completes a yellow square
TWO_TILES = "yby1/byby/bbyb/1byy y y 1 0,1,1,1,1,1 0-0"  # then blue completes one on a1
both_seats = pytest.mark.parametrize("seat", [0, 1])


def make(**options: Any) -> GameEnv:
    env = gym.make(ID, **options).unwrapped
    assert isinstance(env, GameEnv)
    return env


def small(**options: Any) -> GameEnv:
    return make(rows=4, cols=4, **options)


# --- opponents ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["random", "greedy", "pattern", "expectimax"])
def test_opponents_by_name_are_named_at_the_end(name: str) -> None:
    """PufferLib 620: who the opponent was is told in the final info."""
    env = small(opponent=name)
    env.reset(seed=0)
    steps = list(whole_game(env, 0))
    assert all("opponent" not in step[4] for step in steps[:-1])
    told = steps[-1][4]["opponent"]
    assert told == make_agent(name, env.game).name
    assert told.startswith(name)


def test_an_agent_is_as_good_as_its_name() -> None:
    agent = make_agent("greedy", make_game("mozaic", rows=4, cols=4))
    named, given = small(opponent="greedy"), small(opponent=agent)
    assert_same(list(play(named, 0, 80, start=0)), list(play(given, 0, 80, start=0)), "steps")


def test_the_random_opponent_is_the_default() -> None:
    default, named = small(), small(opponent="random")
    assert_same(list(play(default, 0, 50, start=0)), list(play(named, 0, 50, start=0)), "steps")


def test_without_an_opponent_nobody_is_named() -> None:
    env = small(opponent=None)
    assert not any("opponent" in step[4] for step in play(env, 0, 60, start=0))


def test_an_agent_for_another_variant_is_refused() -> None:
    agent = make_agent("greedy", make_game("mozaic", rules="onyx", rows=4, cols=4))
    with pytest.raises(ValueError, match="onyx"):
        small(opponent=agent)


@both_seats
@pytest.mark.parametrize("rules", ["amethyst", "onyx"])
def test_an_opponent_in_python_plays_like_the_compiled_one(rules: str, seat: int) -> None:
    game = make_game("mozaic", rules=rules, rows=4, cols=4)
    asked = Asked(game, "pattern")
    options: dict[str, Any] = {"rules": rules, "seat": seat, "reward": "margin"}
    compiled = list(play(small(opponent="pattern", **options), 0, 200, start=0))
    python = list(play(small(opponent=asked, **options), 0, 200, start=0))
    for step in python:
        if "opponent" in step[4]:
            step[4]["opponent"] = step[4]["opponent"].removeprefix("asked-")
    assert_same(compiled, python, "steps")
    assert len(asked.asked) > 50
    assert set(asked.asked) == {1}


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda n: np.full(n, 10**6), "1000000"),
        (lambda n: np.full(n, -1), "-1"),
        (lambda n: np.full(n, 95), "illegal"),
        (lambda n: np.zeros(n + 1, np.int64), "shape"),
        (lambda n: np.zeros(n), "float64"),
        (lambda n: None, "object"),
    ],
)
def test_an_agent_that_answers_nonsense_is_named(answer: Any, said: str) -> None:
    env = small(opponent=Answers(make_game("mozaic", rows=4, cols=4), answer), seat=0)
    with pytest.raises(ValueError, match=said) as error:
        list(play(env, 0, 50, start=0))
    assert "stubborn" in str(error.value)
    with pytest.raises(EpisodeOver, match="reset"):
        env.step(np.int64(0))
    env.reset(seed=0)  # amethyst: seat 0 starts


def test_an_agents_own_error_comes_through() -> None:
    env = small(opponent=Answers(make_game("mozaic", rows=4, cols=4), KeyError("its own")), seat=0)
    with pytest.raises(KeyError, match="its own"):
        list(play(env, 0, 50, start=0))


# --- seats --------------------------------------------------------------------------------------


def test_the_seat_is_drawn_at_each_reset() -> None:
    """MicroRTS-Py 57, open_spiel 108: nobody trains from one side only."""
    env = small(opponent="random")
    seats = [env.reset(seed=0)[1]["seat"], *(env.reset()[1]["seat"] for _ in range(399))]
    assert abs(np.mean(seats) - 0.5) < 0.1  # four standard deviations
    again = [env.reset(seed=0)[1]["seat"], *(env.reset()[1]["seat"] for _ in range(399))]
    assert seats == again


def test_a_seat_for_one_game() -> None:
    env = small(seat=0)
    assert env.reset(seed=0, options={"seat": 1})[1]["seat"] == 1
    assert env.reset()[1]["seat"] == 0


@pytest.mark.parametrize("rules", ["amethyst", "onyx"])
def test_misses_and_double_turns_from_both_seats(rules: str) -> None:
    """SIMPLE 39, Stoix 103: the mask is always the mover's, also when it decides twice running.

    The mover's view also shows what is in hand, so masks of another seat could not fit it.
    """
    env = small(rules=rules, opponent=None)
    twice = {0: 0, 1: 0}
    _, info = env.reset(seed=0)
    for step in play(env, 0, 2000):
        over = step[2] or step[3]
        if not over and step[4]["seat"] == info["seat"]:
            twice[info["seat"]] += 1
        info = step[4]
        if not over:
            hand = step[0]["hand"].argmax()
            n = 16
            kinds = [mask.any() for mask in np.split(info["action_mask"], [n, 5 * n])]
            assert kinds == [hand < 2, hand == 2, hand == 3]
            assert info["seat"] == on.mover(env.state)
    assert min(twice.values()) > 20


@both_seats
@pytest.mark.parametrize("rules", ["amethyst", "onyx"])
def test_games_where_a_seat_may_never_decide(rules: str, seat: int) -> None:
    """On 2 x 2 tiles a game can be over before a seat's first turn: then another one is begun."""
    games = 20_000
    env = gym.make_vec(ID, games, rules=rules, rows=2, cols=2, seat=seat).unwrapped
    _, infos = env.reset(seed=0)
    assert (infos["seat"] == seat).all()
    assert infos["action_mask"].any(axis=1).all()
    assert (on.where(env.states) == seat).all()
    others = env.states["key"] != keys_from_seeds(range(games))
    assert others.any() == ((rules, seat) != ("amethyst", 0))
    assert others.sum() < games / 10


def test_a_limit_that_leaves_a_seat_out() -> None:
    """In amethyst yellow decides first, so with one decision blue has none."""
    with pytest.raises(ValueError, match="max_decisions"):
        small(seat=1, max_decisions=1).reset(seed=0)
    env = small(max_decisions=1)
    for seed in range(20):
        assert env.reset(seed=seed)[1]["seat"] == 0
        assert env.step(np.int64(0))[3]


# --- rewards ------------------------------------------------------------------------------------


def test_a_win_in_one() -> None:
    """PettingZoo 1147: the reward is that of the seat that acted."""
    position = LAST_TILE.format(mover="y")
    for env in (small(opponent=None), small(opponent="greedy", seat=0)):
        env.reset(seed=0, options={"position": position})
        observation, reward, terminated, truncated, info = env.step(np.int64(0))
        assert (reward, terminated, truncated, info["seat"]) == (1.0, True, False, 0)
        assert observation["score"].tolist() == [4, 0]


def test_the_points_go_to_the_owner_of_the_colour() -> None:
    """Blue has to place the yellow gem that loses the game."""
    position = LAST_TILE.format(mover="b")
    for env in (small(opponent=None), small(opponent="greedy", seat=1)):
        env.reset(seed=0, options={"position": position})
        observation, reward, terminated, _, info = env.step(np.int64(0))
        assert (reward, terminated, info["seat"]) == (-1.0, True, 1)
        assert observation["score"].tolist() == [0, 4]


@pytest.mark.parametrize(("reward", "loss"), [("outcome", -1.0), ("margin", -1.0)])
def test_a_loss_on_the_reply(reward: str, loss: float) -> None:
    """PettingZoo 1147: the opponent's winning move shows in the reward of the step before it."""
    env, lost = small(opponent="greedy", seat=0, reward=reward), 0
    for seed in range(40):
        env.reset(seed=seed, options={"position": TWO_TILES})
        _, got, terminated, _, _ = env.step(np.int64(15))
        if terminated:
            assert got == loss
            lost += 1
    assert 0 < lost < 40  # blue draws its gem in about a third of the games


# --- starts -------------------------------------------------------------------------------------


def test_starting_from_a_position_in_a_seat() -> None:
    """The opponent moves first if it is its turn; the board is as given, plus its moves."""
    position = "4/4/1b2/y3 b b 1 7,6,1,1,1,1 0-0"
    env = small(opponent="pattern")
    env.reset(seed=0, options={"position": position, "seat": 1})
    assert env.position == position
    env.reset(seed=0, options={"position": position, "seat": 0})
    assert env.state["decisions"] >= 1
    assert on.mover(env.state) == 0
    first = env.position
    env.reset(seed=0, options={"position": position, "seat": 0})
    assert env.position == first
    assert "position=4/4/1b2/y3_b_b_1_7,6,1,1,1,1_0-0" in env.record


def test_exchanged_colours_look_the_same() -> None:
    """MicroRTS-Py 57, open_spiel 108: a view does not tell which colour it is seen from."""
    env = small(opponent=None)
    one, info = env.reset(options={"position": "1b2/4/4/y3 y e 1 7,7,0,1,1,1 4-8"})
    other, other_info = env.reset(options={"position": "1y2/4/4/b3 b e 1 7,7,0,1,1,1 8-4"})
    assert_same(one, other, "observations")
    assert_same(info["action_mask"], other_info["action_mask"], "masks")


def test_close_to_the_end_the_seat_is_one_that_decides() -> None:
    env = small(opponent="random")
    for seed in range(20):
        position = LAST_TILE.format(mover="yb"[seed % 2])
        _, info = env.reset(seed=seed, options={"position": position})
        assert info["seat"] == seed % 2
    for one in (env, small(opponent="random")):  # a game goes on, and where there was none there still is none
        with pytest.raises(ValueError, match="choose another position"):
            one.reset(options={"position": LAST_TILE.format(mover="y"), "seat": 1})
    assert env.position == position
    with pytest.raises(EpisodeOver):
        one.step(np.int64(0))
    with pytest.raises(ValueError, match="reset"):
        _ = one.record
    assert one.reset(seed=0)[1]["action_mask"].any()


@pytest.mark.parametrize(
    "position",
    [
        "8/8/8/8/8/8/8/8 y y 1 31,32,1,1,1,1 0-0",  # another board
        "4/4/4/4 y y 1 7,8,1,1,1,1 0-1",
        "yyyb/bbyb/ybyy/bybb - - 0 0,0,1,1,1,1 0-4",  # over
        "4/4/4/4",
    ],
)
def test_positions_that_cannot_be_played_from(position: str) -> None:
    env = small()
    env.reset(seed=0)
    before = env.state
    with pytest.raises(ValueError, match="position"):
        env.reset(options={"position": position})
    assert env.state == before
    some_way(env, 0, 1)


# --- records ------------------------------------------------------------------------------------


def test_records_name_the_players() -> None:
    env = small(opponent="greedy", seat=1)
    env.reset(seed=0)
    header = parse_record(env.record).header
    assert header["yellow"] == "greedy"
    assert header["blue"] == "agent"
    assert "result" not in header


def test_the_record_of_a_whole_game_has_its_result() -> None:
    env = small(opponent="greedy")
    env.reset(seed=3)
    list(whole_game(env, 0))
    record = parse_record(env.record)
    score = env.state["score"]
    assert record.header["result"] == f"{score[0]}-{score[1]}"
    assert not record.truncated
    assert env.position.split(" ")[1] == "-"


def test_the_record_of_a_truncated_game_ends_in_dots() -> None:
    env = small(max_decisions=4)
    env.reset(seed=0)
    assert list(whole_game(env, 0))[-1][3]
    assert env.record.endswith(" ...")


@pytest.mark.parametrize("max_decisions", [2, 1000, 10**12])
def test_the_record_has_room_for_every_decision(max_decisions: int) -> None:
    env = make(rows=2, cols=2, opponent=None, max_decisions=max_decisions)
    env.reset(seed=0)
    list(whole_game(env, 0))
    assert sum(":" in word for word in env.record.split()) == env.state["decisions"]


def test_the_record_after_an_illegal_action_says_who_forfeited() -> None:
    env = small(opponent=None)
    env.reset(seed=0)
    env.step(np.int64(0))
    env.step(np.int64(0) if env.action_masks()[0] == 0 else np.int64(95))
    record = parse_record(env.record)
    assert record.header["forfeit"] in ("yellow", "blue")
    assert record.truncated
    list(env.game.replay(record))
