"""64-bit boards against plain Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mozaic_env.core import bits
from mozaic_env.core.jit import jit

boards = st.integers(0, 2**64 - 1) | st.sets(st.integers(0, 63)).map(lambda tiles: sum(1 << tile for tile in tiles))
exact = settings(deadline=None, derandomize=True, max_examples=300)
SENTINEL = 77


@jit
def count(board: Any) -> Any:  # intrinsics are called from compiled code only
    return bits.count(board)


@jit
def first(board: Any) -> Any:
    return bits.first(board)


@jit
def store_int32(out: Any, row: Any, start: Any, value: Any) -> None:
    bits.store_int32(out, row, start, value)


def set_bits(board: int) -> list[int]:
    return [tile for tile in range(64) if board >> tile & 1]


def outside(out: np.ndarray, start: int, length: int) -> np.ndarray:
    """All bytes but out[1, start : start + length]."""
    return np.delete(out.ravel(), np.arange(out.shape[1] + start, out.shape[1] + start + length))


@exact
@given(boards)
def test_count_first_and_nth(board: int) -> None:
    tiles = set_bits(board)
    assert count(np.uint64(board)) == len(tiles)
    if tiles:
        assert first(np.uint64(board)) == tiles[0]
    assert [bits.nth(np.uint64(board), n) for n in range(len(tiles))] == tiles


@pytest.mark.parametrize("board", [0, 1, 1 << 63, 2**64 - 1, 0x5555_5555_5555_5555])
def test_extreme_boards(board: int) -> None:
    tiles = set_bits(board)
    assert count(np.uint64(board)) == len(tiles)
    assert [bits.nth(np.uint64(board), n) for n in range(len(tiles))] == tiles


@exact
@given(boards, st.integers(1, 64), st.integers(0, 7))
def test_spread(board: int, tiles: int, start: int) -> None:
    out = np.full((3, tiles + 9), SENTINEL, np.int8)
    bits.spread(out, 1, start, np.uint64(board), tiles)
    assert out[1, start : start + tiles].tolist() == [board >> tile & 1 for tile in range(tiles)]
    assert (outside(out, start, tiles) == SENTINEL).all()


@exact
@given(st.tuples(boards, boards, boards, boards), st.integers(1, 64), st.integers(0, 7))
def test_spread_interleaved(four: tuple[int, ...], tiles: int, start: int) -> None:
    out = np.full((3, 4 * tiles + 9), SENTINEL, np.int8)
    arguments = tuple(np.uint64(board) for board in four)
    bits.spread_interleaved(out, 1, start, arguments, tiles)
    expected = [board >> tile & 1 for tile in range(tiles) for board in four]
    assert out[1, start : start + 4 * tiles].tolist() == expected
    assert (outside(out, start, 4 * tiles) == SENTINEL).all()


def clear(length: int) -> Any:
    @jit(cached=False)
    def kernel(out: Any, row: int, start: int) -> None:
        bits.clear(out, row, start, length)

    return kernel


def clear_exactly(length: int) -> Any:
    cleared = bits.clearer(length)

    @jit(cached=False)
    def kernel(out: Any, row: int, start: int) -> None:
        cleared(out, row, start)

    return kernel


@pytest.mark.parametrize("make", [clear, clear_exactly])
@pytest.mark.parametrize("length", [0, 1, 64, 321])
def test_clear(make: Any, length: int) -> None:
    out = np.full((3, 340), SENTINEL, np.int8)
    make(length)(out, 1, 5)
    assert not out[1, 5 : 5 + length].any()
    assert (outside(out, 5, length) == SENTINEL).all()


@pytest.mark.parametrize("value", [0, 1, -1, 255, 256, 2**31 - 1, -(2**31)])
@pytest.mark.parametrize("start", [0, 3, 4])
def test_store_int32(value: int, start: int) -> None:
    out = np.full((3, 12), SENTINEL, np.int8)
    store_int32(out, 1, start, np.int32(value))
    assert out[1, start : start + 4].tobytes() == np.int32(value).tobytes()
    assert (outside(out, start, 4) == SENTINEL).all()
