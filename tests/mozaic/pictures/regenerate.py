"""Writes the kept pictures anew, those of the documentation too: ``make pictures``, which runs this module.

Look at them before they are committed.
"""

from __future__ import annotations

import os
from pathlib import Path

from PIL import Image

from mozaic_env.core.picture import to_svg
from mozaic_env.core.raster import to_rgb
from tests.mozaic.pictures.cases import CASES, FOLDER, WIDTH

DOCS = FOLDER.parents[2] / "docs" / "pictures"
SHOWN = {"board.png": CASES[0], "board-onyx.png": CASES[1]}


def write(path: Path, image: Image.Image) -> None:
    temporary = path.with_suffix(".tmp")
    image.save(temporary, "PNG", optimize=True)
    os.replace(temporary, path)
    print(f"wrote {path.relative_to(FOLDER.parents[2])}, {path.stat().st_size:,} bytes")


def write_atomically(path: Path, text: str) -> None:
    temporary = path.with_suffix(".tmp")
    temporary.write_text(text, "utf-8", newline="\n")
    os.replace(temporary, path)


def main() -> None:
    for case in CASES:
        write(case.path, Image.fromarray(to_rgb(case.picture(), WIDTH)))
        write_atomically(case.svg, to_svg(case.picture()))
    DOCS.mkdir(exist_ok=True)
    for name, case in SHOWN.items():
        write(DOCS / name, Image.fromarray(to_rgb(case.picture())))
    for path in (*FOLDER.glob("*.png"), *FOLDER.glob("*.svg")):
        if path.stem not in {case.name for case in CASES}:
            print(f"{path.name} belongs to no case; remove it")


if __name__ == "__main__":
    main()
