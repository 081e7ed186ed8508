"""Game records of the single environment, in a folder."""

import itertools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, SupportsFloat

import gymnasium as gym

from mozaic_env.envs.wrappers import checks


class RecordFile:
    """A file of records in a folder that no other recorder writes to; it is made when there is a first record.

    Attributes:
        path: of the file, None before there is one.
    """

    def __init__(self, folder: str | Path, name_prefix: str) -> None:
        """Makes the folder.

        Args:
            folder: where the file is to be.
            name_prefix: its name is this and the first free number, such as ``games-0.txt``.

        Raises:
            ValueError: there can be no such folder or file.
        """
        if not isinstance(name_prefix, str) or not name_prefix or os.path.basename(name_prefix) != name_prefix:
            raise ValueError(f"name_prefix={name_prefix!r}; accepted: the beginning of a file's name")
        self._folder, self._prefix = checks.make_folder(folder), name_prefix
        self.path: Path | None = None

    def write(self, record: str) -> None:
        """Adds a record; a whole line or nothing is there if the program is stopped."""
        if self.path is None:
            self.path = self._make()
        with open(self.path, "ab", buffering=0) as file:
            file.write(f"{record}\n".encode())

    def _make(self) -> Path:
        for number in itertools.count():
            path = self._folder / f"{self._prefix}-{number}.txt"
            try:
                os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
            except FileExistsError:
                continue
            return path
        raise AssertionError  # not reached


class RecordGames(gym.Wrapper[Any, Any, Any, Any], gym.utils.RecordConstructorArgs):
    """Writes the record of every game that ends to a file in a folder, one line each.

    ``mozaic replay FILE`` reads, checks and draws them. A game that is left before its end is not written.
    """

    def __init__(
        self,
        env: gym.Env[Any, Any],
        folder: str | Path,
        name_prefix: str = "games",
        episode_trigger: Callable[[int], bool] | None = None,
    ) -> None:
        """Puts the wrapper around an environment.

        Args:
            env: of a game of this package.
            folder: made if it is missing. Several recorders may share it, each has a file of its own.
            name_prefix: of the file's name, which a number follows.
            episode_trigger: says of each game that ends, by its number from 0 on, whether it is written; None: all.

        Raises:
            ValueError: an argument is none of these, or the folder can't be made.
        """
        gym.utils.RecordConstructorArgs.__init__(
            self, folder=folder, name_prefix=name_prefix, episode_trigger=episode_trigger
        )
        gym.Wrapper.__init__(self, env)
        self._base = checks.game_env(env)
        self._trigger = checks.check_trigger(episode_trigger)
        self._file = RecordFile(folder, name_prefix)
        self._games = 0

    @property
    def record_path(self) -> Path | None:
        """The file, None before there is a first record."""
        return self._file.path

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        """Makes a decision, and writes the record if the game has ended."""
        observation, reward, terminated, truncated, info = super().step(action)
        if terminated or truncated:
            if self._trigger(self._games):
                self._file.write(self._base.record)
            self._games += 1
        return observation, reward, terminated, truncated, info
