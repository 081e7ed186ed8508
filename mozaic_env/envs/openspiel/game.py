"""A game behind OpenSpiel's interface: its type, its parameters, its start."""

import inspect
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyspiel
from open_spiel.python.observation import IIGObserverForPublicInfoGame

from mozaic_env.core.checks import check_whole_number
from mozaic_env.core.game import Game
from mozaic_env.core.text.files import clean
from mozaic_env.envs.openspiel.state import Observer, SpielState
from mozaic_env.games import check_options
from mozaic_env.simulation.queries import setup_rows

DEFAULT = "default"  # the value of an option that the game itself finds one for
LIMIT, GAMES_OWN = "max_decisions", -1  # OpenSpiel puts the default of a parameter in the place of one not given


def parameters(game: Game) -> dict[str, Any]:
    """The options of a game as OpenSpiel's parameters; those that it can't hold are left out."""
    signature, usual = inspect.signature(type(game)).parameters, type(game)().options
    found: dict[str, Any] = {}
    for name, value in game.options.items():
        if signature[name].default is None and value == usual[name]:
            found[name] = DEFAULT
        elif isinstance(value, str):
            found[name] = value.replace(",", ";")
        elif isinstance(value, bool | int | float):
            found[name] = value
    return found


def has_chance(game: Game) -> bool:
    """Whether anything in the game is left to chance, be it the start alone."""
    return game.max_outcomes > 0 or len(game.starts) > 1


def game_type(game: Game) -> Any:
    """What OpenSpiel wants to know of a game, as a `pyspiel.GameType`; its options are the defaults of parameters."""
    modes = pyspiel.GameType.ChanceMode
    return pyspiel.GameType(
        short_name=f"python_{game.name}",
        long_name=type(game).__name__,
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=modes.EXPLICIT_STOCHASTIC if has_chance(game) else modes.DETERMINISTIC,
        information=pyspiel.GameType.Information.PERFECT_INFORMATION,
        utility=pyspiel.GameType.Utility.ZERO_SUM,
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        min_num_players=game.players[0],
        max_num_players=game.players[1],
        provides_information_state_string=True,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification={**parameters(game), LIMIT: GAMES_OWN},
    )


class SpielGame(pyspiel.Game):  # type: ignore[misc]  # OpenSpiel has no type information
    """A game of the package behind OpenSpiel's interface; `register` makes a class of it for each game.

    Attributes:
        kind: the game's `game_type`.
        default: the game with the options that hold where no parameters are given.
        rules: the game with its options.
        limit: after how many decisions of all players it is a draw.
    """

    kind: ClassVar[Any]
    default: ClassVar[Game]

    def __init__(self, params: Mapping[str, Any] | None = None) -> None:
        """Makes a game, as `pyspiel.load_game` does.

        Args:
            params: OpenSpiel's parameters of the game; those that are not given have their defaults.

        Raises:
            ValueError: a parameter has no such value.
        """
        given = {**parameters(self.default), **(params or {})}
        limit = given.pop(LIMIT, GAMES_OWN)
        options = {name: value for name, value in self.default.options.items() if name not in given}
        for name, value in given.items():
            if value != DEFAULT:
                options[name] = value.replace(";", ",") if isinstance(value, str) else value
        check_options(type(self.default), options, [LIMIT])
        self.rules = type(self.default)(**options)
        self.limit = check_whole_number(LIMIT, self.rules.max_decisions if limit == GAMES_OWN else limit, 1)
        self.starts = self._start_rows()
        info = pyspiel.GameInfo(
            num_distinct_actions=self.rules.num_actions,
            max_chance_outcomes=max(self.rules.max_outcomes, len(self.starts)) if has_chance(self.rules) else 0,
            num_players=self.rules.num_players,
            min_utility=-1.0,
            max_utility=1.0,
            utility_sum=0.0,
            max_game_length=self.limit,
        )
        super().__init__(self.kind, info, dict(params or {}))

    def __reduce__(self) -> tuple[Any, ...]:
        """By its text, read here so that whoever unpickles it has the games registered."""
        return _load, (str(self),)

    def _start_rows(self) -> list[tuple[float, bytes]]:
        """The probability of each start of the game and its row."""
        starts = []
        for probability, fields in self.rules.starts:
            row = self.rules.rows(1)
            setup_rows(row)
            for name, number in fields.items():
                row[name] = number
            starts.append((probability, row.tobytes()))
        return starts

    def room(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
        """New arrays for the outcomes of a chance event and their probabilities."""
        return np.empty(self.rules.max_outcomes, np.int64), np.empty(self.rules.max_outcomes)

    def new_initial_state(self, position: str | None = None) -> SpielState:
        """The start of a game, or a state with this position string and no history.

        Raises:
            ValueError: the position is malformed.
        """
        state = SpielState(self)
        if position is not None:
            state._begin(self.rules.parse_position(clean(position)).tobytes())
        return state

    def max_chance_nodes_in_history(self) -> int:
        """A bound for practice: by the rules alone, draws that lead to no decision can follow each other for ever."""
        return 10 * self.limit + 100 if has_chance(self.rules) else 0

    def make_py_observer(self, iig_obs_type: Any = None, params: Mapping[str, Any] | None = None) -> Any:
        """What a player sees of a state, or with perfect recall the history that led to it."""
        if iig_obs_type is None or (iig_obs_type.public_info and not iig_obs_type.perfect_recall):
            return Observer(self.rules, params)
        return IIGObserverForPublicInfoGame(iig_obs_type, params)


def _load(text: str) -> Any:
    return pyspiel.load_game(text)


def register(game: Game) -> type[SpielGame]:
    """Registers a game with OpenSpiel, its options as the defaults of the game's parameters; returns the class."""
    kind = game_type(game)
    made = type(f"{type(game).__name__}SpielGame", (SpielGame,), {"kind": kind, "default": game})
    pyspiel.register_game(kind, made)
    return made
