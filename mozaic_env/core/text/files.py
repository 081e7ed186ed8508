"""Files and paths as people have them: text edited anywhere, folders under ``~``."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

UTF8_MARK = "\ufeff"  # some editors begin a file with it


def user_path(path: str | os.PathLike[str]) -> Path:
    """The path, its ``~`` the user's home.

    Raises:
        ValueError: it is no path, or an empty one.
    """
    if not isinstance(path, str | os.PathLike) or not isinstance(text := os.fspath(path), str):
        raise ValueError(f"path {path!r}; accepted: a string or a pathlib.Path")
    if not text.strip() or "\0" in text:
        raise ValueError(f"path {text!r}; accepted: the name of a file or folder")
    path = Path(os.path.expanduser(text))
    return path.absolute() if str(path).startswith("~") else path  # ./~ stays a name, whoever asks once more


def clean(text: Any) -> Any:
    """A line without what an editor may have put around it: a UTF-8 mark, blanks, line ends. What is no text stays."""
    return text.removeprefix(UTF8_MARK).strip() if isinstance(text, str) else text


def read_text(path: str | os.PathLike[str], *, errors: str = "strict") -> str:
    """A text file's content: UTF-8 with or without a mark, line ends of any system, blanks at line ends left out.

    Args:
        path: of the file.
        errors: what happens to bytes that are no UTF-8, as `bytes.decode` has it.

    Raises:
        ValueError: it can't be read or is no UTF-8 text; says why, and not of which file.
    """
    try:
        text = user_path(path).read_text("utf-8-sig", errors)
        return re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE)
    except OSError as error:
        raise ValueError(error.strerror) from None
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8 text") from None


def read_lines(path: str | os.PathLike[str]) -> Iterator[tuple[int, str]]:
    """The lines of a text file that are not empty, with their numbers, `clean`, one at a time.

    Raises:
        ValueError: as `read_text`.
    """
    try:
        with open(user_path(path), encoding="utf-8-sig") as file:
            for number, line in enumerate(file, 1):
                if line := line.strip():
                    yield number, line
    except OSError as error:
        raise ValueError(error.strerror) from None
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8 text") from None
