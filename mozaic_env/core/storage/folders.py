"""Folders that take the place of older ones: at each moment a whole one stands there or aside."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path


def write_folder(folder: Path, files: Mapping[str, bytes]) -> None:
    """Puts a folder with these files in place of `folder`.

    Raises:
        OSError: it can't be written; what was there still is.
    """
    new, old = folder.with_name(f".{folder.name}.new-{os.getpid()}"), aside(folder)
    try:
        new.mkdir()
        for name, content in files.items():
            with (new / name).open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        if folder.exists():
            shutil.rmtree(old, ignore_errors=True)
            os.rename(folder, old)
        try:
            os.rename(new, folder)
        except OSError:
            if old.exists():
                os.rename(old, folder)
            raise
    finally:
        shutil.rmtree(new, ignore_errors=True)
    shutil.rmtree(old, ignore_errors=True)


def aside(folder: Path) -> Path:
    """Where the old folder stands in the moment in which the new one takes its place."""
    return folder.with_name(f".{folder.name}.old")


def whole_folder(folder: Path, file: str) -> Path | None:
    """The folder, or what an interrupted replacement left aside; None: neither has the file."""
    return next((place for place in (folder, aside(folder)) if (place / file).is_file()), None)
