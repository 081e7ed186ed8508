"""A daemon thread as an executor: an agent may search for very long, and Ctrl-C still ends the process at once."""

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any, TypeVar

Answer = TypeVar("Answer")
Job = tuple["Future[Any]", Callable[..., Any], tuple[Any, ...], dict[str, Any]]


class DaemonExecutor(Executor):
    """One thread that does what it is given, one thing after the other.

    Unlike a `ThreadPoolExecutor`, whose threads Python waits for at exit, it is left behind in the middle of a search.
    """

    def __init__(self, name: str) -> None:
        self._jobs: queue.SimpleQueue[Job] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._lock = threading.Lock()

    def submit(self, fn: Callable[..., Answer], /, *args: Any, **kwargs: Any) -> "Future[Answer]":
        """See `concurrent.futures.Executor.submit`; the thread begins with the first job."""
        future: Future[Answer] = Future()
        with self._lock:
            if self._thread.ident is None:
                self._thread.start()
        self._jobs.put((future, fn, args, kwargs))
        return future

    def _work(self) -> None:
        while True:
            future, function, arguments, options = self._jobs.get()
            if not future.set_running_or_notify_cancel():
                continue
            try:
                answer = function(*arguments, **options)
            except BaseException as error:
                future.set_exception(error)
            else:
                future.set_result(answer)
