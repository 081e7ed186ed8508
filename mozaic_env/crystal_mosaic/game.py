"""Crystal Mosaic with its options fixed: the Python half of the Game contract, and the documentation page."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from mozaic_env.core import contract
from mozaic_env.core.game import Entities, Game, Rows
from mozaic_env.core.picture import Picture
from mozaic_env.core.places import Place
from mozaic_env.core.record import Record
from mozaic_env.crystal_mosaic import actions, drawing, heuristics, observation, position, record, rules, words

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
        "cut_off": rules.cut_off,
        "observe": observation.observe,
        "action_values": heuristics.action_values,
        "value": heuristics.value,
        "decision_kind": heuristics.decision_kind,
    },
)


class CrystalMosaic(Game):
    """Crystal Mosaic."""

    name: ClassVar[str] = "crystal_mosaic"
    dtype: ClassVar[np.dtype[Any]] = rules.ROW
    heuristics: ClassVar[Mapping[str, tuple[float, ...]]] = heuristics.HEURISTICS
    max_outcomes: ClassVar[int] = len(actions.COLOURS)
    max_decisions: ClassVar[int] = 2000
    players: ClassVar[tuple[int, int]] = min(actions.FACTORIES), max(actions.FACTORIES)

    num_actions = actions.NUM_ACTIONS

    def __init__(
        self,
        players: int = 2,
        board: str = "side2",
        floor: str | Sequence[int] | None = None,
        max_rounds: int = 30,
    ) -> None:
        """Fixes the variant.

        Args:
            players: 2, 3 or 4.
            board: "base", "grey", "side1" or "side2".
            floor: values of the seven floor spaces, -10 to 0, as a sequence or as text with commas; or "base" or
                "expansion"; None: the board's own.
            max_rounds: a game that is not over after so many rounds is truncated; 1 to 100.

        Raises:
            ValueError: an option is not one of these.
        """
        if not _is_whole(players) or players not in actions.FACTORIES:
            raise ValueError(f"players={players!r}; accepted: {', '.join(map(str, actions.FACTORIES))}")
        if not isinstance(board, str) or board not in actions.BOARDS:
            raise ValueError(f"board={board!r}; accepted: {', '.join(map(repr, actions.BOARDS))}")
        if not _is_whole(max_rounds) or not 1 <= max_rounds <= actions.MOST_ROUNDS:
            raise ValueError(f"max_rounds={max_rounds!r}; accepted: a whole number from 1 to {actions.MOST_ROUNDS}")
        self.num_players = int(players)
        self.board = board
        self.floor = _read_floor(floor, actions.Board(actions.BOARDS.index(board)))
        self.max_rounds = int(max_rounds)
        self.fields = observation.fields(self.num_players, self.max_rounds)

    @property
    def options(self) -> dict[str, Any]:
        return {
            "players": self.num_players,
            "board": self.board,
            "floor": ",".join(map(str, self.floor)),
            "max_rounds": self.max_rounds,
        }

    @property
    def action_entities(self) -> Entities:
        factories = range(actions.FACTORIES[self.num_players])
        return Entities("table", (*factories, actions.CENTRE), actions.PER_SOURCE)

    @property
    def last_action(self) -> int:
        return (actions.TILING if self.board == "base" else actions.NUM_ACTIONS) - 1

    @classmethod
    def of_header(cls, header: Mapping[str, str]) -> "CrystalMosaic":
        numbers = [header.get(key, "") for key in ("players", "max_rounds")]
        if not all(number.isdecimal() and len(number) < 4 for number in numbers) or not {"board", "floor"} <= set(
            header
        ):
            raise ValueError("record header: players=, board=, floor= and max_rounds= are needed")
        return cls(int(numbers[0]), header["board"], header["floor"], int(numbers[1]))

    @property
    def seat_names(self) -> tuple[str, ...]:
        return actions.SEATS[: self.num_players]

    def rows(self, size: int) -> Rows:
        made = np.zeros(size, self.dtype)
        made["players"], made["factories"] = self.num_players, actions.FACTORIES[self.num_players]
        made["board"] = actions.BOARDS.index(self.board)
        made["max_rounds"] = self.max_rounds
        made["penalties"] = np.cumsum([0, *self.floor])
        return made

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

    def draw_text(self, row: np.void) -> str:
        return drawing.draw_text(row)

    def draw(
        self, row: np.void, before: np.void | None = None, action: int | None = None, caption: str = ""
    ) -> Picture:
        return drawing.draw(row, before, action, caption)

    def places(self, row: np.void) -> tuple[Place, ...]:
        return drawing.places(row)

    def clicks(self, row: np.void, action: int) -> tuple[str, ...]:
        source, arrow, target = actions.format_action(action).partition(">")
        return (source, arrow + target) if arrow else (source,)

    def tell_action(self, row: np.void, action: int) -> str:
        return words.tell_action(row, action)

    def outcome_name(self, code: int) -> str:
        return actions.COLOUR_NAMES[code]

    def tell_outcome(self, row: np.void, code: int) -> str:
        return words.tell_outcome(row, code)


def _is_whole(given: Any) -> bool:
    return isinstance(given, int | np.integer) and not isinstance(given, bool)


def _read_floor(floor: Any, board: actions.Board) -> tuple[int, ...]:
    """The seven values of the floor spaces."""
    accepted = (
        f"floor={floor!r}; accepted: {actions.FLOOR_SPACES} whole numbers from {actions.LEAST_FLOOR} to 0, "
        "'base' or 'expansion'"
    )
    if floor is None:
        floor = actions.FLOOR_OF[board]
    if isinstance(floor, str):
        try:
            floor = actions.FLOORS.get(floor) or [int(value) for value in floor.split(",")]
        except ValueError:
            raise ValueError(accepted) from None
    if not isinstance(floor, Sequence | np.ndarray) or len(floor) != actions.FLOOR_SPACES:
        raise ValueError(accepted)
    if not all(_is_whole(value) and actions.LEAST_FLOOR <= value <= 0 for value in floor):
        raise ValueError(accepted)
    return tuple(int(value) for value in floor)
