"""What the checks of environments share: random legal play, and comparison to the bit."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

Make = Callable[..., Any]  # make(**options) gives an environment
MakeVec = Callable[..., Any]  # make_vec(num_envs, **options) gives a vector environment
Transition = tuple[Any, float, bool, bool, dict[str, Any]]


def pick(rng: np.random.Generator, mask: np.ndarray) -> int:
    """A random one of the actions that the mask allows."""
    return int(rng.choice(np.flatnonzero(mask)))


def play(env: Any, seed: int, steps: int, start: int | None = None) -> Iterator[Transition]:
    """Random legal play: the transitions, resets among them as transitions without reward.

    Args:
        env: the environment; begun unless `start` is given.
        seed: of the choice of actions.
        steps: how many transitions.
        start: seed of the first reset.
    """
    rng, over = np.random.default_rng(seed), False
    if start is not None:
        observation, info = env.reset(seed=start)
        yield observation, 0.0, False, False, info
    mask = env.action_masks()
    for _ in range(steps):
        if over:
            observation, info = env.reset()
            step: Transition = (observation, 0.0, False, False, info)
        else:
            step = env.step(np.int64(pick(rng, mask)))
        mask, over = step[4]["action_mask"], step[2] or step[3]
        yield step


def some_way(env: Any, seed: int, steps: int) -> list[Transition]:
    """So much random legal play; if a game ends with it the next one is begun."""
    played = list(play(env, seed, steps))
    if played[-1][2] or played[-1][3]:
        env.reset()
    return played


def whole_game(env: Any, seed: int) -> Iterator[Transition]:
    """Random legal play from where the environment stands to the end of the game."""
    for step in play(env, seed, 10**9):
        yield step
        if step[2] or step[3]:
            return


def difference(one: Any, other: Any, at: str = "") -> str | None:
    """Where two nested results differ, in type, dtype or value; None if they are equal. Any array is an array."""
    if type(one) is not type(other) and not (isinstance(one, np.ndarray) and isinstance(other, np.ndarray)):
        return f"{at}: {type(one).__name__} and {type(other).__name__}"
    if isinstance(one, dict):
        if set(one) != set(other):
            return f"{at}: keys {sorted(one)} and {sorted(other)}"
        pairs = [(one[key], other[key], f"{at}[{key!r}]") for key in one]
    elif isinstance(one, tuple | list) or (isinstance(one, np.ndarray) and one.dtype == object):
        if len(one) != len(other):
            return f"{at}: lengths {len(one)} and {len(other)}"
        pairs = [(mine, theirs, f"{at}[{i}]") for i, (mine, theirs) in enumerate(zip(one, other))]
    elif isinstance(one, np.ndarray):
        if (one.dtype, one.shape) != (other.dtype, other.shape):
            return f"{at}: {one.dtype} {one.shape} and {other.dtype} {other.shape}"
        wrong = np.argwhere(one != other)
        return f"{at} differs at {wrong[:5].tolist()}" if len(wrong) else None
    else:
        return None if one == other else f"{at}: {one!r} and {other!r}"
    return next(filter(None, (difference(*pair) for pair in pairs)), None)


def assert_same(one: Any, other: Any, what: str) -> None:
    """Both are equal to the bit."""
    found = difference(one, other)
    assert found is None, f"{what}: {found}"


def assert_refused(what: str, call: Callable[[], Any]) -> str:
    """The call is a ValueError with a message, which is returned."""
    try:
        found = call()
    except ValueError as error:
        said = str(error)
    else:
        raise AssertionError(f"{what} is accepted and gives {str(found)[:80]}")
    assert said, f"{what} is refused without a word"
    return said


def actions_for(masks: np.ndarray, rng: np.random.Generator, illegal: float = 0.0) -> np.ndarray:
    """Random legal actions, int64, shape (n,), or with probability `illegal` any action."""
    scores = rng.random(masks.shape)
    legal = np.where(masks.astype(bool), scores, -1).argmax(axis=1)
    return np.where(rng.random(len(masks)) < illegal, scores.argmax(axis=1), legal)
