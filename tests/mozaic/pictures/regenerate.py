"""Writes the kept pictures anew: ``python -m tests.mozaic.pictures.regenerate``.

Look at them before they are committed.
"""

from __future__ import annotations

import os

from PIL import Image

from mozaic_env.core.raster import to_rgb
from tests.mozaic.pictures.cases import CASES, FOLDER, WIDTH


def main() -> None:
    for case in CASES:
        temporary = case.path.with_suffix(".tmp")
        Image.fromarray(to_rgb(case.picture(), WIDTH)).save(temporary, "PNG", optimize=True)
        os.replace(temporary, case.path)
        print(f"wrote {case.path.name}, {case.path.stat().st_size:,} bytes")
    for path in FOLDER.glob("*.png"):
        if path not in {case.path for case in CASES}:
            print(f"{path.name} belongs to no case; remove it")


if __name__ == "__main__":
    main()
