"""What the scripts of this package have in common as commands."""

import io
import os
import shlex
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

INTERRUPTED = 130  # as shells report SIGINT


def run_script(main: Callable[[], int | None]) -> NoReturn:
    """Ends the process with what a script's `main` returns; Ctrl-C is one word, not a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that lacks a letter is no reason to lose the rest
    try:
        status = main()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        status = INTERRUPTED
    sys.exit(status)


def shell_command(module: str, *words: str) -> str:
    """The line that runs a module with this Python, to be pasted into a shell in this folder."""
    python = sys.executable
    found = shutil.which("python")
    if found is not None and os.path.samefile(found, python) and Path(found).parent == Path(python).parent:
        python = "python"
    elif Path(python).is_relative_to(Path.cwd()):
        python = os.path.relpath(python)
    return shlex.join([python, "-m", module, *words])
