"""The public conformance suite over all boards and numbers of players."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium as gym
import pytest

from mozaic_env import make_game
from mozaic_env.testing import checks_for_env, checks_for_game, checks_for_vector_env

ID = "mozaic_env:CrystalMosaic-v0"
VARIANTS: list[dict[str, Any]] = [
    {"players": 2, "board": "side2"},
    {"players": 3, "board": "base"},
    {"players": 4, "board": "side1", "max_rounds": 6},
    {"players": 2, "board": "grey", "floor": "0,0,0,-1,-1,-1,-10"},
]
Check = Callable[..., None]


def each(variants: list[dict[str, Any]]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("variant", variants, ids=lambda variant: "-".join(map(str, variant.values())))


def every(checks: list[Check]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("check", checks, ids=[check.__name__ for check in checks])


@each(VARIANTS)
@every(checks_for_game())
def test_game(check: Check, variant: dict[str, Any]) -> None:
    check(make_game("crystal_mosaic", **variant))


@each(VARIANTS[:3])
@every(checks_for_env())
def test_single(check: Check, variant: dict[str, Any]) -> None:
    check(partial(gym.make, ID, **variant))


@each(VARIANTS[:3])
@every(checks_for_vector_env())
def test_vector(check: Check, variant: dict[str, Any]) -> None:
    check(partial(gym.make_vec, ID, **variant), partial(gym.make, ID, **variant))
