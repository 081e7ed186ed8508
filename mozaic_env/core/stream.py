"""The random stream that each game owns: SplitMix64 read as a function of (key, counter).

A row stores its 64-bit key and how often it has drawn; the k-th number depends on nothing else. So games are
equal to the bit whatever the batch, the thread or the neighbour, and two games with one key see the same luck,
draw by draw, however they are played. Choices that are not the game's luck (who sits where, how an agent
breaks ties) read other streams of the same key, so they never shift the luck.

Source of the generator: G. Steele, D. Lea, C. Flood, Fast splittable pseudorandom number generators, 2014.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from mozaic_env.core.jit import jit

LUCK = np.uint64(0)  # the game's own chance
SETUP = np.uint64(1)  # who starts, who sits where, which opponent
NEXT_GAME = np.uint64(2)  # the key of the game after this one
SAMPLE = np.uint64(3)  # random legal actions drawn for a caller
SYMMETRY = np.uint64(2**32)  # under which of the game's symmetries a game is shown
AGENT = np.uint64(4)  # an agent's choices and ties, told apart by seat: AGENT + seat

_GAMMA = np.uint64(0x9E37_79B9_7F4A_7C15)
_STREAM_GAMMA = np.uint64(0xD1B5_4A32_D192_ED03)
_MULTIPLIERS = (np.uint64(0xBF58_476D_1CE4_E5B9), np.uint64(0x94D0_49BB_1331_11EB))
_XORSHIFTS = (np.uint64(30), np.uint64(27), np.uint64(31))
_HALF = np.uint64(32)
_ONE = np.uint64(1)


def keys_from_seeds(seeds: Sequence[int] | npt.NDArray[np.integer]) -> npt.NDArray[np.uint64]:
    """The 64-bit keys of games with the given seeds, by ``np.random.SeedSequence``.

    Args:
        seeds: non-negative integers.

    Returns:
        uint64 array of shape (len(seeds),).
    """
    keys = np.empty(len(seeds), np.uint64)
    for i, seed in enumerate(seeds):
        keys[i] = np.random.SeedSequence(int(seed)).generate_state(1, np.uint64)[0]
    return keys


@jit
def random_bits(key: np.uint64, stream: np.uint64, counter: int) -> np.uint64:
    """The counter-th uint64 of a stream of a key."""
    x = key ^ (np.uint64(stream) * _STREAM_GAMMA)
    x += (np.uint64(counter) + _ONE) * _GAMMA
    x = (x ^ (x >> _XORSHIFTS[0])) * _MULTIPLIERS[0]
    x = (x ^ (x >> _XORSHIFTS[1])) * _MULTIPLIERS[1]
    return x ^ (x >> _XORSHIFTS[2])


@jit
def below(bits: np.uint64, limit: int) -> int:
    """Turns a random uint64 into an int64 in [0, limit); the bias is below limit / 2**32."""
    return np.int64(((bits >> _HALF) * np.uint64(limit)) >> _HALF)  # type: ignore[return-value]


@jit
def unit(bits: np.uint64) -> float:
    """Turns a random uint64 into a float64 in [0, 1)."""
    return np.float64(bits >> np.uint64(11)) * 2.0**-53
