"""What is checked of arguments, with one wording for all."""

from collections.abc import Sequence
from typing import Any

import numpy as np


def check_whole_number(name: str, given: Any, least: int) -> int:
    """The number as an int; ValueError if it is not a whole number of at least `least`."""
    if isinstance(given, bool) or not isinstance(given, int | np.integer) or given < least:
        raise ValueError(f"{name}={given!r}; accepted: a whole number of at least {least}")
    return int(given)


def check_flag(name: str, given: Any) -> bool:
    """The flag itself; ValueError if it is neither True nor False."""
    if not isinstance(given, bool | np.bool_):
        raise ValueError(f"{name}={given!r}; accepted: True, False")
    return bool(given)


def check_choice(name: str, given: Any, accepted: Sequence[Any]) -> Any:
    """The value itself, a NumPy integer as int; ValueError if it is not one of those accepted."""
    if isinstance(given, np.integer):
        given = int(given)
    if isinstance(given, bool) or not any(type(given) is type(choice) and given == choice for choice in accepted):
        raise ValueError(f"{name}={given!r}; accepted: {', '.join(map(repr, accepted))}")
    return given
