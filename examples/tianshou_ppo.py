"""Masked PPO with Tianshou 2.

Needs the extras `train` and `tianshou`, which want an environment of their own: Tianshou needs virtualenv, and with it
an older filelock than the rest is tested with. `make test-examples` makes one in .venv-tianshou; by hand:

    pip install -e '.[train,tianshou]'
    python examples/tianshou_ppo.py --steps 100000 --save runs/tianshou

Tianshou's policies see observations alone, so a wrapper puts the mask there. Its DQN family reads `obs.mask` by itself;
its PPO does not, so the actor below sets the logits of illegal actions to -1e8. Tianshou steps one Python environment
after another: most of the time goes there, which is why the other examples train on the native vector environment.
"""

import argparse
import shlex
from pathlib import Path

import gymnasium as gym
import numpy as np
import torch
from gymnasium import spaces
from tianshou.algorithm import PPO
from tianshou.algorithm.modelfree.reinforce import ProbabilisticActorPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.trainer import OnPolicyTrainerParams
from torch import Tensor, nn
from torch.distributions import Categorical

from mozaic_env import make_agent, make_game
from mozaic_env.agents.policy.agent import PolicyAgent
from mozaic_env.agents.policy.checkpoint import save
from mozaic_env.agents.policy.network import BoardNetwork, NetworkConfig, layout_of
from mozaic_env.arena.match import play_match


class MaskInObservation(gym.Wrapper):
    """Adds the action mask to the observation, as its entry `mask`, and empties the info.

    Tianshou keeps infos in its buffer, and takes what only the last one of a game holds for a NaN in all others.
    """

    def __init__(self, env: gym.Env) -> None:
        super().__init__(env)
        actions = int(env.action_space.n)
        self.observation_space = spaces.Dict({**env.observation_space.spaces, "mask": spaces.MultiBinary(actions)})

    def reset(self, **options: object) -> tuple[dict[str, np.ndarray], dict[str, object]]:
        """Begins a game."""
        observation, info = self.env.reset(**options)
        return {**observation, "mask": info["action_mask"]}, {}

    def step(self, action: np.int64) -> tuple[dict[str, np.ndarray], float, bool, bool, dict[str, object]]:
        """Makes a decision."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        return {**observation, "mask": info["action_mask"]}, reward, terminated, truncated, {}


class Actor(nn.Module):
    """The package's network as Tianshou's actor: logits, those of illegal actions very low."""

    def __init__(self, network: BoardNetwork) -> None:
        super().__init__()
        self.network = network

    def forward(self, obs: object, state: object = None, info: object = None) -> tuple[Tensor, object]:
        """Logits (n, actions), and no hidden state."""
        logits, _ = self.network(entries_of(obs, self.network))
        return torch.where(torch.as_tensor(obs.mask) > 0, logits, -1e8), state


class Critic(nn.Module):
    """The values of the same network."""

    def __init__(self, network: BoardNetwork) -> None:
        super().__init__()
        self.network = network

    def forward(self, obs: object) -> Tensor:
        """Values (n, 1)."""
        return self.network(entries_of(obs, self.network))[1][:, None]


def entries_of(obs: object, network: BoardNetwork) -> dict[str, Tensor]:
    """Tianshou's batch of observations as the tensors that the network reads."""
    keys = ["board", *(key for key, _ in network.layout.scales)]
    return {key: torch.as_tensor(obs[key]) for key in keys}


def train(args: argparse.Namespace) -> BoardNetwork:
    """PPO for so many decisions."""
    np.random.seed(args.seed)  # noqa: NPY002 (Tianshou shuffles with the global generator)
    torch.manual_seed(args.seed)

    def make_env() -> gym.Env:
        options = {"opponent": args.opponent, "reward": "margin", "illegal": "raise", **args.game.options}
        return MaskInObservation(gym.make("mozaic_env:Mozaic-v0", **options))

    envs = DummyVectorEnv([make_env for _ in range(args.num_envs)])
    envs.seed(args.seed)
    network = BoardNetwork(layout_of(args.game), NetworkConfig(channels=32, blocks=1))
    space = make_env()
    policy = ProbabilisticActorPolicy(
        actor=Actor(network),
        dist_fn=lambda logits: Categorical(logits=logits),
        deterministic_eval=True,
        action_space=space.action_space,
        observation_space=space.observation_space,
        action_scaling=False,
        action_bound_method=None,
    )
    algorithm = PPO(
        policy=policy,
        critic=Critic(network),
        optim=AdamOptimizerFactory(lr=2e-3, eps=1e-5),
        gamma=0.99,
        gae_lambda=0.9,
        ent_coef=0.003,
        max_grad_norm=0.5,
        max_batchsize=1024,
    )
    frames = args.num_envs * args.rollout
    collector = Collector(policy, envs, VectorReplayBuffer(frames, args.num_envs))
    result = algorithm.run_training(
        OnPolicyTrainerParams(
            training_collector=collector,
            max_epochs=max(args.steps // frames, 1),
            epoch_num_steps=frames,
            collection_step_num_env_steps=frames,
            update_step_num_repetitions=2,
            batch_size=512,
            test_step_num_episodes=0,
            verbose=False,
        )
    )
    envs.close()
    print(f"{result.train_step:,} decisions, {result.train_step / result.timing.train_time:,.0f} a second")
    return network


def main(words: list[str] | None = None) -> None:
    """Trains, saves, plays a match."""
    args = read_arguments(words)
    torch.set_num_threads(1)
    network = train(args)
    if args.save is not None:
        save(args.save, network, args.game, steps=args.steps, seed=args.seed)
        print(f"saved; mozaic evaluate {shlex.quote(str(args.save))} --against random greedy")
    result = play_match(PolicyAgent(args.game, network), make_agent("random", args.game), args.games, seed=args.seed)
    low, high = result.interval
    print(
        f"against random: {result.points:.1%} of the points [{low:.1%}, {high:.1%}] in {args.games} games, "
        f"margin {result.margin:+.2f} squares: {result.verdict}"
    )


def read_arguments(words: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n\n")[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    add = parser.add_argument
    add("--opponent", default="random", help="who is played: any agent, such as greedy or pattern")
    add("--steps", type=int, default=100_000, help="decisions of training")
    add("--games", type=int, default=400, help="of the match at the end, an even number")
    add("--save", type=Path, help="write the weights as a checkpoint of this project, for the arena")
    add("--seed", type=int, default=0, help="of games, weights and actions")
    add("--rules", default="amethyst", help="amethyst or onyx")
    add("--rows", type=int, default=8, help="ranks of the board")
    add("--cols", type=int, default=8, help="files of the board")
    add("--num-envs", type=int, default=32, help="games at once")
    add("--rollout", type=int, default=64, help="decisions of each game between updates")
    args = parser.parse_args(words)
    try:
        args.game = make_game("mozaic", rules=args.rules, rows=args.rows, cols=args.cols)
        make_agent(args.opponent, args.game)
    except ValueError as error:
        parser.error(str(error))
    return args


if __name__ == "__main__":
    main()
