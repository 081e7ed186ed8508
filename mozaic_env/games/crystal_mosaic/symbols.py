"""The things that pictures of Crystal Mosaic show: tiles, printed spaces and marks, as symbols in units of the picture.

Each colour has a pattern and a brightness of its own, so that colours differ where hue does not show: in grey, and to
the colour-blind.
"""

import functools
import math

from mozaic_env.drawing.picture import Box, Disc, Line, Point, Polygon, Shape, Symbol
from mozaic_env.games.crystal_mosaic.actions import COLOUR_NAMES

INK = "#2c3138"
MUTED = "#7d786d"
FAINT = "#bdb6a7"
PAPER = "#f4f1ea"
PANEL = "#e5dfd2"
EMPTY = "#f7f4ee"
PLATE = "#d5ccba"
TURN = "#fff3c9"
BASES = ("#2f6db5", "#f2b632", "#c63d2f", "#33363d", "#fbfdfd")
DEEP = ("#17406f", "#8f5e00", "#7a1d14", "#0d0e11", "#7f9da3")
LIGHT = ("#a9cdf2", "#fbe29a", "#f6b3a6", "#9aa0aa", "#3f8f9c")  # of the pattern
WASH = ("#dbe7f4", "#fbeecb", "#f6dcd6", "#d4d3d3", "#ffffff")  # of a printed space


def _ring(corners: int, radius: float, turn: float = 0.0) -> tuple[Point, ...]:
    angles = [2 * math.pi * (turn + corner / corners) for corner in range(corners)]
    return tuple((radius * math.cos(angle), radius * math.sin(angle)) for angle in angles)


def _pattern(colour: int, size: float, ink: str, opacity: float) -> tuple[Shape, ...]:
    """The mark of a colour around the middle: ring, rhomb, cross, bars, star."""
    width = size * 0.09
    if colour == 0:
        return (Disc(0, 0, size * 0.24, stroke=ink, width=width, opacity=opacity),)
    if colour == 1:
        return (Polygon(_ring(4, size * 0.29), fill=ink, opacity=opacity),)
    if colour == 2:
        arm = size * 0.22
        ways: tuple[tuple[Point, ...], ...] = (((-arm, -arm), (arm, arm)), ((-arm, arm), (arm, -arm)))
    elif colour == 3:
        ways = tuple(((x * size, -0.24 * size), (x * size, 0.24 * size)) for x in (-0.21, 0.0, 0.21))
    else:
        ways = tuple((_ring(6, size * 0.3, 1 / 12)[k], _ring(6, size * 0.3, 1 / 12)[k + 3]) for k in range(3))
    return tuple(Line(way, stroke=ink, width=width, opacity=opacity) for way in ways)


@functools.cache
def tile(colour: int, size: float) -> Symbol:
    """A tile around its middle."""
    half = size / 2
    body = Box(
        -half, -half, size, size, size * 0.16, fill=BASES[colour], stroke=DEEP[colour], width=max(1, size * 0.06)
    )
    return Symbol(f"{COLOUR_NAMES[colour]}-{size:g}", (body, *_pattern(colour, size, LIGHT[colour], 1.0)))


@functools.cache
def space(colour: int | None, size: float) -> Symbol:
    """An empty space of a wall around its middle, with what is printed on it."""
    half = size / 2
    fill = EMPTY if colour is None else WASH[colour]
    body = Box(-half, -half, size, size, size * 0.16, fill=fill, stroke=PLATE, width=1)
    if colour is None:
        return Symbol(f"space-{size:g}", (body,))
    ink = LIGHT[colour] if colour in (3, 4) else BASES[colour]
    return Symbol(f"printed-{COLOUR_NAMES[colour]}-{size:g}", (body, *_pattern(colour, size * 0.9, ink, 0.45)))


@functools.cache
def hole(size: float) -> Symbol:
    """An empty place of a pattern line, a floor or a factory, around its middle."""
    half = size / 2
    return Symbol(f"hole-{size:g}", (Box(-half, -half, size, size, size * 0.16, fill=PLATE, opacity=0.45),))


@functools.cache
def marker(size: float) -> Symbol:
    """The starting-player marker around its middle."""
    return Symbol(
        f"marker-{size:g}",
        (
            Disc(0, 0, size * 0.47, fill="#ffffff", stroke=INK, width=size * 0.09),
            Line(
                ((-size * 0.1, -size * 0.12), (size * 0.03, -size * 0.24), (size * 0.03, size * 0.24)),
                stroke=INK,
                width=size * 0.1,
            ),
        ),
    )


@functools.cache
def moved(width: float, height: float, strong: bool) -> Symbol:
    """The frame around what has just changed, around its middle."""
    frame = Box(-width / 2, -height / 2, width, height, 5, stroke=INK, width=2.5, opacity=1.0 if strong else 0.35)
    return Symbol(f"{'last' if strong else 'earlier'}-move-{width:g}-{height:g}", (frame,))
