"""Finds the weights of Mozaic's `pattern` agent by playing it against itself.

A climb: a challenger is the champion with its weights moved at random, the two play a match in pairs, and the
challenger
takes over if the 95% interval of its score lies above one half. Steps grow after a success and shrink after failures.

    python -m benchmarks.tune_pattern --rounds 200 --games 20000 --seed 0

Result of that command, 4 million games from (0.28, 0.66, 1.53): (0.406, 0.872, 1.908), which scores 52.9% (95% interval
52.4% to 53.3%) against the start over 20,000 games. `mozaic_env.games.mozaic.heuristics` has it rounded to two digits.
"""

import argparse

import numpy as np

from mozaic_env.agents import kernels
from mozaic_env.agents.baselines import CompiledAgent
from mozaic_env.arena.match import play_match
from mozaic_env.games import make_game
from training.command import run_script

START = (0.28, 0.66, 1.53)


def main() -> None:
    """Runs the climb and prints every change of champion, then a final match against the start."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=200, help="challengers to try")
    parser.add_argument("--games", type=int, default=20_000, help="games of each match, an even number")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()

    game, rng = make_game("mozaic"), np.random.default_rng(options.seed)
    champion, step = np.array(START), 0.3

    def score(weights: np.ndarray, opponent: np.ndarray, seed: int) -> tuple[float, float, float]:
        agents = [
            CompiledAgent(game, name, kernels.GREEDY, tuple(values))
            for name, values in (("challenger", weights), ("champion", opponent))
        ]
        result = play_match(*agents, games=options.games, seed=seed, threads=options.threads)
        return result.points, *result.interval

    for turn in range(options.rounds):
        challenger = champion * np.exp(rng.normal(0, step, len(champion)))
        points, low, _ = score(challenger, champion, seed=options.seed + turn)
        if low > 0.5:
            champion, step = challenger, min(step * 1.5, 0.5)
            print(
                f"{turn:4d}  {np.round(champion, 3)}  {points:.3%} against the last champion  step {step:.3f}",
                flush=True,
            )
        else:
            step = max(step * 0.96, 0.03)
    points, low, high = score(champion, np.array(START), seed=options.seed + options.rounds)
    print(f"result {np.round(champion, 3).tolist()}: {points:.2%} ({low:.2%} to {high:.2%}) against {START}")


if __name__ == "__main__":
    run_script(main)
