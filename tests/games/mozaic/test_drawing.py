"""Pictures of Mozaic: what they show, in colour, in grey and as SVG, compared with kept ones."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mozaic_env.drawing.picture import Box, Picture, Text, Use, to_svg
from mozaic_env.drawing.raster import to_rgb
from mozaic_env.games.mozaic.actions import EDITIONS, SIZES
from mozaic_env.games.mozaic.game import Mozaic
from tests.games.mozaic.pictures.cases import CASES, FOLDER, WIDTH, Case
from tests.oracles.random_games import random_positions

SVG = "{http://www.w3.org/2000/svg}"
BOARDS = [(rows, cols) for rows in SIZES for cols in SIZES if rows * cols % 2 == 0]
TOLERANCE = 6  # of 255, for other versions of Pillow
NUMBER = r"(?<![#\w])(-?[0-9]+(?:\.[0-9]+)?)"  # in SVG text, colours and names left alone
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def uses(picture: Picture, name: str) -> list[tuple[float, float]]:
    """Where a symbol is used; names may go on, as in blue-20."""
    items = [item for item in (*picture.still, *picture.items) if isinstance(item, Use)]
    return [(item.x, item.y) for item in items if item.symbol.name.split("-")[0] == name or item.symbol.name == name]


def texts(picture: Picture) -> list[str]:
    return [item.text for item in (*picture.still, *picture.items) if isinstance(item, Text)]


def tiles_of(picture: Picture) -> tuple[list[tuple[float, float]], float]:
    """The middles of the tiles, from a1 on, and their size; from the picture alone."""
    corners = sorted(uses(picture, "tile"), key=lambda corner: (-corner[1], corner[0]))
    size = next(symbol for symbol in picture.symbols if symbol.name == "tile").shapes[0].w + 2
    return [(x + size / 2, y + size / 2) for x, y in corners], size


def gems_of(picture: Picture) -> dict[str, list[int]]:
    """The tiles that show a gem of each colour."""
    middles, _ = tiles_of(picture)
    return {
        colour: sorted(middles.index(place) for place in uses(picture, colour) if place in middles)
        for colour in ("yellow", "blue")
    }


def bits(board: int) -> list[int]:
    return [tile for tile in range(64) if int(board) >> tile & 1]


# --- kept pictures ------------------------------------------------------------------------------


def test_the_cases_are_each_edition_on_two_boards() -> None:
    assert {(case.game.rules, case.game.board) for case in CASES} == {
        (rules, board) for rules in EDITIONS for board in ((8, 8), (4, 4))
    }
    assert sorted(FOLDER.glob("*.png")) == sorted(case.path for case in CASES)
    assert sorted(FOLDER.glob("*.svg")) == sorted(case.svg for case in CASES)


def kept(path: Path) -> np.ndarray:
    with Image.open(path) as picture:
        return np.asarray(picture.convert("RGB")).astype(int)


@each_case
def test_the_picture_is_still_the_same(case: Case) -> None:
    """If it changed and should have: `make pictures`, and look at it."""
    drawn = to_rgb(case.picture(), WIDTH).astype(int)
    assert np.abs(drawn - kept(case.path)).max() <= TOLERANCE
    assert case.path.stat().st_size < 25_000


@each_case
def test_the_svg_is_still_the_same(case: Case) -> None:
    drawn, kept = (re.split(NUMBER, text) for text in (to_svg(case.picture()), case.svg.read_text("utf-8")))
    assert drawn[::2] == kept[::2]  # everything but numbers
    assert [float(number) for number in drawn[1::2]] == pytest.approx(list(map(float, kept[1::2])), abs=0.011)


@each_case
def test_the_comparison_notices_one_gem_and_one_mark(case: Case) -> None:
    before, after = case.rows()
    for other in (case.game.draw(before), case.game.draw(after)):
        assert np.abs(to_rgb(other, WIDTH).astype(int) - kept(case.path)).max() > 10 * TOLERANCE


# --- what is shown ------------------------------------------------------------------------------


@pytest.mark.parametrize("board", BOARDS, ids=str)
def test_every_board_size(board: tuple[int, int]) -> None:
    game = Mozaic("onyx", *board)
    for row in random_positions(game, 3)[::5]:
        picture = game.draw(row)
        middles, size = tiles_of(picture)
        assert len(set(middles)) == board[0] * board[1]
        assert gems_of(picture) == {"yellow": bits(row["gems"][0]), "blue": bits(row["gems"][1])}
        for x, y in middles:
            assert size / 2 <= x <= picture.width - size / 2
            assert size / 2 <= y <= picture.height - size / 2
        assert {"abcdefgh"[file] for file in range(board[1])} <= set(texts(picture))


def test_coordinates_stand_beside_their_tiles() -> None:
    picture = Mozaic("onyx", 3, 4).draw(Mozaic("onyx", 3, 4).rows(1)[0])
    middles, _ = tiles_of(picture)
    labels = {item.text: item for item in picture.still if isinstance(item, Text)}
    for tile, (x, y) in enumerate(middles):
        assert labels["abcd"[tile % 4]].x == x
        assert abs(labels[str(tile // 4 + 1)].y - y) < 8


@pytest.mark.parametrize("board", [(2, 2), (2, 8), (8, 2), (5, 6), (7, 8)], ids=str)
def test_pixels_at_any_board_size(board: tuple[int, int]) -> None:
    game = Mozaic("amethyst", *board)
    row = random_positions(game, 1, over=False)[-1]
    picture = game.draw(row)
    rgb = to_rgb(picture)
    assert (rgb.shape, rgb.dtype) == ((512, 512, 3), np.uint8)
    for tile, (x, y) in enumerate(tiles_of(picture)[0]):
        red, _, blue = rgb[int(y), int(x)].astype(int)
        expected = [tile in bits(row["gems"][0]), tile in bits(row["gems"][1])]
        assert [red > blue + 60, blue > red + 60] == expected


def test_whose_turn_the_hand_the_bag_and_the_score() -> None:
    game = Mozaic("onyx", 4, 4)
    picture = game.draw(game.parse_position("by2/4/4/4 b d 2 7,7,1,0,1,0 4-12")[0])
    assert {"blue to play", "diamond: remove", "in hand, first of two", "4", "12", "onyx"} <= set(texts(picture))
    assert uses(picture, "diamond")[0][1] < 72 < uses(picture, "diamond")[-1][1]  # in hand, and in the bag
    counts = [item.text for item in picture.items if isinstance(item, Text)][-6:]
    assert counts == ["7", "7", "1", "0", "1", "0"]
    assert len(uses(picture, "rung-0")) == 1
    assert len(uses(picture, "rung-1")) == 3
    assert "a draw" in texts(game.draw(game.parse_position("ybyb/byby/ybyb/byby - - 0 0,0,1,1,1,1 4-4")[0]))
    over = game.draw(game.parse_position("ybyb/byby/ybyb/byby - - 0 0,0,1,1,1,1 4-8")[0])
    assert "blue wins" in texts(over)
    assert not any("hand" in text for text in texts(over))
    assert "Mozaic, blue wins, yellow 4, blue 8" in to_svg(over)


def test_a_score_beyond_the_ladder_and_a_row_at_chance() -> None:
    game = Mozaic("onyx", 4, 4)
    row = game.parse_position("yyyy/yyyy/bbbb/bbb1 b b 1 0,0,1,1,1,1 400-999999996")[0]
    picture = game.draw(row)
    assert len(uses(picture, "rung-1")) == 64
    assert all(0 <= y <= 512 for _, y in uses(picture, "rung-1"))
    assert "999999996" in texts(picture)
    row = game.rows(1)[0]
    row["plays"], row["hand"] = 1, 6
    assert "yellow to draw" in texts(game.draw(row))


# --- what has changed ---------------------------------------------------------------------------


@each_case
def test_the_last_move_and_new_squares_are_marked(case: Case) -> None:
    before, after = case.rows()
    middles, size = tiles_of(case.picture())
    tiles = [middles.index((x + size / 2, y + size / 2)) for x, y in uses(case.picture(), "last-move")]
    named = {"d6": [43], "d3-c4": [19, 26], "xa4": [12], "c1": [2]}[case.action]
    assert tiles == named
    gone = [middles.index(place) for place in uses(case.picture(), "left")]
    assert gone == [tile for tile in named if tile not in bits(after["gems"][0] | after["gems"][1])]
    for colour in range(2):
        won = (int(after["score"][colour]) - int(before["score"][colour])) // 4
        assert len(uses(case.picture(), f"square-{colour}-new")) == won
        assert len(uses(case.picture(), f"rung-{colour}-new")) == won
    assert any(text.startswith(f"last move {case.action}") for text in texts(case.picture()))


@each_case
def test_without_the_row_before_nothing_is_marked(case: Case) -> None:
    _, after = case.rows()
    picture = case.game.draw(after)
    assert not any("new" in symbol.name or "move" in symbol.name for symbol in picture.symbols)
    named = case.game.draw(after, action=case.game.parse_action(case.action))
    assert uses(named, "last-move") == uses(case.picture(), "last-move")


@each_case
def test_the_row_before_says_it_without_the_action(case: Case) -> None:
    """As in a replay: the same tiles are marked, and the way of a slide."""
    before, after = case.rows()
    picture = case.game.draw(after, before, caption="7 of 9")
    assert sorted(uses(picture, "last-move")) == sorted(uses(case.picture(), "last-move"))
    assert [type(item) for item in picture.items] == [type(item) for item in case.picture().items]
    assert "7 of 9" in texts(picture)


def test_the_last_of_several_moves_stands_out() -> None:
    game = Mozaic("onyx", 2, 4)
    before = game.parse_position("4/4 y y 1 3,4,1,1,1,1 0-0")[0]
    after = game.parse_position("4/yb2 y y 1 2,3,1,1,1,1 0-0")[0]
    picture = game.draw(after, before, game.parse_action("b1"))
    middles, size = tiles_of(picture)
    for name, tile in (("last-move", 1), ("earlier-move", 0)):
        assert uses(picture, name) == [(middles[tile][0] - size / 2, middles[tile][1] - size / 2)]
    rgb, plain = to_rgb(picture).astype(int), to_rgb(game.draw(after)).astype(int)
    changed = np.abs(rgb - plain).max(axis=2)
    darkest = []
    for tile in range(3):
        x, y = (int(place - size / 2) for place in middles[tile])
        darkest.append(changed[y + 2 : y + int(size) - 2, x + 2 : x + int(size) - 2].max())
    assert darkest[1] > darkest[0] + 50
    assert darkest[0] > 30
    assert darkest[2] == 0


# --- without colours ----------------------------------------------------------------------------


def grey_tiles(board: tuple[int, int], width: int) -> list[np.ndarray]:
    """An empty tile, one with amber and one with cobalt, in grey (ITU-R BT.601)."""
    game = Mozaic("amethyst", *board)
    row = game.rows(1)[0]
    row["gems"] = [1, 2]
    row["plays"], row["hand"] = 1, 0
    picture = game.draw(row)
    grey = to_rgb(picture, width) @ [0.299, 0.587, 0.114]
    middles, size = tiles_of(picture)
    scale, half = width / picture.width, size / 2 - 2
    found = []
    for tile in (board[1], 0, 1):
        x, y = middles[tile]
        top, left = int((y - half) * scale), int((x - half) * scale)
        found.append(grey[top : top + int(2 * half * scale), left : left + int(2 * half * scale)])
    return found


@pytest.mark.parametrize("board", [(8, 8), (4, 4)], ids=str)
@pytest.mark.parametrize("width", [256, 512])
def test_in_grey_the_colours_differ_in_brightness_and_shape(board: tuple[int, int], width: int) -> None:
    empty, amber, cobalt = grey_tiles(board, width)
    paper = np.median(empty)
    shapes = [np.abs(gem - empty) > 12 for gem in (amber, cobalt)]
    brightness = [gem[shape].mean() for gem, shape in zip((amber, cobalt), shapes, strict=True)]
    assert brightness[0] > brightness[1] + 80
    assert paper > brightness[0] + 20  # amber differs from an empty tile as well
    # Amber is a disc: it fills pi/4 of the square around it. Cobalt, standing on its corner, fills half of it.
    filled = []
    for shape in shapes:
        rows, columns = np.flatnonzero(shape.any(axis=1)), np.flatnonzero(shape.any(axis=0))
        filled.append(shape.sum() / (np.ptp(rows) + 1) / (np.ptp(columns) + 1))
    assert filled[0] == pytest.approx(np.pi / 4, abs=0.07)
    assert filled[1] == pytest.approx(0.5, abs=0.1)


# How people without one kind of cones see linear RGB (G. M. Machado, M. M. Oliveira, L. A. F. Fernandes, A
# physiologically-based model for simulation of color vision deficiency, 2009; severity 1).
VISION = {
    "normal": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}
LUMINANCE = np.array([0.2126, 0.7152, 0.0722])  # of linear sRGB
CONTRAST = 3.0  # what graphics need to be told apart (WCAG 2.2, 1.4.11)


def contrast(one: np.ndarray, other: np.ndarray) -> float:
    """The contrast ratio of two colours in linear RGB (WCAG 2.2)."""
    low, high = sorted(float(np.clip(colour, 0, 1) @ LUMINANCE) for colour in (one, other))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("board", [(8, 8), (4, 4)], ids=str)
def test_gems_and_score_ladders_have_contrast_with_any_colour_vision(board: tuple[int, int], vision: str) -> None:
    game = Mozaic("amethyst", *board)
    row = game.rows(1)[0]
    row["gems"], row["score"], row["plays"], row["hand"] = [1, 2], [4, 4], 1, 0
    picture = game.draw(row)
    middles, size = tiles_of(picture)
    rungs = [uses(picture, f"rung-{colour}")[0] for colour in range(2)]
    pairs = {
        "gems": [(x - size / 6, y - size / 6, size / 3) for x, y in middles[:2]],
        "rungs": [(x + 6, y + 6, 10) for x, y in rungs],
    }
    srgb = to_rgb(picture) / 255.0
    linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4) @ np.array(VISION[vision]).T
    for name, places in pairs.items():
        colours = []
        for x, y, width in places:
            part = linear[int(y) : int(y + width), int(x) : int(x + width)]
            colours.append(part.reshape(-1, 3).mean(axis=0))
        assert contrast(*colours) > CONTRAST, name


# --- SVG ----------------------------------------------------------------------------------------


@each_case
def test_the_svg_has_the_same_gems(case: Case) -> None:
    picture = case.picture()
    root = ET.fromstring(to_svg(picture))
    names = [group.get("id") for group in root.iter(f"{SVG}g")]
    assert len(names) == len(set(names))
    places: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
    for use in root.iter(f"{SVG}use"):
        places[use.get("href", "").removeprefix("#")].append((float(use.get("x", "")), float(use.get("y", ""))))
    middles, _ = tiles_of(picture)
    _, after = case.rows()
    for colour, name in enumerate(("yellow", "blue")):
        shown = [place for key, found in places.items() if key.startswith(name) for place in found]
        assert sorted(middles.index(place) for place in shown if place in middles) == bits(after["gems"][colour])
    assert [text.text for text in root.iter(f"{SVG}text")] == [text or None for text in texts(picture)]


def test_boxes_of_the_still_part_do_not_depend_on_the_position() -> None:
    game = Mozaic("onyx", 4, 4)
    first, *_, last = random_positions(game, 1)
    assert game.draw(first).still is game.draw(last).still
    assert any(isinstance(item, Box) for item in game.draw(first).still)
