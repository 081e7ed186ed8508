"""The policy that looks one draw ahead, with evaluators whose answers are known."""

from typing import Any

import numpy as np
import pytest

from mozaic_env.agents.policy.rollout_search import PolicyRolloutAgent
from mozaic_env.agents.policy.search import LEAST, OutcomeEstimator, PolicySearchAgent, RewardWeights
from mozaic_env.core.game import Game, Rows
from mozaic_env.games import make_game
from mozaic_env.simulation.queries import masks_of
from tests.oracles.reference import ReferenceGame

ONE_TO_COMPLETE = "4/4/y3/yybb y y 1 4,6,1,1,1,1 0-0"


class Known:
    """A policy with equal priors whose value of a state is what its mover has in hand."""

    def __init__(self, game: Game, worth: dict[str, float]) -> None:
        self.game, self.worth, self.seen = game, worth, 0

    def evaluate(self, states: Rows) -> tuple[np.ndarray, np.ndarray]:
        self.seen += len(states)
        masks = np.zeros((len(states), self.game.num_actions), np.int8)
        masks_of(np.ascontiguousarray(states), masks)
        hands = [self.game.format_position(state).split()[2] for state in states]
        return masks / masks.sum(axis=1, keepdims=True), np.array([self.worth[hand] for hand in hands])


@pytest.fixture
def game() -> Game:
    return make_game("mozaic", rows=4, cols=4)


def make(game: Game, reward: dict[str, float], worth: dict[str, float], **options: Any) -> PolicySearchAgent:
    return PolicySearchAgent(Known(game, worth), RewardWeights({"reward": reward}), **options)  # type: ignore[arg-type]


def test_counts_what_the_action_gains(game: Game) -> None:
    agent = make(game, {"margin": 0.25, "outcome": 1.0}, dict.fromkeys("ybed", 0.0), candidates=99)
    assert game.format_action(int(agent.act(game.parse_position(ONE_TO_COMPLETE))[0])) == "b2"


def test_finished_games_count_by_their_outcome(game: Game) -> None:
    state = game.parse_position("bbbb/ybyb/y1yb/yyby y y 1 0,0,1,1,1,1 0-0")
    agent = make(game, {"margin": 0.0, "outcome": 1.0}, dict.fromkeys("ybed", 9.0))
    assert game.format_action(int(agent.act(state)[0])) == "b2"
    assert agent._policy.seen == 1  # type: ignore[attr-defined]  # nothing follows, so nothing else was asked


def test_expected_value_is_over_draws_and_seats(game: Game) -> None:
    """A removal and a slide change the odds of the next draw; the choice must follow the expectation."""
    text = "4/4/1y2/b1b1 y d 1 7,6,1,0,1,1 0-0"
    state = game.parse_position(text)
    worth = {"y": 1.0, "b": -0.5, "e": 0.2, "d": 0.0}
    agent = make(game, {"margin": 0.0, "outcome": 1.0}, worth, candidates=99)
    reference = ReferenceGame.from_position(text)
    expected = {}
    for action in reference.legal_actions():
        after = reference.clone()
        after.apply(action)
        likely = {gem: float(p) for gem, p in after.possible_draws().items()}
        total, kept = 0.0, 0.0
        for gem, p in likely.items():
            drawn = after.clone()
            drawn.draw(gem)
            if drawn.status == "decision":
                total += p * worth[gem] * (1 if drawn.mover == "y" else -1)
                kept += p
        expected[action] = total / kept
    best = max(expected, key=expected.__getitem__)
    assert int(agent.act(state)[0]) == best
    values = agent.action_values(state)[0]
    assert set(np.flatnonzero(~np.isnan(values))) == set(expected)
    for action, value in expected.items():  # all priors are equal here; the reference does not follow missed turns
        assert values[action] - values[best] == pytest.approx(value - expected[best], abs=0.02)
    assert LEAST < 0.05


def test_choices_do_not_depend_on_the_batch(game: Game) -> None:
    states = np.repeat(game.parse_position(ONE_TO_COMPLETE), 130)
    states["key"] = np.arange(130)
    agent = make(game, {"margin": 0.0, "outcome": 1.0}, dict.fromkeys("ybed", 0.0))
    assert agent.act(states).tolist() == [int(agent.act(states[i : i + 1])[0]) for i in range(130)]


def test_estimator_counts_the_lead_so_far(game: Game) -> None:
    weights = RewardWeights({"reward": {"margin": 1.0, "outcome": 1.0}})
    estimator = OutcomeEstimator(Known(game, dict.fromkeys("ybed", 0.0)), weights)  # type: ignore[arg-type]
    ahead = game.parse_position("4/4/y3/yybb y y 1 4,6,1,1,1,1 8-0")
    _, values = estimator.evaluate(ahead)
    assert values[0] == pytest.approx(np.tanh(1.0))


def test_bad_candidates(game: Game) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        make(game, {}, {}, candidates=0)


def test_rollouts_judge_what_the_network_finds_likely(game: Game) -> None:
    """One candidate: the likeliest action. All, and no say for the network: what gains most at once is found."""
    state, weights = game.parse_position(ONE_TO_COMPLETE), np.array(game.heuristics["pattern"])
    policy = Known(game, dict.fromkeys("ybed", 0.0))
    probabilities, _ = policy.evaluate(state)
    first = PolicyRolloutAgent(policy, weights, candidates=1, samples=1)  # type: ignore[arg-type]
    assert int(first.act(state)[0]) == int(probabilities[0].argmax())
    agent = PolicyRolloutAgent(policy, weights, candidates=99, samples=32, prior=0.0)  # type: ignore[arg-type]
    assert game.format_action(int(agent.act(state)[0])) == "b2"
    values = agent.action_values(state)[0]
    np.testing.assert_array_equal(np.isfinite(values), probabilities[0] > 0)
    assert int(np.nanargmax(values)) == int(agent.act(state)[0])


def test_a_large_prior_is_the_networks_choice(game: Game) -> None:
    class Certain(Known):
        def evaluate(self, states: Rows) -> tuple[np.ndarray, np.ndarray]:
            probabilities, values = super().evaluate(states)
            probabilities[np.arange(len(states)), (probabilities > 0).argmax(1)] += 9
            return probabilities / probabilities.sum(1, keepdims=True), values

    states, weights = np.repeat(game.parse_position(ONE_TO_COMPLETE), 5), np.array(game.heuristics["pattern"])
    states["key"] = np.arange(5)
    policy = Certain(game, dict.fromkeys("ybed", 0.0))
    agent = PolicyRolloutAgent(policy, weights, samples=4, prior=1e6)  # type: ignore[arg-type]
    np.testing.assert_array_equal(agent.act(states), policy.evaluate(states)[0].argmax(1))
    assert agent.act(states[2:3])[0] == agent.act(states)[2]
