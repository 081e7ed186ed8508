"""The public conformance suite over Mosaic Chess."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import gymnasium as gym
import pytest

from mozaic_env import make_game
from mozaic_env.testing import checks_for_env, checks_for_game, checks_for_vector_env

ID = "mozaic_env:MosaicChess-v0"
Check = Callable[..., None]


def each(checks: list[Check]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("check", checks, ids=[check.__name__ for check in checks])


@each(checks_for_game())
def test_game(check: Check) -> None:
    check(make_game("mosaic_chess"))


@each(checks_for_env())
def test_single(check: Check) -> None:
    check(partial(gym.make, ID))


@each(checks_for_vector_env())
def test_vector(check: Check) -> None:
    check(partial(gym.make_vec, ID), partial(gym.make, ID))
