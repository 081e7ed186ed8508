"""Slices of a batch worked on by several threads at once; the compiled functions hold no interpreter lock."""

import functools
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any


class _Job:
    """Calls of a function that threads take from each other until all are done."""

    def __init__(self, function: Callable[..., Any], calls: Sequence[tuple[Any, ...]]) -> None:
        self.results: list[Any] = [None] * len(calls)
        self.errors: list[BaseException] = []
        self.done = threading.Event()
        self._function, self._calls = function, calls
        self._todo, self._finished = list(range(len(calls))), list[int]()

    def work(self) -> None:
        """Makes calls until nobody has to."""
        while self._todo:
            try:
                number = self._todo.pop()
            except IndexError:  # another thread was faster
                return
            try:
                self.results[number] = self._function(*self._calls[number])
            except BaseException as error:
                self.errors.append(error)
            finally:
                self._finished.append(number)
                if len(self._finished) == len(self.results):
                    self.done.set()


def call_in_threads(function: Callable[..., Any], calls: Sequence[tuple[Any, ...]]) -> list[Any]:
    """What a compiled function returns for each tuple of arguments, one thread for each.

    Returns, or raises what a call raised or a Ctrl-C's KeyboardInterrupt, only when no thread works any more: until
    then the arrays must hold still. So this thread makes no call itself: an interruption could lose it.
    """
    job, interrupted = _Job(function, calls), None
    while not job.done.is_set():
        try:
            pool = _pool(len(calls), os.getpid())
            for _ in calls:
                pool.submit(job.work)
            job.done.wait()
        except KeyboardInterrupt as exception:
            interrupted = exception
    for error in (interrupted, *job.errors):
        if error is not None:
            raise error
    return job.results


@functools.cache
def _pool(threads: int, process: int) -> ThreadPoolExecutor:
    """The process's threads, which don't survive a fork."""
    return ThreadPoolExecutor(threads, thread_name_prefix="mozaic_env")
