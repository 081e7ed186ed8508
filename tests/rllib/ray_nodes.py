"""Starting nodes of Ray on a machine that has other things to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

ATTEMPTS = 4


def patiently(start: Callable[[], Any]) -> Any:
    """What `start` gives, which starts a node.

    Ray allows that half a minute, which a busy machine may miss, and leaves behind what it has started by then.
    """
    import psutil  # which Ray brings along

    for attempt in range(1, ATTEMPTS + 1):
        before = set(psutil.Process().children(recursive=True))
        try:
            return start()
        except Exception as error:  # Ray has no kind of its own for this
            for process in set(psutil.Process().children(recursive=True)) - before:
                process.kill()
            if attempt == ATTEMPTS or "timed out during startup" not in str(error):
                raise
    raise AssertionError("not reached")
