"""Numbers in texts: whole ones that users write, in positions, records, options; and those that are shown."""

import re

_NUMBER = re.compile(r"[0-9]{1,9}")


def is_number(text: str) -> bool:
    """Whether a text is a whole number: ASCII digits, at most nine, so that `int` reads it and it fits any row."""
    return _NUMBER.fullmatch(text) is not None


def not_minus_zero(number: float, digits: int) -> float:
    """A number rounded for a text of so many digits behind the point, which is never -0.00."""
    return round(number, digits) + 0.0
