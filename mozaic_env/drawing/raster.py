"""Pictures as pixels, with smooth edges, in NumPy: no display, no graphics library.

Every shape has a signed distance, negative inside: how far the nearest edge is from the middle of a pixel. A pixel is
covered by 0.5 - distance, cut to 0..1, which is what the eye takes for a smooth edge. What has been painted once is
kept as a patch, so a frame is a copy of its still part and some patches laid on it.
"""

import functools
import itertools
import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mozaic_env.drawing import glyphs
from mozaic_env.drawing.picture import Box, Disc, Item, Line, Picture, Point, Polygon, Shape, Symbol, Text, Use

Array = npt.NDArray[np.float64]
Pixels = npt.NDArray[np.uint8]
PHASES = 4  # patches are placed to a quarter of a pixel


class _Patch(NamedTuple):
    """Pixels to lay on a frame whose rows are flat, three numbers a pixel: frame * keep / 256 + add / 256."""

    x: int  # of the upper left pixel, from where the patch is placed
    y: int
    keep: npt.NDArray[np.uint16]  # (height, 3 * width), 0..256
    add: npt.NDArray[np.uint16]


def to_rgb(picture: Picture, width: int = 512) -> Pixels:
    """Paints a picture.

    Args:
        picture: what to paint.
        width: in pixels; the height follows.

    Returns:
        uint8, shape (height, width, 3), an array of its own.

    Raises:
        ValueError: the width is no whole number from 1 to 16384.
    """
    if isinstance(width, bool) or not isinstance(width, int | np.integer) or not 1 <= width <= 16384:
        raise ValueError(f"width={width!r}; accepted: a whole number of pixels from 1 to 16384")
    size = (int(width), max(1, round(width * picture.height / picture.width)))
    scale = width / picture.width
    frame = _still(picture.still, picture.background, size, scale).copy()
    for item in picture.items:
        _paint(frame, item, scale)
    return frame.reshape(size[1], size[0], 3)


@functools.lru_cache(maxsize=16)
def _still(items: tuple[Item, ...], background: str, size: tuple[int, int], scale: float) -> Pixels:
    frame = np.empty((size[1], size[0], 3), np.uint8)
    frame[:] = _rgb(background)
    flat = frame.reshape(size[1], 3 * size[0])
    for item in items:
        _paint(flat, item, scale)
    return flat


def _paint(frame: Pixels, item: Item, scale: float) -> None:
    if isinstance(item, Use):
        x, phase_x = _place(item.x * scale)
        y, phase_y = _place(item.y * scale)
        _lay(frame, _symbol_patch(item.symbol, scale, phase_x, phase_y), x, y)
    elif isinstance(item, Text):
        _write(frame, item, scale)
    else:
        _lay(frame, _shape_patch(item, scale), 0, 0)


def _place(value: float) -> tuple[int, int]:
    """The whole pixel and the phase, in parts of a pixel, of a coordinate."""
    return divmod(round(value * PHASES), PHASES)


def _write(frame: Pixels, text: Text, scale: float) -> None:
    unit = text.size / glyphs.EM * scale
    share = {"start": 0.0, "middle": 0.5, "end": 1.0}[text.anchor]
    pen = (text.x - share * text_width(text.text, text.size)) * scale
    y = round(text.y * scale)  # base lines on whole pixels: even rows of letters
    style = (text.fill or "#000000", text.opacity, glyphs.BOLD_PEN if text.bold else glyphs.PEN)
    for character in text.text:
        if character != " ":
            x, phase = _place(pen)
            _lay(frame, _glyph_patch(character, unit, phase, *style), x, y)
        pen += glyphs.advance(character) * unit


def text_width(text: str, size: float) -> float:
    """How wide a line of text becomes, in units, if its font has that size."""
    return sum(map(glyphs.advance, text)) * size / glyphs.EM


def _lay(frame: Pixels, patch: _Patch, x: int, y: int) -> None:
    """Lays a patch on the frame; what sticks out is cut off."""
    top, left = y + patch.y, 3 * (x + patch.x)
    height, width = patch.keep.shape
    below, right = max(0, -top), max(0, -left)
    rows = slice(below, max(below, min(height, frame.shape[0] - top)))
    columns = slice(right, max(right, min(width, frame.shape[1] - left)))
    region = frame[top + rows.start : top + rows.stop, left + columns.start : left + columns.stop]
    mixed = region * patch.keep[rows, columns]
    mixed += patch.add[rows, columns]
    mixed >>= 8
    region[:] = mixed


@functools.lru_cache(maxsize=512)
def _symbol_patch(symbol: Symbol, scale: float, phase_x: int, phase_y: int) -> _Patch:
    return _patch(symbol.shapes, scale, (phase_x / PHASES, phase_y / PHASES))


@functools.lru_cache(maxsize=512)
def _shape_patch(shape: Shape, scale: float) -> _Patch:
    return _patch((shape,), scale, (0.0, 0.0))


@functools.lru_cache(maxsize=4096)
def _glyph_patch(character: str, unit: float, phase: int, fill: str, opacity: float, pen: float) -> _Patch:
    upright = (tuple((x, -y) for x, y in stroke) for stroke in glyphs.strokes(character))
    lines = tuple(Line(points, stroke=fill, width=pen) for points in upright)
    return _patch(lines, unit, (phase / PHASES, 0.0), opacity, union=True)


def _patch(shapes: tuple[Shape, ...], scale: float, phase: Point, opacity: float = 1.0, union: bool = False) -> _Patch:
    """Paints shapes, one over the other, or as a union of one colour."""
    boxes = np.array([_bounds(shape) for shape in shapes])
    low = np.floor(boxes[:, 0].min(axis=0) * scale + phase - 1).astype(int)
    high = np.ceil(boxes[:, 1].max(axis=0) * scale + phase + 1).astype(int)
    xs = (np.arange(low[0], high[0]) + 0.5 - phase[0]) / scale
    ys = ((np.arange(low[1], high[1]) + 0.5 - phase[1]) / scale)[:, None]
    colour, alpha = np.zeros((len(ys), len(xs), 3)), np.zeros((len(ys), len(xs), 1))
    for shape in shapes:
        distance = _distance(shape, xs, ys) * scale
        for paint, edge in ((shape.fill, distance), (shape.stroke, np.abs(distance) - shape.width * scale / 2)):
            if paint is None or (isinstance(shape, Line) and paint is shape.fill):
                continue
            if isinstance(shape, Line):
                edge = distance - shape.width * scale / 2
            cover = np.clip(0.5 - edge, 0, 1)[..., None] * (shape.opacity * opacity)
            if union:
                alpha = np.maximum(alpha, cover)
                colour = alpha * _rgb(paint)
            else:
                colour = colour * (1 - cover) + cover * _rgb(paint)
                alpha = alpha * (1 - cover) + cover
    keep = np.repeat(256 - np.rint(256 * alpha).astype(np.uint16), 3, axis=2)
    add = np.minimum(np.rint(256 * colour), 255 * (256 - keep)).astype(np.uint16) + np.uint16(128)
    flat = (len(ys), 3 * len(xs))
    return _Patch(int(low[0]), int(low[1]), keep.reshape(flat), add.reshape(flat))


def _rgb(colour: str) -> Array:
    """The three parts of a colour, 0..255."""
    return np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)], np.float64)


def _bounds(shape: Shape) -> tuple[Point, Point]:
    """The corners of the upright box around a shape, in units."""
    match shape:
        case Disc(x, y, radius):
            low, high = (x - radius, y - radius), (x + radius, y + radius)
        case Box(x, y, w, h):
            low, high = (x, y), (x + w, y + h)
        case Polygon(points) | Line(points):
            xs, ys = zip(*points, strict=True)
            low, high = (min(xs), min(ys)), (max(xs), max(ys))
        case Text():
            raise ValueError("a symbol holds text; accepted: discs, boxes, polygons and lines")
    around = shape.width / 2 if shape.stroke else 0.0
    return (low[0] - around, low[1] - around), (high[0] + around, high[1] + around)


def _distance(shape: Shape, xs: Array, ys: Array) -> Array:
    """Signed distance to the edge of a shape in units, of a line to its middle; shape (len(ys), len(xs))."""
    match shape:
        case Disc(x, y, radius):
            return np.hypot(xs - x, ys - y) - radius
        case Box(x, y, w, h, corner):
            across = np.abs(xs - x - w / 2) - w / 2 + corner
            down = np.abs(ys - y - h / 2) - h / 2 + corner
            outside = np.hypot(np.maximum(across, 0), np.maximum(down, 0))
            return outside + np.minimum(np.maximum(across, down), 0) - corner
        case Polygon(points):
            away = _to_pieces((*points, points[0]), xs, ys)
            return np.where(_inside(points, xs, ys), -away, away)
        case Line(points):
            return _to_pieces(points, xs, ys)
        case Text():
            raise ValueError("text has no edge; it is written, glyph by glyph")


def _to_pieces(points: tuple[Point, ...], xs: Array, ys: Array) -> Array:
    """Distance to the nearest of the straight pieces between points."""
    nearest = np.hypot(xs - points[0][0], ys - points[0][1])
    for (x0, y0), (x1, y1) in itertools.pairwise(points):
        dx, dy = x1 - x0, y1 - y0
        length = math.hypot(dx, dy)
        if length == 0:
            continue
        along = np.clip(((xs - x0) * dx + (ys - y0) * dy) / length**2, 0, 1)
        nearest = np.minimum(nearest, np.hypot(xs - x0 - along * dx, ys - y0 - along * dy))
    return nearest


def _inside(points: tuple[Point, ...], xs: Array, ys: Array) -> npt.NDArray[np.bool_]:
    """Whether a ray to the right crosses the polygon an odd number of times."""
    inside = np.zeros((len(ys), len(xs)), np.bool_)
    for (x0, y0), (x1, y1) in zip(points, (*points[1:], points[0]), strict=True):
        if y0 == y1:
            continue
        crossing = x0 + (ys - y0) * ((x1 - x0) / (y1 - y0))
        inside ^= ((y0 > ys) != (y1 > ys)) & (xs < crossing)
    return inside
