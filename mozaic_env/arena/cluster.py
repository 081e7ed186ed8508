"""Matches on a Ray cluster. Ray is imported only when one is asked for.

A match is a task of its own: its games are a function of its seed and the agents, so where and when it is played
changes nothing, and Ray plays it again elsewhere if a node is lost.
"""

import contextlib
import pickle
import socket
from collections.abc import Iterator, Sequence
from typing import Any

from mozaic_env import __version__
from mozaic_env.agents.base import Agent
from mozaic_env.arena.match import Progress, play_match
from mozaic_env.arena.results import MatchResult
from mozaic_env.core.extras import need
from mozaic_env.core.text.numbers import is_number

LOCAL = "local"  # the address that starts Ray on this machine for as long as it is needed
OBJECT_STORE = 512 * 2**20  # bytes of shared memory that it then takes
AUTO = "auto"  # the address of the cluster that this machine is part of
ANSWER_SECONDS = 10  # for the head of a cluster to answer

Pairing = tuple[int, Agent, Agent, int]  # a number, who plays, the seed


@contextlib.contextmanager
def connect(address: str, *, cpus: float | None = None) -> Iterator[None]:
    """A connection to a Ray cluster; a context. Where this process has one already, that is used.

    Args:
        address: `AUTO`, `LOCAL`, or ``HOST:PORT`` of the cluster's head.
        cpus: how many the Ray of `LOCAL` is to count, whatever the machine has; None: as many as there are.

    Raises:
        ValueError: nobody answers there, or Ray can't be started here.
        MissingExtra: Ray is not installed.
    """
    need("a Ray cluster", "ray")
    import ray

    if ray.is_initialized():
        yield
        return
    options: dict[str, Any] = {}
    if address == LOCAL:
        options = {"num_cpus": cpus, "object_store_memory": OBJECT_STORE, "include_dashboard": False}
    try:
        if address not in (LOCAL, AUTO):
            _knock(address)  # Ray itself would try for many minutes
        ray.init(address=address, logging_level="error", **options)
    except Exception as error:  # Ray has no common kind for what goes wrong here, down to plain Exception
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        if address == LOCAL:
            raise ValueError(f"Ray could not be started here: {reason}") from None
        raise ValueError(
            f"no Ray cluster at {address!r}: {reason}; accepted: {AUTO!r} on a machine of the cluster, HOST:PORT of "
            f"its head (which `ray start --head` prints), or {LOCAL!r}"
        ) from None
    try:
        yield
    finally:
        ray.shutdown()


def _knock(address: str) -> None:
    """OSError or ValueError if nobody is at an address."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not is_number(port):
        raise ValueError("that is no HOST:PORT")
    socket.create_connection((host.strip("[]"), int(port)), ANSWER_SECONDS).close()


def play_on_cluster(
    pairings: Sequence[Pairing], games: int, address: str, progress: Progress | None, options: dict[str, Any]
) -> Iterator[tuple[int, MatchResult]]:
    """Plays matches wherever there is room, each with as many CPUs as it has threads.

    Args:
        pairings: who is to play whom.
        games: of each match.
        address: of the cluster, see `connect`.
        progress: called with the number of games done.
        options: more arguments of `mozaic_env.arena.match.play_match`.

    Yields:
        The numbers of pairings with their results, as they end.

    Raises:
        ValueError: no cluster there, no node with so many CPUs, a node with another version of this package, or what
            `play_match` raises.
    """
    if not pairings:
        return
    import ray

    with connect(address):
        cpus = options.get("threads", 1)
        most = max(node["Resources"].get("CPU", 0) for node in ray.nodes() if node["Alive"])
        if most < cpus:
            raise ValueError(f"threads={cpus}, and no node of the Ray cluster has more than {most:g} CPUs")
        # As bytes, since arrays that Ray itself stores are read-only, and searches write to theirs.
        agents = {agent.name: agent for _, *players, _ in pairings for agent in players}
        packed = {name: ray.put(ray.cloudpickle.dumps(agent)) for name, agent in agents.items()}
        play = ray.remote(num_cpus=cpus, max_retries=-1)(_play)
        waiting = {
            play.remote(packed[first.name], packed[second.name], games, seed, options, __version__): number
            for number, first, second, seed in pairings
        }
        done = 0
        while waiting:
            (match,), _ = ray.wait(list(waiting))
            try:
                result = ray.get(match)
            except ray.exceptions.RayTaskError as error:  # it would show the traceback of the node
                raise error.cause from None
            yield waiting.pop(match), result
            done += games
            if progress is not None:
                progress(done)


def _play(first: bytes, second: bytes, games: int, seed: int, options: dict[str, Any], version: str) -> MatchResult:
    """A match, on a node; the agents are pickled."""
    if version != __version__:
        import platform

        raise ValueError(
            f"node {platform.node()} has mozaic_env {__version__}, and {version} is asked for; install the same "
            "version on all nodes"
        )
    return play_match(pickle.loads(first), pickle.loads(second), games, seed, **options)
