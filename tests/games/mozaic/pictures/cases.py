"""The kept pictures: for each edition on two boards, a position before and after an action."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from mozaic_env.drawing.picture import Picture
from mozaic_env.games.mozaic.game import Mozaic

FOLDER = Path(__file__).parent
WIDTH = 256  # pixels


class Case(NamedTuple):
    name: str
    game: Mozaic
    before: str
    action: str
    after: str

    def rows(self) -> tuple[np.void, np.void]:
        """The row before and the row after."""
        return self.game.parse_position(self.before)[0], self.game.parse_position(self.after)[0]

    def picture(self) -> Picture:
        before, after = self.rows()
        return self.game.draw(after, before, self.game.parse_action(self.action))

    @property
    def path(self) -> Path:
        return FOLDER / f"{self.name}.png"

    @property
    def svg(self) -> Path:
        return FOLDER / f"{self.name}.svg"


CASES = [
    Case(
        "amethyst-8x8-two-squares",
        Mozaic("amethyst"),
        "1yybyyyy/2yyyybb/bby1yb1b/2by1yby/1y1b1y2/1ybbbb2/ybbbb1y1/2bb1bb1 y y 1 11,10,1,1,1,1 4-12",
        "d6",
        "1yybyyyy/2yyyybb/bbyyyb1b/2by1yby/1y1b1y2/1ybbbb2/ybbbb1y1/2bb1bb1 b y 1 10,10,1,1,1,1 12-12",
    ),
    Case(
        "onyx-8x8-slide",
        Mozaic("onyx"),
        "bb5y/by1yybyb/1yyy1by1/yyy1b1by/1b1b1b2/1bbbb1y1/yy1ybbb1/2ybb2b y e 1 14,11,0,1,1,1 4-0",
        "d3-c4",
        "bb5y/by1yybyb/1yyy1by1/yyy1b1by/1bbb1b2/1bb1b1y1/yy1ybbb1/2ybb2b b b 1 14,10,1,1,1,1 4-4",
    ),
    Case(
        "amethyst-4x4-removal",
        Mozaic("amethyst", 4, 4),
        "yby1/3b/1y2/y1yy y d 1 2,6,1,0,1,1 0-0",
        "xa4",
        "1by1/3b/1y2/y1yy b b 2 3,5,1,1,1,0 0-0",
    ),
    Case(
        "onyx-4x4-end",
        Mozaic("onyx", 4, 4),
        "byyy/yyyb/bybb/by1b b b 1 0,0,1,1,1,1 4-0",
        "c1",
        "byyy/yyyb/bybb/bybb - - 0 0,0,1,1,1,1 4-4",
    ),
]
