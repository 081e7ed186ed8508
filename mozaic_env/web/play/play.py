"""One game in progress: all its positions so far, to take decisions back, look back, and write the record."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mozaic_env.core import contract as on
from mozaic_env.core.contract import CHANCE, OVER
from mozaic_env.core.game import Game
from mozaic_env.core.record import Record
from mozaic_env.core.stream import keys_from_seeds

HUMAN = "human"  # who decides where no agent does


class IllegalMove(ValueError):
    """The action cannot be taken here."""


@dataclass(frozen=True)
class Step:
    """A decision.

    Attributes:
        seat: that decided.
        by: what decided for it: `HUMAN` or an agent's name.
        action: its id.
        notation: the same as notation.
        told: the same in plain words.
    """

    seat: int
    by: str
    action: int
    notation: str
    told: str


class Play:
    """A game whose chance is its seed's, whatever is undone and played anew.

    `positions[k]` is the game after k decisions, at the next decision or the end; `drawn[k]` tells what chance did just
    before, `leads[k]` how far each seat leads then; `steps[k]` is the decision between it and `positions[k + 1]`.
    """

    def __init__(self, game: Game, seed: int, seats: Sequence[str], start: np.void | None = None) -> None:
        """Begins a game.

        Args:
            game: what is played.
            seed: of its chance, not negative.
            seats: who decides for each, `HUMAN` or an agent's name.
            start: where to begin, in place of the game's beginning; its chance will be the seed's.
        """
        first = game.rows(1)
        if start is not None:
            first[0] = start
            first["draws"] = first["decisions"] = 0
        first["key"] = keys_from_seeds([seed])
        if start is None:
            on.setup(first[0])
        self.game, self.seed, self.seats = game, seed, tuple(seats)
        self._start: np.void = first[0].copy()
        self.positions: list[np.void] = []
        self.drawn: list[tuple[str, ...]] = []
        self.leads: list[list[float]] = []
        self.steps: list[Step] = []
        self._deal(self._start.copy())

    def _deal(self, row: np.void) -> None:
        """Lets chance happen, and keeps what it did and where it led."""
        told = []
        while on.mover(row) == CHANCE:
            code = int(on.sample(row))
            told.append(self.game.tell_outcome(row, code))
            on.resolve(row, code)
        self.positions.append(row)
        self.drawn.append(tuple(told))
        self.leads.append(leads(self.game, row))

    @property
    def now(self) -> np.void:
        """Where the game stands."""
        return self.positions[-1]

    @property
    def over(self) -> bool:
        """Whether the game has ended by its rules."""
        return bool(on.mover(self.now) == OVER)

    @property
    def stopped(self) -> bool:
        """Whether the game has reached the limit on its decisions."""
        return not self.over and len(self.steps) >= self.game.max_decisions

    @property
    def mover(self) -> int | None:
        """The player to move, if any."""
        return None if self.over or self.stopped else int(on.mover(self.now))

    def play(self, action: int, by: str) -> None:
        """Takes an action for the player to move.

        Raises:
            IllegalMove: the game is over, or the action is illegal; the game is as it was.
        """
        seat = self.mover
        if seat is None:
            raise IllegalMove("the game is over" if self.over else "the game has reached its limit of decisions")
        if not 0 <= action < self.game.num_actions or not legal_mask(self.game, self.now)[action]:
            raise IllegalMove(f"{self._notation(action)} is not possible here")
        row = self.now.copy()
        told = self.game.tell_action(row, action)
        on.apply(row, action)
        self.steps.append(Step(seat, by, action, self.game.format_action(action), told))
        self._deal(row)

    def _notation(self, action: int) -> str:
        try:
            return self.game.format_action(action)
        except ValueError:
            return f"action {action}"

    def undo(self) -> None:
        """Takes back the last decision of a human and all that followed; where no human decided, the last one.

        Raises:
            IllegalMove: nothing has been decided yet.
        """
        if not self.steps:
            raise IllegalMove("there is nothing to take back")
        human = [number for number, step in enumerate(self.steps) if step.by == HUMAN]
        keep = human[-1] if human else len(self.steps) - 1
        del self.steps[keep:], self.positions[keep + 1 :], self.drawn[keep + 1 :], self.leads[keep + 1 :]

    def record(self) -> Record:
        """The record of the game so far; its header names who decided for each seat, and the seed."""
        header: dict[str, Any] = {}
        for seat, name in enumerate(self.game.seat_names):
            deciders = dict.fromkeys(step.by for step in self.steps if step.seat == seat)
            header[name] = "+".join(deciders or (self.seats[seat],))
        ending = "over" if self.over else "truncated" if self.stopped else "running"
        actions = [step.action for step in self.steps]
        return self.game.write_record(self._start, actions, header | {"seed": self.seed}, ending)


def legal_mask(game: Game, row: np.void) -> np.ndarray[Any, np.dtype[np.int8]]:
    """The action mask of a row at a decision, shape (actions,)."""
    masks = np.zeros((1, game.num_actions), np.int8)
    on.legal(row, masks, 0)
    return masks[0]


def leads(game: Game, row: np.void) -> list[float]:
    """By how much each seat leads, in the game's unit of the margin."""
    return [round(float(on.margin(row, seat)), 4) for seat in range(game.num_players)]
