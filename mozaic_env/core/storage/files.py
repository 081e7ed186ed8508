"""Files that take the place of older ones: written whole or not at all."""

import contextlib
import errno
import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any, TextIO

from mozaic_env.core.text.files import user_path


@contextlib.contextmanager
def atomic_write(path: str | Path) -> Iterator[TextIO]:
    """A text file to write to, which takes the place of `path` only when all has been written.

    Raises:
        OSError: the folder is missing or not writable.
    """
    with _named(path), _replacing(path) as handle, os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
        yield file
        _to_disk(file)


def write_bytes(path: str | Path, content: bytes) -> None:
    """A file of bytes, atomically; OSError as for `atomic_write`."""
    with _named(path), _replacing(path) as handle, os.fdopen(handle, "wb") as file:
        file.write(content)
        _to_disk(file)


def append_lines(path: str | Path, lines: Iterable[str]) -> None:
    """Adds lines to a file, on the disk when this returns.

    It is one write, behind whatever a crash or an editor may have left of the line before.
    """
    text = "".join(f"{line}\n" for line in lines).encode()
    path = user_path(path)
    readable = path.is_file() or not path.exists()  # as a terminal or a pipe is not
    with _named(path), open(path, "ab+" if readable else "wb") as file:
        if readable and file.tell() > 0:
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                text = b"\n" + text
        file.write(text)
        _to_disk(file)


@contextlib.contextmanager
def _named(path: str | Path) -> Iterator[None]:
    """Names the file in an error that does not, as that of a full disk."""
    try:
        yield
    except OSError as error:
        if error.errno is None or error.filename is not None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


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
