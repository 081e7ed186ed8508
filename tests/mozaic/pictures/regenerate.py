"""Writes the kept pictures anew, those of the documentation too: ``python -m tests.mozaic.pictures.regenerate``.

Look at them before they are committed.
"""

from __future__ import annotations

import os
from pathlib import Path

from PIL import Image

from mozaic_env.core.raster import to_rgb
from tests.mozaic.pictures.cases import CASES, FOLDER, WIDTH

DOCS = FOLDER.parents[2] / "docs" / "pictures"
SHOWN = {"board.png": CASES[0], "board-onyx.png": CASES[1]}


def write(path: Path, image: Image.Image) -> None:
    temporary = path.with_suffix(".tmp")
    image.save(temporary, "PNG", optimize=True)
    os.replace(temporary, path)
    print(f"wrote {path.relative_to(FOLDER.parents[2])}, {path.stat().st_size:,} bytes")


def main() -> None:
    for case in CASES:
        write(case.path, Image.fromarray(to_rgb(case.picture(), WIDTH)))
    DOCS.mkdir(exist_ok=True)
    for name, case in SHOWN.items():
        image = Image.fromarray(to_rgb(case.picture()))
        write(DOCS / name, image.quantize(192, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE))
    for path in FOLDER.glob("*.png"):
        if path not in {case.path for case in CASES}:
            print(f"{path.name} belongs to no case; remove it")


if __name__ == "__main__":
    main()
