"""Threads that share one compiled loop over a batch.

The loop is cut into parts. Each worker has a queue of its own, so that the same games stay in the same processor's
caches, and takes from the others' when it is empty, the caller included. So a thread that the system is slow to wake,
on a machine with other work, costs nothing: the others take its parts. OpenMP would wait for it, and it would also
change torch's number of threads and forbid forking.

Between steps that follow each other at once the workers stay in compiled code and look for the next one: coming back to
Python, they and the caller would wait for each other's interpreter lock. So what differs from step to step is written
down as numbers on a `Desk`, addresses of arrays among them.
"""

import functools
import os
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import types
from numba.extending import intrinsic

from mozaic_env.core.jit import jit

Desk = npt.NDArray[np.int64]  # shape (lines, LINE); see make_desk
LINE = 16  # numbers; what different threads write shares no cache line
# Lines: parts of the order that are done; sum of what they gave; the order under way; what it is; first of the queues.
DONE, SUM, ORDER, NOTES, QUEUES = range(5)
NUMBER, WORKERS, PARTS = range(3)  # in the order's line: how many there have been; how many share; parts of each queue
TICKETS = 1 << 20  # of an order in a queue; more than parts and workers
NO_ORDER, OPEN = -1, -1 << 62
CALLER_LOOKS, LOOKS = 20_000, 50_000  # before giving up; about 40 and 100 microseconds


def make_desk(workers: int, parts: int) -> Desk:
    """A desk for so many workers, each with a queue of so many parts; its line of notes is free for use."""
    desk = np.zeros((QUEUES + workers, LINE), np.int64)
    desk[ORDER, WORKERS], desk[ORDER, PARTS] = workers, parts
    desk[QUEUES:, 0] = parts  # nothing to take
    return desk


def _line(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Address of the first number of a line."""
    array = context.make_array(signature.args[0])(context, builder, arguments[0])
    return builder.gep(array.data, [builder.mul(arguments[1], arguments[1].type(LINE))])


@intrinsic
def _add(typing_context: Any, desk: Any, line: Any, amount: Any) -> Any:
    """Adds to desk[line, 0], all threads seeing it at once; gives the number before."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.atomic_rmw("add", _line(context, builder, signature, arguments), arguments[2], "seq_cst")

    return types.int64(desk, types.int64, types.int64), generate


@intrinsic
def _look(typing_context: Any, desk: Any, line: Any) -> Any:
    """desk[line, 0] as the other threads have left it, and with it all that they wrote before."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load_atomic(_line(context, builder, signature, arguments), "acquire", 8)

    return types.int64(desk, types.int64), generate


@intrinsic
def _put(typing_context: Any, desk: Any, line: Any, number: Any) -> Any:
    """Sets desk[line, 0]; who sees it sees all that was written before."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.store_atomic(arguments[2], _line(context, builder, signature, arguments), "release", 8)
        return context.get_dummy_value()

    return types.void(desk, types.int64, types.int64), generate


@intrinsic
def address_of(typing_context: Any, array: Any) -> Any:
    """Where an array's numbers are, as an int64."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        made = context.make_array(signature.args[0])(context, builder, arguments[0])
        return builder.ptrtoint(made.data, context.get_value_type(types.int64))

    return types.int64(array), generate


@intrinsic
def array_at(typing_context: Any, address: Any, like: Any) -> Any:
    """The array at an address, of another one's type and shape. Nothing keeps it alive."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        made = context.make_array(signature.args[1])(context, builder, value=arguments[1])
        made.data = builder.inttoptr(arguments[0], made.data.type)
        return made._getvalue()

    return like(types.int64, like), generate


@jit
def announce(desk: Desk) -> None:
    """Makes what the notes say the next order; the one before is done. For the caller."""
    desk[SUM, 0] = desk[DONE, 0] = 0
    desk[ORDER, NUMBER] += 1
    for worker in range(desk[ORDER, WORKERS]):
        _put(desk, QUEUES + worker, desk[ORDER, NUMBER] * TICKETS)


@jit
def take_part(desk: Desk, worker: int) -> int:
    """A part that nobody has taken, best of the worker's own queue, or -1.

    Until it is done the order can't be, so the notes and what they point to hold still.
    """
    workers, parts = desk[ORDER, WORKERS], desk[ORDER, PARTS]
    for turn in range(workers):
        queue = (worker + turn) % workers
        if _look(desk, QUEUES + queue) % TICKETS < parts:
            ticket = _add(desk, QUEUES + queue, 1) % TICKETS
            if ticket < parts:
                return queue * parts + ticket
    return -1


@jit
def part_done(desk: Desk, result: int) -> None:
    """Says that a part that was taken is done, and what it adds to the sum."""
    _add(desk, SUM, result)
    _add(desk, DONE, 1)


@jit
def all_done(desk: Desk) -> bool:
    """Whether all parts of the order are done; for the caller."""
    return _look(desk, DONE) == desk[ORDER, WORKERS] * desk[ORDER, PARTS]


def _yield() -> None:
    """Lets other threads have the processor; a sleep of 0 seconds can take 50 microseconds."""
    if hasattr(os, "sched_yield"):
        os.sched_yield()
    else:
        time.sleep(0)


class Work:
    """A compiled function that works off the orders on a desk.

    Attributes:
        function: called as function(worker, looks, order, *arguments), without the interpreter lock. The caller is
            worker 0 and hands the order over, which the function writes into the notes before it calls `announce`.
            Then, and as any other worker with `NO_ORDER`, it does parts that `take_part` gives, each followed by
            `part_done`, until there has been none for so many looks. As worker 0 it also ends when `all_done`, and
            returns the sum. In all other cases it returns `OPEN`.
        arguments: for workers other than the caller; the first one is the desk.
        reference: weak, so that workers that wait keep no arrays alive.
    """

    def __init__(self, function: Callable[..., int], *arguments: Any) -> None:
        self.function, self.arguments = function, arguments
        self.reference = weakref.ref(self)


class Crew:
    """Some threads, the caller's among them."""

    def __init__(self, threads: int) -> None:
        """Starts all threads but the caller's; they end with the process."""
        self._work: Callable[[], Work | None] = lambda: None
        self._busy = threading.Lock()
        self._gates = [threading.Lock() for _ in range(threads - 1)]
        for worker, gate in enumerate(self._gates, 1):
            gate.acquire()
            threading.Thread(target=self._serve, args=(worker, gate), name="mozaic_env", daemon=True).start()

    def _serve(self, worker: int, gate: Any) -> None:
        while True:
            gate.acquire()
            work = self._work()
            if work is not None:
                work.function(worker, LOOKS, NO_ORDER, *work.arguments)
            del work  # nor is it kept alive by who waits

    def run(self, work: Work, order: int, *arguments: Any) -> int:
        """Has an order worked off by all threads.

        Args:
            work: what does it.
            order: what the function gets.
            *arguments: what it gets instead of `work.arguments`: arrays of the same types and shapes.

        Returns:
            The sum of what the parts gave, or what the function returns instead.
        """
        interrupted = None
        with self._busy:
            self._work = work.reference
            for gate in self._gates:
                if gate.locked():
                    gate.release()
            result = work.function(0, CALLER_LOOKS, order, *arguments)
            while result == OPEN:
                try:
                    _yield()  # whoever still has a part may need this processor
                except BaseException as exception:  # Ctrl-C: the arrays must not change while others work on them
                    interrupted = exception
                result = work.function(0, CALLER_LOOKS, NO_ORDER, *arguments)
        if interrupted is not None:
            raise interrupted
        return result


def crew(threads: int) -> Crew:
    """The process's crew of so many threads."""
    return _crew(threads, os.getpid())  # threads don't survive a fork


@functools.cache
def _crew(threads: int, process: int) -> Crew:
    return Crew(threads)
