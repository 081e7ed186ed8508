"""Search in games with more chance than most: no room is too small, and no probability is lost.

`tests/oracles/dice.py` has three players and 21 outcomes a draw; with `rolls` draws a decision 21 to that power.
"""

import pickle

import numpy as np
import pytest

from mozaic_env.agents.base import Agent
from mozaic_env.agents.policy.search import PolicySearchAgent, RewardWeights
from mozaic_env.agents.search.agents import ExpectimaxAgent, LookaheadAgent
from mozaic_env.agents.search.chance import count_states, gather, make_draws, make_followers
from mozaic_env.agents.search.mcts import MctsAgent
from mozaic_env.core.contract import CHANCE, OVER
from mozaic_env.core.game import Game, Rows
from mozaic_env.games import make_game
from mozaic_env.games.crystal_mosaic.game import CrystalMosaic
from mozaic_env.simulation.queries import masks_of
from mozaic_env.testing import game_rules
from mozaic_env.testing import rows as on
from mozaic_env.web.play.odds import odds
from tests.oracles import dice

NEGLIGIBLE = 1e-7  # probability of courses that the enumeration leaves out


def after(row: np.void, action: int) -> np.void:
    changed = row.copy()
    on.apply(changed, action)
    return changed


def decisions_after(game: Game, row: np.void) -> list[tuple[np.void, float]]:
    """Where chance leads from a row, and how likely: every course of it for itself, until next to nothing is left."""
    codes, chances = np.zeros(game.max_outcomes, np.int64), np.zeros(game.max_outcomes)
    found, waiting = [], [(row, 1.0)]
    while waiting:
        state, share = waiting.pop()
        if on.mover(state) != CHANCE:
            found.append((state, share))
            continue
        if share < NEGLIGIBLE:
            continue
        for k in range(on.outcomes(state, codes, chances)):
            drawn = state.copy()
            on.resolve(drawn, int(codes[k]))
            waiting.append((drawn, share * float(chances[k])))
    return found


def legal(game: Game, row: np.void) -> list[int]:
    return np.flatnonzero(game_rules.mask_of(game, row)).tolist()


def slow_search(game: Game, row: np.void, depth: int, seat: int) -> dict[int, float]:
    """What expectimax is to find, by plain recursion."""
    weights = np.array(game.heuristics["greedy"])
    values = {}
    for action in legal(game, row):
        total = 0.0
        if depth == 1:
            values[action] = on.value(after(row, action), seat, weights)
            continue
        for state, share in decisions_after(game, after(row, action)):
            if on.mover(state) == OVER:
                total += share * on.value(state, seat, weights)
                continue
            below = slow_search(game, state, depth - 1, seat).values()
            total += share * (max(below) if on.mover(state) == seat else min(below))
        values[action] = total
    return values


def some_decisions(game: Game, size: int) -> Rows:
    rows = on.states(game, 30)
    rows = rows[on.where(rows) >= 0]
    return rows[:: len(rows) // size][:size]


def ends_of_rounds(game: CrystalMosaic, size: int) -> Rows:
    """Decisions with an action that leads to a refill."""
    rows = on.states(game, 30)
    rows = rows[(on.where(rows) >= 0) & (np.count_nonzero(rows["sources"], axis=1) == 1)]
    found = [row for row in rows if any(on.mover(after(row, action)) == CHANCE for action in legal(game, row))]
    return np.array(found[:size], game.dtype)


class Equal:
    """A policy with equal priors that thinks the seat that decides wins."""

    def __init__(self, game: Game) -> None:
        self.game = game

    def evaluate(self, states: Rows) -> tuple[np.ndarray, np.ndarray]:
        masks = np.zeros((len(states), self.game.num_actions), np.int8)
        masks_of(np.ascontiguousarray(states), masks)
        return masks / masks.sum(axis=1, keepdims=True), np.ones(len(states))


@pytest.mark.parametrize("depth", [2, pytest.param(3, marks=pytest.mark.slow)])  # plain Python is slow
def test_expectimax_equals_enumeration(depth: int) -> None:
    game = dice.Dice()
    agent = ExpectimaxAgent(game, depth=depth)
    for row in some_decisions(game, 6 if depth == 2 else 1):
        values = agent.action_values(row[None])[0]
        for action, value in slow_search(game, row, depth, on.mover(row)).items():
            assert values[action] == pytest.approx(value, abs=1e-4)


@pytest.mark.parametrize(
    ("game", "most"), [(dice.Dice(), 0), (dice.Dice(rolls=2), 1 / 36), (dice.Dice(rolls=4), 1), (CrystalMosaic(4), 1)]
)
def test_no_probability_is_lost(game: Game, most: float) -> None:
    """What is not gone through any more stays with the states at chance; `most` of it."""
    followers, draws = make_followers(game), make_draws(game)
    row = on.seeded(game, 1)
    on.setup_rows(row)
    followers.states[0, 0] = row[0]
    size = gather(followers, 0, draws)
    assert size <= count_states(game)
    shares = followers.shares[0, :size]
    assert shares.sum() == pytest.approx(1.0, abs=1e-12)
    waiting = sum(share for state, share in zip(followers.states[0], shares) if on.mover(state) == CHANCE)
    assert waiting == pytest.approx(most, abs=1e-12)


@pytest.mark.parametrize("rolls", [1, 2, 3])
def test_a_policys_search_counts_every_draw(rolls: int) -> None:
    """With three rolls 9,261 courses are told apart, none likelier than 0.0002; what has no room is sampled."""
    game = dice.Dice(rolls=rolls)
    agent = PolicySearchAgent(Equal(game), RewardWeights({"reward": {"margin": 0.0, "outcome": 1.0}}))  # type: ignore[arg-type]
    rows = some_decisions(game, 5)
    rows = rows[rows["left"] > 1]
    assert len(rows) > 2
    for row in rows:
        values, seat = agent.action_values(row[None])[0], on.mover(row)
        expected = {}
        for action in legal(game, row):
            # However many rolls, the last one decides whether the turn is missed.
            single = after(row, action)
            single["rolls"] = single["owed"] = 1
            expected[action] = sum(
                share * (1.0 if on.mover(state) == seat else -0.5) for state, share in decisions_after(game, single)
            )
        differences = {action: values[action] - value for action, value in expected.items()}
        spread = max(differences.values()) - min(differences.values())
        assert spread < (1e-5 if rolls == 1 else 0.05), (values, expected)


def test_a_policys_search_values_what_follows_a_refill() -> None:
    game = CrystalMosaic(players=2)
    agent = PolicySearchAgent(Equal(game), RewardWeights({"reward": {"outcome": 1.0}}), candidates=99)  # type: ignore[arg-type]
    compared = 0
    for row in ends_of_rounds(game, 5):
        values, seat = agent.action_values(row[None])[0], on.mover(row)
        tried = np.flatnonzero(~np.isnan(values))
        prior = np.log(1 / len(legal(game, row)))
        for action in tried:
            then = after(row, int(action))
            if on.mover(then) == CHANCE:
                follows = 1.0 if then["starter"] == seat else -1.0
                assert values[action] - prior == pytest.approx(follows, abs=1e-9)
                compared += 1
    assert compared > 5


@pytest.mark.parametrize(  # a tree for Crystal Mosaic takes half a minute to compile
    "game", [dice.Dice(rolls=1), dice.Dice(rolls=6), pytest.param(CrystalMosaic(players=4), marks=pytest.mark.slow)]
)
def test_every_simulation_of_a_tree_counts(game: Game) -> None:
    agent = MctsAgent(game, simulations=100)
    rows = ends_of_rounds(game, 3) if isinstance(game, CrystalMosaic) else some_decisions(game, 3)
    assert len(rows) == 3
    for row in rows:
        chosen = int(agent.act(row[None])[0])
        assert chosen in legal(game, row)
        forest = agent._forest
        assert forest is not None
        assert forest.visits[0, : forest.edges[0, 0]].sum() == 100


def agents(game: Game) -> list[Agent]:
    weights = RewardWeights({})
    return [
        *(ExpectimaxAgent(game, depth=depth) for depth in (1, 2, 3, 4)),
        *(LookaheadAgent(game, name=name) for name in ("paranoid", "maxn")),
        *(MctsAgent(game, simulations=20), MctsAgent(game, simulations=20, policy=Equal(game))),
        PolicySearchAgent(Equal(game), weights),  # type: ignore[arg-type]
    ]


@pytest.mark.parametrize(
    "game", [pytest.param(dice.Dice(), marks=pytest.mark.slow), make_game("mozaic", rows=2, cols=2)]
)
def test_copies_of_a_searching_agent_search_alike(game: Game) -> None:
    rows = some_decisions(game, 8)
    for agent in agents(game):
        chosen = agent.act(rows)
        for row, action in zip(rows, chosen.tolist(), strict=True):
            assert action in legal(game, row)
        assert np.array_equal(pickle.loads(pickle.dumps(agent)).act(rows), chosen), agent


def test_odds_of_any_number_of_outcomes() -> None:
    game = dice.Dice()
    row = on.seeded(game, 1)[0]
    on.setup_rows(row[None])
    found = odds(game, row, np.zeros(0, np.int8))
    assert len(found) == 21
    assert sum(share for _, share in found) == pytest.approx(1.0)
