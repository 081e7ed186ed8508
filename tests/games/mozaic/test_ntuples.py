"""Mozaic's sparse features: sums of an afterstate from the change are those of its own features."""

import numpy as np
import pytest

from mozaic_env.core import afterstates
from mozaic_env.core.contract import CHANCE, OVER
from mozaic_env.core.jit import jit
from mozaic_env.games import make_game
from mozaic_env.games.mozaic.ntuples import PHASES
from mozaic_env.games.mozaic.windows import DEAD, OF_WINDOWS
from mozaic_env.testing import rows

BOARDS = [
    {"rules": "amethyst", "rows": 8, "cols": 8},
    {"rules": "onyx", "rows": 4, "cols": 4},
    {"rules": "amethyst", "rows": 5, "cols": 2},
    {"rules": "onyx", "rows": 3, "cols": 6},
]


@jit
def evaluate(row, weights, actions, points, sums, workspace):
    return afterstates.evaluate_actions(row, weights, actions, points, sums, workspace)


@jit
def add(row, coefficients, gradient, workspace):
    afterstates.add_gradient(row, coefficients, gradient, workspace)


@jit
def features_of(row, features, workspace):
    return afterstates.list_features(row, features, workspace)


def decisions(game, seed, games=6):
    """Every decision of some random games."""
    generator = np.random.default_rng(seed)
    state = game.rows(games)
    state["key"] = generator.integers(0, 2**63, games)
    rows.setup_rows(state)
    masks = np.zeros((1, game.num_actions), np.int8)
    for i in range(games):
        while True:
            rows.deal(state[i])
            if rows.mover(state[i]) == OVER:
                break
            yield state[i]
            rows.legal(state[i], masks, 0)
            rows.apply(state[i], int(generator.choice(np.flatnonzero(masks[0]))))


def after(game, row, action):
    left = game.rows(1)
    left[0] = row
    rows.apply(left[0], action)
    return left


@pytest.mark.parametrize("options", BOARDS, ids=lambda options: "-".join(map(str, options.values())))
def test_sums_and_gradient_are_those_of_each_afterstate(options):
    game = make_game("mozaic", **options)
    generator = np.random.default_rng(0)
    both = generator.normal(size=(len(afterstates.features_of(game).start()), 2)).astype(np.float32)
    for phase in range(len(PHASES)):
        both[phase * OF_WINDOWS + DEAD : (phase + 1) * OF_WINDOWS] = 0
    weights = both.view(afterstates.WEIGHT)[:, 0]
    workspace = afterstates.features_of(game).make_workspace()
    actions, points = np.zeros(game.num_actions, np.int64), np.zeros(game.num_actions, np.float32)
    sums, found = np.zeros(game.num_actions, afterstates.WEIGHT), np.zeros(200, np.int64)
    masks, hands = np.zeros((1, game.num_actions), np.int8), set()
    for row in decisions(game, 1):
        seat = rows.mover(row)
        hands.add(int(row["hand"]))
        size = evaluate(row, weights, actions, points, sums, workspace)
        rows.legal(row, masks, 0)
        assert sorted(actions[:size]) == list(np.flatnonzero(masks[0]))
        coefficients = generator.normal(size=size).astype(np.float32)
        coefficients -= coefficients.mean()
        gradient, expected = np.zeros(len(weights), np.float32), np.zeros(len(weights))
        add(row, coefficients, gradient, workspace)
        for k, action in enumerate(actions[:size]):
            left = after(game, row, action)
            gained = game_points(left[0], seat) - game_points(row, seat)
            assert points[k] == gained
            if rows.mover(left[0]) == OVER:
                assert sums[k].tolist() == (0, 0)
                continue
            assert rows.mover(left[0]) == CHANCE
            sign = 1 if left[0]["mover"] == seat else -1
            listed = found[: features_of(left[0], found, workspace)]
            np.testing.assert_allclose(sums[k].tolist(), sign * both[listed].sum(0), atol=1e-3)
            np.add.at(expected, listed, sign * float(coefficients[k]))
        np.testing.assert_allclose(gradient, expected, atol=1e-3)
    assert len(hands) >= 3


def game_points(row, seat):
    return int(row["score"][seat]) - int(row["score"][1 - seat])
