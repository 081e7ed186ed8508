"""Any game of the package as a native stable-baselines3 VecEnv, for PPO and MaskablePPO.

Like a DummyVecEnv of single environments, only that no Python runs for each game: games restart in the step in which
they end, and `infos` of games that go on are one shared empty dict.
"""

from collections.abc import Iterable, Sequence
from copy import deepcopy
from typing import Any

import numpy as np
import numpy.typing as npt

from mozaic_env.agents.base import Agent
from mozaic_env.core.extras import importing
from mozaic_env.core.game import Game
from mozaic_env.core.stream import keys_from_seeds
from mozaic_env.envs import loops
from mozaic_env.envs.batch import Batch, Opponent, check_choice
from mozaic_env.envs.single import read_reset_options
from mozaic_env.envs.spaces import action_space, observation_space
from mozaic_env.games import make_game

with importing("mozaic_env.envs.sb3"):
    from stable_baselines3.common.vec_env.base_vec_env import VecEnv, VecEnvIndices, VecEnvObs, VecEnvStepReturn


class GameVecEnv(VecEnv):
    """Many games at once behind stable-baselines3's interface.

    `infos[i]` of a game that ended holds `terminal_observation`, `TimeLimit.truncated`, `is_success` (the seat won;
    with ``opponent=None`` the seat that acted last), `seat`, `outcome` (the seat's result, in [-1, 1]; 0 if
    truncated) and `margin` (its final lead, in the game's unit), `opponent` where there is one, and `illegal_action`
    (True) where it was that. The others are empty: copying dicts can take half of a step (stable-baselines3 issue
    618).

    `env_method("action_masks")` gives the masks of the games, as MaskablePPO asks for them.
    """

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
        """Makes the environment; the arguments are those of `mozaic_env.envs.vector.GameVectorEnv`."""
        self.game = make_game(game, **options)
        self.render_mode = check_choice("render_mode", render_mode, (None, "ansi"))
        self._batch = Batch(
            self.game,
            num_envs,
            opponents=() if opponent is None else (opponent,),
            seat=seat,
            reward=reward,
            illegal=illegal,
            max_decisions=max_decisions,
            autoreset=loops.SAME_STEP,
            threads=threads,
        )
        self._begun = False
        self._actions = np.zeros(num_envs, np.int64)
        self._nothing: dict[str, Any] = {}
        super().__init__(num_envs, observation_space(self.game), action_space(self.game))

    def reset(self) -> VecEnvObs:
        """Begins a game everywhere: with the seeds of `seed`, else each stream goes on."""
        batch, everyone = self._batch, np.arange(self.num_envs)
        keys = batch.rows["key"].copy()
        loops.advance_keys(keys)
        if not self._begun:
            keys = np.random.SeedSequence().generate_state(self.num_envs, np.uint64)
        given = [i for i, seed in enumerate(self._seeds) if seed is not None]
        keys[given] = keys_from_seeds([seed for seed in self._seeds if seed is not None])
        options = [read_reset_options(self.game, option) for option in self._options]
        if all(start is None and seat is None for start, seat in options):
            batch.begin(everyone, keys, None, None)
        else:
            for i, (start, seat) in enumerate(options):
                batch.begin(everyone[i : i + 1], keys[i : i + 1], start, seat)
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
        if not self._begun:
            raise ValueError("step() was called, but no game has begun; call reset() first")
        infos = [self._nothing] * self.num_envs
        if batch.step(self._actions):
            for i in np.flatnonzero(batch.buffers.terminated | batch.buffers.truncated):
                infos[i] = self._ending(int(i))
        dones = batch.buffers.terminated | batch.buffers.truncated
        return self._observation(), batch.buffers.rewards.astype(np.float32), dones, infos

    def _ending(self, index: int) -> dict[str, Any]:
        batch = self._batch
        slot = batch.final_slots[index]
        ending = {
            "terminal_observation": {key: entry[index].copy() for key, entry in batch.final.observation.items()},
            "TimeLimit.truncated": bool(batch.buffers.truncated[index]),
            "is_success": bool(slot["outcome"] > 0),
            "seat": int(slot["viewer"]),
            "outcome": float(slot["outcome"]),
            "margin": float(slot["margin"]),
        }
        if batch.opponents:
            ending["opponent"] = batch.opponent_names[slot["opponent"]]
        if slot["illegal"]:
            ending["illegal_action"] = True
        return ending

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Which actions are legal now, bool, shape (num_envs, actions)."""
        return self._batch.buffers.masks.astype(np.bool_)

    def set_opponents(self, opponents: Sequence[str | Agent], shares: Sequence[float] | None = None) -> None:
        """Changes who may hold the other seats; every game under way keeps its opponent to the end.

        A game's opponent is drawn at its start. Call it only with lists that begin with the opponents of all games
        under way, in the same order, or call `reset` next.
        """
        self._batch.set_opponents(opponents, shares)

    @property
    def opponent_indices(self) -> npt.NDArray[np.int64]:
        """Each game's opponent as an index into the list of opponents, shape (num_envs,)."""
        return self._batch.slots["opponent"].astype(np.int64)

    @property
    def states(self) -> npt.NDArray[Any]:
        """A copy of all games' rows, shape (num_envs,)."""
        return self._batch.rows.copy()

    def __copy__(self) -> "GameVecEnv":
        """As deep as `copy.deepcopy`: two environments never share a game."""
        return deepcopy(self)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.game!r}, num_envs={self.num_envs}, {self._batch.description}>"

    def close(self) -> None:
        """Nothing to release."""

    def get_images(self) -> Sequence[npt.NDArray[np.uint8] | None]:
        """No pictures without a render mode that makes them."""
        return [None] * self.num_envs

    def env_method(self, method_name: str, *args: Any, indices: VecEnvIndices = None, **kwargs: Any) -> list[Any]:
        """What "action_masks" or "render" would give for the games at `indices`.

        Raises:
            AttributeError: any other method; there are no single environments behind this one.
        """
        chosen = list(self._get_indices(indices))
        if method_name == "action_masks":
            return list(self.action_masks()[chosen])
        if method_name == "render":
            return [self.game.draw_text(self._batch.rows[i]) for i in chosen]
        raise AttributeError(f"no method {method_name!r}; accepted: 'action_masks', 'render'")

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """An attribute that all games share: "game", "render_mode", "action_masks" or a space.

        Raises:
            AttributeError: any other attribute.
        """
        if attr_name not in ("game", "render_mode", "action_masks", "observation_space", "action_space", "spec"):
            raise AttributeError(f"no attribute {attr_name!r} for single games")
        return [getattr(self, attr_name, None)] * len(list(self._get_indices(indices)))

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
        return [False] * len(list(self._get_indices(indices)))

    def _get_indices(self, indices: VecEnvIndices) -> Iterable[int]:
        return range(self.num_envs) if indices is None else [indices] if isinstance(indices, int) else indices
