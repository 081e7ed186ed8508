"""64-bit boards: one bit a square, square 0 in the lowest bit."""

from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from mozaic_env.core.jit import jit

Board = np.uint64
Bytes = npt.NDArray[np.int8]

ONE = np.uint64(1)
ALL = np.uint64(0xFFFF_FFFF_FFFF_FFFF)
_LOW_BITS = np.uint64(0x0101_0101_0101_0101)
_HIGH_BITS = np.uint64(0x8080_8080_8080_8080)
_PAIRS = np.uint64(0x5555_5555_5555_5555)
_QUADS = np.uint64(0x3333_3333_3333_3333)
_BYTES = np.uint64(0x0F0F_0F0F_0F0F_0F0F)
_NTH_IN_BYTE = np.zeros((256, 8), np.uint8)
for _byte in range(256):
    for _rank, _bit in enumerate(bit for bit in range(8) if _byte >> bit & 1):
        _NTH_IN_BYTE[_byte, _rank] = _bit


@intrinsic
def count(typing_context: Any, board: Any) -> Any:
    """Number of set bits of a uint64, as int64."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


@intrinsic
def first(typing_context: Any, board: Any) -> Any:
    """Index of the lowest set bit of a uint64 that is not zero, as int64."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), generate


def _pointer(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Address of out[row, start], `out` being a C-contiguous two-dimensional array of one-byte integers."""
    array = context.make_array(signature.args[0])(context, builder, arguments[0])
    width = builder.extract_value(array.shape, 1)
    return builder.gep(array.data, [builder.add(builder.mul(arguments[1], width), arguments[2])])


def _store(context: Any, builder: Any, signature: Any, arguments: Any, value: Any) -> Any:
    place = _pointer(context, builder, signature, arguments)
    builder.store(value, builder.bitcast(place, value.type.as_pointer()), align=1)
    return context.get_dummy_value()


@intrinsic
def _spread64(typing_context: Any, out: Any, row: Any, start: Any, board: Any) -> Any:
    """Writes 64 bits as 64 bytes of 0 and 1: one masked vector store where the processor has it."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        flags = builder.bitcast(arguments[3], ir.VectorType(ir.IntType(1), 64))
        return _store(context, builder, signature, arguments, builder.zext(flags, ir.VectorType(ir.IntType(8), 64)))

    return types.void(out, types.int64, types.int64, types.uint64), generate


@intrinsic
def store_int32(typing_context: Any, out: Any, row: Any, start: Any, value: Any) -> Any:
    """Writes an int32 to the four bytes from out[row, start] on, in the machine's byte order."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _store(context, builder, signature, arguments, arguments[3])

    return types.void(out, types.int64, types.int64, types.int32), generate


@intrinsic
def store_uint64(typing_context: Any, out: Any, row: Any, start: Any, value: Any) -> Any:
    """Writes a uint64 to the eight bytes from out[row, start] on, in the machine's byte order."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _store(context, builder, signature, arguments, arguments[3])

    return types.void(out, types.int64, types.int64, types.uint64), generate


def clearer(length: int) -> Any:
    """A compiled function (out, row, start) that sets out[row, start : start + length] to zero; `out` as in `spread`.

    For lengths that come up often: a few vector stores. A plain memset of a constant size may be merged with that of
    any size into a call.
    """

    @intrinsic
    def clear_all(typing_context: Any, out: Any, row: Any, start: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            place = _pointer(context, builder, signature, arguments)
            byte, size, flag = ir.IntType(8), ir.IntType(64), ir.IntType(1)
            kind = ir.FunctionType(ir.VoidType(), [place.type, byte, size, flag])
            function = builder.module.declare_intrinsic("llvm.memset.inline", (place.type, size), kind)
            builder.call(function, [place, byte(0), size(length), flag(0)])
            return context.get_dummy_value()

        return types.void(out, types.int64, types.int64), generate

    return clear_all


@intrinsic
def clear(typing_context: Any, out: Any, row: Any, start: Any, length: Any) -> Any:
    """Sets out[row, start : start + length] to zero; `out` as in `spread`."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        cgutils.memset(builder, _pointer(context, builder, signature, arguments), arguments[3], 0)
        return context.get_dummy_value()

    return types.void(out, types.int64, types.int64, types.int64), generate


@jit
def _spread_some(out: Bytes, row: int, start: int, board: Board, tiles: int) -> None:
    for tile in range(tiles):
        out[row, start + tile] = (board >> np.uint64(tile)) & ONE


@jit(forceinline=True)
def spread(out: Bytes, row: int, start: int, board: Board, tiles: int) -> None:
    """Writes the first `tiles` bits of a board as bytes 0 and 1 to out[row, start : start + tiles].

    `out` is a C-contiguous two-dimensional array of one-byte integers; its size is the caller's care.
    """
    if tiles == 64:
        _spread64(out, row, start, board)
    else:
        _spread_some(out, row, start, board, tiles)


@jit
def _every_fourth(bits: Board) -> Board:
    """Moves the lowest 16 bits to every fourth place."""
    bits &= np.uint64(0xFFFF)
    bits = (bits | (bits << np.uint64(24))) & np.uint64(0x0000_00FF_0000_00FF)
    bits = (bits | (bits << np.uint64(12))) & np.uint64(0x000F_000F_000F_000F)
    bits = (bits | (bits << np.uint64(6))) & np.uint64(0x0303_0303_0303_0303)
    return (bits | (bits << np.uint64(3))) & np.uint64(0x1111_1111_1111_1111)


@jit
def spread_interleaved(out: Bytes, row: int, start: int, boards: tuple[Board, Board, Board, Board], tiles: int) -> None:
    """Writes four boards, tile by tile: bit t of boards[k] goes to out[row, start + 4 * t + k]."""
    for tile in range(0, tiles, 16):
        shift = np.uint64(tile)
        word = _every_fourth(boards[0] >> shift)
        word |= _every_fourth(boards[1] >> shift) << np.uint64(1)
        word |= _every_fourth(boards[2] >> shift) << np.uint64(2)
        word |= _every_fourth(boards[3] >> shift) << np.uint64(3)
        spread(out, row, start + 4 * tile, word, min(64, 4 * (tiles - tile)))


@jit
def nth(board: Board, n: int) -> int:
    """Index of the n-th set bit (n = 0: the lowest); the board has more than n bits set.

    Finds the byte from running sums of the bytes' bit counts, then looks the rest up (S. Vigna, Broadword
    implementation of rank/select queries, 2008).
    """
    sums = board - ((board >> ONE) & _PAIRS)
    sums = (sums & _QUADS) + ((sums >> np.uint64(2)) & _QUADS)
    sums = ((sums + (sums >> np.uint64(4))) & _BYTES) * _LOW_BITS
    rank = np.uint64(n)
    # In each byte: is its running sum at most n? The high bits cannot borrow, since sums are at most 64.
    passed = ((rank * _LOW_BITS) | _HIGH_BITS) - sums
    shift = np.uint64(count(passed & _HIGH_BITS)) << np.uint64(3)
    rank -= ((sums << np.uint64(8)) >> shift) & np.uint64(0xFF)
    byte = (board >> shift) & np.uint64(0xFF)
    return _NTH_IN_BYTE[byte, rank] + np.int64(shift)
