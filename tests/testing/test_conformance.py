"""The public conformance suite over both editions and boards of many shapes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium as gym
import pytest

from mozaic_env import make_game
from mozaic_env.testing import checks_for_env, checks_for_game, checks_for_vector_env

BOARDS = [(8, 8), (4, 4), (2, 2), (3, 4), (2, 8), (7, 2)]
EDITIONS = ("amethyst", "onyx")
Check = Callable[..., None]


def every_variant(boards: list[tuple[int, int]]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(
        "variant",
        [{"rules": name, "rows": rows, "cols": cols} for name in EDITIONS for rows, cols in boards],
        ids=lambda variant: "{rules}-{rows}x{cols}".format(**variant),
    )


def each(checks: list[Check]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("check", checks, ids=[check.__name__ for check in checks])


@every_variant(BOARDS)
@each(checks_for_game())
def test_game(check: Check, variant: dict[str, Any]) -> None:
    check(make_game("mozaic", **variant))


@every_variant(BOARDS)
@each(checks_for_env())
def test_single(check: Check, variant: dict[str, Any]) -> None:
    check(partial(gym.make, "mozaic_env:Mozaic-v0", **variant))


@every_variant(BOARDS[:3])
@each(checks_for_vector_env())
def test_vector(check: Check, variant: dict[str, Any]) -> None:
    make_vec = partial(gym.make_vec, "mozaic_env:Mozaic-v0", **variant)
    check(make_vec, partial(gym.make, "mozaic_env:Mozaic-v0", **variant))


@pytest.mark.parametrize("checks", [checks_for_game, checks_for_env, checks_for_vector_env])
def test_every_check_says_what_it_checks(checks: Callable[[], list[Check]]) -> None:
    found = checks()
    assert len(found) > 10
    assert len({check.__name__ for check in found}) == len(found)
    assert all(check.__doc__ for check in found)
