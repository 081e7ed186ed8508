"""Checks of a single environment: rewards, illegal and malformed input, records; whatever the game.

They take a factory, as in `mozaic_env.testing.single_basics`.
"""

import copy
import warnings
from typing import Any

import numpy as np

from mozaic_env.core.record import parse_record
from mozaic_env.testing import rows as on
from mozaic_env.testing.helpers import (
    Make,
    assert_refused,
    assert_same,
    pick,
    some_way,
    whole_game,
)

LONG = 150  # decisions; of longer games not every moment is looked at


def _illegal(env: Any) -> np.int64:
    return np.int64(np.flatnonzero(~env.action_masks())[-1])


def check_illegal_loses(make: Make) -> None:
    """``illegal="lose"``: an illegal action ends the game with reward -1; the info says so."""
    for reward in ("outcome", "margin"):
        env = make(illegal="lose", reward=reward).unwrapped
        env.reset(seed=1)
        some_way(env, 0, 1)
        position = env.position
        _, got, terminated, truncated, info = env.step(_illegal(env))
        flags = (got, terminated, truncated, info.get("illegal_action"))
        assert flags == (-1.0, True, False, True), f"an illegal action gives {flags}"
        assert env.position == position, "an illegal action has changed the position"
        assert (info["action_mask"] == 1).all(), "the mask at the end is not all ones"
        _, info = env.reset()
        assert "illegal_action" not in info, "the next game is still called illegal"


def check_illegal_raises(make: Make) -> None:
    """``illegal="raise"``: ValueError that quotes the action; the game stands as it was."""
    env, other = make(illegal="raise").unwrapped, make(illegal="raise").unwrapped
    env.reset(seed=1)
    other.reset(seed=1)
    for seed in range(6):
        action = _illegal(env)
        said = assert_refused("an illegal action", lambda: env.step(action))  # noqa: B023
        assert str(action) in said, f"{said!r} does not name {action}"
        assert_same(env.action_masks(), other.action_masks(), "masks after a refused action")
        assert env.position == other.position, "a refused action has changed the position"
        ours, theirs = some_way(env, seed, 1), some_way(other, seed, 1)
        assert_same(ours, theirs, "after a refused action")


def check_bad_actions(make: Make) -> None:
    """What is no action id is a ValueError that quotes it; the game stands as it was."""
    env = make(opponent=None).unwrapped
    env.reset(seed=0)
    before = env.state
    size = int(env.action_space.n)
    bad = [-1, size, 10**12, 2**63, 1.0, float("nan"), True, "0", None, [0, 1], np.zeros(0, int)]
    bad += [np.float32(0), np.array([[0]]), np.bool_(True), {"a": 1}, [None], np.uint64(2**63 + 1)]
    for action in bad:
        assert_refused(f"action {action!r}", lambda: env.step(action))  # noqa: B023
        assert env.state == before, f"action {action!r} has changed the state"
    legal = pick(np.random.default_rng(0), env.action_masks())
    for kind in (int, np.int64, np.int32, np.uint8, np.array, lambda a: np.array([a], np.int16)):
        env.reset(seed=0)
        if legal < 256:
            env.step(kind(legal))


def check_bad_options(make: Make) -> None:
    """Options, seeds and reset options that are none of those accepted are ValueErrors."""
    players = make().unwrapped.game.num_players
    bad: dict[str, list[Any]] = {
        "opponent": ["nobody", 5, "", ("random",), b"random"],
        "seat": [players, -1, "0", "first", None, True, 0.0, [0]],
        "reward": ["score", None, 1, ""],
        "illegal": ["ignore", None, False],
        "max_decisions": [0, -5, 2.5, "10", True, float("nan"), [3]],
        "render_mode": ["no_such_mode", ""],
        "no_such_option": [1],
    }
    for name, values in bad.items():
        for value in values:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # Gymnasium's own on render modes
                assert_refused(f"{name}={value!r}", lambda: make(**{name: value}).unwrapped)  # noqa: B023
    env = make().unwrapped
    for seed in (-1, 1.5, "7", True, [1], float("nan"), np.float64(3)):
        assert_refused(f"seed={seed!r}", lambda: env.reset(seed=seed))  # noqa: B023
    wrong: list[Any] = [5, "seat", [], {"sead": 0}, {1: 2}, {"seat": 9}, {"position": "x"}]
    for options in [*wrong, {"seat": "0"}, {"seat": True}, {"position": 5}]:
        assert_refused(f"options={options!r}", lambda: env.reset(options=options))  # noqa: B023
    for accepted in (np.int64(4), np.uint32(4), 2**70):
        env.reset(seed=accepted)
    env.reset(options={"seat": np.int64(1)})


def check_options_are_left_alone(make: Make) -> None:
    """`reset` does not change the options that it is given, and takes any that name a position."""
    env = make(opponent=None).unwrapped
    env.reset(seed=0)
    some_way(env, 0, 3)
    options = {"position": env.position, "seat": 0}
    given = copy.deepcopy(options)
    env.reset(options=options)
    assert options == given, f"reset has changed its options to {options}"
    assert env.position == given["position"], f"{env.position!r} instead of {given['position']!r}"
    env.reset(options=None)
    env.reset(options={})
    env.reset(options={"position": None, "seat": None})


def check_reward_of_the_actor(make: Make) -> None:
    """The reward belongs to the seat that acted, seat for seat, and margins add up."""
    env = make(opponent=None).unwrapped
    for seed in range(10):
        _, info = env.reset(seed=seed)
        seat = info["seat"]
        for _, reward, terminated, _, info in whole_game(env, seed):
            meant = on.outcome(env.state, seat) if terminated else 0.0
            assert reward == meant, f"seat {seat} got {reward} instead of {meant}"
            assert not terminated or info["seat"] == seat, "the last view is not the actor's"
            seat = info["seat"]
    env = make(opponent=None, reward="margin").unwrapped
    for seed in range(5):
        _, info = env.reset(seed=seed)
        seat, lead = info["seat"], on.margin(env.state, info["seat"])
        for _, reward, _, _, info in whole_game(env, seed):
            gained = on.margin(env.state, seat) - lead
            assert reward == gained, f"seat {seat} gained {gained} and got {reward}"
            seat, lead = info["seat"], on.margin(env.state, info["seat"])


def check_reward_against_an_opponent(make: Make) -> None:
    """With an opponent the seat's result, and margins that add up to its final lead."""
    for seat in range(make().unwrapped.game.num_players):
        env = make(seat=seat).unwrapped
        for seed in range(10):
            _, info = env.reset(seed=seed)
            assert info["seat"] == seat, f"seat {seat} asked for, {info['seat']} taken"
            steps = list(whole_game(env, seed))
            rewards = [step[1] for step in steps]
            meant = on.outcome(env.state, seat)
            assert rewards == [0.0] * (len(rewards) - 1) + [meant], f"{rewards}, result {meant}"
            assert all(step[4]["seat"] == seat for step in steps), "the seat has changed"
        env = make(seat=seat, reward="margin").unwrapped
        for seed in range(10):
            env.reset(seed=seed)
            lead = on.margin(env.state, seat)
            total = sum(step[1] for step in whole_game(env, seed))
            meant = on.margin(env.state, seat) - lead
            assert abs(total - meant) < 1e-9, f"rewards add up to {total}, the lead by {meant}"


def check_records(make: Make) -> None:
    """`record` replays at any moment and after any end, to where the environment stands."""
    for options in ({"opponent": None}, {"seat": 1}, {"max_decisions": 5}, {}):
        env = make(**options).unwrapped
        env.reset(seed=8)
        assert_replays(env)
        for number, step in enumerate(whole_game(env, 3)):
            if number < LONG or number % LONG == 0 or step[2] or step[3]:
                assert_replays(env)
    env = make().unwrapped
    env.reset(seed=9)
    some_way(env, 1, 1)
    env.step(_illegal(env))
    assert_replays(env)


def assert_replays(env: Any) -> None:
    """The environment's record replays to where it stands."""
    record = parse_record(env.record)
    states = list(env.game.replay(record))
    last = states[-1][1] if states else None
    decisions = 0 if last is None else last["decisions"]
    assert decisions == env.state["decisions"], f"{decisions} decisions in {str(record)!r}"
    if last is not None and on.mover(env.state) < 0:
        found = env.game.format_position(last)
        assert found == env.position, f"{str(record)!r} ends at {found!r}, not {env.position!r}"
