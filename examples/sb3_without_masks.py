"""Stable-baselines3 alone, without sb3-contrib: PPO, A2C or DQN on an environment that mends illegal actions.

Needs the extra `train`, of which it uses stable-baselines3: pip install -e '.[train]'

    python examples/sb3_without_masks.py --algorithm PPO --steps 200000

These algorithms know no masks. `RandomLegal` stands between: an illegal action is replaced by a random legal one, and
the learner is not told. That is a crutch. What it learns of an action that was replaced is what a random move is worth,
so it learns more slowly than with masks, most where few actions are legal. Whoever can should take MaskablePPO
(README.md shows it in six lines); this is for algorithms that have no masked form, and for comparisons.

The match at the end shows both sides: the trained policy behind the crutch, and with masks.
"""

import argparse

import numpy as np
import stable_baselines3
import torch
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.vec_env import VecEnv, VecEnvWrapper, VecMonitor
from stable_baselines3.common.vec_env.base_vec_env import VecEnvObs, VecEnvStepReturn
from torch import Tensor, nn

from mozaic_env import make_agent, make_game
from mozaic_env.agents.policy.agent import PolicyAgent
from mozaic_env.arena.match import play_match
from mozaic_env.envs.sb3 import GameVecEnv


class RandomLegal(VecEnvWrapper):
    """Replaces each illegal action by a random legal one.

    Attributes:
        replaced: how many actions were replaced since this was made.
        decisions: how many were made.
    """

    def __init__(self, venv: VecEnv, seed: int | None = None) -> None:
        """Wraps an environment whose games have `action_masks`.

        Args:
            venv: such as a `GameVecEnv`.
            seed: of the random legal actions.
        """
        super().__init__(venv)
        self.rng = np.random.default_rng(seed)
        self.replaced = self.decisions = 0

    def reset(self) -> VecEnvObs:
        """Begins all games."""
        return self.venv.reset()

    def step_async(self, actions: np.ndarray) -> None:
        """Passes legal actions on, and a random legal one for each that is not."""
        masks, actions = np.stack(self.venv.env_method("action_masks")), np.array(actions, np.int64)
        illegal = np.flatnonzero(~masks[np.arange(self.num_envs), actions])
        for i in illegal:
            actions[i] = self.rng.choice(np.flatnonzero(masks[i]))
        self.replaced += len(illegal)
        self.decisions += self.num_envs
        self.venv.step_async(actions)

    def step_wait(self) -> VecEnvStepReturn:
        """What the games answer."""
        return self.venv.step_wait()


class AsNetwork(nn.Module):
    """A trained policy as the arena's `PolicyAgent` asks for it: logits, or action values, of all actions."""

    def __init__(self, model: BaseAlgorithm) -> None:
        super().__init__()
        self.policy = model.policy

    def forward(self, observation: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
        """Scores of all actions, shape (n, actions), and values, shape (n,)."""
        if hasattr(self.policy, "q_net"):
            scores = self.policy.q_net(observation)
            return scores, scores.max(1).values
        scores = self.policy.get_distribution(observation).distribution.logits
        return scores, self.policy.predict_values(observation)[:, 0]


def settings(algorithm: str) -> dict[str, object]:
    """What differs from the defaults, for so many games at once."""
    if algorithm == "DQN":
        return {"learning_starts": 5_000, "train_freq": 1, "gradient_steps": 1, "buffer_size": 50_000}
    if algorithm == "PPO":
        return {"n_steps": 64, "batch_size": 512, "n_epochs": 4, "ent_coef": 0.01}
    return {"n_steps": 16}


def main(words: list[str] | None = None) -> None:
    """Trains, then evaluates with and without masks."""
    args = read_arguments(words)
    torch.set_num_threads(1)

    def make_env(seed: int) -> RandomLegal:
        games = GameVecEnv(args.num_envs, args.game, opponent=args.opponent, reward="margin", illegal="raise")
        games.seed(seed)
        return RandomLegal(games, seed)

    env = make_env(args.seed)
    algorithm = getattr(stable_baselines3, args.algorithm)
    model = algorithm(
        "MultiInputPolicy", VecMonitor(env), seed=args.seed, device="cpu", verbose=1, **settings(args.algorithm)
    )
    model.learn(args.steps, log_interval=10)
    print(f"while learning, {env.replaced / env.decisions:.1%} of its actions were illegal and replaced")

    env = make_env(args.seed + 1)
    mean, deviation = evaluate_policy(model, VecMonitor(env), n_eval_episodes=args.games, deterministic=True)
    print(
        f"evaluate_policy behind the crutch, against {args.opponent}: margin {mean:+.2f} squares, "
        f"standard deviation {deviation:.2f}; {env.replaced / env.decisions:.1%} of its actions were replaced"
    )
    agent = PolicyAgent(args.game, AsNetwork(model).eval(), name=args.algorithm.lower())
    result = play_match(agent, make_agent(args.opponent, args.game), args.games, seed=args.seed)
    low, high = result.interval
    print(
        f"the arena, with masks, against {args.opponent}: {result.points:.1%} of the points [{low:.1%}, {high:.1%}], "
        f"margin {result.margin:+.2f} squares: {result.verdict}"
    )


def read_arguments(words: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n\n")[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    add = parser.add_argument
    add("--algorithm", default="PPO", choices=["PPO", "A2C", "DQN"], help="of stable-baselines3")
    add("--opponent", default="random", help="who is played: any agent, such as greedy or pattern")
    add("--steps", type=int, default=200_000, help="decisions of training")
    add("--games", type=int, default=400, help="of each evaluation, an even number")
    add("--num-envs", type=int, default=64, help="games at once")
    add("--seed", type=int, default=0, help="of games, weights and actions")
    add("--rules", default="amethyst", help="amethyst or onyx")
    add("--rows", type=int, default=8, help="ranks of the board")
    add("--cols", type=int, default=8, help="files of the board")
    args = parser.parse_args(words)
    try:
        args.game = make_game("mozaic", rules=args.rules, rows=args.rows, cols=args.cols)
        make_agent(args.opponent, args.game)
    except ValueError as error:
        parser.error(str(error))
    return args


if __name__ == "__main__":
    main()
