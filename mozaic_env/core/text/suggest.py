"""What somebody may have meant who misspelt a name."""

import difflib
from collections.abc import Iterable


def did_you_mean(given: str, accepted: Iterable[str]) -> str:
    """A hint for the end of an error message, such as ``; did you mean 'opponent'?``, or "" if nothing is close."""
    close = difflib.get_close_matches(given, list(accepted), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""
