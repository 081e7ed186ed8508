"""The infos of many games in which mostly nothing is told."""

from collections.abc import Callable, Iterator
from typing import Any, SupportsIndex, overload

Info = dict[str, Any]


class Infos(list[Any]):
    """A list of one dict for each game; those that are None are made when somebody looks.

    Making a thousand dicts in every step would cost a fifth of it, and nearly all are empty and never looked at.
    Slices, copies and pickles are plain lists.
    """

    def _make_all(self) -> None:
        super().__setitem__(slice(None), [{} if info is None else info for info in super().__iter__()])

    def __iter__(self) -> Iterator[Info]:
        """The dicts of all games."""
        self._make_all()
        return super().__iter__()

    @overload
    def __getitem__(self, index: SupportsIndex) -> Info: ...

    @overload
    def __getitem__(self, index: slice) -> list[Info]: ...

    def __getitem__(self, index: SupportsIndex | slice) -> Info | list[Info]:
        """The dict of a game, or a list of those of some games."""
        if isinstance(index, slice):
            return list(self)[index]
        info: Info | None = super().__getitem__(index)
        if info is None:
            info = {}
            self[index] = info
        return info

    def __radd__(self, other: list[Any]) -> list[Any]:
        """A list with the dicts behind it."""
        return [*other, *self]

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles are plain lists."""
        return list, (list(self),)


def _after_making_all(name: str) -> Callable[..., Any]:
    """A method of lists that looks at the dicts by itself, without `__iter__`."""
    method = getattr(list, name)

    def call(self: Infos, *arguments: Any) -> Any:
        self._make_all()
        return method(self, *arguments)

    return call


for _name in ("__add__", "__contains__", "__eq__", "__mul__", "__ne__", "__repr__", "__reversed__", "__rmul__"):
    setattr(Infos, _name, _after_making_all(_name))
for _name in ("copy", "count", "index", "pop"):
    setattr(Infos, _name, _after_making_all(_name))
