"""Tables of figures that fit the terminal: one line for each agent, whatever its width.

What does not fit is left out by importance, whole columns at a time, and said below the table. Long names are
shortened so that they stay distinct.
"""

import textwrap
from collections.abc import Sequence

from mozaic_env.core.extras import importing

with importing("a table"):
    from rich import box
    from rich.cells import cell_len
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.table import Table
    from rich.text import Text

GAP = 2  # columns of the terminal between two of the table
LEAST_NAME = 24  # columns of the terminal that names get before further figures do
SHORTEST_NAME = 8
HEAD = 13  # a heading of at most so many letters is not broken, however narrow its column


class Figures:
    """A titled table: names on the left, figures beside them.

    Attributes:
        columns: the names of all columns.
        lines: the texts in them.
    """

    def __init__(
        self,
        title: str,
        columns: Sequence[str],
        lines: Sequence[Sequence[str]],
        *,
        spare: Sequence[Sequence[int]] = (),
        left: Sequence[int] = (),
    ) -> None:
        """Takes the texts.

        Args:
            title: above the table.
            columns: their names, the one of the names first. A line break is kept.
            lines: the texts in the columns.
            spare: columns by their places, in groups that are shown whole or not at all, the most important group
                first; those that are in no group are always shown.
            left: places of the columns that are words and not figures.
        """
        self._title, self.columns, self.lines = title, columns, lines
        self._names = [line[0] for line in lines]
        self._spare, self._left = spare, {0, *left}
        self._widths = [_widest([line[place] for line in lines]) for place in range(len(columns))]
        self._heads = [_broken(name, width) for name, width in zip(columns, self._widths, strict=True)]
        self._widths = [max(width, _widest(head.split("\n"))) for width, head in zip(self._widths, self._heads)]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = options.max_width
        shown = self._fitting(width)
        room = width - sum(self._widths[place] + GAP for place in shown[1:])
        names = shortened(self._names, max(room, SHORTEST_NAME))
        table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, collapse_padding=True)
        for place in shown:
            justify = "left" if place in self._left else "right"
            table.add_column(self._heads[place], justify=justify, vertical="bottom", no_wrap=True, overflow="ellipsis")  # type: ignore[arg-type]
        for name, line in zip(names, self.lines, strict=True):
            table.add_row(Text(name), *(Text(line[place]) for place in shown[1:]))
        yield Text(self._title)
        yield Text()
        yield table
        missing = [name.replace("\n", "") for place, name in enumerate(self.columns) if place not in shown]
        yield Text(f"\nnot shown, for want of width: {', '.join(missing)}\n" if missing else "")

    def _fitting(self, width: int) -> list[int]:
        """The places of the columns to show, in order."""
        spare = {place for group in self._spare for place in group}
        shown = [place for place in range(len(self._heads)) if place not in spare]
        left = width - min(self._widths[0], LEAST_NAME) - sum(self._widths[place] + GAP for place in shown[1:])
        for group in self._spare:
            wanted = sum(self._widths[place] + GAP for place in group)
            if wanted <= left:
                shown += group
                left -= wanted
        return sorted(shown)


def shortened(names: Sequence[str], width: int) -> list[str]:
    """The names, those that are too long with an ellipsis inside; different names stay different.

    Args:
        names: to be shown together.
        width: letters that each may have.
    """
    for head in sorted(range(width), key=lambda head: abs(head - width // 2)):
        tail = width - 1 - head
        short = [name if len(name) <= width else f"{name[:head]}…{name[len(name) - tail :]}" for name in names]
        if len(set(short)) == len(set(names)):
            return short
    numbers = {name: str(number) for number, name in enumerate(dict.fromkeys(names), 1)}
    return [
        name if len(name) <= width else f"{name[: width - 1 - len(numbers[name])]}…{numbers[name]}" for name in names
    ]


def _widest(texts: Sequence[str]) -> int:
    return max(map(cell_len, texts), default=0)


def _broken(head: str, width: int) -> str:
    """A heading in as many lines as the figures below it ask for."""
    return "\n".join(textwrap.fill(line, max(width, HEAD), break_long_words=False) for line in head.split("\n"))
