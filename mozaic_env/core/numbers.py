"""Whole numbers in texts that users write: positions, records, options."""

import re

_NUMBER = re.compile(r"[0-9]{1,9}")


def is_number(text: str) -> bool:
    """Whether a text is a whole number: ASCII digits, at most nine, so that `int` reads it and it fits any row."""
    return _NUMBER.fullmatch(text) is not None
