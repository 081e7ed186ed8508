"""What commands print: errors as one line, on terminals of any encoding."""

import io
import sys

LONGEST_WORD = 200  # characters; more than any name, position or usual path


def replace_missing_letters() -> None:
    """Has letters that the terminal lacks replaced, since they are no reason to lose the rest."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def one_line(message: object) -> str:
    """The message without line breaks, words that nobody would read to their end cut short."""
    return " ".join(map(_shortened, str(message).split()))


def _shortened(word: str) -> str:
    return word if len(word) <= LONGEST_WORD else f"{word[:100]}...{word[-20:]}"
