"""Golden playthroughs: one game of every variant, written out in full, kept beside this file.

A change of the rules, the streams, the observation or the notation shows in the diff of these files.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np

from mozaic_env.envs.gymnasium.single import GameEnv
from mozaic_env.games import GAMES, make_game

FOLDER = Path(__file__).resolve().parent

# For each game the variants that have a playthrough, with a seed whose game shows all kinds of draws.
VARIANTS: dict[str, list[tuple[dict[str, Any], int]]] = {
    "mozaic": [
        ({"rules": "amethyst", "rows": 8, "cols": 8}, 1),
        ({"rules": "amethyst", "rows": 4, "cols": 4}, 2),
        ({"rules": "onyx", "rows": 8, "cols": 8}, 1),
        ({"rules": "onyx", "rows": 4, "cols": 4}, 2),
    ],
    "mosaic_chess": [
        ({"max_plies": 60}, 1),
        ({"max_plies": 61}, 2),
    ],
    "crystal_mosaic": [
        ({"players": 2, "board": "base"}, 1),
        ({"players": 2, "board": "side2"}, 1),
        ({"players": 3, "board": "side1"}, 1),
        ({"players": 4, "board": "grey"}, 1),
    ],
}
HEAD = """\
# A golden playthrough; written by `make golden`, never by hand.
# Each decision: its number, seat and position; the legal actions; digest of the observation;
# then the action, and the margin reward of the seat that acted.
"""


def files() -> dict[Path, tuple[str, dict[str, Any], int]]:
    """Where each variant's playthrough is kept."""
    kept = {}
    for name in GAMES:
        for options, seed in VARIANTS.get(name, []):
            words = [name, *(str(value) for value in options.values())]
            kept[FOLDER / f"{'-'.join(words)}.txt"] = (name, options, seed)
    return kept


def write(name: str, options: dict[str, Any], seed: int) -> str:
    """The playthrough as text."""
    env = GameEnv(name, opponent=None, reward="margin", **options)
    words = [f"game={name}", *(f"{key}={value}" for key, value in options.items()), f"seed={seed}"]
    return "\n".join([f"{HEAD}{' '.join(words)}", *_game(env, seed), ""])


def _game(env: GameEnv, seed: int) -> Iterator[str]:
    observation, info = env.reset(seed=seed)
    over, number = False, 0
    while not over:
        legal = np.flatnonzero(info["action_mask"])
        yield ""
        yield f"{number} {env.game.seat_names[info['seat']]}: {env.position}"
        yield f"legal {len(legal)}: {runs(legal.tolist())}"
        yield f"observation {digest(env, observation)}"
        action = legal[(7919 * number + seed) % len(legal)]  # far apart, no generator needed
        observation, reward, terminated, truncated, info = env.step(action)
        yield f"action {action} {env.game.format_action(int(action))}, reward {reward:g}"
        over, number = terminated or truncated, number + 1
    yield ""
    yield f"{'over' if terminated else 'truncated'}: {env.position}"
    yield f"observation {digest(env, observation)}"
    yield env.record


def runs(numbers: list[int]) -> str:
    """Ascending numbers in short: ``0-3 7 9-10``."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and parts[-1][1] == number - 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return " ".join(str(low) if low == high else f"{low}-{high}" for low, high in parts)


def digest(env: GameEnv, observation: dict[str, np.ndarray]) -> str:
    """Of the numbers as they stand in memory, little-endian, the entries in their order."""
    hashed = hashlib.blake2b(digest_size=6)
    for field in env.game.fields:
        entry = observation[field.key]
        hashed.update(f"{field.key} {entry.dtype} {entry.shape}".encode())
        hashed.update(entry.astype(entry.dtype.newbyteorder("<")).tobytes())
    return hashed.hexdigest()


def variants_of(name: str) -> list[Any]:
    """The games that have a playthrough."""
    return [make_game(name, **options) for options, _ in VARIANTS.get(name, [])]


def registered() -> set[str]:
    """The games that Gymnasium knows by an id of this package."""
    return {spec.kwargs["game"] for spec in gym.registry.values() if str(spec.entry_point).startswith("mozaic_env.")}
