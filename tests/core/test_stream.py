"""The random stream of a game: a function of key, stream and counter, and random enough."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mozaic_env.core import stream
from mozaic_env.core.jit import jit

words = st.integers(0, 2**64 - 1)
SIZE = 100_000


@jit
def fill(out: Any, key: Any, key_step: Any, number: Any, counter: Any, counter_step: Any) -> None:
    for i in range(len(out)):
        step = np.uint64(i)
        out[i] = stream.random_bits(key + step * key_step, number, counter + i * counter_step)


def series(*, vary: str, number: Any = stream.LUCK) -> np.ndarray:
    """Along the counter of one key, or over neighbouring keys at one counter."""
    out = np.empty(SIZE, np.uint64)
    keys, counters = (1, 0) if vary == "key" else (0, 1)
    fill(out, np.uint64(2026), np.uint64(keys), number, 5, counters)
    return out


def splitmix64(state: int, steps: int) -> int:
    """The generator as published, a state that moves on with every number."""
    for _ in range(steps):
        state = (state + 0x9E3779B97F4A7C15) % 2**64
        z = state
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
    return z ^ z >> 31


def test_luck_is_splitmix64() -> None:
    assert splitmix64(1234567, 1) == 6457827717110365317  # test vector of the published generator
    for steps in (1, 2, 3, 1000):
        found = stream.random_bits(np.uint64(1234567), stream.LUCK, steps - 1)
        assert int(found) == splitmix64(1234567, steps)


@settings(deadline=None, derandomize=True, max_examples=100)
@given(words, st.sampled_from([stream.LUCK, stream.SETUP, stream.AGENT]), st.integers(0, 10**6))
def test_depends_on_its_arguments_alone(key: int, number: np.uint64, counter: int) -> None:
    once = stream.random_bits(np.uint64(key), number, counter)
    # The global generators are what must not matter.
    random.seed(counter)
    np.random.seed(counter % 2**32)  # noqa: NPY002
    states = random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002
    stream.random_bits(np.uint64(key), number, counter + 1)
    assert stream.random_bits(np.uint64(key), number, np.uint32(counter)) == once
    assert (random.getstate(), np.random.get_state()[1].tolist()) == states  # noqa: NPY002


@pytest.mark.parametrize("vary", ["key", "counter"])
def test_every_bit_is_a_fair_coin(vary: str) -> None:
    numbers = series(vary=vary)
    assert len(np.unique(numbers)) == SIZE
    shares = np.unpackbits(numbers.view(np.uint8).reshape(SIZE, 8), axis=1).mean(axis=0)
    assert np.abs(shares - 0.5).max() < 4.5 * 0.5 / SIZE**0.5


@pytest.mark.parametrize("vary", ["key", "counter"])
def test_streams_of_a_key_are_unrelated(vary: str) -> None:
    numbers = [
        stream.LUCK,
        stream.SETUP,
        stream.NEXT_GAME,
        stream.AGENT,
        stream.AGENT + stream.SETUP,
    ]
    drawn = [series(vary=vary, number=number) for number in numbers]
    assert len(np.unique(np.concatenate(drawn))) == SIZE * len(numbers)
    units = np.stack([(column >> np.uint64(11)) * 2.0**-53 for column in drawn])
    correlation = np.corrcoef(units) - np.eye(len(numbers))
    assert np.abs(correlation).max() < 4.5 / SIZE**0.5


@pytest.mark.parametrize("limit", [1, 2, 6, 67, 68, 384])
def test_below_is_uniform(limit: int) -> None:
    found = np.array([stream.below(bits, limit) for bits in series(vary="counter")[:20_000]])
    assert found.min() >= 0
    assert found.max() < limit
    counts = np.bincount(found, minlength=limit)
    expected = len(found) / limit
    deviation = ((counts - expected) ** 2 / expected).sum()
    assert deviation <= limit - 1 + 4 * (2 * (limit - 1)) ** 0.5  # mean + 4 standard deviations


def test_below_and_unit_at_the_ends() -> None:
    last = np.uint64(2**64 - 1)
    assert [stream.below(np.uint64(0), 68), stream.below(last, 68)] == [0, 67]
    assert [stream.unit(np.uint64(0)), stream.unit(last)] == [0.0, 1 - 2.0**-53]


def test_keys_are_those_of_seed_sequence() -> None:
    seeds = [0, 1, 2**31, 2**63 + 5, 10**30]
    expected = [np.random.SeedSequence(seed).generate_state(1, np.uint64)[0] for seed in seeds]
    keys = stream.keys_from_seeds(seeds)
    assert keys.dtype == np.uint64
    assert keys.tolist() == [int(key) for key in expected]
    np.testing.assert_array_equal(stream.keys_from_seeds(np.array(seeds[:3])), keys[:3])
    assert stream.keys_from_seeds([]).shape == (0,)
    assert len(set(stream.keys_from_seeds(range(5_000)).tolist())) == 5_000
