"""Decisions trained per second: this project's learner beside stock MaskablePPO, in turn, in one process.

    python -m benchmarks.throughput --config configs/quick.yaml

Both learn with the network, the epochs and the opponents of the configuration, fixed agents only; a decision is trained
when it has been played and trained on in all epochs. The stock side is sb3-contrib's MaskablePPO as it comes, with a
DummyVecEnv of 16 Gymnasium environments, once with its own minibatch of 64 and once with the configuration's. Each side
has its turn in each round, so that whatever else the machine does meets all alike; what counts is the median over
rounds of the ratio within a round.
"""

import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import gymnasium as gym
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.vec_env import DummyVecEnv
from torch import Tensor, nn

from mozaic_env.agents.policy.network import NetworkConfig
from mozaic_env.agents.policy.networks import make_network
from mozaic_env.agents.specs import make_agent
from mozaic_env.arena.report.console import make_console
from mozaic_env.arena.report.tables import Figures
from mozaic_env.cli.parser import Parser
from mozaic_env.core.game import Game
from mozaic_env.envs.gymnasium.single import GameEnv
from mozaic_env.simulation.self_play import SelfPlayGames
from training.command import run_script
from training.config import Config, load_config, override_config
from training.ppo.learner import SelfPlayPPO, make_learner
from training.runs.budget import Budget
from training.train import check, choose_device

STOCK_GAMES = 16
STOCK_MINIBATCH = 64  # sb3-contrib's own
STOCK_ROLLOUT = 128  # decisions of each game between two updates: 2,048 in all


class NetworkExtractor(BaseFeaturesExtractor):
    """The configuration's network: logits and value side by side."""

    def __init__(self, space: gym.spaces.Dict, game: Game, network: NetworkConfig) -> None:
        """Makes the network."""
        super().__init__(space, game.num_actions + 1)
        self.network = make_network(game, network)

    def forward(self, observations: dict[str, Tensor]) -> Tensor:
        """Logits and, in the last column, values."""
        logits, values = self.network(observations)
        return torch.cat([logits, values[:, None]], 1)


class Columns(nn.Module):
    """Some columns of what it is given, in place of a layer."""

    def __init__(self, low: int, high: int) -> None:
        """Takes the columns from `low` up to but not including `high`."""
        super().__init__()
        self.low, self.high = low, high

    def forward(self, features: Tensor) -> Tensor:
        """These columns."""
        return features[:, self.low : self.high]


class StockPolicy(MaskableActorCriticPolicy):
    """Sb3-contrib's policy over that network, with no layer of its own."""

    def _build(self, lr_schedule: Any) -> None:
        self._build_mlp_extractor()
        actions = self.features_dim - 1
        self.action_net, self.value_net = Columns(0, actions), Columns(actions, actions + 1)
        self.optimizer = self.optimizer_class(self.parameters(), lr=lr_schedule(1), **self.optimizer_kwargs)  # type: ignore[call-arg]


def make_stock(config: Config, game: Game, device: str, minibatch: int) -> MaskablePPO:
    """MaskablePPO as it comes, on single environments against the configuration's first fixed agent."""
    opponent = next(iter(config.opponents.fixed))
    env = DummyVecEnv([lambda: GameEnv(game, opponent=opponent, reward="margin")] * STOCK_GAMES)
    env.seed(config.seed)
    return MaskablePPO(
        StockPolicy,
        env,
        learning_rate=config.ppo.learning_rate,
        n_steps=STOCK_ROLLOUT,
        batch_size=minibatch,
        n_epochs=config.ppo.epochs,
        gamma=config.ppo.discount,
        gae_lambda=config.ppo.gae_lambda,
        policy_kwargs={
            "net_arch": [],
            "features_extractor_class": NetworkExtractor,
            "features_extractor_kwargs": {"game": game, "network": NetworkConfig(**config.network.model_dump())},
        },
        seed=config.seed,
        device=device,
    )


class Learner(Protocol):
    """What is measured."""

    n_envs: int

    @property
    def num_timesteps(self) -> int:
        """Decisions so far."""

    def learn(self, total_timesteps: int, *, reset_num_timesteps: bool) -> object:
        """Plays and trains on about so many decisions more."""


class Own:
    """This project's learner as a run has it, against the configuration's fixed agents."""

    def __init__(self, config: Config, game: Game, device: str, bfloat16: bool) -> None:
        """Begins the games."""
        self.model: SelfPlayPPO = make_learner(config, game, Budget(10**12, None), device, bfloat16)
        self.model.set_logger(Logger(None, []))
        self.n_envs = config.ppo.games
        self._games = SelfPlayGames(
            game,
            mirror=0,
            versus=self.n_envs,
            opponents=[make_agent(spec, game) for spec in config.opponents.fixed],
            steps=config.ppo.rollout,
            rewards=config.rewards,
            seed=[config.seed],
        )

    @property
    def num_timesteps(self) -> int:
        """Decisions so far."""
        return self.model.num_timesteps

    def learn(self, total_timesteps: int, *, reset_num_timesteps: bool = False) -> None:
        """Plays and trains until there are at least so many decisions more."""
        until = self.num_timesteps + total_timesteps
        while self.num_timesteps < until:
            fragment = self._games.play(self.model.act)
            self._games.endings.clear()
            self.model.learn_from(fragment, self._games.steps * self._games.size)


def measure(
    models: Mapping[str, Learner], rounds: int, decisions: int, clock: Callable[[], float] = time.perf_counter
) -> dict[str, list[float]]:
    """Decisions trained per second, for each model one number for each round.

    Args:
        models: by their names; each learns once before the rounds, which compiles what has to be compiled.
        rounds: how often each has its turn.
        decisions: of a turn, rounded up to whole updates.
        clock: gives seconds.
    """
    speeds: dict[str, list[float]] = {name: [] for name in models}
    for number in range(rounds + 1):
        for name, model in models.items():
            before, began = model.num_timesteps, clock()
            model.learn(decisions if number else 1, reset_num_timesteps=False)
            if number:
                speeds[name].append((model.num_timesteps - before) / (clock() - began))
    return speeds


def make_table(title: str, speeds: Mapping[str, Sequence[float]], games: Mapping[str, int]) -> Figures:
    """One line for each learner: its number of parallel games, its speeds, how many times as fast "own" is."""
    lines = []
    for name, values in speeds.items():
        ratio = statistics.median(own / other for own, other in zip(speeds["own"], values, strict=True))
        figures = (f"{value:,.0f}" for value in (statistics.median(values), min(values), max(values)))
        lines.append((name, str(games[name]), *figures, f"{ratio:.2f}"))
    columns = ("learner", "games", "median", "lowest", "highest", "own / it")
    return Figures(title, columns, lines, spare=((3, 4), (1,)))


def fixed_opponents_only(config: Config) -> Config:
    """The configuration with games against its first fixed agent alone, since stock environments have no league.

    Raises:
        ValueError: it has none.
    """
    if not config.opponents.fixed:
        raise ValueError("opponents.fixed is empty; both sides play against its first agent, as in {pattern: 1}")
    opponent = next(iter(config.opponents.fixed))
    fixed = f'opponents={{mirror: 0, past: 0, fixed: {{"{opponent}": 1}}}}'
    return override_config(config, [fixed, "warm_start={}"])


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns the exit status."""
    parser = Parser(prog="python -m benchmarks.throughput", description="Measures training's speed.")
    parser.add_argument("--config", required=True, metavar="FILE", help="network, epochs, batches; see configs/")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="turns of each side; default: 5")
    parser.add_argument(
        "--cpu-time", action="store_true", help="count the processor's seconds, where others use it too; with threads=1"
    )
    parser.add_argument("overrides", nargs="*", metavar="KEY=VALUE", help="wins over the file, as in ppo.games=512")
    given = parser.parse_args(arguments)
    try:
        if given.rounds < 1:
            raise ValueError(f"--rounds {given.rounds}; accepted: a whole number of at least 1")
        config = fixed_opponents_only(load_config(given.config, given.overrides))
        game = check(config)
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    device, bfloat16 = choose_device(config)
    stock = {f"stock, minibatches of {size}": size for size in (STOCK_MINIBATCH, config.ppo.minibatch)}
    models: dict[str, Learner] = {"own": Own(config, game, device, bfloat16)}
    models.update({name: make_stock(config, game, device, size) for name, size in stock.items()})
    clock, second = (time.process_time, "CPU second") if given.cpu_time else (time.perf_counter, "second")
    speeds = measure(models, given.rounds, config.ppo.games * config.ppo.rollout, clock)
    title = f"decisions trained per {second}, {given.rounds} rounds, {torch.get_num_threads()} threads, {device}"
    title += f"; own in {'bfloat16' if bfloat16 else 'float32'}, stock in float32"
    make_console().print(make_table(title, speeds, {name: model.n_envs for name, model in models.items()}))
    return 0


if __name__ == "__main__":
    run_script(main)
