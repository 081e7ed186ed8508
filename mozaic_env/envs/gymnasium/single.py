"""Any game of the package as a single Gymnasium environment."""

import copy
import re
from collections.abc import Mapping
from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt
from gymnasium.error import ResetNeeded

from mozaic_env.core.checks import check_choice, check_whole_number
from mozaic_env.core.contract import OVER, mover
from mozaic_env.core.game import Game
from mozaic_env.core.stream import keys_from_seeds
from mozaic_env.core.text.files import clean
from mozaic_env.drawing.picture import Picture, to_svg
from mozaic_env.drawing.raster import to_rgb
from mozaic_env.envs.gymnasium.spaces import action_space, observation_space
from mozaic_env.envs.gymnasium.window import Window, is_likely, require_pygame
from mozaic_env.games import game_with, keywords_of
from mozaic_env.simulation.batch import MAX_LOG, Batch, Opponent
from mozaic_env.simulation.queries import setup_rows
from mozaic_env.simulation.state import FORFEITED, READY, TERMINATED

Observation = dict[str, npt.NDArray[Any]]
_ONLY = np.zeros(1, np.int64)  # the index of the one game


class EpisodeOver(ResetNeeded, ValueError):
    """`step` was called when no game is running; call `reset` first."""


def read_reset_options(game: Game, options: Mapping[str, Any] | None) -> tuple[np.void | None, int | None]:
    """The row to start from and the seat to take, each None where not given; ValueError for anything else."""
    if options is None:
        return None, None
    if not isinstance(options, Mapping):
        raise ValueError(f"reset options {options!r}; accepted: None or a dict with 'position' and 'seat'")
    unknown = set(options) - {"position", "seat"}
    if unknown:
        raise ValueError(f"reset options {sorted(map(str, unknown))!r}; accepted: 'position' and 'seat'")
    start = None
    if options.get("position") is not None:
        start = game.parse_position(clean(options["position"]))[0]
        if mover(start) == OVER:
            raise ValueError(f"position {options['position']!r} is a finished game; accepted: one with a decision")
    seat = options.get("seat")
    return start, None if seat is None else check_choice("seat", seat, range(game.num_players))


class GameEnv(gym.Env[Observation, np.int64]):
    """A board game as one seat's decision process, or with `opponent=None` as every seat's in turn.

    The page on a game's actions, observation and rules is the docstring of its class, such as
    `mozaic_env.games.mozaic.game.Mozaic`.

    **Opponents.** With an opponent (an agent's name or an `Agent`), `step` plays the action and then everything up to
    the seat's next decision: chance, and the opponent's moves. With ``opponent=None``, `step` plays for whoever is to
    decide; `seat` then has no meaning.

    **Observation.** A Dict, always from the view of the seat that decides, own things first. When the game has ended:
    from the view of the agent's seat, or with ``opponent=None`` of the seat that acted.

    **Info.** `action_mask` (int8, one for each action, at reset and every step; all ones when the game has ended) and
    `seat` (whose view the observation is). At the end also `opponent` (its name, if there is one) and, after an illegal
    action, `illegal_action` (True).

    **Reward.** For the seat that acted. ``"outcome"``: the game's result at the end, 0 before. ``"margin"``: by how
    much the seat's lead has grown since its last decision, in the game's unit; with ``opponent=None`` by how much in
    this step alone, for what the other seats do is paid to them. A game may have more `rewards`.

    **End.** `terminated` when the game is over, or after an illegal action with ``illegal="lose"`` (reward -1).
    `truncated` when `max_decisions` decisions of all seats have been made and the game is not over, or when it has
    reached a limit of its own rules. Never both.

    **Pictures.** `render` gives text with ``render_mode="ansi"`` and an array with ``"rgb_array"`` (uint8, shape
    (512, 512, 3), no display needed); what the last step has changed is marked. ``"human"`` shows each position in a
    window (pygame, of the extra `play`) that opens at the first one and goes with `close`; an
    environment's own `metadata` names this mode only where a window is likely to open.

    Attributes:
        game: the game with its options.
    """

    metadata: dict[str, Any] = {
        "render_modes": ["ansi", "rgb_array", "human"],
        "render_fps": 2,
    }

    def __init__(
        self,
        game: str | Game,
        *,
        opponent: Opponent = "random",
        seat: str | int = "random",
        reward: str = "outcome",
        illegal: str = "lose",
        max_decisions: int | None = None,
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        """Makes an environment; `reset` begins the first game.

        Args:
            game: a game's name, or a game.
            opponent: an agent's name, an Agent, or None.
            seat: "random" (drawn at each reset) or a seat's number.
            reward: "outcome", "margin" or another of the game's `rewards`.
            illegal: what an illegal action does: "lose" the game or "raise" ValueError.
            max_decisions: after how many decisions of all seats a game is truncated; None: the game's default.
            render_mode: None, "ansi", "rgb_array" or "human".
            **options: the game's own options.

        Raises:
            ValueError: an option is none of these, or a window is asked for and pygame is not installed.
        """
        self.game = game_with(game, options, keywords_of(GameEnv.__init__))
        self.render_mode = check_choice("render_mode", render_mode, (None, *self.metadata["render_modes"]))
        if render_mode == "human":
            require_pygame()
        elif not is_likely():  # so that Gymnasium's check_env, which tries every mode, passes
            modes = [mode for mode in self.metadata["render_modes"] if mode != "human"]
            self.metadata = {**self.metadata, "render_modes": modes}
        self._batch = Batch(
            self.game,
            1,
            opponents=() if opponent is None else (opponent,),
            seat=seat,
            reward=reward,
            illegal=illegal,
            max_decisions=max_decisions,
            log=True,
        )
        self._start: np.void | None = None  # the row that the game under way began with
        self._before: np.void | None = None  # the row before the last step; kept only where pictures are drawn
        self._window: Window | None = None
        self.observation_space = observation_space(self.game)
        self.action_space = action_space(self.game)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begins a game.

        Args:
            seed: makes this game and all that follow without a seed repeat exactly; None: the stream goes on.
            options: `position`, a position string to start from, and `seat`, which seat to take in this game.

        Raises:
            ValueError: an unknown option, a malformed or finished position, or a seat that is none or does not decide
                in what follows. Nothing has changed then.
        """
        if seed is not None:
            seed = check_whole_number("seed", seed, 0)
        start, seat = read_reset_options(self.game, options)
        super().reset(seed=seed)
        if seed is not None:
            keys = keys_from_seeds([seed])
        elif self._start is None:
            keys = self.np_random.integers(2**64, size=1, dtype=np.uint64)
        else:
            keys = None
        self.begin(keys, start, seat)
        if self.render_mode == "human":
            self.render()
        return self._observe(), self._info()

    def begin(self, keys: npt.NDArray[np.uint64] | None, start: np.void | None, seat: int | None) -> None:
        """Begins a game as `reset` does, by the key of its random stream.

        Args:
            keys: the key, shape (1,); None: the stream goes on.
            start: the row to start from, its key ignored; None: the start of the game.
            seat: the agent's; None: as the environment's options say.

        Raises:
            ValueError: the seat does not decide in what follows from `start`; then the game under way goes on.
        """
        try:
            self._batch.begin(_ONLY, keys, start, seat)
        except BaseException:
            if self._batch.broken:
                self._start = None
            raise
        self._start = self._before = self._first_row(start)

    def _first_row(self, start: np.void | None) -> np.void:
        first = self.game.rows(1)
        if start is not None:
            first[0] = start
        first["key"] = self._batch.rows["key"]
        if start is None:
            setup_rows(first)
        return first[0]

    def step(self, action: np.int64) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Makes a decision.

        Args:
            action: an action id.

        Returns:
            observation, reward, terminated, truncated, info.

        Raises:
            ValueError: the action is no id of the action space, or illegal with ``illegal="raise"``.
            EpisodeOver: no game is running.
        """
        batch = self._batch
        status = batch.episodes[0]["status"]
        if status != READY:
            what = "no game has begun" if self._start is None else "this game has ended"
            raise EpisodeOver(f"step() was called, but {what}; call reset() to begin the next one")
        before = batch.rows[0].copy() if self.render_mode in ("rgb_array", "human") else None
        try:
            batch.step(self._read_action(action))
        except BaseException:
            if batch.broken:
                self._start = None
            raise
        self._before = before
        if self.render_mode == "human":
            self.render()
        buffers = batch.buffers
        return (
            self._observe(),
            float(buffers.rewards[0]),
            bool(buffers.terminated[0]),
            bool(buffers.truncated[0]),
            self._info(),
        )

    def _read_action(self, action: Any) -> npt.NDArray[np.int64]:
        given = np.asarray(action)
        if given.shape not in ((), (1,)) or given.dtype.kind not in "iu":
            raise ValueError(f"action {action!r}; accepted: one whole number in 0..{self.game.num_actions - 1}")
        return given.reshape(1).astype(np.int64)

    def _observe(self) -> Observation:
        return {key: entry[0].copy() for key, entry in self._batch.buffers.observation.items()}

    def _info(self) -> dict[str, Any]:
        episode = self._batch.episodes[0]
        info = {"action_mask": self._batch.buffers.masks[0].copy(), "seat": int(self._batch.buffers.seats[0])}
        if episode["status"] != READY:
            if self._batch.opponents:
                info["opponent"] = self._batch.opponent_names[episode["opponent"]]
            if episode["status"] == FORFEITED:
                info["illegal_action"] = True
        return info

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Which actions are legal now, bool, shape (actions,); all of them when the game has ended."""
        self._require_game()
        return self._batch.buffers.masks[0].astype(np.bool_)

    @property
    def position(self) -> str:
        """The state as the game's position string."""
        return self.game.format_position(self.state)

    @property
    def state(self) -> np.void:
        """A copy of the game's row."""
        self._require_game()
        return self._batch.rows[0].copy()

    @property
    def record(self) -> str:
        """The game so far as a record: complete once it is over, without a result while it runs."""
        start = self._require_game()
        row, episode = self._batch.rows[0], self._batch.episodes[0]
        header: dict[str, Any] = {}
        if self._batch.opponents:
            for seat, name in enumerate(self.game.seat_names):
                other = self._batch.opponent_names[episode["opponent"]]
                header[name] = "agent" if seat == episode["seat"] else re.sub(r"[\s|]+", "_", other)
        if episode["status"] == FORFEITED:
            header["forfeit"] = self.game.seat_names[episode["acted"]]
        if row["decisions"] > MAX_LOG:
            raise ValueError(f"{row['decisions']} decisions were made; a record tells at most {MAX_LOG}")
        actions = self._batch.log[0, : row["decisions"]].tolist()
        ending = {READY: "running", TERMINATED: "over"}.get(int(episode["status"]), "truncated")
        return str(self.game.write_record(start, actions, header, ending))

    def clone(self) -> "GameEnv":
        """An independent copy with the game in progress, for search: it goes on exactly as this one would.

        A clone of an environment with a window has none, and no render mode.
        """
        twin = copy.deepcopy(self)
        if twin.render_mode == "human":
            twin.render_mode = None
        return twin

    def __getstate__(self) -> dict[str, Any]:
        """All but the window, so copies and pickles carry the game in progress."""
        return {**self.__dict__, "_window": None}

    def __copy__(self) -> "GameEnv":
        """As deep as `copy.deepcopy`: two environments never share a game."""
        return copy.deepcopy(self)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.game!r}, {self._batch.description}>"

    def render(self) -> Any:
        """The picture that `render_mode` asks for: text or an array; None where a window shows it, or without a mode.

        Raises:
            ValueError: no game has begun, or no window can be opened.
        """
        if self.render_mode is None:
            gym.logger.warn("render() was called without a render_mode; pass one to gym.make, such as 'ansi'")
            return None
        self._require_game()
        if self.render_mode == "ansi":
            return self.game.draw_text(self._batch.rows[0])
        frame = to_rgb(self._picture())
        if self.render_mode == "rgb_array":
            return frame
        if self._window is None:
            self._window = Window(self.game.name, self.metadata["render_fps"])
        self._window.show(frame)
        return None

    def _repr_svg_(self) -> str | None:
        """The picture that a notebook shows of the environment; None before the first game."""
        return None if self._start is None else to_svg(self._picture())

    def _picture(self) -> Picture:
        row, episode, action = self._batch.rows[0], self._batch.episodes[0], None
        decisions = int(row["decisions"])
        if self._before is not None and self._before["decisions"] < decisions <= MAX_LOG:
            action = int(self._batch.log[0, decisions - 1])
        caption = ""
        if episode["status"] == FORFEITED:
            caption = f"an illegal action: {self.game.seat_names[episode['acted']]} loses"
        return self.game.draw(row, self._before, action, caption)

    def close(self) -> None:
        """Closes the window, if there is one."""
        if self._window is not None:
            self._window.close()
            self._window = None

    def _require_game(self) -> np.void:
        """The row that the game began with."""
        if self._start is None:
            raise EpisodeOver("no game has begun; call reset() first")
        return self._start
