"""A game record to look at, position by position."""

import numpy as np

from mozaic_env.core import contract as on
from mozaic_env.core.contract import OVER
from mozaic_env.core.record import parse_record
from mozaic_env.core.text.files import clean
from mozaic_env.games import game_of_record
from mozaic_env.web.play.play import leads

MOST_WORDS = 4000


class Replay:
    """The positions of a record; `positions[k]` is the game after `words[k]`, `leads[k]` how far each seat leads."""

    def __init__(self, text: str, name: str) -> None:
        """Reads and checks a record.

        Args:
            text: one line; more than one, and the first is taken.
            name: of the game that it has to be of; its options may be any.

        Raises:
            ValueError: it is no record of this game, or a wrong one.
        """
        lines = [line for line in clean(text).splitlines() if line.strip()]
        if not lines:
            raise ValueError("the file holds no record")
        record = parse_record(lines[0])
        if not 0 < len(record.words) <= MOST_WORDS:
            raise ValueError(f"the record has {len(record.words)} words; accepted: 1 to {MOST_WORDS}")
        self.game = game_of_record(record)
        if self.game.name != name:
            raise ValueError(f"the record is of {self.game.name}; this page plays {name}")
        self.header = dict(record.header)
        self.words: list[str] = []
        self.positions: list[np.void] = []
        self.leads: list[list[float]] = []
        for word, row in self.game.replay(record):
            self.words.append(word)
            self.positions.append(row)
            self.leads.append(leads(self.game, row))

    def is_over(self, at: int) -> bool:
        """Whether the game has ended by its rules at a position."""
        return bool(on.mover(self.positions[at]) == OVER)
