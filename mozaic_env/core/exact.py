"""The Game contract, a part that is optional: exact values of every action, for variants small enough to solve.

What asks for them (regret, the wrappers, training curves) knows no game: a game offers them with `Game.exact_values`.
A game that is solved step by step offers an `ExactSolver` besides, and `Game.exact_values` does the rest: small
variants are solved when they are asked for, larger ones are read from the file that ``mozaic solve`` has written.
"""

import abc
import shlex
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from mozaic_env.core.game import Game, Rows

MARGIN, OUTCOME = "margin", "outcome"
OBJECTIVES = (MARGIN, OUTCOME)
TOLERANCE = 1e-7  # largest error of a value that is solved, in the objective's unit
AT_ONCE = 10.0  # seconds; what takes less is solved when it is asked for

Tensors = Mapping[str, npt.NDArray[np.float64]]


def check_objective(objective: str) -> str:
    """The objective itself; ValueError if there is no such."""
    if objective not in OBJECTIVES:
        raise ValueError(f"objective={objective!r}; accepted: {', '.join(OBJECTIVES)}")
    return objective


class ExactValues(abc.ABC):
    """What every action is worth when all seats play perfectly from then on.

    Copies of an environment share it, and it is pickled as what makes it again: the game, the objective and the file.

    Attributes:
        game: the variant that is solved.
        objective: what perfect play maximises: "margin", the expected lead at the end in the game's margin unit, or
            "outcome", the expected result in [-1, 1].
        residual: bound or estimate of the largest error of a value, in the objective's unit.
        file: where they were asked to be read from, absolute; None: nowhere in particular.
    """

    game: "Game"
    objective: str
    residual: float
    file: Path | None = None

    @property
    @abc.abstractmethod
    def start_value(self) -> float:
        """What perfect play of all seats gives seat 0 on average, in the objective's unit."""

    @abc.abstractmethod
    def action_values(self, states: "Rows") -> npt.NDArray[np.float64]:
        """The value of every action to the seat that decides.

        For "margin" it is the lead that is still to come, the action's own gain included; for "outcome" the expected
        result.

        Args:
            states: rows at a decision, shape (n,).

        Returns:
            float64, shape (n, actions); NaN for illegal actions.
        """

    def __deepcopy__(self, memo: dict[int, Any]) -> "ExactValues":
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return require_exact_values, (self.game, self.objective, self.file)


class ValueIteration(abc.ABC):
    """Works values out sweep by sweep.

    Attributes:
        boards: how many positions there are, as the game counts them.
        refusal: why that can't be done; "": it can.
    """

    boards: int
    refusal: str = ""

    @property
    @abc.abstractmethod
    def error(self) -> float:
        """Bound of the largest error of a value now, in the objective's unit."""

    @abc.abstractmethod
    def sweep(self, threads: int = 1) -> None:
        """One step: as much work as it is to look at every position once."""

    def run(self, error: float, threads: int = 1) -> None:
        """Sweeps until no value is wrong by more than `error`."""
        while self.error > error:
            self.sweep(threads)


class ExactSolver(ValueIteration):
    """Solves a variant.

    Attributes:
        game: the variant.
        objective: as for `ExactValues`.
        seconds: about how long that takes one core.
        bytes: about how much memory it takes.
    """

    seconds: float
    bytes: int

    def __init__(self, game: "Game", objective: str) -> None:
        """ValueError if there is no such objective."""
        self.game, self.objective = game, check_objective(objective)

    @abc.abstractmethod
    def tensors(self) -> Tensors:
        """All that is to be kept."""

    @abc.abstractmethod
    def restore(self, tensors: Tensors, error: float, threads: int = 1) -> None:
        """Goes on from what `tensors` gave when the error was at most `error`.

        Raises:
            ValueError: they are those of another variant.
        """

    @abc.abstractmethod
    def values(self, tensors: Tensors, error: float) -> ExactValues:
        """The values that these tensors mean; ValueError as for `restore`."""


class BestResponse(ValueIteration):
    """Works out what the best response to an agent gets, for "margin", once it knows what the agent does everywhere.

    Sweeps begin when all questions are answered.
    """

    @abc.abstractmethod
    def ask(self) -> Iterator[tuple["Rows", object]]:
        """Rows at decisions at which the agent is to be asked, and what to hand to `tell` together with its answer."""

    @abc.abstractmethod
    def tell(self, question: object, taken: npt.NDArray[np.int8]) -> None:
        """Takes an answer: 1 for each action that the agent may take, all with the same probability."""

    @abc.abstractmethod
    def responses(self) -> tuple[float, ...]:
        """For each seat what the best response gets there on average, in the game's margin unit."""


@lru_cache(maxsize=8)
def exact_values(game: "Game", objective: str, file: Path | None = None) -> ExactValues | None:
    """`Game.exact_values` for a game that offers a solver; the file is absolute."""
    from mozaic_env.core.extras import MissingExtra
    from mozaic_env.core.storage import exact_values

    solver = game.exact_solver(objective)
    if solver is None:
        return None
    if solver.refusal:
        raise ValueError(solver.refusal)
    at_once = file is None and solver.seconds < AT_ONCE
    named = file or exact_values.default_file(game, objective)
    if named is not None and (file is not None or named.is_file()):
        try:
            card = exact_values.read_card(named, game, objective)
            if card["solved"]:
                values = exact_values.read(named, card, solver)[1]
                values.file = file
                return values
        except (ValueError, MissingExtra):  # the file only saves time here
            if not at_once:
                raise
    if not at_once:
        raise ValueError(f"{game!r} has yet to be solved for {objective}; run: {solve_command(game, objective, file)}")
    solver.run(TOLERANCE)
    return solver.values(solver.tensors(), solver.error)


def solve_command(game: "Game", objective: str, file: Path | None = None) -> str:
    """What to type to have a variant solved."""
    words = ["mozaic solve --game", game.name, *(f"--option {key}={value}" for key, value in game.options.items())]
    words += [] if objective == MARGIN else ["--objective", objective]
    return " ".join(words if file is None else [*words, "--out", shlex.quote(str(file))])


def require_exact_values(game: "Game", objective: str = MARGIN, file: Path | None = None) -> ExactValues:
    """The game's exact values; arguments as for `Game.exact_values`.

    Raises:
        MissingExtra: they are in a file, and safetensors is not installed.
        ValueError: there are none: no such objective, no solver, or the variant is too large or has yet to be solved.
    """
    values = game.exact_values(check_objective(objective), file)
    if values is None:
        raise ValueError(f"{game!r} can't be solved: the game has no solver")
    return values


def regrets(values: npt.NDArray[np.float64], actions: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """What actions give away: the best value less theirs, NaN for illegal ones; float64, shape (n,).

    Args:
        values: as `ExactValues.action_values` gives them, shape (n, actions).
        actions: one for each row, shape (n,).
    """
    return np.nanmax(values, axis=1) - values[np.arange(len(values)), actions]
