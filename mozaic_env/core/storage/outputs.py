"""Writing files that people own: whole or not at all, and no surprise after an hour of play."""

import json
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mozaic_env.core.storage.files import atomic_write
from mozaic_env.core.text.files import user_path


def write_json(path: str | Path, values: Any) -> None:
    """Values as an indented JSON file, atomically."""
    with atomic_write(path) as file:
        json.dump(values, file, indent=2, ensure_ascii=False, allow_nan=False)
        file.write("\n")


def check_names(words: Sequence[str]) -> None:
    """ValueError if a word, such as a folder's name, can't be written into files: results, cards, configurations.

    That is so if its bytes are no UTF-8, or if this process takes bytes for letters by another encoding.
    """
    for word in words:
        try:
            is_text = word.encode() == os.fsencode(word)
        except UnicodeEncodeError:
            is_text = False
        if not is_text:
            raise ValueError(
                f"{word!a} is no UTF-8 as this process reads it ({sys.getfilesystemencoding()}); set PYTHONUTF8=1, "
                "or use ASCII letters"
            )


def check_output_file(path: str | Path) -> None:
    """ValueError if a file of that name cannot be written; to be asked before the work is done."""
    path = user_path(path)
    if path.is_dir():
        raise ValueError(f"cannot write {path}: it is a folder; name a file")
    if path.exists() and not os.access(path, os.W_OK):
        raise ValueError(f"cannot write {path}: it is write-protected")
    if path.exists() and not path.is_file():
        return  # a device or a pipe
    _check_folder(Path(os.path.realpath(path)).parent, path)


def make_output_folder(path: str | Path) -> Path:
    """The folder, made if it is missing; ValueError if files cannot be written to it."""
    path = user_path(path)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"cannot make the folder {path}: {error.strerror}") from None
    _check_folder(path, path)
    return path


def _check_folder(folder: Path, path: Path) -> None:
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise ValueError(f"cannot write {path}: {error.strerror}: {folder}") from None
