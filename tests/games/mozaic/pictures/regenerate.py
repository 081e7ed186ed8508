"""Writes the kept pictures anew, those of the documentation too: ``make pictures``, which runs this module.

Look at them before they are committed.
"""

from __future__ import annotations

import os
from pathlib import Path

from PIL import Image

from mozaic_env.drawing.picture import to_svg
from mozaic_env.drawing.raster import to_rgb
from mozaic_env.games import make_game
from tests.games.mozaic.pictures.cases import CASES, FOLDER, WIDTH

DOCS = FOLDER.parents[2] / "docs" / "pictures"
SHOWN = {"board.png": CASES[0], "board-onyx.png": CASES[1]}
OTHERS = {  # of the other games: game, options, position
    "crystal-mosaic.png": (
        "crystal_mosaic",
        {"players": 3, "board": "side2"},
        "4 2 2 KWWW/BYYW/-/-/-/-/- BBBBBBYYYWWWW 2,8,5,12,4 0,0,0,0,0 32:B/-/-/RRRR/WW:YWR../WBK../BYW../..Y../.....:- "
        "35:K/RR/-/-/RR:BYW../YBK../WR.../RK.../K....:* 17:Y/-/RRR/-/BBB:W..BK/B.K.R/....B/....Y/.....:-",
    ),
    "mosaic-chess.png": (
        "mosaic_chess",
        {},
        "d1uzoqkozuld/r1nbayy1bnmr/2egscc1geix/pli6ppp/1px2s6/3ZppX1p3/2Pp8/P2P4P3/5PPP1PPP/1UEGSCCSGEI1/RMNBAYYABNMR/"
        "DL2OQKOZULD w - 2 21",
    ),
}


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
    for name, (game_name, options, position) in OTHERS.items():
        game = make_game(game_name, **options)
        write(DOCS / name, Image.fromarray(to_rgb(game.draw(game.parse_position(position)[0]))))
    for path in (*FOLDER.glob("*.png"), *FOLDER.glob("*.svg")):
        if path.stem not in {case.name for case in CASES}:
            print(f"{path.name} belongs to no case; remove it")


if __name__ == "__main__":
    main()
