"""Digests of what every interface does, to compare two versions of the package to the bit.

    python -m benchmarks.digests before.json                   # writes them
    python -m benchmarks.digests now.json --against before.json  # writes and compares; exit status 1 if they differ

Each digest covers everything that an interface hands out over whole games of random legal play: observations, masks,
rewards, ends and records. The choices come from a generator of the script's own, so equal digests mean equal games.
"""

import argparse
import hashlib
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np

VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "mozaic-amethyst": ("Mozaic-v0", {}),
    "mozaic-onyx-4x6": ("Mozaic-v0", {"rules": "onyx", "rows": 4, "cols": 6}),
    "crystal_mosaic-2": ("CrystalMosaic-v0", {}),
    "crystal_mosaic-3-side2": ("CrystalMosaic-v0", {"players": 3, "board": "side2"}),
    "mosaic_chess": ("MosaicChess-v0", {"max_decisions": 120}),
}
MATCHES: dict[str, tuple[str, dict[str, Any], tuple[str, str]]] = {
    "mozaic-champion": ("mozaic", {}, ("champion", "pattern")),
    "mozaic-search": ("mozaic", {"rows": 4, "cols": 4}, ("expectimax:depth=2", "mcts:simulations=50")),
    "mozaic-pattern": ("mozaic", {"rules": "onyx"}, ("pattern", "greedy")),
    "crystal_mosaic": ("crystal_mosaic", {"players": 3}, ("paranoid:depth=2,width=6", "planner")),
    "mosaic_chess": ("mosaic_chess", {}, ("greedy", "random")),
}

Digest = Any


def feed(digest: Digest, *things: Any) -> None:
    """Adds arrays, numbers, texts, and dicts and lists of them, with their types and shapes."""
    for thing in things:
        if isinstance(thing, dict):
            for key in sorted(thing):
                feed(digest, str(key), thing[key])
        elif isinstance(thing, (list, tuple)):
            feed(digest, *thing)
        elif isinstance(thing, str) or thing is None:
            digest.update(repr(thing).encode())
        else:
            array = np.asarray(thing)
            digest.update(f"{array.dtype} {array.shape}".encode() + np.ascontiguousarray(array).tobytes())


def pick(rng: np.random.Generator, mask: Any) -> int:
    """A random legal action."""
    return int(rng.choice(np.flatnonzero(mask)))


def single(digest: Digest, name: str, options: dict[str, Any], games: int) -> None:
    """`gym.make`, with an opponent and alone."""
    for opponent in ("greedy", None):
        env = gym.make(f"mozaic_env:{name}", opponent=opponent, **options)
        rng = np.random.default_rng(1)
        for game in range(games):
            observation, info = env.reset(seed=game)
            feed(digest, observation, info["action_mask"])
            over = False
            while not over:
                observation, reward, terminated, truncated, info = env.step(pick(rng, info["action_mask"]))
                over = terminated or truncated
                feed(digest, observation, float(reward), terminated, truncated, info["action_mask"])
            feed(digest, env.unwrapped.record)  # type: ignore[attr-defined]


def vector(digest: Digest, name: str, options: dict[str, Any], games: int) -> None:
    """`gym.make_vec`, until as many games have ended."""
    for reward in ("outcome", "margin"):
        envs: Any = gym.make_vec(f"mozaic_env:{name}", num_envs=20, opponent="greedy", reward=reward, **options)
        rng = np.random.default_rng(2)
        observations, infos = envs.reset(seed=5)
        feed(digest, observations)
        ended = 0
        while ended < games:
            actions = np.array([pick(rng, mask) for mask in infos["action_mask"]])
            observations, rewards, terminations, truncations, infos = envs.step(actions)
            ended += int(np.sum(terminations | truncations))
            feed(digest, observations, rewards, terminations, truncations, infos["action_mask"])


def stable_baselines(digest: Digest, name: str, options: dict[str, Any], games: int) -> None:
    """The native VecEnv, until as many games have ended."""
    from mozaic_env.envs.sb3 import GameVecEnv

    ours = {"Mozaic-v0": "mozaic", "CrystalMosaic-v0": "crystal_mosaic", "MosaicChess-v0": "mosaic_chess"}
    envs = GameVecEnv(20, ours[name], opponent="greedy", **options)
    rng = np.random.default_rng(3)
    envs.seed(7)
    feed(digest, envs.reset())
    ended = 0
    while ended < games:
        actions = np.array([pick(rng, mask) for mask in envs.action_masks()])
        observations, rewards, dones, _ = envs.step(actions)
        ended += int(np.sum(dones))
        feed(digest, observations, rewards, dones)


def pettingzoo(digest: Digest, name: str, options: dict[str, Any], games: int) -> None:
    """The AEC environment."""
    from mozaic_env.envs.pettingzoo import crystal_mosaic_v0, mosaic_chess_v0, mozaic_v0

    modules: dict[str, Any] = {
        "Mozaic-v0": mozaic_v0,
        "CrystalMosaic-v0": crystal_mosaic_v0,
        "MosaicChess-v0": mosaic_chess_v0,
    }
    env = modules[name].env(**options)
    rng = np.random.default_rng(4)
    for game in range(games):
        env.reset(seed=game)
        for agent in env.agent_iter():
            observation, reward, terminated, truncated, _ = env.last()
            feed(digest, agent, observation, float(reward), terminated, truncated)
            over = terminated or truncated
            env.step(None if over else pick(rng, observation["action_mask"]))


def openspiel(digest: Digest, name: str, options: dict[str, Any], games: int) -> None:
    """The OpenSpiel game, every draw a chance node."""
    import pyspiel

    import mozaic_env.envs.openspiel  # noqa: F401  registers the games

    ours = {"Mozaic-v0": "mozaic", "CrystalMosaic-v0": "crystal_mosaic", "MosaicChess-v0": "mosaic_chess"}
    words = ",".join(f"{key}={value}" for key, value in options.items())
    game = pyspiel.load_game(f"python_{ours[name]}({words})")
    rng = np.random.default_rng(6)
    for _ in range(games):
        state = game.new_initial_state()
        while not state.is_terminal():
            if state.is_chance_node():
                outcomes = state.chance_outcomes()
                feed(digest, outcomes)
                state.apply_action(outcomes[rng.choice(len(outcomes), p=[p for _, p in outcomes])][0])
            else:
                feed(digest, state.current_player(), state.legal_actions(), str(state))
                state.apply_action(int(rng.choice(state.legal_actions())))
        feed(digest, list(state.returns()))


INTERFACES: dict[str, Callable[[Digest, str, dict[str, Any], int], None]] = {
    "gymnasium": single,
    "vector": vector,
    "stable-baselines3": stable_baselines,
    "pettingzoo": pettingzoo,
    "openspiel": openspiel,
}


def match(digest: Digest, name: str, options: dict[str, Any], agents: tuple[str, str], games: int) -> None:
    """A match between agents, action for action."""
    from mozaic_env.agents.specs import make_agent
    from mozaic_env.arena.match import play_match
    from mozaic_env.games import make_game

    game = make_game(name, **options)
    first, second = (make_agent(spec, game) for spec in agents)
    games -= games % (2 * game.num_players)
    result = play_match(first, second, games, seed=11, keep_actions=True)
    played = result.details
    assert played is not None
    feed(digest, played.results, played.margins, played.actions)


def digests(games: int, only: str) -> Iterator[tuple[str, str]]:
    """The name and digest of each thing that is compared."""
    for variant, (name, options) in VARIANTS.items():
        for interface, play in INTERFACES.items():
            if only in (what := f"{variant} {interface}"):
                digest = hashlib.blake2b(digest_size=16)
                play(digest, name, options, games)
                yield what, digest.hexdigest()
    for what, (name, options, agents) in MATCHES.items():
        if only in (what := f"{what} match"):
            digest = hashlib.blake2b(digest_size=16)
            match(digest, name, options, agents, 2 * games if "champion" in what else games)
            yield what, digest.hexdigest()


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("out", type=Path, metavar="FILE", help="where the digests go, as JSON")
    parser.add_argument("--against", type=Path, metavar="FILE", help="digests to compare with")
    parser.add_argument("--games", type=int, default=200, metavar="N", help="by variant and interface (default: 200)")
    parser.add_argument("--only", default="", metavar="TEXT", help="only those whose name contains it")
    arguments = parser.parse_args()
    before = json.loads(arguments.against.read_text(encoding="utf-8")) if arguments.against else {}
    found: dict[str, str] = {}
    for what, digest in digests(arguments.games, arguments.only):
        found[what] = digest
        same = "" if what not in before else "equal" if before[what] == digest else "DIFFERENT"
        print(f"{what:<44} {digest} {same}", flush=True)
    arguments.out.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    return int(any(before.get(what, digest) != digest for what, digest in found.items()))


if __name__ == "__main__":
    sys.exit(main())
