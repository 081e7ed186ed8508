"""Where the package may keep what it has worked out."""

import os
import warnings
from functools import lru_cache
from pathlib import Path

CACHE_VARIABLE = "MOZAIC_ENV_CACHE"


def chosen_folder(*variables: str) -> tuple[str, Path] | None:
    """The first of these environment variables that names a folder, and the folder; None: none does.

    One that is set but names none is worth a warning, and is ignored.
    """
    for variable in variables:
        folder = _named_folder(variable, os.environ.get(variable, ""))
        if folder is not None:
            return variable, folder
    return None


@lru_cache  # one warning in a process
def _named_folder(variable: str, value: str) -> Path | None:
    expanded = os.path.expanduser(value)
    if value.strip() and not expanded.startswith("~"):
        return Path(expanded)
    if value:
        why = "there is no such home" if value.strip() else "it is blank"
        warnings.warn(
            f"{variable}={value!r} is ignored: {why}; accepted: the path of a folder", RuntimeWarning, stacklevel=3
        )
    return None


def user_cache() -> Path | None:
    """The user's own folder for it, as the XDG base directory specification has it; None without a home."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(base):  # the specification has others ignored
        return Path(base) / "mozaic_env"
    if os.environ.get("HOME"):
        return Path(os.environ["HOME"]) / ".cache" / "mozaic_env"
    return None
