"""Masked PPO in one file, in the style of CleanRL, on the native vector environment.

Needs the extra `train` (of which it uses torch; tensorboard with --log-dir): pip install -e '.[train]'

    python examples/cleanrl_style_ppo.py                       # less than two minutes on a CPU, then a match
    python examples/cleanrl_style_ppo.py --opponent greedy --minutes 10 --log-dir runs/cleanrl

What is particular to this environment: the mask comes in `infos["action_mask"]` with every observation; illegal actions
get a logit of -1e8, so that their probability is exactly 0; and with SAME_STEP autoreset each step of each game is a
decision to learn from, since the next game's first observation takes the place of a last one.
"""

import argparse
import time
from contextlib import nullcontext

import gymnasium as gym
import numpy as np
import torch
from torch import Tensor, nn
from torch.distributions import Categorical

from mozaic_env import make_agent, make_game
from mozaic_env.agents.policy.agent import PolicyAgent
from mozaic_env.arena.match import play_match


class Network(nn.Module):
    """Action logits and a value from an observation; what is learnt on one tile holds on all."""

    def __init__(self, envs: gym.vector.VectorEnv, channels: int = 32) -> None:
        super().__init__()
        space, places = envs.single_observation_space, envs.game.board_layout.planes
        self.counts = [key for key in space if key != "board"]  # numbers beside the board, divided by their bounds
        planes, rows, cols = space["board"].shape
        tiles = rows * cols
        scale = np.concatenate([np.clip(getattr(space[key], "high", np.ones(4)), 1, tiles) for key in self.counts])
        self.register_buffer("scale", torch.tensor(scale, dtype=torch.float32))
        self.register_buffer("places", torch.tensor(places))  # action id -> plane * tiles + tile
        self.board = nn.Conv2d(planes, channels, 3, padding=1)
        self.numbers = nn.Linear(len(scale), channels)
        self.trunk = nn.Sequential(nn.ReLU(), nn.Conv2d(channels, channels, 3, padding=1), nn.ReLU())
        self.actor = nn.Conv2d(channels, int(places.max()) // tiles + 1, 1)
        self.critic = nn.Sequential(nn.Linear(channels + len(scale), 64), nn.ReLU(), nn.Linear(64, 1))
        nn.init.orthogonal_(self.actor.weight, 0.01)  # the first policy is nearly uniform

    def forward(self, observation: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
        """Logits of all actions, legal or not, shape (n, actions), and values, shape (n,)."""
        numbers = torch.cat([observation[key].flatten(1).float() for key in self.counts], 1) / self.scale
        trunk = self.trunk(self.board(observation["board"].float()) + self.numbers(numbers)[:, :, None, None])
        logits = self.actor(trunk).flatten(1)[:, self.places]
        return logits, self.critic(torch.cat([trunk.mean((2, 3)), numbers], 1))[:, 0]


def masked_policy(logits: Tensor, mask: Tensor) -> Categorical:
    """The policy over legal actions alone."""
    return Categorical(logits=torch.where(mask.bool(), logits, -1e8))


def train(args: argparse.Namespace, writer: object) -> Network:
    """PPO until the steps or the minutes are used up."""
    torch.manual_seed(args.seed)
    envs = gym.make_vec(
        "mozaic_env:Mozaic-v0",
        num_envs=args.num_envs,
        opponent=args.opponent,
        reward="margin",  # paid for squares as they come: learnt sooner than from the outcome, which is its sign
        autoreset_mode=gym.vector.AutoresetMode.SAME_STEP,
        max_decisions=args.max_decisions,
        copy=False,  # what is kept is copied into tensors below
        **args.game.options,
    )
    network = Network(envs)
    optimizer = torch.optim.Adam(network.parameters(), lr=args.learning_rate, eps=1e-5)

    def tensors(observation: dict[str, np.ndarray]) -> dict[str, Tensor]:
        return {key: torch.from_numpy(entry.copy()) for key, entry in observation.items()}

    observation, infos = envs.reset(seed=args.seed)
    steps, start, returns, running = 0, time.time(), [], np.zeros(args.num_envs)
    while steps < args.steps and time.time() - start < 60 * args.minutes:
        left = 1 - max(steps / args.steps, (time.time() - start) / (60 * args.minutes))
        optimizer.param_groups[0]["lr"] = max(left, 0) * args.learning_rate

        # Play: `rollout` decisions of each game.
        kept: dict[str, list[Tensor]] = {
            name: [] for name in ("mask", "action", "logprob", "value", "reward", "going", *observation)
        }
        for _ in range(args.rollout):
            seen, mask = tensors(observation), torch.from_numpy(infos["action_mask"].copy())
            with torch.no_grad():
                logits, value = network(seen)
                policy = masked_policy(logits, mask)
                action = policy.sample()
            observation, rewards, terminations, truncations, infos = envs.step(action.numpy())
            running += rewards
            over = terminations | truncations
            returns += running[over].tolist()
            running[over] = 0
            rewards = rewards.astype(np.float32)  # a copy as well
            for i in np.flatnonzero(truncations):  # the game would have gone on: what it was worth still counts
                last = {key: torch.from_numpy(entry)[None] for key, entry in infos["final_obs"][i].items()}
                with torch.no_grad():
                    rewards[i] += args.gamma * network(last)[1].item()
            made = {"mask": mask, "action": action, "logprob": policy.log_prob(action), "value": value, **seen}
            made |= {"reward": torch.from_numpy(rewards), "going": torch.from_numpy(~over).float()}
            for name, entry in made.items():
                kept[name].append(entry)
        steps += args.num_envs * args.rollout
        batch = {name: torch.stack(entries) for name, entries in kept.items()}  # (rollout, games, ...)

        # Generalised advantage estimation, from the last decision back.
        with torch.no_grad():
            following, advantage = network(tensors(observation))[1], torch.zeros(args.num_envs)
            advantages = torch.zeros_like(batch["value"])
            for t in reversed(range(args.rollout)):
                delta = batch["reward"][t] + args.gamma * following * batch["going"][t] - batch["value"][t]
                advantage = delta + args.gamma * args.gae_lambda * batch["going"][t] * advantage
                advantages[t], following = advantage, batch["value"][t]
        batch |= {"advantage": advantages, "target": advantages + batch["value"]}

        # Learn from it.
        flat = {name: entry.flatten(0, 1) for name, entry in batch.items()}
        clipped = []
        for _ in range(args.epochs):
            for indices in torch.randperm(len(flat["value"])).split(args.minibatch):
                part = {name: entry[indices] for name, entry in flat.items()}
                logits, value = network(part)
                policy = masked_policy(logits, part["mask"])
                ratio = (policy.log_prob(part["action"]) - part["logprob"]).exp()
                gain = part["advantage"]
                gain = (gain - gain.mean()) / (gain.std() + 1e-8)
                policy_loss = -torch.min(gain * ratio, gain * ratio.clamp(1 - args.clip, 1 + args.clip)).mean()
                value_loss = 0.5 * (value - part["target"]).square().mean()
                entropy = policy.entropy().mean()
                loss = policy_loss + 0.5 * value_loss - args.entropy * entropy
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(network.parameters(), 0.5)
                optimizer.step()
                clipped.append(((ratio - 1).abs() > args.clip).float().mean().item())

        returns = returns[-1000:]
        charts = {
            "charts/episodic_return": float(np.mean(returns)) if returns else 0.0,
            "charts/SPS": steps / (time.time() - start),
            "losses/policy_loss": policy_loss.item(),
            "losses/value_loss": value_loss.item(),
            "losses/entropy": entropy.item(),
            "losses/clipfrac": float(np.mean(clipped)),
        }
        print(
            f"{steps:>9,} decisions, {charts['charts/SPS']:>7,.0f} a second, "
            f"mean margin {charts['charts/episodic_return']:+.2f} squares, entropy {entropy.item():.2f}"
        )
        if writer is not None:
            for name, number in charts.items():
                writer.add_scalar(name, number, steps)
    envs.close()
    return network


def evaluate(network: Network, args: argparse.Namespace) -> None:
    """A match in pairs with the same luck and the seats swapped; the agent masks, so it plays legal moves alone."""
    agent = PolicyAgent(args.game, network.eval(), name="ppo")
    for opponent in dict.fromkeys(("random", args.opponent)):
        result = play_match(agent, make_agent(opponent, args.game), args.games, seed=args.seed)
        low, high = result.interval
        print(
            f"against {opponent}: {result.points:.1%} of the points [{low:.1%}, {high:.1%}] in {args.games} games, "
            f"margin {result.margin:+.2f} squares: {result.verdict}"
        )


def read_arguments(words: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n\n")[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    add = parser.add_argument
    add("--opponent", default="random", help="who is played: any agent, such as greedy or pattern")
    add("--minutes", type=float, default=1.5, help="of training")
    add("--steps", type=int, default=10**9, help="decisions of training, if they are used up sooner")
    add("--games", type=int, default=400, help="of the match at the end, an even number; 0: none")
    add("--seed", type=int, default=0, help="of games, weights and actions")
    add("--log-dir", help="write TensorBoard curves there")
    add("--rules", default="amethyst", help="amethyst or onyx")
    add("--rows", type=int, default=8, help="ranks of the board")
    add("--cols", type=int, default=8, help="files of the board")
    add("--max-decisions", type=int, default=1000, help="of both seats together, then a game is truncated")
    add("--num-envs", type=int, default=256, help="games at once")
    add("--rollout", type=int, default=32, help="decisions of each game between updates")
    add("--minibatch", type=int, default=1024, help="decisions in one step of the optimizer")
    add("--epochs", type=int, default=2, help="how often each decision is trained on")
    add("--learning-rate", type=float, default=3e-3, help="at the start; falls to 0 linearly")
    add("--gamma", type=float, default=0.99, help="discount")
    add("--gae-lambda", type=float, default=0.9, help="of the advantage estimation")
    add("--clip", type=float, default=0.2, help="of the probability ratio")
    add("--entropy", type=float, default=0.003, help="weight of the entropy")
    args = parser.parse_args(words)
    try:
        args.game = make_game("mozaic", rules=args.rules, rows=args.rows, cols=args.cols)
        make_agent(args.opponent, args.game)
    except ValueError as error:
        parser.error(str(error))
    return args


def main(words: list[str] | None = None) -> None:
    """Trains, then plays the match."""
    args = read_arguments(words)
    writer = nullcontext()
    if args.log_dir is not None:
        from torch.utils.tensorboard import SummaryWriter

        writer = SummaryWriter(args.log_dir)
    with writer as log:
        network = train(args, log)
    if args.games:
        evaluate(network, args)


if __name__ == "__main__":
    main()
