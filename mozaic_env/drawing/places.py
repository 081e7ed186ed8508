"""Where on its picture a game is played: what can be pointed at, in the picture's units."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Place:
    """An upright rectangle of a picture that can be pointed at.

    Attributes:
        name: a word, unique within a picture, such as ``d4``.
        x: of the left edge, in units of the picture.
        y: of the upper edge.
        w: width.
        h: height.
        holds: what is there, in words, for those who can't see it; "" for nothing.
    """

    name: str
    x: float
    y: float
    w: float
    h: float
    holds: str = ""
