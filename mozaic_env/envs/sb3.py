"""Any game of the package as a native stable-baselines3 VecEnv, for PPO and MaskablePPO.

Like a DummyVecEnv of single environments, only that no Python runs for each game: games restart in the step in which
they end, and `infos` of games that go on are empty.
"""

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from typing import Any

import numpy as np
import numpy.typing as npt

from mozaic_env.agents.base import Agent
from mozaic_env.core.checks import check_choice, check_whole_number
from mozaic_env.core.extras import importing
from mozaic_env.core.game import Game
from mozaic_env.core.stream import keys_from_seeds
from mozaic_env.drawing.raster import to_rgb
from mozaic_env.envs.gymnasium.single import EpisodeOver, read_reset_options
from mozaic_env.envs.gymnasium.spaces import action_space, observation_space
from mozaic_env.envs.infos import Infos
from mozaic_env.games import game_with, keywords_of
from mozaic_env.simulation.batch import Batch, Opponent
from mozaic_env.simulation.queries import next_keys
from mozaic_env.simulation.state import FORFEITED, SAME_STEP

# What `get_attr` knows.
SHARED = ("game", "render_mode", "metadata", "action_masks", "observation_space", "action_space", "spec")

with importing("mozaic_env.envs.sb3"):
    from stable_baselines3.common.vec_env.base_vec_env import VecEnv, VecEnvIndices, VecEnvObs, VecEnvStepReturn


class GameVecEnv(VecEnv):
    """Many games at once behind stable-baselines3's interface.

    `infos[i]` of a game that ended holds `terminal_observation`, `TimeLimit.truncated`, `is_success` (the seat won;
    with ``opponent=None`` the seat that acted last), `seat`, `outcome` (the seat's result, in [-1, 1]; 0 if
    truncated) and `margin` (its final lead, in the game's unit), `opponent` where there is one, and `illegal_action`
    (True) where it was that. The others are empty, each game's its own, to write into: copying what single environments
    tell can take half of a step (stable-baselines3 issue 618).

    `env_method("action_masks")` gives the masks of the games, as MaskablePPO asks for them.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi", "rgb_array"], "render_fps": 2}

    def __init__(
        self,
        num_envs: int,
        game: str | Game = "mozaic",
        *,
        opponent: Opponent = "random",
        seat: str | int = "random",
        reward: str = "outcome",
        illegal: str = "lose",
        max_decisions: int | None = None,
        threads: int = 1,
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        """Makes the environment; the arguments are those of `mozaic_env.envs.gymnasium.vector.GameVectorEnv`."""
        self.game = game_with(game, options, keywords_of(GameVecEnv.__init__))
        self.render_mode = check_choice("render_mode", render_mode, (None, *self.metadata["render_modes"]))
        self._batch = Batch(
            self.game,
            num_envs,
            opponents=() if opponent is None else (opponent,),
            seat=seat,
            reward=reward,
            illegal=illegal,
            max_decisions=max_decisions,
            autoreset=SAME_STEP,
            threads=threads,
        )
        self._begun = False
        self._actions = np.zeros(num_envs, np.int64)
        self._untold = [None] * num_envs
        super().__init__(num_envs, observation_space(self.game), action_space(self.game))
        self.metadata = dict(type(self).metadata)  # the class above has put its own there

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Gives game i the seed s + i at the next `reset`; None: random ones.

        Raises:
            ValueError: the seed is not a whole number of at least 0.
        """
        return super().seed(None if seed is None else check_whole_number("seed", seed, 0))

    def set_options(self, options: Sequence[Mapping[str, Any]] | Mapping[str, Any] | None = None) -> None:
        """Sets the options of the next `reset`, `position` and `seat` as for `GameEnv`, for all games or for each one.

        Raises:
            ValueError: an option of those that are malformed, or another number of them than there are games.
        """
        if isinstance(options, np.ndarray | Sequence) and not isinstance(options, str):
            if len(options) != self.num_envs:
                raise ValueError(f"{len(options)} reset options; accepted: one dict for each of {self.num_envs} games")
            for option in options:
                read_reset_options(self.game, option)
            super().set_options([dict(option or {}) for option in options])
        else:
            read_reset_options(self.game, options)
            super().set_options(dict(options or {}))

    def reset(self) -> VecEnvObs:
        """Begins a game everywhere: with the seeds of `seed`, else each stream goes on.

        Raises:
            ValueError: a seat does not decide in what follows from its position. Nothing has changed then.
        """
        batch, everyone = self._batch, np.arange(self.num_envs)
        keys = batch.rows["key"].copy()
        next_keys(keys)
        if not self._begun:
            keys = np.random.SeedSequence().generate_state(self.num_envs, np.uint64)
        given = [i for i, seed in enumerate(self._seeds) if seed is not None]
        keys[given] = keys_from_seeds([seed for seed in self._seeds if seed is not None])
        options = [read_reset_options(self.game, option) for option in self._options]
        try:
            if all(start is None and seat is None for start, seat in options):
                batch.begin(everyone, keys, None, None)
            else:
                with batch.unchanged_if_refused(everyone):
                    for i, (start, seat) in enumerate(options):
                        batch.begin(everyone[i : i + 1], keys[i : i + 1], start, seat)
        except BaseException:
            self._begun &= not batch.broken
            raise
        self._begun = True
        self._reset_seeds()
        self._reset_options()
        self.reset_infos = [{"seat": int(seat)} for seat in batch.buffers.seats]
        return self._observation()

    def _observation(self) -> VecEnvObs:
        return {key: entry.copy() for key, entry in self._batch.buffers.observation.items()}

    def step_async(self, actions: npt.NDArray[Any]) -> None:
        """Takes the actions for `step_wait`.

        Raises:
            ValueError: another shape or dtype; `step_wait` checks the range.
        """
        given = np.asarray(actions)
        if given.shape != (self.num_envs,) or given.dtype.kind not in "iu":
            raise ValueError(
                f"actions have shape {given.shape} and dtype {given.dtype}; "
                f"accepted: ({self.num_envs},) of whole numbers"
            )
        self._actions = np.ascontiguousarray(given, np.int64)

    def step_wait(self) -> VecEnvStepReturn:
        """Makes the decisions."""
        batch = self._batch
        self._require_games()
        infos = Infos(self._untold)
        ended = batch.step(self._actions)
        dones = batch.buffers.terminated | batch.buffers.truncated
        if ended:
            for i in np.flatnonzero(dones):
                infos[i] = self._ending(int(i))
        return self._observation(), batch.buffers.rewards.astype(np.float32), dones, infos

    def _require_games(self) -> None:
        if not self._begun:
            raise EpisodeOver("no game has begun; call reset() first")

    def _ending(self, index: int) -> dict[str, Any]:
        batch = self._batch
        episode = batch.final_episodes[index]
        ending = {
            "terminal_observation": {key: entry[index].copy() for key, entry in batch.final.observation.items()},
            "TimeLimit.truncated": bool(batch.buffers.truncated[index]),
            "is_success": bool(episode["outcome"] > 0),
            "seat": int(episode["viewer"]),
            "outcome": float(episode["outcome"]),
            "margin": float(episode["margin"]),
        }
        if batch.opponents:
            ending["opponent"] = batch.opponent_names[episode["opponent"]]
        if episode["status"] == FORFEITED:
            ending["illegal_action"] = True
        return ending

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Which actions are legal now, bool, shape (num_envs, actions)."""
        self._require_games()
        return self._batch.buffers.masks.astype(np.bool_)

    def set_opponents(self, opponents: Sequence[str | Agent], shares: Sequence[float] | None = None) -> None:
        """Changes who may hold the other seats; every game under way keeps its opponent to the end.

        A game's opponent is drawn at its start. Where the list does not hold the opponents of all games under way, in
        the places that they had, these games can't go on: `reset` has to be called next.

        Raises:
            ValueError: an unknown agent, or shares that are no probabilities. Nothing has changed then.
        """
        self._begun &= self._batch.set_opponents(opponents, shares)

    @property
    def opponent_indices(self) -> npt.NDArray[np.int64]:
        """Each game's opponent as an index into the list of opponents, shape (num_envs,)."""
        self._require_games()
        return self._batch.episodes["opponent"].astype(np.int64)

    @property
    def states(self) -> npt.NDArray[Any]:
        """A copy of all games' rows, shape (num_envs,)."""
        self._require_games()
        return self._batch.rows.copy()

    def __copy__(self) -> "GameVecEnv":
        """As deep as `copy.deepcopy`: two environments never share a game."""
        return deepcopy(self)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.game!r}, num_envs={self.num_envs}, {self._batch.description}>"

    def close(self) -> None:
        """Nothing to release."""

    def get_images(self) -> Sequence[npt.NDArray[np.uint8] | None]:
        """The pictures of all games, uint8 of shape (512, 512, 3), with ``render_mode="rgb_array"``; else none."""
        return self._render(range(self.num_envs)) if self.render_mode == "rgb_array" else [None] * self.num_envs

    def _render(self, games: Sequence[int]) -> list[Any]:
        self._require_games()
        rows = [self._batch.rows[i] for i in games]
        if self.render_mode == "rgb_array":
            return [to_rgb(self.game.draw(row)) for row in rows]
        return [self.game.draw_text(row) for row in rows]

    def env_method(self, method_name: str, *args: Any, indices: VecEnvIndices = None, **kwargs: Any) -> list[Any]:
        """What "action_masks" or "render" would give for the games at `indices`.

        Raises:
            AttributeError: any other method; there are no single environments behind this one.
            ValueError: no such indices.
            EpisodeOver: nothing has been reset yet.
        """
        chosen = self._get_indices(indices)
        if method_name == "action_masks":
            return list(self.action_masks()[chosen])
        if method_name == "render":
            return self._render(chosen)
        raise AttributeError(f"no method {method_name!r}; accepted: 'action_masks', 'render'")

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """An attribute that all games share: "game", "render_mode", "metadata", "action_masks" or a space.

        Raises:
            AttributeError: any other attribute.
            ValueError: no such indices.
        """
        if attr_name not in SHARED:
            raise AttributeError(f"no attribute {attr_name!r} for single games")
        return [getattr(self, attr_name, None)] * len(self._get_indices(indices))

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Refused.

        Raises:
            AttributeError: always; make another environment with other options.
        """
        raise AttributeError(
            f"{attr_name!r} can't be set for single games; make another environment with other options"
        )

    def env_is_wrapped(self, wrapper_class: type[Any], indices: VecEnvIndices = None) -> list[bool]:
        """Never: there are no single environments to wrap."""
        return [False] * len(self._get_indices(indices))

    def _get_indices(self, indices: VecEnvIndices) -> list[int]:
        """The indices as a list, negative ones counted from the end as in a list of environments."""
        size = self.num_envs
        if indices is None:
            return list(range(size))
        if isinstance(indices, np.ndarray):
            indices = indices.tolist()  # one number if it has no dimensions
        chosen = list(indices) if isinstance(indices, Iterable) else [indices]
        if any(isinstance(i, bool) or not isinstance(i, int | np.integer) or not -size <= i < size for i in chosen):
            raise ValueError(f"indices={indices!r}; accepted: None, or one or some of 0..{size - 1}")
        return [int(i) for i in chosen]
