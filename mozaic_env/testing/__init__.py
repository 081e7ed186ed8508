"""The conformance suite: a game or an environment factory goes in, named checks come out.

```python
from functools import partial

import gymnasium as gym

from mozaic_env import make_game
from mozaic_env.testing import checks_for_env, checks_for_game

for check in checks_for_game():
    check(make_game("mozaic", rules="onyx", rows=4, cols=4))
for check in checks_for_env():
    check(partial(gym.make, "mozaic_env:Mozaic-v0", rows=4, cols=4))
```

A check is a plain function. It returns nothing, or raises AssertionError that says what was found.
Its name and docstring say what it checks. With pytest:

```python
import pytest

@pytest.mark.parametrize("check", checks_for_game(), ids=lambda check: check.__name__)
def test_conformance(check):
    check(make_game(...))
```
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any

from mozaic_env.core.game import Game
from mozaic_env.testing import (
    game_places,
    game_rules,
    game_symmetry,
    game_text,
    single_basics,
    single_rules,
    vector_equal,
    vector_rules,
)

__all__ = ["checks_for_env", "checks_for_game", "checks_for_vector_env"]


def _checks(*modules: ModuleType) -> list[Callable[..., None]]:
    return [
        thing
        for module in modules
        for name, thing in vars(module).items()
        if name.startswith("check_") and thing.__module__ == module.__name__
    ]


def checks_for_game() -> list[Callable[[Game], None]]:
    """The checks of a game: each takes a `mozaic_env.core.game.Game`."""
    return _checks(game_rules, game_symmetry, game_text, game_places)


def checks_for_env() -> list[Callable[[Callable[..., Any]], None]]:
    """The checks of a single environment.

    Each takes a factory: ``make(**options)`` gives an environment that understands the options of
    `mozaic_env.envs.gymnasium.single.GameEnv`.
    """
    return _checks(single_basics, single_rules)


def checks_for_vector_env() -> list[Callable[[Callable[..., Any], Callable[..., Any]], None]]:
    """The checks of a vector environment.

    Each takes two factories: ``make_vec(num_envs, **options)`` gives a vector environment that
    understands the options of `mozaic_env.envs.gymnasium.vector.GameVectorEnv`, ``make(**options)`` a single
    environment of the same game.
    """
    return _checks(vector_equal, vector_rules)
