"""Charts: numbers where they belong, nothing that runs over, text that is text."""

from __future__ import annotations

import itertools
import re
import xml.etree.ElementTree as ET

import pytest

from mozaic_env.web.watch.charts import COLOURS, HEIGHT, SMALL, WIDTH, Line, Mark, chart, ladder, number, ticks

LINE = Line("one", [(0.0, 10.0), (50.0, 30.0), (100.0, 20.0)])


def drawn(svg: str) -> ET.Element:
    return ET.fromstring(svg)


def of(root: ET.Element, kind: str) -> list[ET.Element]:
    return [element for element in root.iter() if kind in element.get("class", "").split()]


def way(element: ET.Element) -> list[tuple[float, float]]:
    pairs = re.findall(r"(-?[\d.]+) (-?[\d.]+)", element.get("d", ""))
    return [(float(x), float(y)) for x, y in pairs]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"), (7, "7"), (-3.25, "-3.25"), (999.4, "999"), (999.6, "1k"), (12345, "12.3k"), (999_600, "1M"),
        (1_234_567, "1.23M"), (2.5e9, "2.5G"), (0.00031, "0.00031"), (1e-7, "1e-07"),
    ],
)  # fmt: skip
def test_numbers_are_short(value: float, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize(
    ("low", "high"), [(0, 1), (0, 100), (-3, 8), (0.0313, 0.0382), (1e6, 1.1e6), (-1e-6, 1e-6), (5, 5.0001)]
)
def test_ticks_are_round_inside_and_neither_few_nor_many(low: float, high: float) -> None:
    for about in (3, 4, 5):
        found = ticks(low, high, about)
        assert 1 <= len(found) <= 2 * about + 1
        assert all(low - 1e-9 <= value <= high + 1e-9 for value in found)
        steps = {round(after - before, 12) for before, after in itertools.pairwise(found)}
        assert len(steps) <= 1
        assert all(f"{step:.1e}"[:3] in ("1.0", "2.0", "2.5", "5.0") for step in steps)


def test_ends_are_ticks_where_they_are_round() -> None:
    assert ticks(0, 100, 4) == [0, 25, 50, 75, 100]
    assert ticks(-1, 1, 4) == [-1, -0.5, 0, 0.5, 1]


def test_a_curve_is_where_its_numbers_are() -> None:
    root = drawn(chart([LINE], "A title", x_name="steps", y_range=(0, 40)))
    assert root.get("aria-label") == "A title"
    (curve,) = of(root, "curve")
    places = way(curve)
    xs, ys = zip(*places)
    assert xs[1] - xs[0] == pytest.approx(xs[2] - xs[1], abs=0.2)
    ticks_at = {
        text.text: float(text.get("y", "")) - 4 for text in of(root, "small") if text.get("text-anchor") == "end"
    }
    for (_, value), y in zip(LINE.points, ys):
        assert y == pytest.approx(ticks_at[number(value)], abs=0.2)  # 10, 20 and 30 are ticks
    assert [text.text for text in of(root, "small")][-1] == "steps"
    assert not of(root, "name")  # one curve needs none


def test_everything_is_inside_the_picture() -> None:
    lines = [Line(f"line {k}", [(x, 50 + k * 0.01 * x) for x in range(0, 1000, 100)], dots=True) for k in range(12)]
    root = drawn(chart(lines, "many", x_name="x", unit="%", y_range=(0, 100), level=50, marks=[(500, "half")]))
    for element in root.iter():
        for x, y in way(element):
            assert 0 <= x <= WIDTH
            assert 0 <= y <= HEIGHT
    names = sorted(float(name.get("y", "")) for name in of(root, "name"))
    assert len(names) == 12
    assert all(after - before > 9 for before, after in itertools.pairwise(names))
    assert names[-1] <= HEIGHT
    assert {f"c{k % COLOURS}" for k in range(12)} == {
        word for name in of(root, "name") for word in name.get("class", "").split() if word != "name"
    }


def test_bands_go_around_their_curve_and_are_cut_at_the_edge() -> None:
    line = Line("x", [(0, 90.0), (10, 95.0)], [(80.0, 98.0), (85.0, 120.0)])
    root = drawn(chart([line], "t", x_name="x", y_range=(0, 100)))
    (band,) = of(root, "band")
    top = min(y for _, y in way(band))
    (curve,) = of(root, "curve")
    low = sorted(y for _, y in way(band))
    assert top == pytest.approx(14, abs=0.1)
    assert low[-1] > max(y for _, y in way(curve)) > min(y for _, y in way(curve)) > top


@pytest.mark.parametrize("value", [0.0, 5.0, -2.0, 1e-9])
@pytest.mark.parametrize("points", [1, 3])
def test_numbers_that_do_not_change_and_a_single_one(value: float, points: int) -> None:
    line = Line("flat", [(float(x), value) for x in range(points)], [(value, value)] * points)
    root = drawn(chart([line], "t", x_name="x", size=SMALL))
    for curve in of(root, "curve"):
        assert all(0 <= x <= SMALL[0] and 0 <= y <= SMALL[1] for x, y in way(curve))
    assert bool(of(root, "point")) == (points == 1)  # a line of one point would not show


def test_nothing_to_show_is_said() -> None:
    assert "Nothing yet" in chart([], "t", x_name="x")
    assert "Nothing yet" in chart([Line("empty", [])], "t", x_name="x")
    assert "Nothing yet" in ladder([], "t", x_name="x", x_range=(0, 1), level=0)
    root = drawn(chart([LINE, Line("empty", [])], "t", x_name="x"))
    assert len(of(root, "curve")) == 1


def test_what_the_curves_are_is_told_where_the_pointer_rests() -> None:
    line = Line("against pattern", LINE.points, [(5.0, 15.0), (25.0, 35.0), (18.0, 22.0)])
    root = drawn(chart([line], "t", x_name="decisions", unit="%"))
    told = [slice_[0].text for slice_ in of(root, "slice")]
    assert len(told) == 3
    assert told[-1] == "100 decisions\nagainst pattern 20% [18, 22]"
    assert told[0].endswith("against pattern 10% [5, 15]")


def test_names_are_text_whatever_they_are() -> None:
    name = '<script>alert("1")</script> & more'
    line = Line(name, LINE.points)
    for svg in (
        chart([line, LINE], name, x_name=name, unit="<", marks=[(50, name)]),
        ladder([Mark(name, 0.5, (0.4, 0.6), name)], name, x_name=name, x_range=(0, 1), level=0.5),
    ):
        assert "<script" not in svg
        assert drawn(svg).get("aria-label") == name


def test_a_ladder() -> None:
    marks = [Mark("against pattern", 40, (35, 45), "40.0%"), Mark("against random", 97, (94, 103), "97.0%")]
    root = drawn(ladder(marks, "t", x_name="points, %", x_range=(0, 100), level=50))
    dots = [(float(dot.get("cx", "")), float(dot.get("cy", ""))) for dot in of(root, "dot")]
    assert dots[0][0] < dots[1][0]
    assert dots[0][1] < dots[1][1]
    (level,) = of(root, "level")
    assert dots[0][0] < way(level)[0][0] < dots[1][0]
    for dot, interval in zip(dots, of(root, "interval")):
        (low, y), (high, _) = way(interval)
        assert low < dot[0] < high
        assert y == dot[1]
    assert [text.text for text in of(root, "value")] == ["40.0%", "97.0%"]
    assert max(way(of(root, "interval")[1]))[0] <= WIDTH
