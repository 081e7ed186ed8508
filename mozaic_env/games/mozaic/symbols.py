"""The things that pictures of Mozaic show: gems and marks, as symbols in units of the picture.

Amber is round and light, cobalt four-cornered and dark, so they differ by shape and brightness where hue does not show:
in grey, and to the colour-blind.
"""

import functools
import math

from mozaic_env.drawing.picture import Box, Disc, Line, Point, Polygon, Shape, Symbol
from mozaic_env.games.mozaic.actions import Gem

INK = "#2c3138"
MUTED = "#7d786d"
FAINT = "#bdb6a7"
PAPER = "#f4f1ea"
BOARD = "#d8d1c2"
TILE = "#e9e4d9"
AMBER, AMBER_DEEP, AMBER_GLOW = "#f4b63c", "#8f5200", "#f8e5b6"
COBALT, COBALT_DEEP, COBALT_GLOW = "#2450a0", "#0f2350", "#c3d5f3"
EXCEPTIONS = {  # deep, base, light
    Gem.EMERALD: ("#0c5437", "#1f9d68", "#7fd8b0"),
    Gem.DIAMOND: ("#6d8594", "#d3e3ea", "#ffffff"),
    Gem.RUBY: ("#6d1024", "#cc2f4e", "#f39aab"),
}
DOUBLE = (("#46226d", "#8f5bc4", "#d0b2ec"), ("#101116", "#3d4049", "#9297a3"))  # by edition: amethyst, onyx


@functools.cache
def gem(kind: Gem, edition: int, radius: float) -> Symbol:
    """A gem around its middle."""
    if kind is Gem.YELLOW:
        shapes = _round_cut(radius)
    elif kind is Gem.BLUE:
        shapes = _rhombic_cut(radius)
    elif kind is Gem.DOUBLE:
        shapes = _twin(radius, DOUBLE[edition])
    else:
        outline, table = _OUTLINES[kind]
        shapes = _plain_cut(radius, EXCEPTIONS[kind], outline, table)
    return Symbol(f"{kind.name.lower()}-{radius:g}", shapes)


def _ring(corners: int, radius: float, turn: float = 0.0) -> tuple[Point, ...]:
    """The corners of a regular polygon, the first at `turn` (in parts of a full turn) from the right."""
    angles = [2 * math.pi * (turn + corner / corners) for corner in range(corners)]
    return tuple((radius * math.cos(angle), radius * math.sin(angle)) for angle in angles)


def _facets(outer: tuple[Point, ...], inner: tuple[Point, ...], shades: tuple[str, ...]) -> list[Shape]:
    """The strip between two polygons, a facet for each side."""
    corners = len(outer)
    return [
        Polygon((outer[i], outer[(i + 1) % corners], inner[(i + 1) % corners], inner[i]), fill=shades[i])
        for i in range(corners)
    ]


def _round_cut(radius: float) -> tuple[Shape, ...]:
    """Amber: a round brilliant, lit from the upper left."""
    shades = ("#e59d1f", "#e09618", "#e59d1f", "#ecaa30", "#f7c661", "#f9cd6d", "#f7c661", "#f0b545")
    rim = Disc(0, 0, radius * 0.955, fill=AMBER, stroke=AMBER_DEEP, width=radius * 0.09)
    table = Polygon(_ring(8, radius * 0.5), fill="#f6c55c", stroke="#f9d583", width=radius * 0.035)
    return (rim, *_facets(_ring(8, radius * 0.93), _ring(8, radius * 0.5), shades), table)


def _rhombic_cut(radius: float) -> tuple[Shape, ...]:
    """Cobalt: a square on its corner, lit from the upper left."""
    shades = ("#12306a", "#1d4490", "#4675cb", "#2652a6")
    rim = Polygon(_ring(4, radius), fill=COBALT, stroke=COBALT_DEEP, width=radius * 0.16)
    table = Polygon(_ring(4, radius * 0.5), fill="#2c59b0", stroke="#5f88d8", width=radius * 0.035)
    return (rim, *_facets(_ring(4, radius), _ring(4, radius * 0.5), shades), table)


def _plain_cut(
    radius: float, colours: tuple[str, str, str], outline: tuple[Point, ...], table: tuple[Point, ...]
) -> tuple[Shape, ...]:
    deep, base, light = colours
    scaled = [tuple((x * radius, y * radius) for x, y in points) for points in (outline, table)]
    return (
        Polygon(scaled[0], fill=base, stroke=deep, width=radius * 0.12),
        Polygon(scaled[1], fill=light, opacity=0.75),
    )


def _twin(radius: float, colours: tuple[str, str, str]) -> tuple[Shape, ...]:
    """The double-turn gem: two stones, one over the other."""
    shapes: list[Shape] = []
    for x, y in ((0.34, 0.26), (-0.3, -0.24)):
        for size, fill, stroke in ((0.62, colours[1], colours[0]), (0.3, colours[2], None)):
            points = tuple((x * radius + px, y * radius + py) for px, py in _ring(6, size * radius, 1 / 12))
            opacity = 1.0 if stroke else 0.75
            shapes.append(Polygon(points, fill=fill, stroke=stroke, width=radius * 0.12, opacity=opacity))
    return tuple(shapes)


_OUTLINES: dict[Gem, tuple[tuple[Point, ...], tuple[Point, ...]]] = {
    Gem.EMERALD: (  # an upright step cut
        tuple(
            (x * 0.7, y * 0.92)
            for x, y in ((-0.5, -1), (0.5, -1), (1, -0.62), (1, 0.62), (0.5, 1), (-0.5, 1), (-1, 0.62), (-1, -0.62))
        ),
        ((-0.3, -0.5), (0.3, -0.5), (0.3, 0.5), (-0.3, 0.5)),
    ),
    Gem.DIAMOND: (  # a brilliant from the side
        ((-0.55, -0.72), (0.55, -0.72), (0.98, -0.2), (0, 0.9), (-0.98, -0.2)),
        ((-0.38, -0.2), (0.38, -0.2), (0, 0.9)),
    ),
    Gem.RUBY: (  # a trillion
        ((0, -0.88), (0.92, 0.7), (-0.92, 0.7)),
        ((0, -0.28), (0.4, 0.4), (-0.4, 0.4)),
    ),
}


@functools.cache
def tile(size: float) -> Symbol:
    """An empty tile, from its upper left corner."""
    gap = 1.0
    return Symbol("tile", (Box(gap, gap, size - 2 * gap, size - 2 * gap, size * 0.09, fill=TILE),))


@functools.cache
def moved(size: float, strong: bool) -> Symbol:
    """The frame of a tile where something has just happened, from the tile's upper left corner."""
    frame = Box(2.5, 2.5, size - 5, size - 5, size * 0.09, stroke=INK, width=2.5, opacity=1.0 if strong else 0.35)
    return Symbol("last-move" if strong else "earlier-move", (frame,))


@functools.cache
def left(size: float) -> Symbol:
    """What stays on a tile whose gem is gone, around its middle."""
    arm = size * 0.11
    lines = (((-arm, -arm), (arm, arm)), ((-arm, arm), (arm, -arm)))
    return Symbol("left", tuple(Line(points, stroke=INK, width=size * 0.05, opacity=0.6) for points in lines))


@functools.cache
def square(colour: int, size: float, new: bool) -> Symbol:
    """A square, around its middle, under its gems; with a frame if it has just been completed."""
    glow, deep = ((AMBER_GLOW, AMBER_DEEP), (COBALT_GLOW, COBALT_DEEP))[colour]
    reach = size - 3
    stroke = deep if new else None
    box = Box(-reach, -reach, 2 * reach, 2 * reach, size * 0.12, fill=glow, stroke=stroke, width=3)
    return Symbol(f"square-{colour}{'-new' if new else ''}", (box,))


@functools.cache
def joint(colour: int, size: float) -> Symbol:
    """The mark of a square where its four gems meet."""
    if colour == Gem.YELLOW:
        shape: Shape = Disc(0, 0, size * 0.12, fill=AMBER, stroke=AMBER_DEEP, width=size * 0.035)
    else:
        shape = Polygon(_ring(4, size * 0.16), fill="#5583d6", stroke=COBALT_DEEP, width=size * 0.035)
    return Symbol(f"joint-{colour}", (shape,))


@functools.cache
def rung(colour: int, width: float, height: float, new: bool) -> Symbol:
    """One square on the score ladder, from its upper left corner: amber's round, cobalt's angular."""
    base, deep = ((AMBER, AMBER_DEEP), (COBALT, COBALT_DEEP))[colour]
    corner = min(height / 2, 7.0) if colour == Gem.YELLOW else 1.0
    shapes: list[Shape] = [Box(2, 2, width - 4, height - 4, corner, fill=base, stroke=deep, width=min(1.5, height / 4))]
    if new and height > 6:
        shapes.append(Disc(width / 2, height / 2, min(3.0, height / 5), fill="#ffffff"))
    return Symbol(f"rung-{colour}{'-new' if new else ''}", tuple(shapes))
