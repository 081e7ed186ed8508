"""Writing files that people own: whole or not at all, and no surprise after an hour of play."""

import contextlib
import errno
import json
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, TextIO

from mozaic_env.core.text import user_path


@contextlib.contextmanager
def atomic_write(path: str | Path) -> Iterator[TextIO]:
    """A text file to write to, which takes the place of `path` only when all has been written.

    Raises:
        OSError: the folder is missing or not writable.
    """
    with _replacing(path) as handle, os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
        yield file
        _to_disk(file)


def write_bytes(path: str | Path, content: bytes) -> None:
    """A file of bytes, atomically; OSError as for `atomic_write`."""
    with _replacing(path) as handle, os.fdopen(handle, "wb") as file:
        file.write(content)
        _to_disk(file)


def _to_disk(file: IO[Any]) -> None:
    file.flush()
    try:
        os.fsync(file.fileno())
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # pipes and devices have no disk
            raise


@contextlib.contextmanager
def _replacing(path: str | Path) -> Iterator[int]:
    """The descriptor of a new file, which whoever gets it closes; then it takes the place of `path`.

    What is no regular file, such as a terminal or a pipe, is written to as it is; a link stays, and its file is
    replaced.
    """
    path = Path(os.path.realpath(user_path(path)))
    if path.exists() and not path.is_file():
        yield os.open(path, os.O_WRONLY)
        return
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        yield handle
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)  # mkstemp's files are private
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def write_json(path: str | Path, values: Any) -> None:
    """Values as an indented JSON file, atomically."""
    with atomic_write(path) as file:
        json.dump(values, file, indent=2, ensure_ascii=False, allow_nan=False)
        file.write("\n")


def append_lines(path: str | Path, lines: Iterable[str]) -> None:
    """Adds lines to a file, on the disk when this returns.

    It is one write, behind whatever a crash or an editor may have left of the line before.
    """
    text = "".join(f"{line}\n" for line in lines).encode()
    path = user_path(path)
    readable = path.is_file() or not path.exists()  # as a terminal or a pipe is not
    with open(path, "ab+" if readable else "wb") as file:
        if readable and file.tell() > 0:
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                text = b"\n" + text
        file.write(text)
        _to_disk(file)


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
