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

from mozaic_env.core.exact import MARGIN, BestResponse, ExactSolver, ExactValues, exact_values
from mozaic_env.core.grouping import Grouping
from mozaic_env.core.record import Record
from mozaic_env.core.symmetry import Symmetry, frozen
from mozaic_env.drawing.picture import Picture
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


@dataclass(frozen=True)
class Entities:
    """Actions that belong to entities, and kinds of things on these, which are alike but for what the observation says.

    Block b of the actions is those from b * per on; the k-th action of each block does the same with its entity. In a
    block come first the actions for the first kind, then those for the second, as many for each.

    Attributes:
        key: the entry of the observation that counts what is on them: (entities, kinds), flattened.
        blocks: for each of them its block.
        per: how many actions each has.
        kinds: how many kinds there are.
        strides: other entries of the observation that tell kinds apart: the number at p of such an entry, flattened, is
            about kind p // stride % kinds. All that are left are about no kind.
    """

    key: str
    blocks: tuple[int, ...]
    per: int
    kinds: int
    strides: Mapping[str, int]


class Game(abc.ABC):
    """A game with its options fixed. Subclasses declare the facts and translate rows to and from text.

    The docstring of a subclass is the game's documentation page.
    """

    name: ClassVar[str]  # the package's name for the game
    dtype: ClassVar[np.dtype[Any]]  # the row type, known to `mozaic_env.core.contract`
    option_fields: ClassVar[tuple[str, ...]] = ()  # of the row: those that carry the options and never change
    heuristics: ClassVar[Mapping[str, tuple[float, ...]]]  # named weights for `action_values` and `value`
    usual_agents: ClassVar[tuple[str, ...]] = ("random",)  # specs of whom people play against, the strongest first
    max_outcomes: ClassVar[int]  # codes of chance outcomes are below this; 0: the game has no chance
    decision_kinds: ClassVar[int] = 64  # what `decision_kind` says is below this
    rewards: ClassVar[Mapping[str, tuple[float, float]]] = {"outcome": (0.0, 1.0), "margin": (1.0, 0.0)}
    """By name: what each unit by which the lead grows is worth, and what the outcome is, at the end."""
    max_moves: ClassVar[int] = 0  # of a position; 0: the game does not offer `mozaic_env.core.whole_moves`
    max_decisions: int  # default limit on the decisions of a game
    players: ClassVar[tuple[int, int]] = (2, 2)  # how few and how many a variant of the game can have
    margin_unit: ClassVar[str] = "the game's unit"  # what margins are counted in, as in "squares"

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

    @property
    def action_planes(self) -> npt.NDArray[np.int64] | None:
        """Where each action stands if actions are planes over the board: plane * tiles + tile, shape (num_actions,).

        Actions of one plane do the same thing on different tiles, so a policy can share its weights over the board.
        None: the actions have no such places.
        """
        return None

    @property
    def turned_by(self) -> str | None:
        """The entry of the observation, one 0 or 1, that says that the board is shown upside down; None: it never is.

        Rank r of the observation's board is then rank rows - 1 - r of `action_planes`.
        """
        return None

    @property
    def action_entities(self) -> Entities | None:
        """Which actions belong to entities, so that a policy can share its weights over these; None: none do."""
        return None

    @property
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
            plain: the agent is one that compiled loops can play, see `mozaic_env.agents.base.Agent.recipe`.
        """
        return None

    @property
    @abc.abstractmethod
    def options(self) -> dict[str, Any]:
        """What fixes this game among its variants: ``type(game)(**game.options)`` makes it again."""

    @classmethod
    @abc.abstractmethod
    def of_header(cls, header: Mapping[str, str]) -> "Game":
        """The game that the header of a record describes; ValueError if it does not say, or says something odd."""

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

    @property
    def starts(self) -> tuple[tuple[float, Mapping[str, int]], ...]:
        """What `setup` draws by the key: for each start its probability and the fields of the row that it sets.

        One start that sets nothing: the key has no part in it, which is so in most games.
        """
        return ((1.0, {}),)

    @property
    @abc.abstractmethod
    def seat_names(self) -> tuple[str, ...]:
        """What the players are called, by seat."""

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
    def parse_position(self, text: str) -> Rows:
        """One row, its key 0, shape (1,); ValueError says what is wrong with the text."""

    @abc.abstractmethod
    def write_record(self, start: np.void, actions: Sequence[int], header: Mapping[str, Any], ending: str) -> Record:
        """The record of the game that these actions made from a row, chance by the row's own stream.

        Args:
            start: the row before the first action, at its decision or at chance.
            actions: all seats' actions in order.
            header: more words for the header, in front of what the game itself says.
            ending: "over", "truncated" or "running".
        """

    @abc.abstractmethod
    def replay(self, record: Record) -> Iterator[tuple[str, np.void]]:
        """The words of a record, each with the row after it; ValueError at the first that cannot be.

        Needs no random stream. The rows are copies.
        """

    @abc.abstractmethod
    def draw_text(self, row: np.void) -> str:
        """The row as a picture in text, several lines."""

    def draw_ansi(self, row: np.void, before: np.void | None = None) -> str:
        """The row as text for a terminal: colours by ANSI escape sequences, what changed since `before` marked.

        It is to be readable with the colours taken out as well. A game without one of its own gives its plain text.
        """
        return self.draw_text(row)

    @abc.abstractmethod
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
