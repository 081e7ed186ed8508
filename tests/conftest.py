"""What holds for the whole suite."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import sys
import tempfile

import pytest

# Where the suite was started in the background, Ctrl-C is ignored by it and by all processes that it starts; but what
# the commands do then is tested.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Torch with several threads on a busy machine of few cores is many times slower than with one. It
# reads this when it is first imported, in the processes that tests start as well.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# What the user has kept, such as solved boards, must not decide whether a test passes. The workers inherit it.
if "PYTEST_XDIST_WORKER" not in os.environ:
    os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp(prefix="mozaic_env-tests-")
    atexit.register(shutil.rmtree, os.environ["XDG_CACHE_HOME"], ignore_errors=True)

# The width of tables; whoever runs the tests, and what runs them, may have set it.
os.environ.pop("COLUMNS", None)


@pytest.fixture(autouse=True)
def one_torch_thread() -> None:
    """Numba's parallel loops set the number of threads of the OpenMP library that Torch shares."""
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)
