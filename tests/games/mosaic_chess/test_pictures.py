"""The pictures of the documentation are those that the piece table gives today."""

from __future__ import annotations

from pathlib import Path

import pytest

from mozaic_env.drawing.picture import to_svg
from mozaic_env.games.mosaic_chess import diagrams
from mozaic_env.games.mosaic_chess.pieces import LETTERS
from mozaic_env.games.mosaic_chess.tables import SQUARES

FOLDER = Path(__file__).resolve().parents[3] / "docs" / "pictures" / "chess"


@pytest.mark.parametrize("name", diagrams.pictures())
def test_pictures_are_up_to_date(name: str) -> None:
    """If one changed and should have: ``python -m tests.games.mosaic_chess.regenerate``."""
    assert (FOLDER / f"{name}.svg").read_text(encoding="utf-8") == to_svg(diagrams.pictures()[name])


def test_there_are_no_others() -> None:
    assert {path.stem for path in FOLDER.glob("*.svg")} == set(diagrams.pictures())


def test_they_show_the_moves() -> None:
    counts = {"N": 12, "Y": 40, "U": 36, "K": 8, "C": 4, "P": 4}
    for letter, count in counts.items():
        svg = to_svg(diagrams.moves_picture(LETTERS.index(letter)))
        assert svg.count('href="#target"') + svg.count('href="#target-taken"') == count
        assert svg.count('href="#light"') + svg.count('href="#dark"') == SQUARES
