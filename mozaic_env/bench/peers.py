"""Other libraries' board games in the same run, each through its fastest ordinary way in, doing random legal play.

The games differ, so these are no verdicts; the table says for each what a step gives and who chooses the actions.
"""

import random
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any

import numpy as np

from mozaic_env.bench.environments import GAMES, Plan, vector_case
from mozaic_env.bench.measure import Case
from mozaic_env.core.game import Game

STEPS_IN_A_JIT = 8

Names = tuple[str, ...]
RELATED: dict[str, dict[str, Names]] = {  # the other libraries' games that are most like one of ours
    "mozaic": {
        "pgx": ("othello", "backgammon"),
        "pyspiel": ("othello", "backgammon"),
        "pettingzoo": ("connect_four_v3",),
    },
    "mosaic_chess": {"pgx": ("chess",), "pyspiel": ("chess",), "pettingzoo": ("chess_v6",)},
}


def peers(game: Game) -> Plan:
    """This package's vector environment, and whichever of the others are installed."""
    cases = [vector_case(game, GAMES, copy) for copy in (True, False)]
    cases = [replace(case, name=f"mozaic_env {game.name}, {case.name}") for case in cases]
    likes = RELATED.get(game.name, RELATED["mozaic"])
    for package, make in _PEERS.items():
        if find_spec(package) is not None:
            cases += make(likes[package])
    return cases, []


def missing_peers() -> list[str]:
    """The packages that are not installed."""
    return [name for name in _PEERS if find_spec(name) is None]


def peer_versions() -> dict[str, str]:
    """The versions of what is installed."""
    found = {}
    for name in ("pgx", "jax", "jaxlib", "open_spiel", "pettingzoo"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _pgx(names: Names) -> list[Case]:
    return [_pgx_case(game, steps) for game in names for steps in (1, STEPS_IN_A_JIT)]


def _pgx_case(game: str, steps: int) -> Case:
    """`step` as pgx documents it, in jit(vmap), with its auto-reset; the actions are chosen inside of the same jit."""
    import jax
    import jax.numpy as jnp
    import pgx
    from pgx.experimental.wrappers import auto_reset

    env = pgx.make(game)
    init, step = jax.vmap(env.init), jax.vmap(auto_reset(env.step, env.init))

    def decide(_: int, carried: tuple[Any, Any]) -> tuple[Any, Any]:
        state, key = carried
        key, choice, luck = jax.random.split(key, 3)
        mask = state.legal_action_mask
        rank = jax.random.uniform(choice, (GAMES,)) * mask.sum(axis=1)  # cheaper than a categorical draw
        action = (jnp.cumsum(mask, axis=1) > rank[:, None]).argmax(axis=1)
        return step(state, action, jax.random.split(luck, GAMES)), key

    def several(carried: tuple[Any, Any]) -> tuple[Any, Any]:
        return jax.lax.fori_loop(0, steps, decide, carried)

    advance = jax.jit(several if steps > 1 else lambda carried: decide(0, carried), donate_argnums=0)
    carried = (jax.jit(init)(jax.random.split(jax.random.key(0), GAMES)), jax.random.key(1))

    def work() -> float:
        nonlocal carried
        carried = jax.block_until_ready(advance(carried))
        return steps * GAMES

    where = jax.devices()[0].platform
    loop = "a call for each step" if steps == 1 else f"{steps} steps in a call"
    produces = "state, observation, mask, rewards, flags; sampler: rank among the legal, inside the jit"
    return Case(f"pgx {game}, {GAMES:,} games, {loop}, on {where}", produces, work)


def _open_spiel(names: Names) -> list[Case]:
    return [_open_spiel_case(game, shown) for game in names for shown in (False, True)]


def _open_spiel_case(name: str, shown: bool) -> Case:
    """One state at a time, as in OpenSpiel's examples; observation and mask into buffers that are kept."""
    import pyspiel
    from open_spiel.python.observation import make_observation

    game = pyspiel.load_game(name)
    observation, mask = make_observation(game), np.zeros(game.num_distinct_actions(), np.int8)
    state, number = game.new_initial_state(), random.Random(0)

    def work() -> float:
        nonlocal state
        decisions = 0
        while decisions < 50:
            if state.is_terminal():
                state = game.new_initial_state()
            elif state.is_chance_node():
                outcomes, shares = zip(*state.chance_outcomes(), strict=True)
                state.apply_action(number.choices(outcomes, shares)[0])
            else:
                actions = state.legal_actions()
                if shown:
                    observation.set_from(state, state.current_player())
                    mask[:] = 0
                    mask[actions] = 1
                state.apply_action(actions[int(number.random() * len(actions))])
                decisions += 1
        return decisions

    gives = "state, legal actions" + (", observation, mask" if shown else "")
    what = "observation and mask" if shown else "state alone"
    return Case(f"open_spiel {name}, 1 game, {what}", f"{gives}; sampler: random.random over the list", work)


def _pettingzoo(names: Names) -> list[Case]:
    return [_pettingzoo_case(name) for name in names if name != "chess_v6" or find_spec("chess") is not None]


def _pettingzoo_case(name: str) -> Case:
    """The agent-by-agent loop of PettingZoo's documentation, without its wrappers that check."""
    module: Any = import_module(f"pettingzoo.classic.{name}")
    env, number = module.raw_env(), random.Random(0)
    env.reset(seed=0)

    def work() -> float:
        decisions = 0
        while decisions < 20:
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.reset()
                continue
            actions = np.flatnonzero(observation["action_mask"])
            env.step(int(actions[int(number.random() * len(actions))]))
            decisions += 1
        return decisions

    produces = "state, observation, mask, rewards, flags; sampler: random.random over the mask"
    return Case(f"pettingzoo {name}.raw_env, 1 game", produces, work)


_PEERS: dict[str, Callable[[Names], list[Case]]] = {"pgx": _pgx, "pyspiel": _open_spiel, "pettingzoo": _pettingzoo}
