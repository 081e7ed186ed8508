"""Mozaic with an edition and a board fixed: the Python half of the Game contract, and the documentation page."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from mozaic_env.core import contract
from mozaic_env.core.game import Game, Rows
from mozaic_env.core.record import Record
from mozaic_env.mozaic import actions, drawing, heuristics, observation, position, record, rules

contract.register(
    rules.ROW,
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


class Mozaic(Game):
    """TODO page"""

    name: ClassVar[str] = "mozaic"
    dtype: ClassVar[np.dtype[Any]] = rules.ROW
    heuristics: ClassVar[Mapping[str, tuple[float, ...]]] = heuristics.HEURISTICS
    max_outcomes: ClassVar[int] = len(actions.Gem)
    max_decisions: ClassVar[int] = 1000

    num_players = len(actions.PLAYERS)

    def __init__(self, rules: str = "amethyst", rows: int = 8, cols: int = 8) -> None:
        """Fixes the variant.

        Args:
            rules: the edition, "amethyst" or "onyx".
            rows: ranks of the board, 2 to 8.
            cols: files of the board, 2 to 8; rows * cols is even.

        Raises:
            ValueError: an option is not one of these.
        """
        if rules not in actions.EDITIONS:
            raise ValueError(f"rules={rules!r}; accepted: {', '.join(map(repr, actions.EDITIONS))}")
        for name, given in (("rows", rows), ("cols", cols)):
            if isinstance(given, bool) or not isinstance(given, int | np.integer) or given not in actions.SIZES:
                raise ValueError(f"{name}={given!r}; accepted: a whole number from 2 to 8")
        if rows * cols % 2:
            raise ValueError(f"rows={rows}, cols={cols}: {rows * cols} tiles; accepted: boards with an even number of tiles")
        self.rules = rules
        self.board = (int(rows), int(cols))
        self.num_actions = actions.num_actions(rows * cols)
        self.fields = observation.fields(*self.board)

    @property
    def action_planes(self) -> npt.NDArray[np.int64]:
        return actions.action_planes(self.board[0] * self.board[1])

    @property
    def options(self) -> dict[str, Any]:
        return {"rules": self.rules, "rows": self.board[0], "cols": self.board[1]}

    @property
    def seat_names(self) -> tuple[str, ...]:
        return actions.PLAYERS

    def rows(self, size: int) -> Rows:
        made = np.zeros(size, self.dtype)
        made["edition"] = actions.EDITIONS.index(self.rules)
        made["rows"], made["cols"] = self.board
        return made

    def format_action(self, action: int) -> str:
        return actions.format_action(action, *self.board)

    def parse_action(self, text: str) -> int:
        return actions.parse_action(text, *self.board)

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

    def draw_text(self, row: np.void) -> str:
        return drawing.draw_text(row)
