"""Pictures as data: shapes in a unit system, for any game, and their SVG text.

A game describes its picture once. `to_svg` writes it as text, `mozaic_env.drawing.raster.to_rgb` paints it as pixels. x
goes right, y goes down. Colours are written ``#rrggbb``.
"""

import functools
from collections.abc import Iterable
from dataclasses import dataclass, field
from xml.sax.saxutils import escape, quoteattr

Point = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class Paint:
    """How a shape is painted.

    Attributes:
        fill: colour inside, or None.
        stroke: colour of the outline, or None; round where lines meet.
        width: of the outline, half of it on each side of the edge.
        opacity: of fill and outline, 0 to 1.
    """

    fill: str | None = None
    stroke: str | None = None
    width: float = 1.0
    opacity: float = 1.0


@dataclass(frozen=True)
class Disc(Paint):
    """A disc around (x, y)."""

    x: float
    y: float
    radius: float


@dataclass(frozen=True)
class Box(Paint):
    """An upright rectangle: its upper left corner, its size, and the radius of its corners."""

    x: float
    y: float
    w: float
    h: float
    corner: float = 0.0


@dataclass(frozen=True)
class Polygon(Paint):
    """A polygon that does not cross itself."""

    points: tuple[Point, ...]


@dataclass(frozen=True)
class Line(Paint):
    """Straight pieces from point to point, with round ends; only `stroke` and `width` count."""

    points: tuple[Point, ...]


@dataclass(frozen=True)
class Text(Paint):
    """One line of text in `fill`; capitals are 0.7 `size` high.

    Attributes:
        x: where it begins, has its middle, or ends, as `anchor` says.
        y: the base line.
        text: the characters.
        size: the font's, in units.
        anchor: "start", "middle" or "end".
        bold: heavier.
    """

    x: float
    y: float
    text: str
    size: float
    anchor: str = "start"
    bold: bool = False


Shape = Disc | Box | Polygon | Line | Text


@dataclass(frozen=True, eq=False)
class Symbol:
    """Shapes that are drawn in many places, around their own origin.

    Compared by identity, so that painting it again costs a look-up. Make each symbol once.

    Attributes:
        name: a word, unique within a picture.
        shapes: from the lowest to the uppermost; no text.
    """

    name: str
    shapes: tuple[Shape, ...]


@dataclass(frozen=True)
class Use:
    """A symbol with its origin at (x, y)."""

    symbol: Symbol
    x: float
    y: float


Item = Shape | Use


@dataclass(frozen=True)
class Picture:
    """A picture.

    Attributes:
        width: in units.
        height: in units.
        background: colour.
        still: what lies below and is the same in many pictures, so worth keeping when painted.
        items: what lies above, from the lowest to the uppermost.
        title: what the picture shows, for those who can't see it.
    """

    width: float
    height: float
    background: str
    still: tuple[Item, ...] = ()
    items: tuple[Item, ...] = ()
    title: str = ""
    symbols: tuple[Symbol, ...] = field(init=False)  # all that are used, in order

    def __post_init__(self) -> None:
        used = dict.fromkeys(item.symbol for item in (*self.still, *self.items) if isinstance(item, Use))
        object.__setattr__(self, "symbols", tuple(used))


def to_svg(picture: Picture) -> str:
    """The picture as an SVG document; text in it stays text."""
    size = f'width="{_number(picture.width)}" height="{_number(picture.height)}"'
    box = f'viewBox="0 0 {_number(picture.width)} {_number(picture.height)}"'
    font = 'font-family="ui-rounded, Nunito, Verdana, system-ui, sans-serif"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} {box} {font} role="img">',
        f"<title>{escape(picture.title)}</title>",
        "<defs>",
        *map(_symbol, picture.symbols),
        "</defs>",
        f'<rect {size} fill="{picture.background}"/>',
        *map(_item, (*picture.still, *picture.items)),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


# Most of a picture has been in an earlier one, and looking an item up costs a tenth of writing it.


@functools.lru_cache(maxsize=1024)
def _symbol(symbol: Symbol) -> str:
    return f"<g id={quoteattr(symbol.name)}>{''.join(map(_shape, symbol.shapes))}</g>"


@functools.lru_cache(maxsize=8192)
def _item(item: Item) -> str:
    if isinstance(item, Use):
        return f'<use href={quoteattr("#" + item.symbol.name)} x="{_number(item.x)}" y="{_number(item.y)}"/>'
    return _shape(item)


def _shape(shape: Shape) -> str:
    match shape:
        case Disc(x, y, radius):
            return _element("circle", shape, cx=x, cy=y, r=radius)
        case Box(x, y, w, h, corner):
            return _element("rect", shape, x=x, y=y, width=w, height=h, rx=corner)
        case Polygon(points):
            return _element("polygon", shape, points=_points(points))
        case Line(points):
            return _element("polyline", shape, points=_points(points), stroke_linecap="round")
        case Text(x, y, text, size, anchor, bold):
            weight = {"font_weight": "bold"} if bold else {}
            element = _element("text", shape, x=x, y=y, font_size=size, text_anchor=anchor, **weight)
            return element.removesuffix("/>") + f">{escape(text)}</text>"


def _element(tag: str, paint: Paint, **attributes: float | str) -> str:
    attributes["fill"] = paint.fill or "none"
    if paint.stroke is not None:
        attributes |= {"stroke": paint.stroke, "stroke_width": paint.width, "stroke_linejoin": "round"}
    if paint.opacity != 1:
        attributes["opacity"] = paint.opacity
    words = (f"{name.replace('_', '-')}={quoteattr(_number(value))}" for name, value in attributes.items())
    return f"<{tag} {' '.join(words)}/>"


def _points(points: Iterable[Point]) -> str:
    return " ".join(f"{_number(x)},{_number(y)}" for x, y in points)


def _number(value: float | str) -> str:
    """Two decimals at most, none where they are zero."""
    if isinstance(value, str):
        return value
    return f"{round(value, 2) + 0.0:.2f}".rstrip("0").rstrip(".")  # adding 0 turns -0 into 0
