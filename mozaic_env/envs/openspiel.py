"""The games as OpenSpiel games, every draw a chance node; needs the extra `openspiel`.

Importing this registers each game of the package as ``python_`` and its name, its options as game parameters:

>>> import pyspiel
>>> import mozaic_env.envs.openspiel
>>> game = pyspiel.load_game("python_mozaic(rules=onyx,rows=4,cols=4)")

Returns are the results at the end. A game at the limit of decisions (`max_decisions`) ends with a draw.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from mozaic_env.agents.base import Agent
from mozaic_env.agents.specs import make_agent
from mozaic_env.core.contract import CHANCE, OVER
from mozaic_env.core.game import Game
from mozaic_env.envs import loops, rows
from mozaic_env.envs.batch import check_whole_number
from mozaic_env.games import GAMES, make_game

try:
    import pyspiel
    from open_spiel.python.observation import IIGObserverForPublicInfoGame
except ModuleNotFoundError as error:
    raise ImportError(
        "OpenSpiel is needed; install the extra openspiel, from a clone: pip install -e '.[openspiel]'"
    ) from error

_PARAMETERS = (str, int, float, bool)  # kinds of options that OpenSpiel can hold


def has_chance(game: Game) -> bool:
    """Whether anything in the game is left to chance, be it the start alone."""
    return game.max_outcomes > 0 or len(game.starts) > 1


def game_type(game: Game) -> Any:
    """What OpenSpiel wants to know of a game, as a `pyspiel.GameType`; its options are the defaults of parameters."""
    options = {name: value for name, value in game.options.items() if isinstance(value, _PARAMETERS)}
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
        parameter_specification={**options, "max_decisions": game.max_decisions},
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
        options = dict(params or {})
        limit = options.pop("max_decisions", None)
        self.rules = type(self.default)(**{**self.default.options, **options})
        self.limit = check_whole_number("max_decisions", self.rules.max_decisions if limit is None else limit, 1)
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
            loops.setup_row(row[0])
            for name, number in fields.items():
                row[name] = number
            starts.append((probability, row.tobytes()))
        return starts

    def room(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
        """New arrays for the outcomes of a chance event and their probabilities."""
        return np.empty(self.rules.max_outcomes, np.int64), np.empty(self.rules.max_outcomes)

    def new_initial_state(self, position: str | None = None) -> "SpielState":
        """The start of a game, or a state with this position string and no history.

        Raises:
            ValueError: the position is malformed.
        """
        state = SpielState(self)
        if position is not None:
            state._begin(self.rules.parse_position(position).tobytes())
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


class SpielState(pyspiel.State):  # type: ignore[misc]
    """A state of a `SpielGame`: a row as bytes, which clones share and pickles carry."""

    def __init__(self, game: SpielGame) -> None:
        """Made by `SpielGame.new_initial_state`."""
        super().__init__(game)
        self._row = b""  # until chance has said how the game starts
        self._mover = CHANCE
        self._over = False
        if len(game.starts) == 1:
            self._begin(game.starts[0][1])

    def _begin(self, row: bytes) -> None:
        self._row = row
        self._look(rows.who(self.row), self.row)

    def _look(self, mover: int, row: npt.NDArray[Any]) -> None:
        self._mover = mover
        self._over = mover == OVER or (mover >= 0 and bool(row["decisions"][0] >= self.get_game().limit))

    @property
    def row(self) -> npt.NDArray[Any]:
        """A copy of the game's row, its key 0, shape (1,).

        Raises:
            ValueError: chance has yet to say how the game starts.
        """
        if not self._row:
            raise ValueError("the state before the first chance node has no row; apply an outcome of it first")
        return np.frombuffer(bytearray(self._row), self.get_game().rules.dtype)

    def current_player(self) -> int:
        """Who decides, or chance, or terminal."""
        if self._over:
            return int(pyspiel.PlayerId.TERMINAL)
        return int(pyspiel.PlayerId.CHANCE) if self._mover == CHANCE else self._mover

    def is_terminal(self) -> bool:
        """Whether the game is over or at its limit."""
        return self._over

    def _legal_actions(self, player: int) -> list[int]:
        masks = np.empty((1, self.get_game().rules.num_actions), np.int8)
        loops.masks_of(self.row, masks)
        actions: list[int] = np.flatnonzero(masks).tolist()
        return actions

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """The possible draws and their probabilities; at first, where a coin decides it, the possible starts."""
        game = self.get_game()
        if not self._row:
            return [(code, probability) for code, (probability, _) in enumerate(game.starts)]
        codes, probabilities = game.room()
        size = rows.chances(self.row, codes, probabilities)
        return sorted(zip(codes[:size].tolist(), probabilities[:size].tolist()))

    def _apply_action(self, action: int) -> None:
        game = self.get_game()
        if self._over:
            raise ValueError("the game is over, so nothing more can happen")
        if not self._row:
            if action not in range(len(game.starts)):
                raise self._refusal(action)
            self._begin(game.starts[action][1])
            return
        row = self.row
        mover = rows.go_on(row, action, game.rules.num_actions, *game.room())
        if mover == rows.REFUSED:
            raise self._refusal(action)
        self._row = row.tobytes()
        self._look(mover, row)

    def _refusal(self, action: int) -> ValueError:
        accepted = ", ".join(map(str, self.legal_actions()))
        return ValueError(f"action {action} can't happen in state {str(self)!r}; accepted: {accepted}")

    def _action_to_string(self, player: int, action: int) -> str:
        rules = self.get_game().rules
        if player != int(pyspiel.PlayerId.CHANCE):
            return str(rules.format_action(action))
        return str(rules.outcome_name(action)) if self._row else f"start {action}"

    def returns(self) -> list[float]:
        """Every player's result; zeros before the end and at the limit."""
        results = np.zeros(self.get_game().rules.num_players)
        if self._mover == OVER:
            rows.results(self.row, results)
        totals: list[float] = results.tolist()
        return totals

    def __str__(self) -> str:
        """The position string; at chance, where there is none, the picture in text."""
        if not self._row:
            return "start"
        rules, row = self.get_game().rules, self.row[0]
        return str(rules.draw_text(row) if self._mover == CHANCE else rules.format_position(row))


class Observer:
    """What a player sees: the entries of the game's observation, and who comes next.

    `next_player` is one-hot: the player, the others in their order from there, chance, the end.

    Attributes:
        tensor: float32, all numbers.
        dict: views of it by name, in their shapes.
    """

    def __init__(self, game: Game, params: Mapping[str, Any] | None) -> None:
        """Makes room.

        Raises:
            ValueError: parameters were given; there are none.
        """
        if params:
            raise ValueError(f"observation parameters {dict(params)!r}; accepted: none")
        self._game = game
        shapes = {field.key: field.shape for field in game.fields} | {"next_player": (game.num_players + 2,)}
        sizes = [int(np.prod(shape)) for shape in shapes.values()]
        self.tensor = np.zeros(sum(sizes), np.float32)
        parts = np.split(self.tensor, np.cumsum(sizes)[:-1])
        self.dict = {key: part.reshape(shape) for (key, shape), part in zip(shapes.items(), parts)}

    def set_from(self, state: SpielState, player: int) -> None:
        """Fills `tensor` with what the player sees; with zeros and `next_player` alone before the start."""
        self.tensor.fill(0)
        players, mover = self._game.num_players, state.current_player()
        if mover >= 0:
            self.dict["next_player"][(mover - player) % players] = 1
        else:
            self.dict["next_player"][players + (not state.is_chance_node())] = 1
        if state._row:
            for key, entry in rows.view(self._game, state.row, player).items():
                self.dict[key][:] = entry

    def string_from(self, state: SpielState, player: int) -> str:
        """What the player sees, in words: everything, as everyone does."""
        return f"{self._game.seat_names[player]} sees {state}"


class AgentBot(pyspiel.Bot):  # type: ignore[misc]
    """An agent of the package as an OpenSpiel bot."""

    def __init__(self, agent: str | Agent, game: SpielGame, seed: int = 0) -> None:
        """Makes a bot.

        Args:
            agent: an agent's name, or an agent.
            game: what it plays.
            seed: of the agent's own choices among equals.

        Raises:
            ValueError: no such agent, or one for another game.
        """
        super().__init__()
        self._agent = make_agent(agent, game.rules)
        self._agent.seed(check_whole_number("seed", seed, 0))

    def step(self, state: SpielState) -> int:
        """The agent's action for whoever decides in the state."""
        return int(self._agent.act(state.row)[0])

    def restart_at(self, state: SpielState) -> None:
        """Nothing to do: an agent keeps nothing of a game."""


def register(game: Game) -> type[SpielGame]:
    """Registers a game with OpenSpiel, its options as the defaults of the game's parameters; returns the class."""
    kind = game_type(game)
    made = type(f"{type(game).__name__}SpielGame", (SpielGame,), {"kind": kind, "default": game})
    pyspiel.register_game(kind, made)
    return made


for _name in GAMES:
    if f"python_{_name}" not in pyspiel.registered_names():
        register(make_game(_name))
