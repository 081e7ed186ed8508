"""Masked PPO with TorchRL.

Needs the extras `train` and `torchrl`: pip install -c constraints.txt -e '.[train,torchrl]'

    python examples/torchrl_ppo.py --steps 200000 --save runs/torchrl
    mozaic evaluate runs/torchrl --against random greedy

`single_env` is TorchRL's `GymEnv` with its `ActionMask` transform: what most TorchRL code starts from. `vector_env`
puts the same around the native vector environment, which plays many games in one compiled loop, and is what trains
here. Both read the mask from `info["action_mask"]`. The games raise on illegal actions, so a mask that did not fit
would end the run with an error.
"""

import argparse
import shlex
import time
from pathlib import Path

import gymnasium as gym
import torch
from tensordict.nn import TensorDictModule
from torch import Tensor, nn
from torchrl.collectors import Collector
from torchrl.data import Binary, Composite
from torchrl.envs import (
    ActionMask,
    EnvBase,
    GymEnv,
    GymWrapper,
    TransformedEnv,
    default_info_dict_reader,
    register_gym_spec_conversion,
)
from torchrl.modules import MaskedCategorical, ProbabilisticActor
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

from mozaic_env import make_agent, make_game
from mozaic_env.agents.policy.agent import PolicyAgent
from mozaic_env.agents.policy.checkpoint import save
from mozaic_env.agents.policy.network import BoardNetwork, NetworkConfig, layout_of
from mozaic_env.arena.match import play_match
from mozaic_env.core.game import Game


@register_gym_spec_conversion(gym.spaces.MultiBinary)
def binary_spec(space: gym.spaces.MultiBinary, device: torch.device | None = None, **_: object) -> Binary:
    """TorchRL's own conversion (0.14) knows binary spaces of one dimension alone, and a board has three."""
    return Binary(shape=space.shape, device=device, dtype=torch.int8)


def masked(env: EnvBase) -> EnvBase:
    """Reads the mask from the info into the tensordict, and lets it choose random actions."""
    mask = Binary(shape=(*env.batch_size, env.action_spec.space.n), dtype=torch.int8)
    spec = Composite(action_mask=mask, shape=env.batch_size)
    env.set_info_dict_reader(default_info_dict_reader(["action_mask"], spec=spec))
    return TransformedEnv(env, ActionMask())


def single_env(**options: object) -> EnvBase:
    """One game; the options are those of `gym.make`."""
    return masked(GymEnv("mozaic_env:Mozaic-v0", categorical_action_encoding=True, illegal="raise", **options))


def vector_env(num_envs: int, **options: object) -> EnvBase:
    """Many games; TorchRL begins the next ones itself, which is what it prefers."""
    envs = gym.make_vec(
        "mozaic_env:Mozaic-v0",
        num_envs=num_envs,
        autoreset_mode=gym.vector.AutoresetMode.DISABLED,
        illegal="raise",
        **options,
    )
    return masked(GymWrapper(envs, categorical_action_encoding=True))


class OnEntries(nn.Module):
    """The package's network on the entries of an observation, behind any number of batch dimensions."""

    def __init__(self, network: BoardNetwork, keys: list[str], game: Game) -> None:
        super().__init__()
        self.network, self.keys = network, keys
        self.shapes = {field.key: field.shape for field in game.fields}

    def forward(self, *entries: Tensor) -> tuple[Tensor, Tensor]:
        """Logits (..., actions) and values (..., 1)."""
        lead = entries[0].shape[: entries[0].ndim - len(self.shapes[self.keys[0]])]
        observation = {key: entry.reshape(-1, *self.shapes[key]) for key, entry in zip(self.keys, entries)}
        logits, values = self.network(observation)
        return logits.reshape(*lead, -1), values.reshape(*lead, 1)


def actor_and_critic(network: BoardNetwork, game: Game) -> tuple[TensorDictModule, TensorDictModule]:
    """Two views of one network: the masked policy and the values."""
    keys = [field.key for field in game.fields]
    both = OnEntries(network, keys, game)
    actor = ProbabilisticActor(
        TensorDictModule(both, in_keys=keys, out_keys=["logits", "_"]),
        in_keys={"logits": "logits", "mask": "action_mask"},
        distribution_class=MaskedBool,
        return_log_prob=True,
    )
    return actor, TensorDictModule(both, in_keys=keys, out_keys=["_", "state_value"])


class MaskedBool(MaskedCategorical):
    """TorchRL's masked distribution, for the environment's mask of zeros and ones."""

    def __init__(self, logits: Tensor, mask: Tensor) -> None:
        super().__init__(logits=logits, mask=mask.bool())


def train(args: argparse.Namespace) -> BoardNetwork:
    """PPO for so many decisions."""
    torch.manual_seed(args.seed)
    game = args.game
    network = BoardNetwork(layout_of(game), NetworkConfig(channels=32, blocks=1))
    actor, critic = actor_and_critic(network, game)
    env = vector_env(args.num_envs, opponent=args.opponent, reward="margin", **game.options)
    env.set_seed(args.seed)
    frames = args.num_envs * args.rollout
    collector = Collector(
        env,
        actor,
        frames_per_batch=frames,
        total_frames=max(args.steps // frames, 1) * frames,
        auto_register_policy_transforms=False,  # the policy remembers nothing, so it needs to know no beginnings
    )
    advantage = GAE(gamma=0.99, lmbda=0.9, value_network=critic, deactivate_vmap=True)
    loss_of = ClipPPOLoss(actor, critic, entropy_coeff=0.003, critic_coeff=0.5, normalize_advantage=True)
    optimizer = torch.optim.Adam(network.parameters(), lr=2e-3, eps=1e-5)
    start, decisions = time.time(), 0
    for batch in collector:
        decisions += batch.numel()
        with torch.no_grad():
            advantage(batch)
        flat = batch.reshape(-1)
        for _ in range(2):
            for indices in torch.randperm(len(flat)).split(1024):
                losses = loss_of(flat[indices])
                loss = losses["loss_objective"] + losses["loss_critic"] + losses["loss_entropy"]
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(network.parameters(), 0.5)
                optimizer.step()
        over = batch["next", "done"].sum().item()
        print(
            f"{decisions:>9,} decisions, {decisions / (time.time() - start):>7,.0f} a second, "
            f"mean margin {batch['next', 'reward'].sum().item() / max(over, 1):+.2f} squares"
        )
    collector.shutdown()
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
    add("--steps", type=int, default=200_000, help="decisions of training")
    add("--games", type=int, default=400, help="of the match at the end, an even number")
    add("--save", type=Path, help="write the weights as a checkpoint of this project, for the arena")
    add("--seed", type=int, default=0, help="of games, weights and actions")
    add("--rules", default="amethyst", help="amethyst or onyx")
    add("--rows", type=int, default=8, help="ranks of the board")
    add("--cols", type=int, default=8, help="files of the board")
    add("--num-envs", type=int, default=128, help="games at once")
    add("--rollout", type=int, default=32, help="decisions of each game between updates")
    args = parser.parse_args(words)
    try:
        args.game = make_game("mozaic", rules=args.rules, rows=args.rows, cols=args.cols)
        make_agent(args.opponent, args.game)
    except ValueError as error:
        parser.error(str(error))
    return args


if __name__ == "__main__":
    main()
