"""Scripts in fresh interpreters, as a user starts them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def run(script: str, folder: Path, timeout: int = 300, **variables: str | None) -> str:
    """What the script prints; warnings are errors.

    Args:
        script: Python source, written to a file so that workers can import it.
        folder: where it is written and run.
        timeout: seconds.
        **variables: of the environment; None removes one.
    """
    path = folder / "script.py"
    path.write_text(script)
    environment = os.environ | {"PYTHONPATH": str(ROOT)} | variables
    result = subprocess.run(
        [sys.executable, "-W", "error", str(path)],
        cwd=folder,
        env={name: value for name, value in environment.items() if value is not None},
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    return result.stdout
