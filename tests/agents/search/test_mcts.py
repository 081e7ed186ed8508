"""The tree search: sound whatever the priors, and sensible where the best action is plain."""

import numpy as np
import pytest

from mozaic_env.agents.search.mcts import MctsAgent
from mozaic_env.agents.specs import make_agent
from mozaic_env.arena.match import play_match
from mozaic_env.core.game import Game, Rows
from mozaic_env.games import make_game
from mozaic_env.simulation.queries import masks_of

# Yellow has three gems of a square at a1, b1, a2 and a yellow gem in hand.
ONE_TO_COMPLETE = "4/4/y3/yybb y y 1 4,6,1,1,1,1 0-0"


class Uniform:
    """An evaluator that knows the legal actions and nothing else."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.asked = 0

    def evaluate(self, states: Rows) -> tuple[np.ndarray, np.ndarray]:
        self.asked += len(states)
        masks = np.zeros((len(states), self.game.num_actions), np.int8)
        masks_of(states, masks)
        return (masks / masks.sum(axis=1, keepdims=True)).astype(np.float32), np.zeros(len(states), np.float32)


@pytest.fixture
def game() -> Game:
    return make_game("mozaic", rows=4, cols=4)


def test_completes_a_square(game: Game) -> None:
    agent = MctsAgent(game, simulations=100)
    assert game.format_action(int(agent.act(game.parse_position(ONE_TO_COMPLETE))[0])) == "b2"


def test_finds_the_win_by_search_alone(game: Game) -> None:
    # Two empty tiles: yellow at b2 completes a square and wins, at d4 it most likely ends in a draw.
    state = game.parse_position("bbb1/byby/y1yb/yyby y y 1 0,1,1,1,1,1 0-0")
    for key in range(5):
        state["key"] = key
        chosen = MctsAgent(game, policy=Uniform(game), simulations=60).act(state)
        assert game.format_action(int(chosen[0])) == "b2"


def test_choices_do_not_depend_on_the_batch(game: Game) -> None:
    states = np.repeat(game.parse_position(ONE_TO_COMPLETE), 70)
    states["key"] = np.arange(70)
    for agent in (MctsAgent(game, simulations=10), MctsAgent(game, policy=Uniform(game), simulations=10)):
        together = agent.act(states)
        alone = [int(agent.act(states[i : i + 1])[0]) for i in range(70)]
        assert together.tolist() == alone


def test_whole_games_are_legal(game: Game) -> None:
    agents = [make_agent(spec, game) for spec in ("mcts:simulations=8", "random")]
    result = play_match(agents[0], agents[1], games=60, seed=3)
    assert result.forfeits == (0, 0)
    assert result.points > 0.7
    policy = MctsAgent(game, policy=Uniform(game), simulations=5)
    assert play_match(policy, agents[1], games=20).forfeits == (0, 0)


def test_beats_greedy() -> None:
    game = make_game("mozaic")
    result = play_match(make_agent("mcts:simulations=20", game), make_agent("greedy", game), games=40, seed=1)
    assert result.points > 0.8


@pytest.mark.parametrize(("options", "words"), [({"simulations": 0}, "1 to 100000"), ({"heuristic": "x"}, "greedy")])
def test_bad_options(game: Game, options: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        MctsAgent(game, **options)  # type: ignore[arg-type]
