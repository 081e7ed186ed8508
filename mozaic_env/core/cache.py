"""Where the package may keep what it has worked out."""

import os
from pathlib import Path

CACHE_VARIABLE = "MOZAIC_ENV_CACHE"


def user_cache() -> Path | None:
    """The user's own folder for it, as the XDG base directory specification has it; None without a home."""
    base = os.environ.get("XDG_CACHE_HOME")
    if base:
        return Path(base) / "mozaic_env"
    if os.environ.get("HOME"):
        return Path(os.environ["HOME"]) / ".cache" / "mozaic_env"
    return None
