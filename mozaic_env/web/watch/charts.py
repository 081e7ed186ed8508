"""Charts as SVG for a page: lines with bands, and dots with intervals.

Colours are classes (``c0`` to ``c7``), which the page's style sheet fills in. The text that a browser shows where the
pointer rests is in the SVG too, so a chart needs no script.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 580, 280
SMALL = (340, 150)  # width and height of a picture beside others
LEFT, TOP, BOTTOM, RIGHT = 54, 14, 40, 14  # room around the plot
LETTER, WIDE_LETTER = 7.6, 8.8  # width of a character, about, and on a small screen
COLOURS = 8
SLICES = 48  # parts of the width that tell their values
Point = tuple[float, float]


@dataclass(frozen=True)
class Line:
    """A curve.

    Attributes:
        name: written at its end.
        points: (x, y), in order of x.
        band: (low, high) for each point, or nothing.
        dots: whether to mark each point.
    """

    name: str
    points: Sequence[Point]
    band: Sequence[Point] = ()
    dots: bool = False


@dataclass(frozen=True)
class Mark:
    """A value with an interval on a ladder, and what to write beside it."""

    name: str
    value: float
    interval: Point
    text: str


def number(value: float) -> str:
    """A short number: 1.2M, 35k, 0.018."""
    size = abs(value)
    for unit, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if size >= 0.9995 * unit:
            return f"{value / unit:.3g}{letter}"
    return f"{value:.3g}"


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round numbers from low to high, ends included where they are round."""
    span = (high - low) / max(about, 1)
    power = 10.0 ** math.floor(math.log10(span))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= span * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [round(k * step, 12) + 0.0 for k in range(first, math.floor(high / step + 1e-9) + 1)]


@dataclass(frozen=True)
class Frame:
    """Where numbers are on a chart: `x` and `y` give places for them."""

    x_range: Point
    y_range: Point
    right: float  # where the plot ends, and its foot
    foot: float

    def x(self, value: float) -> float:
        low, high = self.x_range
        return LEFT + (value - low) / (high - low) * (self.right - LEFT)

    def y(self, value: float) -> float:
        low, high = self.y_range
        return self.foot - (value - low) / (high - low) * (self.foot - TOP)


def chart(
    lines: Sequence[Line],
    title: str,
    *,
    x_name: str,
    unit: str = "",
    y_range: Point | None = None,
    level: float | None = None,
    marks: Sequence[tuple[float, str]] = (),
    size: tuple[int, int] = (WIDTH, HEIGHT),
) -> str:
    """Curves over one axis.

    Args:
        lines: the curves; those without points are left out.
        title: what the chart shows, for those who can't see it.
        x_name: what the x axis counts.
        unit: behind the numbers of the y axis, such as "%".
        y_range: of the y axis; None: what the curves need.
        level: a value of y to draw a line at.
        marks: values of x to draw a line at, with a word for each.
        size: width and height of the picture.

    Returns:
        SVG; a sentence where there is nothing to show.
    """
    lines = [line for line in lines if line.points]
    if not lines:
        return '<p class="nothing">Nothing yet.</p>'
    width, height = size
    room = min(max(len(line.name) for line in lines) * LETTER, 190) if len(lines) > 1 else 0
    frame = Frame(_x_range(lines), y_range or _y_range(lines), width - RIGHT - room, height - BOTTOM)
    parts = [*_axes(frame, x_name, unit)]
    if level is not None:
        parts.append(_path([(LEFT, frame.y(level)), (frame.right, frame.y(level))], "level"))
    for value, word in marks:
        x = frame.x(min(max(value, frame.x_range[0]), frame.x_range[1]))
        parts.append(_path([(x, TOP), (x, frame.foot)], "mark"))
        late = x > (LEFT + frame.right) / 2
        parts.append(_text(x - 5 if late else x + 5, frame.foot - 7, word, "small", "end" if late else "start"))
    for number_of, line in enumerate(lines):
        parts += _curve(frame, line, f"c{number_of % COLOURS}")
    if len(lines) > 1:
        parts += _names(frame, lines)
    parts += _slices(frame, lines, x_name, unit)
    return _svg(parts, title, size)


def ladder(marks: Sequence[Mark], title: str, *, x_name: str, x_range: Point, level: float) -> str:
    """Values with their intervals, one below the other."""
    if not marks:
        return '<p class="nothing">Nothing yet.</p>'
    left = min(max(len(mark.name) for mark in marks) * WIDE_LETTER, 230) + 16
    right, pitch = WIDTH - RIGHT - max(len(mark.text) for mark in marks) * WIDE_LETTER, 34
    height = TOP + pitch * len(marks) + BOTTOM
    low, high = x_range

    def place(value: float) -> float:
        return left + (value - low) / (high - low) * (right - left)

    parts = []
    for value in ticks(low, high):
        parts.append(_path([(place(value), TOP), (place(value), height - BOTTOM)], "grid"))
        parts.append(_text(place(value), height - BOTTOM + 16, number(value), "small", "middle"))
    parts.append(_path([(place(level), TOP), (place(level), height - BOTTOM)], "level"))
    parts.append(_text((left + right) / 2, height - 6, x_name, "small", "middle"))
    for row, mark in enumerate(marks):
        y = TOP + pitch * (row + 0.5)
        ends = [(place(min(max(end, low), high)), y) for end in mark.interval]
        middle = place(min(max(mark.value, low), high))
        parts.append(_text(left - 12, y + 4, _shortened(mark.name, 32), "", "end"))
        parts.append(_path(ends, "interval"))
        parts.append(f'<circle class="dot" cx="{middle:.1f}" cy="{y:.1f}" r="4"/>')
        parts.append(_text(right + 12, y + 4, mark.text, "value"))
    return _svg(parts, title, (WIDTH, height))


def _svg(parts: Sequence[str], title: str, size: tuple[int, int]) -> str:
    box = f'viewBox="0 0 {size[0]} {size[1]}" role="img" aria-label="{escape(title)}"'
    return f'<svg class="chart{" wide" if size[0] == WIDTH else ""}" {box}>{"".join(parts)}</svg>'


def _text(x: float, y: float, text: str, kind: str, anchor: str = "start") -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _path(points: Sequence[Point], kind: str, end: str = "") -> str:
    way = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    return f'<path class="{kind}" d="M{way}{end}"/>'


def _x_range(lines: Sequence[Line]) -> Point:
    low = min(line.points[0][0] for line in lines)
    high = max(line.points[-1][0] for line in lines)
    return (0.0, high) if 0 < low < high / 4 else (low, high) if high > low else (low - 1, high + 1)


def _y_range(lines: Sequence[Line]) -> Point:
    values = [y for line in lines for _, y in line.points]
    low, high = min(values), max(values)
    if 0 < low < 0.6 * high:
        low = 0.0
    room = (high - low) * 0.06 or abs(high) * 0.1 or 1.0
    return (low if low == 0 else low - room), high + room


def _axes(frame: Frame, x_name: str, unit: str) -> list[str]:
    parts, foot = [], frame.foot
    for value in ticks(*frame.y_range, about=4):
        parts.append(_path([(LEFT, frame.y(value)), (frame.right, frame.y(value))], "grid"))
        parts.append(_text(LEFT - 7, frame.y(value) + 4, number(value) + unit, "small", "end"))
    for value in ticks(*frame.x_range, about=3 if frame.right < 400 else 5):
        parts.append(_path([(frame.x(value), foot), (frame.x(value), foot + 4)], "axis"))
        parts.append(_text(frame.x(value), foot + 17, number(value), "small", "middle"))
    parts.append(_path([(LEFT, foot), (frame.right, foot)], "axis"))
    parts.append(_text((LEFT + frame.right) / 2, foot + 35, x_name, "small", "middle"))
    return parts


def _curve(frame: Frame, line: Line, colour: str) -> list[str]:
    low, high = frame.y_range
    places = [(frame.x(x), frame.y(min(max(y, low), high))) for x, y in line.points]
    parts = []
    if line.band:
        edges: list[list[Point]] = [[], []]
        for (x, _), ends in zip(line.points, line.band, strict=True):
            for edge, end in zip(edges, ends, strict=True):
                edge.append((frame.x(x), frame.y(min(max(end, low), high))))
        parts.append(_path([*edges[0], *reversed(edges[1])], f"band {colour}", "Z"))
        if len(places) == 1:
            parts.append(_path([edges[0][0], edges[1][0]], f"curve {colour}"))
    parts.append(_path(places, f"curve {colour}"))
    if line.dots or len(places) == 1:
        parts += [f'<circle class="point {colour}" cx="{x:.1f}" cy="{y:.1f}" r="2.6"/>' for x, y in places]
    return parts


def _names(frame: Frame, lines: Sequence[Line]) -> list[str]:
    """Each line's name at its end; where ends are close together, one below the other."""
    low, high = frame.y_range
    wanted = [(frame.y(min(max(line.points[-1][1], low), high)), place) for place, line in enumerate(lines)]
    parts, last = [], -math.inf
    pitch = min(16.0, (frame.foot - TOP) / len(lines))
    for order, (y, place) in enumerate(sorted(wanted)):
        after = len(lines) - order - 1
        last = max(min(y, frame.foot - after * pitch), last + pitch)
        name = _shortened(lines[place].name, 26)
        parts.append(_text(frame.right + 8, last + 4, name, f"name c{place % COLOURS}"))
    return parts


def _slices(frame: Frame, lines: Sequence[Line], x_name: str, unit: str) -> list[str]:
    """Strips over the plot that say what the curves are there."""
    low, high = frame.x_range
    width = (frame.right - LEFT) / SLICES
    parts = []
    for place in range(SLICES):
        begin, end = (low + (high - low) * (place + more) / SLICES for more in (0, 1))
        end = math.inf if place == SLICES - 1 else end
        said = [told for line in lines if (told := _told(line, begin, end, unit))]
        if said:
            text = escape("\n".join([f"{number(min(end, high))} {x_name}", *said]))
            parts.append(
                f'<rect class="slice" x="{LEFT + place * width:.1f}" y="{TOP}" width="{width:.1f}" '
                f'height="{frame.foot - TOP:g}"><title>{text}</title></rect>'
            )
    return parts


def _told(line: Line, begin: float, end: float, unit: str) -> str:
    """The last value of a curve within a strip."""
    found = [place for place, (x, _) in enumerate(line.points) if begin <= x < end]
    if not found:
        return ""
    text = f"{line.name} {number(line.points[found[-1]][1])}{unit}"
    if line.band:
        low, high = line.band[found[-1]]
        text += f" [{number(low)}, {number(high)}]"
    return text


def _shortened(name: str, most: int) -> str:
    return name if len(name) <= most else "…" + name[1 - most :]
