"""Mosaic Chess: the Python half of the Game contract, and the documentation page."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from mozaic_env.core import contract
from mozaic_env.core.game import Game, Rows
from mozaic_env.core.picture import Picture
from mozaic_env.core.places import Place
from mozaic_env.core.record import Record
from mozaic_env.mozaic_chess import actions, board, drawing, engine, heuristics, notation, observation, position, record, rules

contract.register(
    board.ROW,
    {
        "setup": rules.setup,
        "mover": rules.mover,
        "apply": rules.apply,
        "sample": rules.sample,
        "outcomes": rules.outcomes,
        "resolve": rules.resolve,
        "legal": rules.legal,
        "is_legal": rules.is_legal,
        "random_action": rules.random_action,
        "outcome": rules.outcome,
        "margin": rules.margin,
        "observe": observation.observe,
        "action_values": heuristics.action_values,
        "value": heuristics.value,
        "decision_kind": heuristics.decision_kind,
    },
)


MATERIAL = 0.01  # of a win, for each pawn that the lead in material grows by, in the material reward


class MosaicChess(Game):
    """PAGE."""

    name: ClassVar[str] = "mosaic_chess"
    dtype: ClassVar[np.dtype[Any]] = board.ROW
    heuristics: ClassVar[Mapping[str, tuple[float, ...]]] = heuristics.HEURISTICS
    max_outcomes: ClassVar[int] = 0
    margin_unit: ClassVar[str] = "pawns"
    rewards: ClassVar[Mapping[str, tuple[float, float]]] = {**Game.rewards, "material": (MATERIAL, 1.0)}
    most_moves: ClassVar[int] = engine.board.MOST_MOVES

    num_players = len(actions.PLAYERS)
    num_actions = actions.NUM_ACTIONS

    def __init__(self, max_plies: int = 1000) -> None:
        """Fixes the limit.

        Args:
            max_plies: moves of both sides together after which a game is truncated.

        Raises:
            ValueError: it is not a whole number from 1 to 10,000.
        """
        if isinstance(max_plies, bool) or not isinstance(max_plies, int | np.integer) or not 1 <= max_plies <= 10_000:
            raise ValueError(f"max_plies={max_plies!r}; accepted: a whole number from 1 to 10000")
        self.max_plies = int(max_plies)
        self.max_decisions = 2 * self.max_plies
        self.fields = observation.fields()

    @property
    def action_planes(self) -> npt.NDArray[np.int64]:
        return actions.action_planes()

    @property
    def turned_by(self) -> str:
        return observation.TURNED

    @property
    def options(self) -> dict[str, Any]:
        return {"max_plies": self.max_plies}

    @classmethod
    def of_header(cls, header: Mapping[str, str]) -> "MosaicChess":
        limit = header.get(record.LIMIT, "")
        if not limit.isdecimal():
            raise ValueError(f"record header: {record.LIMIT}=... is needed, such as {record.LIMIT}=1000")
        return cls(int(limit))

    @property
    def seat_names(self) -> tuple[str, ...]:
        return actions.PLAYERS

    def rows(self, size: int) -> Rows:
        return np.zeros(size, self.dtype)

    def format_action(self, action: int) -> str:
        return actions.format_action(action)

    def parse_action(self, text: str) -> int:
        return actions.parse_action(text)

    def format_position(self, row: np.void) -> str:
        return position.format_position(row)

    def parse_position(self, text: str) -> Rows:
        parsed = self.rows(1)
        position.parse_position(text, parsed[0])
        return parsed

    def write_record(self, start: np.void, actions: Sequence[int], header: Mapping[str, Any], ending: str) -> Record:
        return record.write(self, start, actions, header, ending)

    def replay(self, game_record: Record) -> Iterator[tuple[str, np.void]]:
        return record.replay(self, game_record)

    def places(self, row: np.void) -> tuple[Place, ...]:
        return drawing.places(row)

    def clicks(self, row: np.void, action: int) -> tuple[str, ...]:
        """The piece's square, or the square to go to; a promotion is asked about."""
        return (actions.square_name(action % actions.SQUARES),)

    def tell_action(self, row: np.void, action: int) -> str:
        return notation.tell_action(row, action)

    def draw_text(self, row: np.void) -> str:
        return drawing.draw_text(row)

    def draw(
        self, row: np.void, before: np.void | None = None, action: int | None = None, caption: str = ""
    ) -> Picture:
        return drawing.draw(row, before, action, caption)
