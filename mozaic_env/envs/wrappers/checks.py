"""What the wrappers ask of the environment that they are put around."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.vector import VectorEnv

from mozaic_env.core.game import Game
from mozaic_env.core.text.files import user_path
from mozaic_env.envs.gymnasium.single import GameEnv
from mozaic_env.envs.gymnasium.vector import GameVectorEnv

BY_ACTION = ("action_mask", "action_values")  # entries of info that have a number for each action


def game_env(env: gym.Env[Any, Any]) -> GameEnv:
    """The environment below all wrappers; ValueError if it is none of a game of the package."""
    if not isinstance(env.unwrapped, GameEnv):
        raise ValueError(f"{env} is around {type(env.unwrapped).__name__}; accepted: environments of this package")
    return env.unwrapped


def game_vector_env(env: VectorEnv[Any, Any, Any]) -> GameVectorEnv:
    """The same for vector environments; ValueError if it is not the native one."""
    if not isinstance(env.unwrapped, GameVectorEnv):
        raise ValueError(
            f"{env} is around {type(env.unwrapped).__name__}; accepted: the native vector environment, as gym.make_vec "
            "makes it. In other vector environments, wrap each single one"
        )
    return env.unwrapped


def check_entries(game: Game, space: spaces.Space[Any]) -> None:
    """ValueError if observations are no longer the game's entries by name."""
    entries = {field.key: field.shape for field in game.fields}
    found = {key: part.shape for key, part in space.items()} if isinstance(space, spaces.Dict) else None
    if found != entries:
        raise ValueError(
            f"observations are {space}; accepted: the game's own, so put this wrapper below any that changes them"
        )


def heuristic_weights(game: Game, heuristic: str | None) -> npt.NDArray[np.float64]:
    """The weights of a heuristic of the game, None: its last, strongest one; ValueError if it has no such one."""
    chosen = tuple(game.heuristics)[-1] if heuristic is None else heuristic
    if chosen not in game.heuristics:
        raise ValueError(f"heuristic={heuristic!r}; accepted: {', '.join(game.heuristics)}")
    return np.array(game.heuristics[chosen])


def check_plain_actions(env: Any, *changers: type[Any]) -> None:
    """ValueError if a wrapper around the environment is one of those, which change actions on their way."""
    while env is not env.unwrapped:
        if isinstance(env, changers):
            raise ValueError(f"{env} changes actions; accepted: an environment without such a wrapper, put it around")
        env = env.env


def check_number(name: str, given: Any, least: float, most: float) -> float:
    """The number as a float; ValueError if it is not one from `least` to `most`."""
    if isinstance(given, bool) or not isinstance(given, int | float | np.integer | np.floating):
        raise ValueError(f"{name}={given!r}; accepted: a number")
    if not (math.isfinite(given) and least <= given <= most):
        raise ValueError(f"{name}={given!r}; accepted: {least:g} to {most:g}")
    return float(given)


def check_trigger(trigger: Any) -> Callable[[int], Any]:
    """The trigger of a recorder, None: always; ValueError if it can't be called."""
    if trigger is None:
        return _always
    if not callable(trigger):
        raise ValueError(f"episode_trigger={trigger!r}; accepted: None, or a function of the episode's number")
    return trigger


def _always(episode: int) -> bool:
    return True


def make_folder(folder: str | Path) -> Path:
    """The folder, made if it is missing; ValueError if that can't be done."""
    path = user_path(folder)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"cannot make the folder {path}: {error.strerror}") from None
    return path
