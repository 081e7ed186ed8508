"""What the scripts of this package have in common as commands."""

import os
import shlex
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from mozaic_env.cli.parser import INTERRUPTED
from mozaic_env.core.text.messages import replace_missing_letters


def run_script(main: Callable[[], int | None]) -> NoReturn:
    """Ends the process with what a script's `main` returns; Ctrl-C is one word, not a traceback."""
    replace_missing_letters()
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
