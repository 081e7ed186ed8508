"""The messages that a page can send, and the check of their form.

A message is a JSON object: ``do`` says what is asked, `MESSAGES` lists what each takes.
"""

from collections.abc import Callable
from typing import Any

from mozaic_env.web.play.view import Json


class Refused(Exception):
    """A message that is not carried out: why, as an HTTP status and a sentence, and where the game stands."""

    def __init__(self, status: int, why: str, state: Json | None = None) -> None:
        super().__init__(why)
        self.status, self.state = status, state


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(entry, str) for entry in value)


# For each message, what it takes: the name of a field, with "?" behind it if it can be left out, and its check.
MESSAGES: dict[str, dict[str, Callable[[Any], bool]]] = {
    "hello": {},
    "state": {},
    "play": {"version": _is_number, "action": _is_number},
    "agent": {"version": _is_number},
    "undo": {"version": _is_number},
    "new": {"seed?": _is_number, "seats?": _is_texts},
    "seats": {"version": _is_number, "seats": _is_texts},
    "look": {"version": _is_number, "at": _is_number},
    "think": {"version": _is_number, "at": _is_number, "agent": _is_text},
    "load": {"record": _is_text},
    "leave": {},
    "continue": {"version": _is_number, "at": _is_number, "seed?": _is_number, "seats?": _is_texts},
    "record": {},
}


def read(message: Any) -> tuple[str, Json]:
    """What a message asks and the fields that it gives; Refused if it has not the form of any."""
    if not isinstance(message, dict):
        raise Refused(400, 'a message is a JSON object such as {"do": "state"}')
    fields = dict(message)
    name = fields.pop("do", None)
    if not isinstance(name, str) or name not in MESSAGES:
        raise Refused(400, f"do: accepted are {', '.join(MESSAGES)}")
    accepted = MESSAGES[name]
    for field, check in accepted.items():
        key = field.removesuffix("?")
        if key not in fields and key == field:
            raise Refused(400, f"{name} needs {key}")
        if key in fields and not check(fields[key]):
            raise Refused(400, f"{name}: {key} is of the wrong kind")
    if set(fields) - {field.removesuffix("?") for field in accepted}:
        listed = ", ".join(field.removesuffix("?") for field in accepted)
        raise Refused(400, f"{name} takes {listed or 'nothing more'}")
    return name, fields
