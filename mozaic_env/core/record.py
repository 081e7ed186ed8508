"""Game records as text: one line, a header of ``key=value`` words, a bar, then the game's words.

What the words of a game mean is that game's business; here a line is taken apart and put together.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

TRUNCATED = "..."


@dataclass(frozen=True)
class Record:
    """One game: who, what, how it ended, and everything that happened.

    Attributes:
        header: the ``key=value`` words in their order.
        words: what happened, chance included.
        truncated: whether the game stopped before its end, written as ``...``.

    Raises:
        ValueError: a key or value of the header holds a space or a bar, or a key is empty or holds '='.
    """

    header: dict[str, str] = field(default_factory=dict)
    words: tuple[str, ...] = ()
    truncated: bool = False

    def __post_init__(self) -> None:
        for key, value in self.header.items():
            if not re.fullmatch(r"[^\s|=]+", key) or not re.fullmatch(r"[^\s|]*", value):
                raise ValueError(
                    f"record header: {key}={value!r} would not read back; keys and values are "
                    "without spaces and '|', keys not empty and without '='"
                )

    def __str__(self) -> str:
        header = [f"{key}={value}" for key, value in self.header.items()]
        return " ".join([*header, "|", *self.words, *([TRUNCATED] if self.truncated else [])])

    def require(self, key: str, accepted: Iterable[str]) -> str:
        """The header's value of a key.

        Raises:
            ValueError: the header lacks the key, or its value is not one of those accepted.
        """
        value, accepted = self.header.get(key), tuple(accepted)
        if value not in accepted:
            given = "is missing" if value is None else f"is {value!r}"
            raise ValueError(f"record header: {key} {given}; accepted: {', '.join(accepted)}")
        return value


def parse_record(line: str) -> Record:
    """Takes a line apart.

    Raises:
        ValueError: there is not exactly one bar, or a header word is not ``key=value`` or comes twice.
    """
    parts = line.removeprefix("\ufeff").split("|")  # the mark that some editors begin a file with
    if len(parts) != 2 or "\n" in line.strip():
        raise ValueError(
            "a record is one line of key=value words, one '|', then the game's words; "
            f"got {len(parts) - 1} bars in {line.strip()[:80]!r}"
        )
    header: dict[str, str] = {}
    for word in parts[0].split():
        key, equals, value = word.partition("=")
        if not (key and equals):
            raise ValueError(f"record header: {word!r} is not key=value")
        if key in header:
            raise ValueError(f"record header: {key} is given twice")
        header[key] = value
    words = parts[1].split()
    truncated = bool(words) and words[-1] == TRUNCATED
    return Record(header, tuple(words[:-1] if truncated else words), truncated)
