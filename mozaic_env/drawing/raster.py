"""Pictures as pixels, painted by Pillow: no display needed.

Shapes and letters, those of Pillow's own font, are drawn several times too large and scaled down: edges are smooth.
What has been painted once is kept as a patch, so a frame is a copy of its still part with some patches laid on it.
"""

from __future__ import annotations

import functools
import itertools
import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from mozaic_env.drawing.picture import Box, Disc, Item, Line, Picture, Point, Polygon, Shape, Symbol, Text, Use

if TYPE_CHECKING:  # Pillow is imported with the first picture
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw
    from PIL.ImageFont import FreeTypeFont

Pixels = npt.NDArray[np.uint8]
PHASES = 4  # symbols are placed to a quarter of a pixel
OVERSAMPLING, MOST_OVERSAMPLED = 16, 4096  # times as large, but no wider or higher than so many pixels
TEXT_OVERSAMPLING = 4
BOLDER = 0.022  # by how much a bold letter grows on each side, as a part of its size
MEASURED = 100.0  # size of the letters by which text is measured


class _Patch(NamedTuple):
    """An RGBA image and where its upper left pixel lies, from where the patch is placed."""

    image: Image
    x: int
    y: int


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
    return np.array(frame)


def text_width(text: str, size: float, bold: bool = False) -> float:
    """How wide a line of text becomes, in units, if its font has that size."""
    return sum(_advance(character) + 2 * BOLDER * bold for character in text) * size


@functools.lru_cache(maxsize=16)
def _still(items: tuple[Item, ...], background: str, size: tuple[int, int], scale: float) -> Image:
    from PIL import Image

    frame = Image.new("RGB", size, background)
    for item in items:
        _paint(frame, item, scale)
    return frame


def _paint(frame: Image, item: Item, scale: float) -> None:
    if isinstance(item, Text):
        _write(frame, item, scale)
    elif isinstance(item, Use):
        x, phase_x = _place(item.x * scale)
        y, phase_y = _place(item.y * scale)
        _lay(frame, _symbol_patch(item.symbol, scale, phase_x, phase_y), x, y)
    else:
        _lay(frame, _shape_patch(item, scale), 0, 0)


def _place(value: float) -> tuple[int, int]:
    """The whole pixel and the phase, in parts of a pixel, of a coordinate."""
    return divmod(round(value * PHASES), PHASES)


def _lay(frame: Image, patch: _Patch, x: int, y: int) -> None:
    """Lays a patch on the frame; what sticks out is cut off."""
    frame.paste(patch.image, (x + patch.x, y + patch.y), patch.image)


def _write(frame: Image, text: Text, scale: float) -> None:
    """Writes letter by letter; the base line lies on a whole pixel, so that rows of letters are even."""
    share = {"start": 0.0, "middle": 0.5, "end": 1.0}[text.anchor]
    pen = (text.x - share * text_width(text.text, text.size, text.bold)) * scale
    y, size = round(text.y * scale), text.size * scale
    for character in text.text:
        if character != " ":
            x, phase = _place(pen)
            _lay(frame, _glyph_patch(character, size, text.bold, text.fill or "#000000", text.opacity, phase), x, y)
        pen += text_width(character, size, text.bold)


@functools.lru_cache(maxsize=512)
def _symbol_patch(symbol: Symbol, scale: float, phase_x: int, phase_y: int) -> _Patch:
    return _patch(symbol.shapes, scale, (phase_x / PHASES, phase_y / PHASES))


@functools.lru_cache(maxsize=512)
def _shape_patch(shape: Shape, scale: float) -> _Patch:
    return _patch((shape,), scale, (0.0, 0.0))


def _patch(shapes: tuple[Shape, ...], scale: float, phase: Point) -> _Patch:
    """Paints shapes, one over the other, their origin at `phase` in pixels."""
    from PIL import Image

    boxes = np.array([_bounds(shape) for shape in shapes])
    low = np.floor(boxes[:, 0].min(axis=0) * scale + phase - 1).astype(int)
    high = np.ceil(boxes[:, 1].max(axis=0) * scale + phase + 1).astype(int)
    width, height = (int(extent) for extent in high - low)
    image = Image.new("RGBA", (width, height))
    masks = _Masks((width, height), scale, (phase[0] - low[0], phase[1] - low[1]))
    for shape in shapes:
        if shape.fill is not None and not isinstance(shape, Line):
            image.alpha_composite(_layer(masks.inside(shape), shape.fill, shape.opacity))
        if shape.stroke is not None:
            image.alpha_composite(_layer(masks.outline(shape), shape.stroke, shape.opacity))
    return _Patch(image, int(low[0]), int(low[1]))


def _bounds(shape: Shape) -> tuple[Point, Point]:
    """The corners of the upright box around a shape and its outline, in units."""
    low, high = _extent(shape)
    around = shape.width / 2 if shape.stroke else 0.0
    return (low[0] - around, low[1] - around), (high[0] + around, high[1] + around)


def _extent(shape: Shape) -> tuple[Point, Point]:
    """The corners of the upright box around a shape without its outline, in units."""
    match shape:
        case Disc(x, y, radius):
            return (x - radius, y - radius), (x + radius, y + radius)
        case Box(x, y, w, h):
            return (x, y), (x + w, y + h)
        case Polygon(points) | Line(points):
            xs, ys = zip(*points, strict=True)
            return (min(xs), min(ys)), (max(xs), max(ys))
        case Text():
            raise ValueError("a symbol holds text; accepted: discs, boxes, polygons and lines")


class _Masks:
    """Draws masks of shapes, 0 to 255: oversampled, then scaled down."""

    def __init__(self, size: tuple[int, int], scale: float, origin: Point) -> None:
        """For masks of `size` pixels on which a unit is `scale` pixels and the units' origin lies at `origin`."""
        self.times = max(1, min(OVERSAMPLING, MOST_OVERSAMPLED // max(size)))
        self.size = (size[0] * self.times, size[1] * self.times)
        self.scale, self.origin = scale * self.times, (origin[0] * self.times, origin[1] * self.times)

    def inside(self, shape: Shape) -> Image:
        """The mask of what a shape fills."""
        image, draw = self._blank()
        if isinstance(shape, Polygon):
            draw.polygon([self._at(point, -0.5) for point in shape.points], fill=255)
        else:
            self._fill(draw, shape, 0.0, 255)
        return image.reduce(self.times)

    def outline(self, shape: Shape) -> Image:
        """The mask of a shape's outline or of a line, with round ends and joints."""
        image, draw = self._blank()
        half = shape.width / 2
        if isinstance(shape, Polygon | Line):
            points = shape.points if isinstance(shape, Line) else (*shape.points, shape.points[0])
            for piece in itertools.pairwise(points):
                draw.line([self._at(point, -0.5) for point in piece], fill=255, width=round(shape.width * self.scale))
            for x, y in points:
                self._fill(draw, Disc(x, y, half), 0.0, 255)
        else:
            self._fill(draw, shape, half, 255)
            self._fill(draw, shape, -half, 0)
        return image.reduce(self.times)

    def _blank(self) -> tuple[Image, ImageDraw]:
        from PIL import Image, ImageDraw

        image = Image.new("L", self.size)
        return image, ImageDraw.Draw(image)

    def _at(self, point: Point, shift: float = 0.0) -> tuple[int, int]:
        """Where a point lies on the mask; a shift of -0.5 turns edges of pixels into pixels."""
        x, y = (part * self.scale + start + shift for part, start in zip(point, self.origin, strict=True))
        return round(x), round(y)

    def _fill(self, draw: ImageDraw, shape: Shape, wider: float, value: int) -> None:
        """Fills a disc or a box that is made wider on each side."""
        low, high = _extent(shape)
        left, top = self._at((low[0] - wider, low[1] - wider))
        right, bottom = self._at((high[0] + wider, high[1] + wider))
        if left >= right or top >= bottom:
            return
        if isinstance(shape, Box):
            corner = max(0.0, shape.corner + wider) * self.scale
            draw.rounded_rectangle((left, top, right - 1, bottom - 1), corner, fill=value)
        else:
            draw.ellipse((left, top, right - 1, bottom - 1), fill=value)


def _layer(mask: Image, colour: str, opacity: float) -> Image:
    """One colour where the mask says, clear elsewhere."""
    from PIL import Image, ImageColor

    layer = Image.new("RGBA", mask.size, ImageColor.getrgb(colour))
    layer.putalpha(mask if opacity == 1 else mask.point(lambda cover: round(cover * opacity)))
    return layer


@functools.lru_cache(maxsize=4096)
def _glyph_patch(character: str, size: float, bold: bool, fill: str, opacity: float, phase: int) -> _Patch:
    """A letter whose font has `size` pixels, the pen at `phase` parts of a pixel."""
    from PIL import Image, ImageDraw

    times = TEXT_OVERSAMPLING  # since the font keeps its letters to whole pixels
    font, bolder = _font(size * times), size * times * BOLDER * bold
    left, top, right, bottom = (part / times for part in font.getbbox(character, anchor="ls", stroke_width=bolder))
    low = math.floor(left) - 1, math.floor(top) - 1
    mask = Image.new("L", ((math.ceil(right) + 2 - low[0]) * times, (math.ceil(bottom) + 1 - low[1]) * times))
    start = (phase / PHASES - low[0]) * times + bolder, -low[1] * times
    ImageDraw.Draw(mask).text(start, character, 255, font, "ls", stroke_width=bolder)
    return _Patch(_layer(mask.reduce(times), fill, opacity), *low)


@functools.cache
def _advance(character: str) -> float:
    """How far the pen moves on, as a part of the font's size."""
    return _font(MEASURED).getlength(character) / MEASURED


@functools.lru_cache(maxsize=64)
def _font(size: float) -> FreeTypeFont:
    """Pillow's own font; laid out without libraries that an installation may lack."""
    from PIL import ImageFont

    font = ImageFont.load_default(size)
    if isinstance(font, ImageFont.FreeTypeFont):
        return font.font_variant(layout_engine=ImageFont.Layout.BASIC)
    raise RuntimeError("Pillow was built without FreeType, which writes text; install one of its wheels")
