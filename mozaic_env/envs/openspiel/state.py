"""A state of a game behind OpenSpiel's interface, and what a player sees of it."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyspiel

from mozaic_env.core.contract import CHANCE, OVER
from mozaic_env.core.game import Game
from mozaic_env.simulation import queries, single_row


class SpielState(pyspiel.State):  # type: ignore[misc]
    """A state of a `mozaic_env.envs.openspiel.game.SpielGame`: a row as bytes, which clones share and pickles carry."""

    def __init__(self, game: Any) -> None:
        """Made by `SpielGame.new_initial_state`."""
        super().__init__(game)
        self._row = b""  # until chance has said how the game starts
        self._mover = CHANCE
        self._over = False
        if len(game.starts) == 1:
            self._begin(game.starts[0][1])

    def _begin(self, row: bytes) -> None:
        self._row = row
        self._look(single_row.who(self.row), self.row)

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
        queries.masks_of(self.row, masks)
        actions: list[int] = np.flatnonzero(masks).tolist()
        return actions

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """The possible draws and their probabilities; at first, where a coin decides it, the possible starts."""
        game = self.get_game()
        if not self._row:
            return [(code, probability) for code, (probability, _) in enumerate(game.starts)]
        codes, probabilities = game.room()
        size = single_row.chances(self.row, codes, probabilities)
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
        mover = single_row.go_on(row, action, game.rules.num_actions, *game.room())
        if mover == single_row.REFUSED:
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
        results = np.zeros((1, self.get_game().rules.num_players))
        if self._mover == OVER:
            queries.seat_outcomes(self.row, results)
        totals: list[float] = results[0].tolist()
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
            for key, entry in single_row.view(self._game, state.row, player).items():
                self.dict[key][:] = entry

    def string_from(self, state: SpielState, player: int) -> str:
        """What the player sees, in words: everything, as everyone does."""
        return f"{self._game.seat_names[player]} sees {state}"
