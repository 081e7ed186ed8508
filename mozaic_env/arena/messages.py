"""Errors as the one line that a command prints."""

LONGEST_WORD = 200  # characters; more than any name, position or usual path


def one_line(message: object) -> str:
    """The message without line breaks, words that nobody would read to their end cut short."""
    return " ".join(map(_shortened, str(message).split()))


def _shortened(word: str) -> str:
    return word if len(word) <= LONGEST_WORD else f"{word[:100]}...{word[-20:]}"
