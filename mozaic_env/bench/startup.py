"""How long a fresh process takes until it can play, and how much memory games take."""

import os
import subprocess
import sys
import tempfile

from mozaic_env.bench.measure import Progress, Row, row_of
from mozaic_env.core.game import Game
from mozaic_env.core.storage.cache import CACHE_VARIABLE
from mozaic_env.games import gym_id

GROUP = "startup"
STATES = 1_000_000

_FIRST_STEP = """
import sys
import time
start = time.perf_counter()
import mozaic_env
imported = time.perf_counter() - start
import gymnasium
env = gymnasium.make(sys.argv[1])
_, info = env.reset(seed=0)
env.step(info["action_mask"].argmax())
print(imported, time.perf_counter() - start)
"""


def _first_step(game: Game, cache: str | None) -> tuple[float, float]:
    """Seconds that the import took, and all up to the first step, in a process of its own."""
    environment = os.environ | ({} if cache is None else {CACHE_VARIABLE: cache})
    done = subprocess.run(
        [sys.executable, "-c", _FIRST_STEP, gym_id(game.name)],
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode:
        raise ValueError(f"the process that measures the start failed: {done.stderr.strip().splitlines()[-1:]}")
    imported, stepped = map(float, done.stdout.split())
    return imported, stepped


def measure_startup(game: Game, progress: Progress, quick: bool) -> list[Row]:
    """The rows of this part.

    Args:
        game: what is played, and whose states are weighed.
        progress: called with the share that is done.
        quick: leave the first start after an installation out, and use the cache of every day.
    """
    later, rows = 2 if quick else 5, []
    with tempfile.TemporaryDirectory() as folder:
        cache = None if quick else folder
        first = _first_step(game, cache)
        progress(0.5)
        warm = []
        for number in range(later):
            warm.append(_first_step(game, cache))
            progress(0.5 + 0.5 * (number + 1) / later)
    rows.append(row_of(GROUP, "import mozaic_env", [imported for imported, _ in warm], "s", "registered environments"))
    if not quick:
        rows.append(row_of(GROUP, "first step after installation", [first[1]], "s", "all compiled code, kept on disk"))
    rows.append(row_of(GROUP, "first step in later processes", [all_ for _, all_ in warm], "s", "import included"))
    size = game.rows(STATES).nbytes / 1e6
    rows.append(row_of(GROUP, "a million states", [size], "MB", "games to go on with, search from or keep"))
    return rows
