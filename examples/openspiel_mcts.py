"""OpenSpiel's MCTS bot plays Mozaic against an agent of this package, in OpenSpiel, with chance nodes for the draws.

    python examples/openspiel_mcts.py --games 10 --simulations 100
    python examples/openspiel_mcts.py --game "python_mozaic(rules=onyx)" --agent greedy --simulations 50 --games 2

Needs the extra `openspiel`: pip install -e '.[openspiel]'. Games come in pairs with the seats exchanged. The bot is
OpenSpiel's in Python, with random rollouts; its MCTS bot in C++ can't play games written in Python (with OpenSpiel
2.0.2 it crashes, with OpenSpiel's own games in Python too).
"""

import argparse

import numpy as np
import pyspiel
from open_spiel.python.algorithms.mcts import MCTSBot, RandomRolloutEvaluator

from mozaic_env.envs.openspiel import AgentBot, SpielGame  # importing it registers the games


def mcts_bot(game: SpielGame, simulations: int, seed: int) -> MCTSBot:
    """OpenSpiel's bot with so many simulations for each move, each ending in one random rollout."""
    rng = np.random.RandomState(seed)  # OpenSpiel's algorithms want one of the old kind
    return MCTSBot(game, 2**0.5, simulations, RandomRolloutEvaluator(1, rng), random_state=rng)


def play(game: SpielGame, bots: list[pyspiel.Bot], rng: np.random.Generator) -> list[float]:
    """One game between bots, by seat; returns every player's result."""
    state = game.new_initial_state()
    while not state.is_terminal():
        if state.is_chance_node():
            codes, probabilities = zip(*state.chance_outcomes(), strict=True)
            action = rng.choice(codes, p=probabilities)
        else:
            action = bots[state.current_player()].step(state)
        state.apply_action(int(action))
    results: list[float] = state.returns()
    return results


def positive(text: str) -> int:
    """A whole number of at least one, as an argument."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r}; accepted: a whole number of at least 1")
    return int(text)


def main(arguments: list[str] | None = None) -> None:
    """Plays the games and prints the results from the MCTS bot's side."""
    parser = argparse.ArgumentParser("openspiel_mcts", description=__doc__.split("\n\n")[0])
    parser.add_argument("--game", default="python_mozaic(rows=4,cols=4)", help="as pyspiel.load_game takes it")
    parser.add_argument("--agent", default="pattern", help="the opponent, an agent's name")
    parser.add_argument("--simulations", type=positive, default=100, help="of the bot, for each move")
    parser.add_argument("--games", type=positive, default=10)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args(arguments)
    try:
        game = pyspiel.load_game(chosen.game)
        opponents = [AgentBot(chosen.agent, game, chosen.seed + number) for number in range(chosen.games)]
    except (ValueError, pyspiel.SpielError) as error:
        parser.error(str(error).splitlines()[0])

    rng = np.random.default_rng(chosen.seed)
    results = []
    for number, opponent in enumerate(opponents):
        seat = number % 2
        bots = [mcts_bot(game, chosen.simulations, chosen.seed + number), opponent]
        results.append(play(game, bots[:: -1 if seat else 1], rng)[seat])
        print(f"game {number + 1}: {results[-1]:+.0f} for MCTS in seat {seat}")
    wins, draws = results.count(1.0), results.count(0.0)
    print(f"MCTS with {chosen.simulations} simulations against {chosen.agent} in {game}:")
    print(f"won {wins}, drawn {draws}, lost {len(results) - wins - draws}")


if __name__ == "__main__":
    main()
