"""Writes the pictures of Mosaic Chess's documentation anew: ``python -m tests.games.mosaic_chess.regenerate``."""

from __future__ import annotations

import os

from mozaic_env.drawing.picture import to_svg
from mozaic_env.games.mosaic_chess import diagrams
from tests.games.mosaic_chess.test_pictures import FOLDER


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, picture in diagrams.pictures().items():
        path = FOLDER / f"{name}.svg"
        temporary = path.with_suffix(".tmp")
        temporary.write_text(to_svg(picture), encoding="utf-8", newline="\n")
        os.replace(temporary, path)


if __name__ == "__main__":
    main()
