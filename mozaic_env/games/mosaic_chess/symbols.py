"""The things that pictures of Mosaic Chess show: pieces and marks, as symbols in units of the picture.

A piece is a shape with its letter. The shape says how it moves: pawns and generals point ahead, leapers are round,
sliders have four sides, cannons eight, bent sliders six. White is light with dark letters, Black the other way round.
"""

import functools
import math

from mozaic_env.drawing.picture import Box, Disc, Line, Point, Polygon, Shape, Symbol
from mozaic_env.games.mosaic_chess.pieces import KING, PIECES, Piece

INK = "#2c3138"
MUTED = "#7d786d"
PAPER = "#f4f1ea"
LIGHT, DARK, FRAME = "#eadfc9", "#c9b594", "#8d7b5c"
MARK, TARGET, DANGER = "#5b8c5a", "#3f7d4e", "#c5402f"
FILLS = ("#fffdf6", "#33363c")  # White, Black
EDGES = ("#33363c", "#0e0f11")
LETTERS = ("#23262b", "#f6f1e4")
REACH = 0.44  # of a piece, in tiles


def ring(corners: int, radius: float, turn: float = 0.0) -> tuple[Point, ...]:
    """The corners of a regular polygon, the first at `turn` (in parts of a full turn) from the right."""
    angles = [2 * math.pi * (turn + corner / corners) for corner in range(corners)]
    return tuple((radius * math.cos(angle), radius * math.sin(angle)) for angle in angles)


def _pointed(radius: float, ahead: int) -> tuple[Point, ...]:
    """Five corners, one of them ahead: y goes down in pictures."""
    corners = ((0.0, 1.0), (0.86, 0.42), (0.72, -0.86), (-0.72, -0.86), (-0.86, 0.42))
    return tuple((x * radius, -ahead * y * radius) for x, y in corners)


def _outline(piece: Piece, radius: float, ahead: int) -> tuple[Point, ...] | None:
    """The corners of a piece's shape; None: it is round."""
    if piece is PIECES[KING]:
        return tuple(point for pair in zip(ring(8, radius, 1 / 16), ring(8, 0.8 * radius, 1 / 8)) for point in pair)
    if piece.slides and piece.hops:
        return ring(8, radius, 0)
    if piece.hops:
        return ring(8, radius, 1 / 16)
    if piece.slides:
        straight = (1, 0) in piece.slides
        return ring(4, radius * (1.16 if straight else 1.1), 1 / 8 if straight else 0)
    if piece.bent:
        return ring(6, radius * 1.02, 1 / 12)
    if any(max(abs(dx), abs(dy)) > 1 for dx, dy in piece.leaps):
        return None
    return _pointed(radius, ahead)


@functools.cache
def piece(kind: int, side: int, size: float) -> Symbol:
    """A piece without its letter, around the middle of its tile."""
    radius, line = REACH * size, size * 0.045
    outline = _outline(PIECES[kind], radius, -1 if side else 1)
    fill, edge = FILLS[side], EDGES[side]
    shapes: list[Shape]
    if outline is None:
        shapes = [Disc(0, 0, radius * 0.95, fill=fill, stroke=edge, width=line)]
    else:
        shapes = [Polygon(outline, fill=fill, stroke=edge, width=line)]
    return Symbol(f"{'black' if side else 'white'}-{PIECES[kind].letter}", tuple(shapes))


@functools.cache
def tile(size: float, dark: bool) -> Symbol:
    """A square, from its upper left corner."""
    return Symbol("dark" if dark else "light", (Box(0, 0, size, size, 0, fill=DARK if dark else LIGHT),))


@functools.cache
def frame(size: float, strong: bool) -> Symbol:
    """The mark of a square where something has just happened, from its upper left corner."""
    box = Box(1.5, 1.5, size - 3, size - 3, size * 0.08, stroke=MARK, width=3, opacity=1.0 if strong else 0.5)
    return Symbol("last-move" if strong else "earlier-move", (box,))


@functools.cache
def chosen(size: float) -> Symbol:
    """The mark of the chosen piece's square, from its upper left corner."""
    return Symbol("chosen", (Box(0, 0, size, size, 0, fill=TARGET, opacity=0.55),))


@functools.cache
def target(size: float, taken: bool) -> Symbol:
    """The mark of a square that the chosen piece can go to, around its middle: a ring where it takes."""
    if taken:
        return Symbol("target-taken", (Disc(0, 0, size * 0.46, stroke=TARGET, width=size * 0.09, opacity=0.9),))
    return Symbol("target", (Disc(0, 0, size * 0.15, fill=TARGET, opacity=0.75),))


@functools.cache
def danger(size: float) -> Symbol:
    """The mark of an attacked king's square, from its upper left corner."""
    return Symbol("check", (Box(0, 0, size, size, 0, fill=DANGER, opacity=0.6),))


@functools.cache
def stop(size: float) -> Symbol:
    """A cross, around its middle."""
    arm = size * 0.16
    lines = (((-arm, -arm), (arm, arm)), ((-arm, arm), (arm, -arm)))
    return Symbol("stop", tuple(Line(points, stroke=INK, width=size * 0.06, opacity=0.7) for points in lines))
