"""Search by rollouts: equal luck, any game, any compiled policy."""

import numpy as np
import pytest

from mozaic_env.agents.search.rollout_agent import RolloutAgent
from mozaic_env.agents.search.valuation import list_values_after, make_room
from mozaic_env.agents.search.value_expectimax import ValueExpectimaxAgent
from mozaic_env.agents.specs import make_agent
from mozaic_env.arena.match import play_match
from mozaic_env.core.afterstates import features_of
from mozaic_env.core.jit import jit
from mozaic_env.games import make_game
from mozaic_env.testing import rows

SMALL = make_game("mozaic", rows=4, cols=4)
PATTERN = np.array(SMALL.heuristics["pattern"])


def some_decisions(game, count):
    state = game.rows(count)
    state["key"] = np.random.default_rng(0).integers(0, 2**63, count)
    rows.setup_rows(state)
    agent = make_agent("random", game)
    for _ in range(4):
        for row in state:
            rows.deal(row)
        for row, action in zip(state, agent.act(state), strict=True):
            rows.apply(row, action)
    for row in state:
        rows.deal(row)
    return state


def test_one_candidate_is_the_policys_choice():
    state = some_decisions(SMALL, 30)
    alone = RolloutAgent(SMALL, PATTERN, width=1, samples=1, depth=1)
    np.testing.assert_array_equal(alone.act(state), make_agent("pattern", SMALL).act(state))


@pytest.mark.parametrize("policy", ["heuristic", "tables"])
def test_a_search_depends_on_the_row_alone(policy):
    state = some_decisions(SMALL, 12)
    weights = features_of(SMALL).start() if policy == "tables" else PATTERN
    agent = RolloutAgent(SMALL, weights, width=4, samples=4, depth=3)
    before = state.copy()
    chosen = agent.act(state)
    np.testing.assert_array_equal(state, before)
    np.testing.assert_array_equal(agent.act(state[::-1]), chosen[::-1])
    values = agent.action_values(state)
    np.testing.assert_array_equal(np.nanargmax(values, axis=1), chosen)
    assert (np.isfinite(values).sum(axis=1) <= 4).all()


def test_rollouts_improve_the_policy():
    searching = RolloutAgent(SMALL, PATTERN, width=6, samples=32, depth=8, prior=0.5)
    result = play_match(searching, make_agent("pattern", SMALL), 200, seed=3)
    assert result.points > 0.55


def test_other_games_have_it_too():
    game = make_game("crystal_mosaic", players=2)
    agent = make_agent("rollout:policy=" + tuple(game.heuristics)[-1] + ",width=2,samples=1,depth=1", game)
    state = game.rows(2)
    rows.setup_rows(state)
    for row in state:
        rows.deal(row)
    masks = np.zeros((2, game.num_actions), np.int8)
    for i in range(2):
        rows.legal(state[i], masks, i)
    assert masks[np.arange(2), agent.act(state)].all()


@pytest.mark.parametrize("spec", ["rollout:policy=pattern,width=0", "rollout:policy=random", "rollout:depth=x"])
def test_wrong_specs_are_refused(spec):
    with pytest.raises(ValueError, match=r"accepted|expected"):
        make_agent(spec, SMALL)


def test_the_luck_of_a_draw_has_mean_zero():
    """What is subtracted from a rollout averages out over the draws, whatever the tables say."""
    game, generator = SMALL, np.random.default_rng(1)
    weights = features_of(game).start()
    for name in weights.dtype.names:
        weights[name] += generator.normal(size=len(weights)).astype(np.float32)
    room, codes, shares = make_room(game, weights), np.zeros(game.max_outcomes, np.int64), np.zeros(game.max_outcomes)
    lucky = 0
    for row in some_decisions(game, 20):
        masks = np.zeros((1, game.num_actions), np.int8)
        rows.legal(row, masks, 0)
        rows.apply(row, int(masks[0].argmax()))
        before, found, total = row.copy(), 0.0, 0.0
        for k in range(rows.outcomes(before, codes, shares)):
            drawn = np.array([before])
            rows.resolve(drawn[0], int(codes[k]))
            if rows.mover(drawn[0]) < 0:
                continue
            luck = luck_of(before, int(codes[k]), drawn[0], weights, room)
            lucky += luck != 0
            found += shares[k] * luck
            total += shares[k]
        assert found / max(total, 1e-9) == pytest.approx(0, abs=1e-4)
    assert lucky > 20


@jit
def luck_of(before, code, row, weights, room):
    return list_values_after(before, code, row, 0, weights, room)[1]


def test_expectimax_by_tables_goes_through_all_draws():
    """With a policy and values of 0 the search adds up what is gained; its own rollout says the same on average."""
    game = SMALL
    weights = features_of(game).start()
    agent = make_agent("expectimax:values=ntuple", game)
    state = some_decisions(game, 8)
    values = agent.action_values(state)
    masks = np.zeros((8, game.num_actions), np.int8)
    for i in range(8):
        rows.legal(state[i], masks, i)
    np.testing.assert_array_equal(np.isfinite(values), masks == 1)
    np.testing.assert_array_equal(
        values.argmax(1) if np.isfinite(values).all() else np.nanargmax(values, 1), agent.act(state)
    )
    one_draw = ValueExpectimaxAgent(game, weights, prior=0.0).action_values(state)
    sampled = RolloutAgent(game, weights, width=99, samples=1000, depth=1, prior=0.0)
    for i in range(8):
        best = int(np.nanargmax(one_draw[i]))
        assert sampled.action_values(state[i : i + 1])[0, best] == pytest.approx(one_draw[i, best], abs=0.35)


@pytest.mark.parametrize("spec", ["expectimax:values=ntuple,depth=3", "expectimax:prior=1", "expectimax:values=/no"])
def test_wrong_options_of_values_are_refused(spec):
    with pytest.raises(ValueError, match=r"goes with|no folder"):
        make_agent(spec, SMALL)
