"""Any game of the package as a native Gymnasium vector environment: one compiled loop, no processes."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from mozaic_env.agents.base import Agent
from mozaic_env.core.checks import check_choice, check_flag, check_whole_number
from mozaic_env.core.game import Game
from mozaic_env.core.stream import keys_from_seeds
from mozaic_env.drawing.raster import to_rgb
from mozaic_env.envs.gymnasium.single import EpisodeOver, read_reset_options
from mozaic_env.envs.gymnasium.spaces import action_space, observation_space
from mozaic_env.envs.names import Names
from mozaic_env.games import game_with, keywords_of
from mozaic_env.simulation import state, step
from mozaic_env.simulation.batch import Batch, Buffers, Opponent
from mozaic_env.simulation.queries import next_keys

Observation = dict[str, npt.NDArray[Any]]
Infos = dict[str, Any]

_AUTORESET = {
    AutoresetMode.NEXT_STEP: state.NEXT_STEP,
    AutoresetMode.SAME_STEP: state.SAME_STEP,
    AutoresetMode.DISABLED: state.DISABLED,
}


class GameVectorEnv(VectorEnv[Observation, npt.NDArray[np.int64], npt.NDArray[Any]]):
    """Many games at once. With the same seeds and actions each equals a `GameEnv` to the bit.

    What a step gives is described in `mozaic_env.envs.gymnasium.single.GameEnv`; here every array has a leading axis
    of games. The entries of `info` follow Gymnasium's vector convention: `action_mask` (n, actions) and `seat` (n,)
    always, each with its `_`-prefixed flags; `opponent` and `illegal_action` for games that ended. In SAME_STEP mode
    what belongs to the game that ended is in `final_obs` and `final_info`.

    With ``copy=False`` the arrays that `step` returns are one of two sets that take turns, so they hold still for one
    more step; with ``copy=True`` they are new ones in every step.

    `threads` changes the speed, never a result. A thread takes part from 1,024 games for each on, and cores that are
    free.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi", "rgb_array"], "render_fps": 2}

    def __init__(
        self,
        num_envs: int,
        game: str | Game,
        *,
        opponent: Opponent = "random",
        seat: str | int = "random",
        reward: str = "outcome",
        illegal: str = "lose",
        max_decisions: int | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        copy: bool = True,
        threads: int = 1,
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        """Makes the environment; `reset` begins the first games.

        Args:
            num_envs: how many games.
            game: a game's name, or a game.
            opponent: as for `GameEnv`; a Python agent is asked once for all games that wait for it.
            seat: as for `GameEnv`.
            reward: as for `GameEnv`.
            illegal: as for `GameEnv`; "raise" names the index of the game, and no game has moved.
            max_decisions: as for `GameEnv`.
            autoreset_mode: when a finished game is replaced by its next one.
            copy: whether `step` returns new arrays each time.
            threads: how many threads step the games.
            render_mode: None or one of `metadata["render_modes"]`.
            **options: the game's own options.

        Raises:
            ValueError: an option is none of these.
        """
        self.game = game_with(game, options, keywords_of(GameVectorEnv.__init__))
        self.render_mode = check_choice("render_mode", render_mode, (None, *self.metadata["render_modes"]))
        try:
            mode = AutoresetMode(autoreset_mode)
        except ValueError:
            accepted = ", ".join(repr(choice.value) for choice in AutoresetMode)
            raise ValueError(f"autoreset_mode={autoreset_mode!r}; accepted: {accepted}") from None
        self._batch = Batch(
            self.game,
            num_envs,
            opponents=() if opponent is None else (opponent,),
            seat=seat,
            reward=reward,
            illegal=illegal,
            max_decisions=max_decisions,
            autoreset=_AUTORESET[mode],
            threads=threads,
        )
        self.num_envs = self._batch.size
        self.copy: bool = check_flag("copy", copy)
        self.autoreset_mode = mode
        self.metadata = {**self.metadata, "autoreset_mode": mode}
        self.single_observation_space = observation_space(self.game)
        self.single_action_space = action_space(self.game)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._spare = Buffers(self.game, self.num_envs)
        self._everyone = np.ones(self.num_envs, np.bool_)
        self._everyone.flags.writeable = False
        self._begun = False
        self._samples = 0  # how often actions were sampled
        self._chosen = np.zeros((2, self.num_envs), np.int64)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, Infos]:
        """Begins games.

        Args:
            seed: an int s gives game i the seed s + i; a list gives each game its own, None in it or for all lets the
                game's stream go on.
            options: `reset_mask`, bool of shape (num_envs,), which games to begin; `position` and `seat` as for
                `GameEnv`. Not changed.

        Raises:
            ValueError: a list of another length, a malformed option, a first reset that leaves games out, or a seat
                that does not decide in what follows from the position. Nothing has changed then.
        """
        mask = None
        if isinstance(options, Mapping) and "reset_mask" in options:
            options = dict(options)
            mask = options.pop("reset_mask")
        games = self._read_mask(mask)
        start, seat = read_reset_options(self.game, options)
        keys = self._keys(seed)
        batch = self._batch
        shown, spare = batch.buffers, self._spare
        self._next_buffers()
        try:
            if len(games) < self.num_envs:
                step.show_games(batch.simulation, batch.buffers.outputs)
            batch.begin(games, keys[games], start, seat)
        except BaseException:
            batch.buffers, self._spare = shown, spare  # if no game could begin, those under way go on
            self._begun &= not batch.broken
            raise
        self._begun = True
        return batch.buffers.observation, self._infos()

    def _read_mask(self, mask: Any) -> npt.NDArray[np.int64]:
        if mask is None:
            return np.arange(self.num_envs)
        if (
            not isinstance(mask, np.ndarray)
            or mask.dtype != np.bool_
            or mask.shape != (self.num_envs,)
            or not mask.any()
        ):
            raise ValueError(
                f"options['reset_mask']={mask!r}; "
                f"accepted: a bool array of shape ({self.num_envs},) with at least one True"
            )
        if not self._begun and not mask.all():
            raise ValueError("options['reset_mask'] leaves games out that have never begun; reset all of them first")
        return np.flatnonzero(mask)

    def _keys(self, seed: Any) -> npt.NDArray[np.uint64]:
        """Every game's key: from its seed, or from the key of its game before, or at first from entropy."""
        seeds: list[int | None] = [None] * self.num_envs
        is_list = isinstance(seed, Sequence) and not isinstance(seed, str | bytes | bytearray)
        if is_list or (isinstance(seed, np.ndarray) and seed.ndim):
            if len(seed) != self.num_envs:
                raise ValueError(f"seed has {len(seed)} entries; accepted: one for each of the {self.num_envs} games")
            seeds = [None if one is None else check_whole_number(f"seed[{i}]", one, 0) for i, one in enumerate(seed)]
        elif seed is not None:
            first = check_whole_number("seed", seed, 0)
            super().reset(seed=first)
            seeds = [first + i for i in range(self.num_envs)]
        if self._begun:
            keys = self._batch.rows["key"].copy()
            next_keys(keys)
        else:
            keys = self.np_random.integers(2**64, size=self.num_envs, dtype=np.uint64)
        given = [i for i, value in enumerate(seeds) if value is not None]
        keys[given] = keys_from_seeds([seeds[i] for i in given])  # type: ignore[misc]
        return keys

    def _next_buffers(self) -> None:
        """Moves on to arrays that the caller does not look at."""
        batch = self._batch
        if self.copy:
            batch.buffers = Buffers(self.game, self.num_envs)
        else:
            batch.buffers, self._spare = self._spare, batch.buffers

    def step(
        self, actions: npt.NDArray[np.int64]
    ) -> tuple[Observation, npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any], Infos]:
        """One decision for each game.

        Args:
            actions: integers, shape (num_envs,). In NEXT_STEP mode the action of a game that has ended is ignored.

        Returns:
            observations, rewards (float64), terminations, truncations (bool), infos; see the class.

        Raises:
            ValueError: wrong shape or dtype; an action out of range, or illegal with ``illegal="raise"``: the message
                names the index, and no game has moved.
            EpisodeOver: nothing has been reset yet, or in DISABLED mode a game has ended.
        """
        batch = self._batch
        self._require_games()
        if self.autoreset_mode is AutoresetMode.DISABLED:
            ended = step.first_ended(batch.episodes)
            if ended >= 0:
                raise EpisodeOver(f"the game at index {ended} has ended; reset it with options={{'reset_mask': ...}}")
        if (
            type(actions) is not np.ndarray
            or actions.dtype != np.int64
            or actions.shape != (self.num_envs,)
            or not actions.flags.c_contiguous
        ):
            actions = self._read_actions(actions)
        shown, spare = batch.buffers, self._spare
        self._next_buffers()
        try:
            ended = batch.step(actions)
        except BaseException:
            batch.buffers, self._spare = shown, spare  # where no game has moved, masks and views are still these
            self._begun = not batch.broken
            raise
        buffers = batch.buffers
        infos = self._infos()
        if ended:
            self._add_endings(infos)
        return buffers.observation, buffers.rewards, buffers.terminated, buffers.truncated, infos

    def __copy__(self) -> "GameVectorEnv":
        """As deep as `copy.deepcopy`: two environments never share a game."""
        return deepcopy(self)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.game!r}, num_envs={self.num_envs}, {self._batch.description}>"

    def _require_games(self) -> None:
        if not self._begun:
            raise EpisodeOver("no game has begun; call reset() first")

    def _read_actions(self, actions: Any) -> npt.NDArray[np.int64]:
        given = np.asarray(actions)
        if given.shape != (self.num_envs,) or given.dtype.kind not in "iu":
            raise ValueError(
                f"actions have shape {given.shape} and dtype {given.dtype}; "
                f"accepted: ({self.num_envs},) of whole numbers"
            )
        return np.ascontiguousarray(given, np.int64)

    def _infos(self) -> Infos:
        buffers = self._batch.buffers
        return {
            "action_mask": buffers.masks,
            "_action_mask": self._everyone,
            "seat": buffers.seats,
            "_seat": self._everyone,
        }

    def _add_endings(self, infos: Infos) -> None:
        """What is only known of games that ended, and in SAME_STEP mode their last observation."""
        batch, same_step = self._batch, self.autoreset_mode is AutoresetMode.SAME_STEP
        episodes = batch.final_episodes if same_step else batch.episodes
        if not (batch.opponents or same_step or batch.forfeited):
            return  # nothing to tell
        over = batch.buffers.terminated | batch.buffers.truncated
        illegal = over & (episodes["status"] == state.FORFEITED)
        endings: Infos = {}
        if batch.opponents:
            names = np.full(self.num_envs, None, object)
            names[over] = batch.opponent_names[episodes["opponent"][over]]
            endings["opponent"], endings["_opponent"] = Names.of(names, batch.opponent_names), over.copy()
        if illegal.any():
            endings["illegal_action"], endings["_illegal_action"] = illegal, illegal.copy()
        if same_step:
            endings = self._final_infos(over, endings)
        infos.update(endings)

    def _final_infos(self, over: npt.NDArray[np.bool_], endings: Infos) -> Infos:
        """The last observation, mask and seat of the games that ended, with the rest of their last info."""
        final, seats = self._batch.final, self._batch.final_episodes["viewer"].astype(np.int64)
        for key, values in (("action_mask", final.masks), ("seat", seats)):
            kept = np.zeros_like(values)
            kept[over] = values[over]
            endings[key], endings[f"_{key}"] = kept, over.copy()
        observations = np.full(self.num_envs, None, object)
        for i in np.flatnonzero(over):
            observations[i] = {key: entry[i].copy() for key, entry in final.observation.items()}
        return {
            "final_obs": observations,
            "_final_obs": over.copy(),
            "final_info": endings,
            "_final_info": over.copy(),
        }

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Which actions are legal now, bool, shape (num_envs, actions)."""
        self._require_games()
        # Not the masks that were handed out, since callers may have written into those.
        masks = np.empty((self.num_envs, self.game.num_actions), np.int8)
        step.show_masks(self._batch.rows, self._batch.episodes, masks)
        return masks.view(np.bool_)

    def sample_actions(self) -> npt.NDArray[np.int64]:
        """Uniformly random legal actions, int64, shape (num_envs,), by a compiled helper.

        They repeat with the games' seeds and with how often this was called since the environment was made. With
        ``copy=False`` the array is one of two that take turns.
        """
        self._require_games()
        batch = self._batch
        self._samples += 1
        chosen = np.empty(self.num_envs, np.int64) if self.copy else self._chosen[self._samples & 1]
        batch.sample(self._samples, chosen)
        return chosen

    def set_opponents(self, opponents: Sequence[str | Agent], shares: Sequence[float] | None = None) -> None:
        """Several opponents, one drawn for each game at its start; in force after the next full `reset`.

        Args:
            opponents: agents' names or agents.
            shares: their relative probabilities; None: equal ones.

        Raises:
            ValueError: an unknown agent, or shares that are no probabilities.
        """
        self._batch.set_opponents(opponents, shares)
        self._begun = False
        self._batch.episodes["status"] = state.TERMINATED

    @property
    def states(self) -> npt.NDArray[Any]:
        """A copy of all games' rows, shape (num_envs,)."""
        self._require_games()
        return self._batch.rows.copy()

    @property
    def positions(self) -> tuple[str, ...]:
        """All games' position strings."""
        self._require_games()
        return tuple(self.game.format_position(row) for row in self._batch.rows)

    def render(self) -> tuple[Any, ...] | None:
        """The pictures of all games, as `render_mode` asks for; None without one."""
        if self.render_mode is None:
            return None
        return tuple(self.render_one(i) for i in range(self.num_envs))

    def render_one(self, index: int) -> Any:
        """The picture of one game: text, or uint8 of shape (512, 512, 3) with ``render_mode="rgb_array"``.

        Args:
            index: which game.

        Raises:
            ValueError: there is no such game.
            EpisodeOver: nothing has been reset yet.
        """
        self._require_games()
        if check_whole_number("index", index, 0) >= self.num_envs:
            raise ValueError(f"index={index!r}; accepted: 0..{self.num_envs - 1}")
        row = self._batch.rows[index]
        return self.game.draw_text(row) if self.render_mode == "ansi" else to_rgb(self.game.draw(row))

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """What a method or attribute of the single environment would give for each game.

        Args:
            name: "action_masks", "position", "state", "render" or any attribute that all games share.
            *args: of the method.
            **kwargs: of the method.
        """
        per_game: dict[str, Any] = {
            "action_masks": lambda: tuple(self.action_masks()),
            "position": lambda: self.positions,
            "state": lambda: tuple(self.states),
            "render": lambda: tuple(self.render_one(i) for i in range(self.num_envs)),
        }
        if name in per_game:
            return per_game[name](*args, **kwargs)
        shared = {"observation_space": "single_observation_space", "action_space": "single_action_space"}
        if name not in ("game", "render_mode", "spec", *shared):
            raise ValueError(
                f"no attribute {name!r}; accepted: {', '.join([*per_game, 'game', 'render_mode', 'spec', *shared])}"
            )
        return (getattr(self, shared.get(name, name)),) * self.num_envs

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """An attribute of the single environment for each game; see `call`."""
        return self.call(name)

    def set_attr(self, name: str, values: Any) -> None:
        """Refused: all games share their options, and their states change by `step` and `reset` alone.

        Raises:
            ValueError: always.
        """
        raise ValueError(f"{name!r} can't be set for single games; make another environment with other options")
