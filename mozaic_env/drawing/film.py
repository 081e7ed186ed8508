"""The pictures of a game record: as an animated GIF, or as numbered PNG or SVG files."""

import dataclasses
import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mozaic_env.core.game import Game
from mozaic_env.core.record import Record
from mozaic_env.core.storage.files import write_bytes
from mozaic_env.core.storage.outputs import make_output_folder
from mozaic_env.drawing.picture import Box, Picture, Shape, Text, to_svg
from mozaic_env.drawing.raster import text_width, to_rgb

FRAME_MS, LAST_FRAME_MS = 700, 4000
STRIP = 0.055  # height of the strip with the players' names, as a part of the width
STRIP_COLOUR, NAME_COLOUR = "#2c3138", "#f4f1ea"
MOST_FRAMES = 2000  # of a GIF; each takes 0.26 MB of memory until all are written


def pictures(game: Game, record: Record) -> list[Picture]:
    """A picture after each word of a record: what the word has changed is marked, players are named where known.

    Raises:
        ValueError: the record is wrong, or has no words.
    """
    if not record.words:
        raise ValueError("the record has no words, so there is nothing to draw")
    players = [f"{seat}: {record.header[seat]}" for seat in game.seat_names if seat in record.header]
    drawn, before = [], None
    for number, (word, row) in enumerate(game.replay(record), 1):
        picture = game.draw(row, before, caption=f"{number} of {len(record.words)}:  {word}")
        drawn.append(with_names(picture, players))
        before = row
    return drawn


def with_names(picture: Picture, names: Sequence[str]) -> Picture:
    """The picture with a strip below it that says who plays; the picture itself where nobody is known."""
    if not names:
        return picture
    height, room = picture.width * STRIP, picture.width / len(names)
    size = height * 0.52
    strip: list[Shape] = [Box(0, picture.height, picture.width, height, fill=STRIP_COLOUR)]
    for number, name in enumerate(names):
        middle, line = (number + 0.5) * room, picture.height + height * 0.68
        strip.append(Text(middle, line, _fitting(name, size, room * 0.92), size, "middle", fill=NAME_COLOUR))
    return dataclasses.replace(picture, height=picture.height + height, still=(*picture.still, *strip))


def _fitting(name: str, size: float, room: float) -> str:
    """The name, its middle left out where it is too long."""
    short = name
    while text_width(short, size) > room and len(name) > 8:
        name = name[: len(name) // 2] + name[len(name) // 2 + 1 :]
        short = f"{name[: len(name) // 2]}...{name[len(name) // 2 :]}"
    return short


def check_gif_name(path: str | Path) -> None:
    """ValueError if a film cannot have that name; a device or a pipe may be called what it likes."""
    path = Path(path)
    if path.suffix.lower() != ".gif" and not (path.exists() and not path.is_file()):
        raise ValueError(f"--gif {path}; accepted: a name that ends in .gif; --png and --svg write single pictures")


def write_gif(path: str | Path, shown: Sequence[Picture]) -> None:
    """Writes pictures of one size as an animated GIF, atomically.

    Raises:
        ValueError: there are none, or too many.
    """
    from PIL import Image

    if not 0 < len(shown) <= MOST_FRAMES:
        raise ValueError(f"{len(shown)} pictures; accepted for a GIF: 1 to {MOST_FRAMES}")
    # One palette for all frames, from a few of them: colours do not flicker.
    few = [to_rgb(picture) for picture in (*shown[:: -(-len(shown) // 8)], shown[-1])]
    palette = Image.fromarray(np.concatenate(few)).quantize(255, dither=Image.Dither.NONE)
    frames = [Image.fromarray(to_rgb(picture)).quantize(palette=palette, dither=Image.Dither.NONE) for picture in shown]
    durations = [FRAME_MS] * (len(frames) - 1) + [LAST_FRAME_MS]
    content = io.BytesIO()
    frames[0].save(content, "GIF", save_all=True, append_images=frames[1:], duration=durations, loop=0)
    write_bytes(path, content.getvalue())


def write_stills(folder: str | Path, shown: Sequence[Picture], kind: str) -> None:
    """Writes a numbered file for each picture, each atomically; other files in the folder stay.

    Args:
        folder: made if it is missing.
        shown: the pictures.
        kind: "png" or "svg".

    Raises:
        ValueError: the folder cannot be written, or there is no such kind.
    """
    paints = {"png": _png, "svg": _svg}
    if kind not in paints:
        raise ValueError(f"kind={kind!r}; accepted: {', '.join(paints)}")
    folder = make_output_folder(folder)
    for number, picture in enumerate(shown, 1):
        write_bytes(folder / f"{number:04}.{kind}", paints[kind](picture))


def _svg(picture: Picture) -> bytes:
    return to_svg(picture).encode()


def _png(picture: Picture) -> bytes:
    from PIL import Image

    content = io.BytesIO()
    Image.fromarray(to_rgb(picture)).save(content, "PNG", optimize=True)
    return content.getvalue()
