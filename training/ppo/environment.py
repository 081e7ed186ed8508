"""The games that the learner plays, paid as the configuration says."""

from typing import Any

import numpy as np
from stable_baselines3.common.vec_env import VecEnvWrapper

from mozaic_env.core.game import Game
from mozaic_env.envs.sb3 import GameVecEnv
from training.config import RewardSection


class PaidEnv(VecEnvWrapper):
    """Weighs the margin reward of each decision and adds the outcome at the end; notes how games ended.

    Attributes:
        games: the `GameVecEnv` inside.
        endings: final infos since `take_endings` was last called.
    """

    def __init__(self, game: Game, games: int, reward: RewardSection) -> None:
        """Makes the games; the league sets their opponents."""
        self.games = GameVecEnv(games, game, reward="margin")
        self.reward = reward
        self.endings: list[dict[str, Any]] = []
        super().__init__(self.games)

    def reset(self) -> Any:
        """Begins all games."""
        return self.venv.reset()

    def step_wait(self) -> Any:
        """Makes the decisions."""
        observation, rewards, dones, infos = self.venv.step_wait()
        rewards *= self.reward.margin
        for i in np.flatnonzero(dones):
            rewards[i] += self.reward.outcome * infos[i]["outcome"]
            self.endings.append(infos[i])
        return observation, rewards, dones, infos

    def take_endings(self) -> list[dict[str, Any]]:
        """The final infos since the last call."""
        endings, self.endings = self.endings, []
        return endings
