"""The Game contract, Python half: a game with its options fixed, and what the floors above ask of it.

The compiled half, what happens on a row, is `mozaic_env.core.contract`.
"""

import abc
import functools
import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from mozaic_env.core.afterstates import AfterstateFeatures
from mozaic_env.core.capabilities import BoardLayout, Entities, Grouping, Start
from mozaic_env.core.exact import MARGIN, BestResponse, ExactSolver, ExactValues, exact_values
from mozaic_env.core.record import Record
from mozaic_env.core.symmetry import Symmetry, frozen
from mozaic_env.core.text.numbers import is_number
from mozaic_env.drawing.picture import Picture, Text
from mozaic_env.drawing.places import Place

Rows = npt.NDArray[Any]  # structured array of the game's row type


@dataclass(frozen=True)
class Field:
    """One entry of the observation, as data.

    Attributes:
        key: its name in the observation Dict.
        shape: of one observation.
        dtype: of its numbers.
        high: largest value of each number, flattened, or None for entries of 0 and 1. The smallest is 0.
        text: what it holds, for the documentation.
    """

    key: str
    shape: tuple[int, ...]
    dtype: type[np.integer]
    high: tuple[int, ...] | None
    text: str

    @property
    def size(self) -> int:
        """How many numbers one observation has in this entry."""
        return int(np.prod(self.shape))


def binary(key: str, shape: tuple[int, ...], text: str) -> Field:
    """An int8 entry of zeros and ones."""
    return Field(key, shape, np.int8, None, text)


def counts(key: str, dtype: type[np.integer], high: tuple[int, ...], text: str) -> Field:
    """An entry of numbers from 0 to `high`, shape (len(high),)."""
    return Field(key, (len(high),), dtype, high, text)


class Game(abc.ABC):
    """A game with its options fixed. Subclasses declare the facts and translate rows to and from text.

    The docstring of a subclass is the game's documentation page. Functions that stand in the game's modules are
    assigned in its class body, as in ``draw = staticmethod(drawing.draw)``; those whose first parameter is the game as
    they are.
    """

    name: ClassVar[str]  # the package's name for the game
    dtype: ClassVar[np.dtype[Any]]  # the row type, known to `mozaic_env.core.registry`
    option_fields: ClassVar[tuple[str, ...]] = ()  # of the row: those that carry the options and never change
    usual_agents: ClassVar[tuple[str, ...]] = ("random",)  # specs of whom people play against, the strongest first
    rewards: ClassVar[Mapping[str, tuple[float, float]]] = {"outcome": (0.0, 1.0), "margin": (1.0, 0.0)}
    """By name: what each unit by which the lead grows is worth, and what the outcome is, at the end."""
    margin_unit: ClassVar[str] = "the game's unit"  # what margins are counted in, as in "squares"
    max_decisions: int  # default limit on the decisions of a game
    players: ClassVar[tuple[int, int]] = (2, 2)  # how few and how many a variant of the game can have

    # What searches need to know.
    heuristics: ClassVar[Mapping[str, tuple[float, ...]]]  # named weights for `action_values` and `value`
    win_lead: ClassVar[float]  # a `value` that is worth tanh(1) of a win
    max_outcomes: ClassVar[int] = 0  # codes of chance outcomes are below this; 0: the game has no chance
    decision_kinds: ClassVar[int] = 64  # what `decision_kind` says is below this
    followers: ClassVar[tuple[int, int]] = (16, 2)
    """About how many decisions can follow an action, by chance, and how many of these are likely."""
    max_moves: ClassVar[int] = 0  # of a position; 0: the game does not offer `mozaic_env.core.whole_moves`

    # What else a game can offer.
    board_layout: BoardLayout | None = None  # None: its actions have no places on a board
    afterstate_features: ClassVar[AfterstateFeatures | None] = None  # None: it offers no `mozaic_env.core.afterstates`
    entities: Entities | None = None  # None: its actions belong to none
    starts: tuple[Start, ...] = (Start(1.0, {}),)
    """What `setup` draws by the key; one start that sets nothing: the key has no part in it."""

    options: dict[str, Any]  # what fixes this game among its variants: ``type(game)(**game.options)`` makes it again
    num_players: int
    num_actions: int
    fields: tuple[Field, ...]

    @functools.cached_property
    def frame(self) -> np.dtype[Any]:
        """One observation as a structured type: the entries one behind the other, padded to whole words.

        Entries of more than one byte come first in `fields`, so that all are aligned.
        """
        packed = np.dtype([(field.key, field.dtype, field.shape) for field in self.fields])
        places: Any = packed.fields or {}
        padded: Any = {
            "names": list(places),
            "formats": [place[0] for place in places.values()],
            "offsets": [place[1] for place in places.values()],
            "itemsize": -(-packed.itemsize // 8) * 8,
        }
        return np.dtype(padded)

    @functools.cached_property
    def last_action(self) -> int:
        """The highest action id that is ever legal; those above it exist for regularity."""
        return self.num_actions - 1

    @property
    def symmetries(self) -> tuple[Symmetry, ...]:
        """All symmetries of the game, the identity first; they form a group.

        Played with the image of every action from the same start and with the same luck, a game looks at every moment
        like the image of the first one, to every seat.
        """
        return (Symmetry("identity", frozen(range(self.num_actions))),)

    @property
    def champion(self) -> Path | None:
        """The checkpoint that is shipped with the game, a folder beside its code; None if there is none."""
        folder = Path(inspect.getfile(type(self))).with_name("champion")
        return folder if folder.is_dir() else None

    def exact_solver(self, objective: str = MARGIN) -> ExactSolver | None:
        """What solves this variant, before it has done so; None if the game has no solver.

        Args:
            objective: one of `mozaic_env.core.exact.OBJECTIVES`; ValueError if it is none.
        """
        return None

    def exact_values(self, objective: str = MARGIN, file: str | Path | None = None) -> ExactValues | None:
        """Exact values of this variant, if they are at hand: solved at once where that takes seconds, else from a file.

        Args:
            objective: one of `mozaic_env.core.exact.OBJECTIVES`.
            file: what ``mozaic solve --out`` has written; None: where it writes by itself.

        Returns:
            None if the game has no solver at all.

        Raises:
            ValueError: the variant is too large, or has yet to be solved; the message names the command.
            MissingExtra: the values are in a file, and safetensors is not installed.
        """
        from mozaic_env.core.text.files import user_path

        return exact_values(self, objective, None if file is None else user_path(file).absolute())

    def group_decisions(self, states: Rows) -> tuple[Grouping, ...]:
        """Ways to sort decisions into groups, for tables of what an agent does well and badly.

        Args:
            states: rows at a decision, shape (n,).

        Returns:
            One or more ways, such as by what is in hand and by the phase of the game; none: there is nothing to tell
            decisions apart by.
        """
        return ()

    def best_response(self, plain: bool) -> BestResponse | None:
        """What works out the best response to an agent; None if the game has nothing of the kind.

        Args:
            plain: the agent is one that compiled loops can play, see `mozaic_env.agents.base.Agent.policy_spec`.
        """
        return None

    @classmethod
    def of_header(cls, header: Mapping[str, str]) -> "Game":
        """The game that the header of a record describes; ValueError if it does not say, or says something odd."""
        options = {name: header.get(name, "") for name in inspect.signature(cls).parameters}
        for name, text in options.items():
            if not text:
                raise ValueError(f"record header: {name}=... is needed; it says which {cls.name} it is")
        try:
            return cls(**{name: int(text) if is_number(text) else text for name, text in options.items()})
        except ValueError as error:
            raise ValueError(f"record header: {str(error)[:200]}") from None

    @abc.abstractmethod
    def rows(self, size: int) -> Rows:
        """Rows that carry the options, their key 0, not yet set up; shape (size,)."""

    @functools.cached_property
    def _own_options(self) -> Rows:
        return self.rows(1)

    def check_rows(self, rows: Rows) -> None:
        """ValueError if rows are not of this variant: compiled code that got them would read and write anywhere.

        Args:
            rows: shape (n,).
        """
        if getattr(rows, "dtype", None) != self.dtype:
            raise ValueError(f"rows of {_whose(rows)}; accepted: rows of {self!r}")
        for name in self.option_fields:
            given, own = rows[name], self._own_options[name]
            if not (given == own).all():
                other = next(each for each in given if (each != own[0]).any())
                raise ValueError(f"rows with {name}={other}; accepted: rows of {self!r}, with {name}={own[0]}")

    @functools.cached_property
    def seat_names(self) -> tuple[str, ...]:
        """What the players are called, by seat."""
        return tuple(f"p{seat + 1}" for seat in range(self.num_players))

    @abc.abstractmethod
    def format_action(self, action: int) -> str:
        """An action id as notation."""

    @abc.abstractmethod
    def parse_action(self, text: str) -> int:
        """The action id of a notation; ValueError if it is none."""

    @abc.abstractmethod
    def format_position(self, row: np.void) -> str:
        """A row at a decision or at the end as a position string."""

    @abc.abstractmethod
    def read_position(self, text: str, row: np.void) -> None:
        """Writes what a position string says to a row that carries the options; ValueError says what is wrong."""

    def parse_position(self, text: str) -> Rows:
        """One row, its key 0, shape (1,); ValueError says what is wrong with the text."""
        rows = self.rows(1)
        self.read_position(text, rows[0])
        return rows

    def write_record(self, start: np.void, actions: Sequence[int], header: Mapping[str, Any], ending: str) -> Record:
        """The record of the game that these actions made from a row, chance by the row's own stream.

        Args:
            start: the row before the first action, at its decision or at chance.
            actions: all seats' actions in order.
            header: more words for the header, in front of what the game itself says.
            ending: "over", "truncated" or "running".
        """
        from mozaic_env.core import replay

        return replay.write(self, start, actions, header, ending)

    def replay(self, record: Record) -> Iterator[tuple[str, np.void]]:
        """The words of a record, each with the row after it; ValueError at the first that cannot be.

        Needs no random stream. The rows are copies.
        """
        from mozaic_env.core import replay

        return replay.replay(self, record)

    def draw_text(self, row: np.void) -> str:
        """The row as a picture in text, several lines."""
        return self.format_position(row)

    def draw_ansi(self, row: np.void, before: np.void | None = None) -> str:
        """The row as text for a terminal: colours by ANSI escape sequences, what changed since `before` marked.

        It is to be readable with the colours taken out as well. A game without one of its own gives its plain text.
        """
        return self.draw_text(row)

    def draw(
        self, row: np.void, before: np.void | None = None, action: int | None = None, caption: str = ""
    ) -> Picture:
        """The row as a picture; `mozaic_env.drawing.picture.to_svg` and `mozaic_env.drawing.raster.to_rgb` paint it.

        Args:
            row: at a decision, at chance, or at the end.
            before: an earlier row of the same game; what has changed since then is marked.
            action: the last action before `row`, marked above all others.
            caption: a line of text; "" says what the last action was and what it brought.
        """
        lines = enumerate([*self.draw_text(row).splitlines(), caption])
        items = tuple(Text(16, 32 + 24 * number, line, 16) for number, line in lines)
        return Picture(512, 512, "#ffffff", (), items, title=self.format_position(row))

    def places(self, row: np.void) -> tuple[Place, ...]:
        """What can be pointed at on the picture that `draw` makes of a row; none: actions are picked from a list."""
        return ()

    def clicks(self, row: np.void, action: int) -> tuple[str, ...]:
        """The places to point at, one after the other, to take a legal action at a decision; none: see `places`.

        Several actions may have the same clicks, whoever plays is then asked which is meant; but those of one action
        are never the beginning of those of another.
        """
        return ()

    def tell_action(self, row: np.void, action: int) -> str:
        """A legal action at a decision in plain words, such as "yellow places a blue gem on d4"."""
        return self.format_action(action)

    def outcome_name(self, code: int) -> str:
        """What a chance outcome is called, such as "ruby"."""
        return f"outcome {code}"

    def tell_outcome(self, row: np.void, code: int) -> str:
        """A chance outcome that happens to a row in plain words, such as "blue draws the ruby and misses the turn"."""
        return self.outcome_name(code)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{key}={value!r}' for key, value in self.options.items())})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.options == other.options

    def __hash__(self) -> int:
        return hash((self.name, tuple(sorted(self.options.items()))))


def _whose(rows: object) -> str:
    """The name of the game that rows are of."""
    dtype = getattr(rows, "dtype", None)
    if dtype is None:
        return f"type {type(rows).__name__}"
    kinds = (kind.__name__ for kind in Game.__subclasses__() if getattr(kind, "dtype", None) == dtype)
    return next(kinds, "no game that is known")
