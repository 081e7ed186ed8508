"""What callers hand over is checked before anything changes, and what they are handed is their own."""

from __future__ import annotations

import ast
import copy
import json
import pickle
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import ResetNeeded

from mozaic_env.envs.gymnasium.single import GameEnv
from mozaic_env.envs.gymnasium.vector import GameVectorEnv
from mozaic_env.testing.helpers import assert_same

SMALL = {"rows": 4, "cols": 4}
NEVER = "ybyb/bbyy/yybb/by1b y y 1 0,0,1,1,1,1 0-0"  # the last gem: seat 1 has nothing to decide


def stable(size: int = 4, **options: Any) -> Any:
    return pytest.importorskip("mozaic_env.envs.sb3").GameVecEnv(size, "mozaic", **SMALL | options)


# --- nothing handed out is shared ---------------------------------------------------------------


def spoil(thing: Any) -> None:
    """Writes into everything that can be written to."""
    if isinstance(thing, dict):
        for value in list(thing.values()):
            spoil(value)
        thing["tag"] = 1
    elif isinstance(thing, np.ndarray) and thing.flags.writeable:
        for value in thing.ravel() if thing.dtype == object else ():
            spoil(value)
        thing[...] = None if thing.dtype == object else 1
    elif isinstance(thing, list | tuple):
        for value in thing:
            spoil(value)
        if isinstance(thing, list):
            thing.clear()


def of_single() -> list[Any]:
    env = GameEnv("mozaic", opponent="greedy", **SMALL)
    given: list[Any] = [env.reset(seed=0)]
    for _ in range(40):
        yield_to(given)
        mask = env.action_masks()
        given.append((mask, env.state, env.step(np.int64(np.flatnonzero(mask)[0]))))
        if given[-1][2][2]:
            given.append(env.reset())
    return given


def of_vector(mode: str) -> Callable[[], list[Any]]:
    def play() -> list[Any]:
        env = GameVectorEnv(4, "mozaic", opponent="greedy", autoreset_mode=mode, **SMALL)
        given: list[Any] = [env.reset(seed=0)]
        for _ in range(40):
            yield_to(given)
            masks, actions = env.action_masks(), env.sample_actions()
            given += [(masks, actions.copy(), env.states), env.step(actions)]
            over = given[-1][2] | given[-1][3]
            if mode == "Disabled" and over.any():
                yield_to(given)
                given.append(env.reset(options={"reset_mask": over}))
        return given

    return play


def of_stable_baselines3() -> list[Any]:
    env = stable(opponent="greedy")
    env.seed(0)
    given: list[Any] = [env.reset()]
    for _ in range(40):
        yield_to(given)
        masks = env.action_masks()
        given.append((masks, env.states, env.step(masks.argmax(axis=1))))
    return given


def of_pettingzoo() -> list[Any]:
    pytest.importorskip("pettingzoo")
    from mozaic_env.envs.pettingzoo import raw_env

    env, given = raw_env("mozaic", **SMALL), []
    env.reset(seed=0)
    for _ in range(40):
        yield_to(given)
        seen = env.observe(env.agent_selection)
        action = None if env.terminations[env.agent_selection] else np.flatnonzero(seen["action_mask"])[0]
        given.append((seen, env.row, env.position))
        env.step(action)
        if not env.agents:
            env.reset()
    return given


def of_rllib() -> list[Any]:
    pytest.importorskip("ray")
    from mozaic_env.envs.rllib import GameMultiAgentEnv

    env = GameMultiAgentEnv(SMALL)
    given: list[Any] = [env.reset(seed=0)]
    for _ in range(40):
        yield_to(given)
        agent, action = env._mover(), np.flatnonzero(env._batch.buffers.masks[0])[0]
        given.append(env.step({agent: action}))
        if given[-1][2]["__all__"]:
            given.append(env.reset())
    return given


spoiling = False


def yield_to(given: list[Any]) -> None:
    """Notes what was given last, and lets a caller write into it."""
    kept = copy.deepcopy(given[-2:])
    if spoiling:
        spoil(given[-2:])
    given[-2:] = kept


GIVERS: dict[str, Callable[[], list[Any]]] = {
    "single": of_single,
    **{f"vector {mode}": of_vector(mode) for mode in ("NextStep", "SameStep", "Disabled")},
    "stable-baselines3": of_stable_baselines3,
    "PettingZoo": of_pettingzoo,
    "RLlib": of_rllib,
}


@pytest.mark.parametrize("giver", GIVERS)
def test_whoever_writes_into_results_changes_none_to_come(giver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """imitation's reward wrapper writes into infos."""
    expected = GIVERS[giver]()
    monkeypatch.setattr(f"{__name__}.spoiling", True)
    assert_same(GIVERS[giver](), expected, giver)


def test_infos_are_a_list_of_dicts_however_they_are_looked_at() -> None:
    made = pytest.importorskip("mozaic_env.envs.infos").Infos
    end, expected = {"seat": 1}, [{}, {"seat": 1}, {}]
    looks: list[Callable[[Any], Any]] = [
        list,
        lambda infos: [*infos],
        lambda infos: [infos[0], infos[1], infos[-1]],
        lambda infos: infos[:],
        lambda infos: infos.copy(),
        lambda infos: infos + [],  # noqa: RUF005
        lambda infos: [] + infos,  # noqa: RUF005
        lambda infos: infos * 1,
        lambda infos: list(reversed(list(reversed(infos)))),
        lambda infos: [infos.pop(0), infos.pop(0), infos.pop()],
        lambda infos: [info for _, info in zip(range(3), infos, strict=True)],
        lambda infos: json.loads(json.dumps(infos)),
        lambda infos: np.array(infos).tolist(),
        lambda infos: ast.literal_eval(repr(infos)),
        copy.copy,
        copy.deepcopy,
        lambda infos: pickle.loads(pickle.dumps(infos)),
    ]
    for look in looks:
        assert look(made([None, end, None])) == expected
    infos = made([None, end, None])
    assert infos == expected
    assert {} in infos
    assert infos[0] is infos[0] is not infos[2]
    assert infos[1] is end
    assert type(copy.deepcopy(infos)) is type(infos[:]) is list


def test_infos_are_each_games_own() -> None:
    env = stable(8)
    env.seed(0)
    env.reset()
    for step in range(3):
        infos = env.step(env.action_masks().argmax(axis=1))[3]
        assert all(info == {} for info in infos)
        infos[0]["tag"] = step
        assert len({id(info) for info in infos}) == len(infos)


# --- opponents, shares, indices -----------------------------------------------------------------

BAD_OPPONENTS: list[tuple[Any, Any]] = [
    ("greedy", None),
    ({"greedy"}, None),
    ([None], None),
    (["greedy", 5], None),
    (["greedy", "nobody"], None),
    (["greedy"], []),
    (["greedy"], [0]),
    (["greedy"], [-1]),
    (["greedy"], 1),
    (["greedy"], "1"),
    (["greedy"], [None]),
    (["greedy"], ["x"]),
    (["greedy"], [[1]]),
    (["greedy", "random"], [1]),
    (["greedy", "random"], [1, np.nan]),
    (["greedy", "random"], [1, np.inf]),
    (["greedy", "random"], [1e308, 1e308]),
    (["greedy", "random"], [1, 2, 3]),
    ([], [1]),
]


@pytest.mark.parametrize("make", [lambda: GameVectorEnv(4, "mozaic", **SMALL), stable], ids=["vector", "sb3"])
def test_opponents_are_checked_before_anything_changes(make: Callable[[], Any]) -> None:
    """In the middle of games, which then go on as those of a twin that was left alone."""
    env, twin = make(), make()
    for one in (env, twin):
        one.set_opponents(["random", "greedy"], [1, 3])
        one.seed(0) if hasattr(one, "seed") else None
        one.reset() if hasattr(one, "seed") else one.reset(seed=0)
    for opponents, shares in BAD_OPPONENTS:
        with pytest.raises(ValueError, match=r"accepted|plays"):
            env.set_opponents(opponents, shares)
        results = [one.step(one.action_masks().argmax(axis=1)) for one in (env, twin)]
        assert_same(results[0][:3], results[1][:3], f"after {opponents}, {shares}")
    assert repr(env) == repr(twin)


@pytest.mark.parametrize(
    ("before", "after", "goes_on"),
    [
        (["random", "greedy"], ["random", "greedy", "pattern"], True),
        (["random", "greedy"], ["random", "greedy"], True),
        (["random", "greedy"], ["random"], False),
        (["random", "greedy"], ["greedy", "random"], False),
        (["random", "greedy"], [], False),
        ([], ["random"], False),
        ([], [], True),
    ],
)
def test_games_whose_opponents_are_gone_do_not_go_on(before: list[str], after: list[str], goes_on: bool) -> None:
    env = stable(32)
    env.set_opponents(before)
    env.reset()
    env.set_opponents(after)
    if not goes_on:
        with pytest.raises(ResetNeeded, match=r"call reset\(\)"):
            env.step(np.zeros(32, np.int64))
        env.reset()
    for _ in range(5):
        env.step(env.action_masks().argmax(axis=1))


@pytest.mark.parametrize("indices", [9, -5, [0, 9], [0.0], [True], np.array([1.5]), "0", [None], np.array([9])])
def test_indices_of_games_that_there_are_not(indices: Any) -> None:
    env = stable(4, render_mode="ansi")
    env.reset()
    for call in (
        lambda: env.get_attr("game", indices=indices),
        lambda: env.env_method("action_masks", indices=indices),
        lambda: env.env_method("render", indices=indices),
        lambda: env.env_is_wrapped(object, indices=indices),
    ):
        with pytest.raises(ValueError, match=r"accepted: None, or one or some of 0..3"):
            call()


def test_indices_as_of_a_list_of_environments() -> None:
    env = stable(4)
    env.reset()
    cases = ((None, 4), (3, 1), (-1, 1), (np.int64(2), 1), ([0, -4], 2), (np.array([1, 2]), 2), (range(2), 2))
    for indices, size in cases:
        assert len(env.get_attr("game", indices=indices)) == size
        assert len(env.env_method("action_masks", indices=indices)) == size


# --- a seat that never decides ------------------------------------------------------------------


def test_a_game_that_can_not_begin_leaves_those_under_way() -> None:
    single = GameEnv("mozaic", **SMALL)
    many = gym.make_vec("mozaic_env:Mozaic-v0", 3, autoreset_mode="Disabled", **SMALL)
    _, info = single.reset(seed=0)
    many.reset(seed=0)
    before, record, states = single.state, single.record, many.unwrapped.states
    with pytest.raises(ValueError, match="anything to decide"):
        single.reset(options={"position": NEVER, "seat": 1})
    assert (single.state, single.record) == (before, record)
    assert (single.action_masks() == info["action_mask"]).all()
    single.step(np.int64(np.flatnonzero(info["action_mask"])[0]))
    for mask in (np.array([False, True, False]), np.ones(3, bool)):
        with pytest.raises(ValueError, match="anything to decide"):
            many.reset(options={"position": NEVER, "seat": 1, "reset_mask": mask})
        assert_same(many.unwrapped.states, states, "states")
    many.step(many.unwrapped.sample_actions())


def test_options_one_of_which_can_not_begin_leave_all_games() -> None:
    env = stable(3)
    env.reset()
    states, masks = env.states, env.action_masks()
    env.set_options([{"seat": 0}, {"position": NEVER, "seat": 1}, {}])
    with pytest.raises(ValueError, match="anything to decide"):
        env.reset()
    assert_same(env.states, states, "states")
    assert_same(env.action_masks(), masks, "masks")
    env.step(masks.argmax(axis=1))
    env.set_options()
    env.reset()
