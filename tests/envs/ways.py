"""One game through every interface: what its options do there, as one description to compare."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

from mozaic_env.envs.gymnasium.single import GameEnv
from mozaic_env.envs.gymnasium.vector import GameVectorEnv

SEED = 3


class Played(NamedTuple):
    """A game of the same seed and choices: its positions at decisions and at the end, and how it ended."""

    positions: list[str]
    terminated: bool
    truncated: bool


def choose(mask: Any) -> int:
    """The highest legal action."""
    return int(np.flatnonzero(mask)[-1])


def single(game: str, **options: Any) -> Played:
    env = GameEnv(game, opponent=None, **options)
    _, info = env.reset(seed=SEED)
    positions, over = [env.position], (False, False)
    while not any(over):
        _, _, *over, info = env.step(np.int64(choose(info["action_mask"])))
        positions.append(env.position)
    return Played(positions, *over)


def vector(game: str, **options: Any) -> Played:
    env = GameVectorEnv(1, game, opponent=None, autoreset_mode="Disabled", **options)
    env.reset(seed=SEED)
    positions, over = [*env.positions], (False, False)
    while not any(over):
        _, _, terminated, truncated, _ = env.step(np.array([choose(env.action_masks()[0])]))
        over = bool(terminated[0]), bool(truncated[0])
        positions += env.positions
    return Played(positions, *over)


def stable_baselines3(game: str, **options: Any) -> Played:
    """Its last position is gone, so it is left to the others."""
    kind = pytest.importorskip("mozaic_env.envs.sb3").GameVecEnv
    env = kind(1, game, opponent=None, **options)
    env.seed(SEED)
    env.reset()
    positions, done, info = [], False, {}
    while not done:
        positions.append(env.game.format_position(env.states[0]))
        _, _, (done,), (info,) = env.step(np.array([choose(env.action_masks()[0])]))
    return Played(positions, not info["TimeLimit.truncated"], info["TimeLimit.truncated"])


def pettingzoo(game: str, **options: Any) -> Played:
    pytest.importorskip("pettingzoo")
    from mozaic_env.envs.pettingzoo import raw_env

    env = raw_env(game, **options)
    env.reset(seed=SEED)
    positions, over = [env.position], (False, False)
    while not any(over):
        env.step(choose(env.last()[0]["action_mask"]))
        over = env.last()[2:4]
        positions.append(env.position)
    return Played(positions, *over)


def rllib(game: str, **options: Any) -> Played:
    pytest.importorskip("ray")
    from mozaic_env.envs.rllib import GameMultiAgentEnv

    env = GameMultiAgentEnv({"game": game, **options})
    seen, _ = env.reset(seed=SEED)
    positions, over = [env.position], (False, False)
    while not any(over):
        ((agent, view),) = seen.items()
        seen, _, terminated, truncated, _ = env.step({agent: choose(view["action_mask"])})
        over = terminated["__all__"], truncated["__all__"]
        positions.append(env.position)
    return Played(positions, *over)


WAYS: dict[str, Callable[..., Played]] = {
    function.__name__: function for function in (single, vector, stable_baselines3, pettingzoo, rllib)
}


def spiel(game: str, **options: Any) -> Any:
    """The game in OpenSpiel, made by its text."""
    pyspiel = pytest.importorskip("pyspiel")
    pytest.importorskip("mozaic_env.envs.openspiel")
    words = ",".join(f"{name}={value}".replace(",", ";") for name, value in options.items())
    return pyspiel.load_game(f"python_{game}({words})")


def spiel_decisions(game: Any) -> Iterator[int]:
    """Who decides in a game with some luck, decision by decision."""
    state, rng = game.new_initial_state(), np.random.default_rng(SEED)
    while not state.is_terminal():
        if state.is_chance_node():
            state.apply_action(int(rng.choice([code for code, _ in state.chance_outcomes()])))
        else:
            yield state.current_player()
            state.apply_action(state.legal_actions()[-1])
