"""Threads that share one compiled loop over a batch.

The loop is cut into parts, and whoever is free takes another one, the caller included. So a thread that the system is
slow to wake, on a machine with other work, costs nothing: the others take its parts. OpenMP would wait for it, and it
would also change torch's number of threads and forbid forking.
"""

import functools
import os
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import types
from numba.extending import intrinsic

from mozaic_env.core.jit import entry_point, jit

Tickets = npt.NDArray[np.int64]  # how many of each worker's own parts have been taken; last, how many parts are done
LOOKS = 100_000  # about 50 microseconds


@intrinsic
def _add(typing_context: Any, numbers: Any, index: Any, amount: Any) -> Any:
    """Adds to numbers[index], all threads seeing it at once; gives the number before."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        return builder.atomic_rmw("add", builder.gep(array.data, [arguments[1]]), arguments[2], "seq_cst")

    return types.int64(numbers, types.int64, types.int64), generate


@intrinsic
def _look(typing_context: Any, numbers: Any, index: Any) -> Any:
    """numbers[index] as the other threads have left it."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        return builder.load_atomic(builder.gep(array.data, [arguments[1]]), "acquire", 8)

    return types.int64(numbers, types.int64), generate


@jit
def join(worker: int, signal: Tickets) -> None:
    """To be called first by a function that a crew runs: the caller's thread tells the others that there is work.

    It does so here, in compiled code, because it has no interpreter lock now that they would have to wait for.
    """
    if worker == 0:
        _add(signal, 0, 1)


@jit
def take_part(tickets: Tickets, worker: int, parts: int) -> int:
    """A part that nobody has taken, or -1.

    Each worker has a run of parts that it begins with, the same in every step, so that their data stay in its
    processor's cache; when they are done it helps the others.
    """
    workers = len(tickets) - 1
    for offset in range(workers):
        owner = (worker + offset) % workers
        start, stop = parts * owner // workers, parts * (owner + 1) // workers
        if _look(tickets, owner) < stop - start:
            part = start + _add(tickets, owner, 1)
            if part < stop:
                return part
    return -1


@jit
def part_done(tickets: Tickets) -> None:
    """Says that a part that was taken is done."""
    _add(tickets, len(tickets) - 1, 1)


@jit
def _wait(numbers: Tickets, index: int, value: int, looks: int) -> bool:
    """Whether numbers[index] comes to at least a value while it is looked at a number of times."""
    for _ in range(looks):
        if _look(numbers, index) >= value:
            return True
    return False


class Crew:
    """Some threads, the caller's among them."""

    def __init__(self, threads: int) -> None:
        """Starts all threads but the caller's; they end with the process."""
        self._job: tuple[Callable[..., Any], tuple[Any, ...]] | None = None
        self._signal = np.zeros(1, np.int64)  # how many jobs there have been
        self._busy = threading.Lock()
        self._gates = [threading.Lock() for _ in range(threads - 1)]
        for worker, gate in enumerate(self._gates, 1):
            gate.acquire()
            threading.Thread(target=self._work, args=(worker, gate), name="mozaic_env", daemon=True).start()

    def _work(self, worker: int, gate: Any) -> None:
        seen = 0
        while True:
            # Steps tend to follow each other at once, so it looks for a while before it sleeps.
            if not _wait(self._signal, 0, seen + 1, LOOKS):
                gate.acquire()
            seen = int(self._signal[0])
            job = self._job
            if job is not None:
                job[0](worker, *job[1])  # of an old job all parts are taken, so it ends at once

    def run(self, function: Callable[..., Any], parts: int, *arguments: Any) -> None:
        """Calls a compiled function on every thread and returns when all parts are done.

        Args:
            function: called as function(worker, signal, tickets, parts, *arguments), without the interpreter lock; it
                calls `join`, then `take_part` until there is none left, and `part_done` after each.
            parts: how many there are.
            *arguments: the rest.
        """
        with self._busy:
            tickets = np.zeros(len(self._gates) + 2, np.int64)
            self._job = (function, (self._signal, tickets, parts, *arguments))
            for gate in self._gates:
                if gate.locked():
                    gate.release()
            function(0, self._signal, tickets, parts, *arguments)
            while not _wait(tickets, len(tickets) - 1, parts, 1000):
                time.sleep(0)  # whoever still has a part may need this processor
            self._job = None


def crew(threads: int) -> Crew:
    """The process's crew of so many threads."""
    return _crew(threads, os.getpid())  # threads don't survive a fork


@functools.cache
def _crew(threads: int, process: int) -> Crew:
    return Crew(threads)


def crew_entry_point(function: Any, *arguments: Any) -> Callable[..., Any]:
    """`mozaic_env.core.jit.entry_point` of a function that a crew runs, for these arguments behind the crew's own."""
    return entry_point(function, 0, np.zeros(1, np.int64), np.zeros(2, np.int64), 1, *arguments)
