"""Parts of a batch: games that are played from the same tables, in this process, by threads, or on a Ray cluster.

What a part gives is a function of the tables, the run's key and the numbers of its games. Parts are put together in
their order, so a run learns the same whoever plays them, and a part that is lost with a node is played again elsewhere.
The policy's gradients are summed. The critic learns within a part, game by game; of its changes each feature takes the
mean over the parts that changed it. (Their sum would overshoot: a common feature is where it belongs after one part.)
"""

import contextlib
import itertools
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mozaic_env import __version__
from mozaic_env.arena.cluster import connect
from mozaic_env.core.afterstates import Single, Weights
from mozaic_env.core.game import Game
from mozaic_env.games import make_game
from training.ntuple.learner import TOTALS, make_scratch, play_batch

Range = tuple[int, int]  # numbers of games, the last one not included


class Part(NamedTuple):
    """What the games of a part say."""

    gradient: Single  # of the policy, summed
    change: Single  # of the critic's values
    totals: npt.NDArray[np.void]  # of type TOTALS, shape (1,)


Play = Callable[[np.uint64, Sequence[Range], Weights, npt.NDArray[np.void]], list[Part]]


class Player:
    """Plays one part at a time."""

    def __init__(self, game: Game) -> None:
        self._scratch = make_scratch(game)

    def __call__(self, key: np.uint64, games: Range, weights: Weights, settings: npt.NDArray[np.void]) -> Part:
        """Plays games from tables, which stay as they are.

        Args:
            key: of the run.
            games: numbers of the first game and of that behind the last one.
            weights: the tables.
            settings: of the learner, type SETTINGS, shape (1,).
        """
        learnt, gradient, totals = weights.copy(), np.zeros(len(weights), np.float32), np.zeros(1, TOTALS)
        play_batch(key, *games, learnt, gradient, settings[0], self._scratch, totals[0])
        return Part(gradient, learnt["value"] - weights["value"], totals)


def split(low: int, high: int, parts: int) -> list[Range]:
    """Numbers of games in parts that are as equal as can be."""
    bounds = [low + (high - low) * k // parts for k in range(parts + 1)]
    return [(begin, end) for begin, end in itertools.pairwise(bounds) if begin < end]


def merge(parts: Sequence[Part], weights: Weights, gradient: Single) -> None:
    """Adds the parts' gradients to one, and their changes of the critic to the tables."""
    changes, changed = np.zeros(len(weights), np.float32), np.zeros(len(weights), np.float32)
    for part in parts:
        gradient += part.gradient
        changes += part.change
        changed += part.change != 0
    weights["value"] += changes / np.maximum(changed, 1)


@contextlib.contextmanager
def players(game: Game, threads: int = 1, address: str | None = None) -> Iterator[Play]:
    """Plays parts; a context.

    Args:
        game: what is played.
        threads: of this process, where there is no cluster.
        address: of a Ray cluster, as `mozaic_env.arena.cluster.connect` takes it; None: this process plays.

    Raises:
        ValueError: no cluster there.
        MissingExtra: Ray is not installed.
    """
    if address is not None:
        with connect(address):
            yield _on_cluster(game)
    elif threads == 1:
        play = Player(game)
        yield lambda key, games, *rest: [play(key, part, *rest) for part in games]
    else:
        own = threading.local()

        def play_in_thread(key: np.uint64, games: Range, *rest: Any) -> Part:
            if not hasattr(own, "player"):
                own.player = Player(game)
            return own.player(key, games, *rest)

        with ThreadPoolExecutor(threads) as pool:
            yield lambda key, games, *rest: list(pool.map(lambda part: play_in_thread(key, part, *rest), games))


def _on_cluster(game: Game) -> Play:
    import ray

    remote = ray.remote(num_cpus=1, max_retries=-1)(_play_on_node)

    def play(key: np.uint64, games: Sequence[Range], weights: Weights, settings: npt.NDArray[np.void]) -> list[Part]:
        tables = ray.put((weights, settings))  # once to each node
        tasks = [remote.remote(game.name, game.options, key, part, tables, __version__) for part in games]
        try:
            return ray.get(tasks)
        except ray.exceptions.RayTaskError as error:  # it would show the traceback of the node
            raise error.cause from None

    return play


_PLAYERS: dict[Game, Player] = {}  # of a node's process, which plays many parts


def _play_on_node(
    name: str, options: dict[str, Any], key: np.uint64, games: Range, tables: tuple[Weights, Any], version: str
) -> Part:
    if version != __version__:
        import platform

        raise ValueError(
            f"node {platform.node()} has mozaic_env {__version__}, and {version} is asked for; install the same "
            "version on all nodes"
        )
    game = make_game(name, **options)
    if game not in _PLAYERS:
        _PLAYERS[game] = Player(game)
    weights, settings = tables
    return _PLAYERS[game](key, games, weights, settings.copy())
