"""Game records of the vector environment, in a folder."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt

from mozaic_env.agents.base import Agent
from mozaic_env.envs.gymnasium.single import GameEnv, read_reset_options
from mozaic_env.envs.wrappers import checks
from mozaic_env.envs.wrappers.records import RecordFile
from mozaic_env.envs.wrappers.vector.episodes import EpisodeWrapper, Flags, Infos
from mozaic_env.simulation.batch import ILLEGAL


class RecordGames(EpisodeWrapper, gym.utils.RecordConstructorArgs):
    """Writes the record of every game that ends to a file in a folder, one line each.

    See `mozaic_env.envs.wrappers.RecordGames`. The compiled loop keeps no moves of opponents, so each game that is
    written is played once more, alone, with the same luck and the same actions: to the bit the same game. That takes
    some milliseconds; with many games at once let `episode_trigger` choose some.
    """

    def __init__(
        self,
        env: Any,
        folder: str | Path,
        name_prefix: str = "games",
        episode_trigger: Callable[[int], bool] | None = None,
    ) -> None:
        """Puts the wrapper around an environment; the other arguments are those of the single one.

        Args:
            env: the native vector environment itself; other wrappers, which may change actions, go around this one.
            folder: see there.
            name_prefix: see there.
            episode_trigger: see there; games are numbered in the order in which they end.

        Raises:
            ValueError: an argument is none of those.
        """
        gym.utils.RecordConstructorArgs.__init__(
            self, folder=folder, name_prefix=name_prefix, episode_trigger=episode_trigger
        )
        EpisodeWrapper.__init__(self, env)
        if env is not self._base:
            raise ValueError(
                f"{env} is wrapped already; put RecordGames right around the environment, below the others"
            )
        self._trigger = checks.check_trigger(episode_trigger)
        self._file = RecordFile(folder, name_prefix)
        self._games = 0
        self._history: list[npt.NDArray[np.int64]] = []  # the actions of the steps since the oldest game began
        self._dropped = 0  # steps before those
        self._since = np.zeros(self.num_envs, np.int64)  # the step with which each game's first decision is made
        self._starts: list[np.void | None] = [None] * self.num_envs  # positions that games were started from
        self._episodes = self._base._batch.episodes.copy()  # seats and opponents as they were when the games began
        self._keys = self._base._batch.rows["key"].copy()

    @property
    def record_path(self) -> Path | None:
        """The file, None before there is a first record."""
        return self._file.path

    def _begun(self, games: Flags, infos: Infos, options: Mapping[str, Any] | None) -> None:
        asked = {key: value for key, value in (options or {}).items() if key != "reset_mask"}
        start, _ = read_reset_options(self._base.game, asked)
        batch = self._base._batch
        for i in np.flatnonzero(games):
            self._starts[i] = start
        self._since[games] = self._dropped + len(self._history)
        self._episodes[games], self._keys[games] = batch.episodes[games], batch.rows["key"][games]
        oldest = int(self._since.min()) - self._dropped
        if oldest > 64:
            del self._history[:oldest]
            self._dropped += oldest

    def _stepped(
        self, actions: Any, rewards: npt.NDArray[Any], terminations: Flags, over: Flags, began: Flags, infos: Infos
    ) -> npt.NDArray[Any]:
        self._history.append(np.array(actions, np.int64))
        for i in np.flatnonzero(over):
            if self._trigger(self._games):
                self._file.write(self._replay(int(i)))
            self._games += 1
        return rewards

    def _replay(self, index: int) -> str:
        """The record of a game that has just ended, by playing it alone."""
        batch = self._base._batch
        episode = self._episodes[index]
        opponent: Agent | None = batch.opponents[episode["opponent"]] if batch.opponents else None
        alone = GameEnv(
            self._base.game,
            opponent=opponent,
            illegal=ILLEGAL[int(batch.settings["raises"][0])],
            max_decisions=int(batch.settings["limit"][0]),
        )
        alone.begin(self._keys[index : index + 1], self._starts[index], int(episode["seat"]))
        for actions in self._history[self._since[index] - self._dropped :]:
            alone.step(actions[index])
        return alone.record
