"""What perfect play thinks of every tile, drawn on the board: its first moves, two beside each other.

python -m benchmarks.exact_pictures --moves 4 --seed 3 --png docs/pictures/exact-moves.png
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from PIL import Image

from mozaic_env.core import contract as kernels
from mozaic_env.core.exact import ExactValues, require_exact_values
from mozaic_env.core.game import Game
from mozaic_env.drawing.picture import Picture, Text
from mozaic_env.drawing.raster import to_rgb
from mozaic_env.games import make_game

BEST, OTHER = "#0b6e4f", "#6d675f"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.exact_pictures", description="Draws perfect play.")
    parser.add_argument("--rules", default="amethyst")
    parser.add_argument("--rows", type=int, default=4, metavar="N")
    parser.add_argument("--cols", type=int, default=4, metavar="N")
    parser.add_argument("--moves", type=int, default=4, metavar="N", help="how many to draw; default: %(default)s")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="of the luck; default: %(default)s")
    parser.add_argument("--position", help="draw this position alone")
    parser.add_argument("--png", type=Path, default=Path("build/exact.png"), help="where to; default: %(default)s")
    given = parser.parse_args(arguments)
    try:
        game = make_game("mozaic", rules=given.rules, rows=given.rows, cols=given.cols)
        values = require_exact_values(game)
        row = game.rows(1) if given.position is None else game.parse_position(given.position)
        row["key"] = given.seed
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if given.position is None:
        kernels.setup(row[0])
    shown = []
    for _ in range(1 if given.position else given.moves):
        kernels.deal(row[0])
        shown.append(to_rgb(with_values(game, row[0], values)))
        kernels.apply(row[0], int(np.nanargmax(values.action_values(row)[0])))
    shown += [np.full_like(shown[0], 255)] * (len(shown) > 1 and len(shown) % 2)
    lines = [np.concatenate(shown[place : place + 2], axis=1) for place in range(0, len(shown), 2)]
    Image.fromarray(np.concatenate(lines)).quantize(64).save(given.png, optimize=True)
    print(given.png)
    return 0


def with_values(game: Game, row: np.void, values: ExactValues) -> Picture:
    """The picture of a decision: on each place the value of the best action, or how far behind it another one is.

    Actions that are more than one click are left out.
    """
    worth = values.action_values(row.reshape(1))[0]
    best, places = float(np.nanmax(worth)), {place.name: place for place in game.places(row)}
    texts = []
    for action in np.flatnonzero(np.isfinite(worth)):
        clicks = game.clicks(row, int(action))
        if len(clicks) != 1:
            continue
        place, behind = places[clicks[0]], best - worth[action]
        is_best = behind <= 2 * values.residual + 1e-9
        text = f"{best:+.2f}" if is_best else f"-{behind:.2f}"
        texts.append(
            Text(
                place.x + place.w / 2,
                place.y + place.h / 2 + 7,
                text,
                20,
                "middle",
                is_best,
                fill=BEST if is_best else OTHER,
            )
        )
    seat = game.seat_names[kernels.mover(row)]
    caption = f"{seat} to play: {best:+.2f} {game.margin_unit} still to come"
    picture = game.draw(row, caption=caption)
    return replace(picture, items=(*picture.items, *texts))


if __name__ == "__main__":
    sys.exit(main())
