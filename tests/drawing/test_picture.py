"""Pictures as SVG and as pixels: shapes where and as large as they say, smooth edges, text, symbols."""

from __future__ import annotations

import string
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from mozaic_env.drawing.picture import Box, Disc, Item, Line, Picture, Polygon, Symbol, Text, Use, to_svg
from mozaic_env.drawing.raster import to_rgb

SVG = "{http://www.w3.org/2000/svg}"
TRIANGLE = ((10.0, 10.0), (50.0, 10.0), (10.0, 40.0))


def black_on_white(*items: Item, width: int = 64, still: tuple[Item, ...] = ()) -> np.ndarray:
    """How black each pixel is, 0 to 1."""
    rgb = to_rgb(Picture(64, 64, "#ffffff", still, items), width)
    assert (rgb == rgb[..., :1]).all()
    return 1 - rgb[..., 0] / 255


@pytest.mark.parametrize(
    ("shape", "area"),
    [
        (Disc(30.3, 31.7, 12.2, fill="#000000"), np.pi * 12.2**2),
        (Disc(32, 32, 12, stroke="#000000", width=3), np.pi * (13.5**2 - 10.5**2)),
        (Box(10.25, 20.5, 30, 12.25, fill="#000000"), 30 * 12.25),
        (Box(10, 20, 30, 20, 6, fill="#000000"), 600 - (4 - np.pi) * 36),
        (Polygon(TRIANGLE, fill="#000000"), 600),
        (Polygon(((5, 5), (45, 5), (45, 45), (25, 20), (5, 45)), fill="#000000"), 1100),
        (Line(((10, 32), (50, 32)), stroke="#000000", width=4), 40 * 4 + np.pi * 4),
        (Box(10, 10, 20, 20, fill="#000000", opacity=0.5), 200),
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.parametrize("width", [64, 192])
def test_shapes_cover_their_area(shape: Item, area: float, width: int) -> None:
    covered = black_on_white(shape, width=width)
    assert covered.sum() / (width / 64) ** 2 == pytest.approx(area, rel=0.01)


def test_edges_on_whole_pixels_are_sharp_and_others_smooth() -> None:
    sharp = black_on_white(Box(10, 20, 30, 12, fill="#000000"))
    assert np.unique(sharp).tolist() == [0, 1]
    assert sharp[20:32, 10:40].all()
    half = black_on_white(Box(10.5, 20, 30, 12, fill="#000000"))
    assert half[25, 10] == pytest.approx(0.5, abs=0.01)
    disc = black_on_white(Disc(32.2, 31.7, 12, fill="#000000"))
    assert len(np.unique(disc)) > 10


def test_what_comes_later_lies_above_and_opacity_mixes() -> None:
    red, blue = Box(0, 0, 40, 40, fill="#ff0000"), Box(20, 20, 40, 40, fill="#0000ff", opacity=0.25)
    rgb = to_rgb(Picture(64, 64, "#00ff00", (red,), (blue,)), 64)
    assert rgb[10, 10].tolist() == [255, 0, 0]
    assert rgb[62, 62].tolist() == [0, 255, 0]
    assert np.abs(rgb[30, 30].astype(int) - [191, 0, 64]).max() <= 1


def test_what_sticks_out_is_cut_off() -> None:
    disc = black_on_white(Disc(0, 64, 20, fill="#000000"))
    assert disc.sum() == pytest.approx(np.pi * 100, rel=0.01)
    assert black_on_white(Disc(-50, 300, 20, fill="#000000"), Text(70, 99, "far", 20, fill="#000000")).sum() == 0


@pytest.mark.parametrize("at", [(20, 30), (20.5, 30.25), (-3.75, 62)])
def test_a_symbol_is_its_shapes_elsewhere(at: tuple[float, float]) -> None:
    x, y = at
    symbol = Symbol("s", (Disc(0, 0, 8, fill="#888888"), Box(2, -3, 9, 5, fill="#000000", opacity=0.5)))
    shapes = (Disc(x, y, 8, fill="#888888"), Box(x + 2, y - 3, 9, 5, fill="#000000", opacity=0.5))
    used, drawn = black_on_white(Use(symbol, x, y)), black_on_white(*shapes)
    assert used == pytest.approx(drawn, abs=0.01)
    assert used.any()


def test_still_parts_are_kept_but_not_changed() -> None:
    box, disc = Box(1, 1, 20, 20, fill="#000000"), Disc(40, 40, 9, fill="#000000")
    first = to_rgb(Picture(64, 64, "#ffffff", (box,), (disc,)))
    first[:] = 7
    assert black_on_white(still=(box,)) == pytest.approx(black_on_white(box))


def test_sizes() -> None:
    picture = Picture(64, 32, "#ffffff")
    assert to_rgb(picture).shape == (256, 512, 3)
    assert to_rgb(picture, 100).shape == (50, 100, 3)
    assert to_rgb(picture).dtype == np.uint8
    for width in (0, -1, 1.5, True, "512", None, 10**6):
        with pytest.raises(ValueError, match="width"):
            to_rgb(picture, width)


def test_text_is_where_its_anchor_says() -> None:
    columns = {}
    for anchor in ("start", "middle", "end"):
        covered = black_on_white(Text(32, 40, "HIH", 20, anchor, fill="#000000"))
        places = np.flatnonzero(covered.sum(axis=0))
        columns[anchor] = (places[0] + places[-1] + 1) / 2
        rows = np.flatnonzero(covered.sum(axis=1))
        assert (rows[0], rows[-1]) == pytest.approx((26, 40), abs=1)  # capitals are 0.7 of 20 high
    assert columns["middle"] == pytest.approx(32, abs=1)
    assert columns["start"] - 32 == pytest.approx(32 - columns["end"], abs=1)
    assert columns["start"] > 32 + 10
    thin, bold = (black_on_white(Text(2, 40, "a8", 20, bold=bold, fill="#000000")).sum() for bold in (False, True))
    assert bold > 1.2 * thin


def test_every_letter_and_digit_has_a_glyph_of_its_own() -> None:
    characters = string.ascii_letters + string.digits + "-+=.,:;!?'/()<>%_@"
    drawn = {black_on_white(Text(20, 40, character, 30, fill="#000000")).tobytes() for character in characters}
    assert len(drawn) == len(characters)
    assert black_on_white(Text(20, 40, "☃", 30, fill="#000000")).any()  # what is missing shows


def test_svg_is_xml_with_the_same_things() -> None:
    symbol = Symbol("gem", (Disc(0, 0, 8, fill="#888888"), Polygon(TRIANGLE, stroke="#000000", width=2)))
    text = 'a < b & "c"'
    items = (Use(symbol, 10, 20), Line(TRIANGLE, stroke="#123456"), Text(1, 2, text, 12, "end", bold=True))
    root = ET.fromstring(to_svg(Picture(64, 32, "#ffffff", (Use(symbol, 1.5, -0.001),), items, title=text)))
    assert root.get("viewBox") == "0 0 64 32"
    assert root.findtext(f"{SVG}title") == text
    assert [group.get("id") for group in root.iter(f"{SVG}g")] == ["gem"]
    uses = [(use.get("href"), use.get("x"), use.get("y")) for use in root.iter(f"{SVG}use")]
    assert uses == [("#gem", "1.5", "0"), ("#gem", "10", "20")]
    written = root.find(f"{SVG}text")
    assert written is not None
    assert (written.text, written.get("text-anchor"), written.get("font-weight")) == (text, "end", "bold")
    line = root.find(f"{SVG}polyline")
    assert line is not None
    assert (line.get("points"), line.get("fill"), line.get("stroke")) == ("10,10 50,10 10,40", "none", "#123456")


def test_a_symbol_with_text_is_refused() -> None:
    with pytest.raises(ValueError, match="text"):
        black_on_white(Use(Symbol("t", (Text(0, 0, "a", 9),)), 5, 5))
