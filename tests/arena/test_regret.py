"""Regret: against a count by hand, against the margin that it explains, on a toy game for three and on Mozaic."""

from __future__ import annotations

import json

import numpy as np
import pytest
from arena_agents import Asked, Wrong
from sorted_nim import SolvedNim

from mozaic_env.agents.exact.perfect import PerfectAgent
from mozaic_env.agents.specs import make_agent
from mozaic_env.arena.match import play_match
from mozaic_env.arena.regret import measure_regret, regret_of
from mozaic_env.core import rows as kernels
from mozaic_env.core.exact import MARGIN, OUTCOME, require_exact_values
from mozaic_env.games import make_game


@pytest.fixture(params=[MARGIN, OUTCOME])
def toy(request):
    game = SolvedNim(9)
    return game, require_exact_values(game, request.param)


def test_regret_is_what_a_count_by_hand_gives(toy):
    """Played once more, action by action: the agent's value before, less after, at each of its decisions."""
    game, values = toy
    random = make_agent("random", game)
    result = regret_of(play_match(random, random, 30, seed=4, keep_actions=True), values)
    games, total, mistakes, decisions = result.match.details, np.zeros(30), 0, 0
    for index in range(30):
        rows = game.rows(1)
        kernels.setup_rows(rows)
        for action in games.actions[index, : games.lengths[index]]:
            if games.seating[index, kernels.mover(rows[0])] == 0:
                worth = values.action_values(rows)[0]
                regret = max(worth[np.isfinite(worth)]) - worth[action]
                total[index] += regret
                mistakes += regret > 1e-6
                decisions += 1
            kernels.apply(rows[0], action)
    assert result.regret == pytest.approx(total.mean())
    assert (result.decisions, result.mistakes) == (decisions, mistakes / decisions)
    assert result.decision_regret == pytest.approx(total.sum() / decisions)
    assert 0 < mistakes < decisions
    low, high = result.interval
    assert low < result.regret < high


def test_regret_is_what_is_lost_where_there_is_no_luck(toy):
    """Seat by seat: perfect play there less what the agent got is the regret, game by game."""
    game, values = toy
    perfect = PerfectAgent(game, objective=values.objective)
    best = play_match(perfect, perfect, 3).details
    result = measure_regret(make_agent("random", game), 60, objective=values.objective)
    games = result.match.details
    what = "margins" if values.objective == MARGIN else "results"
    lost = np.tile(getattr(best, what)[:, 0], 20) - getattr(games, what)[:, 0]
    sums = np.bincount(result.details.games, result.details.regrets, 60)
    np.testing.assert_allclose(sums, lost, atol=1e-12)
    assert lost.std() > 0.1


def test_perfect_play_has_no_regret(toy):
    game, values = toy
    result = measure_regret(PerfectAgent(game, objective=values.objective), 6, objective=values.objective)
    assert (result.regret, result.interval, result.mistakes) == (0, (0, 0), 0)


def test_groups_add_up(toy):
    game, values = toy
    result = measure_regret(make_agent("random", game), 60, objective=values.objective)
    (groups,) = result.groups.values()
    assert [group.name for group in groups] == ["few", "many"]
    assert sum(group.decisions for group in groups) == result.decisions
    assert sum(group.share for group in groups) == pytest.approx(1)
    for what in ("regret", "mistakes"):
        whole = sum(group.decisions * getattr(group, what) for group in groups) / result.decisions
        assert whole == pytest.approx(result.decision_regret if what == "regret" else result.mistakes)
    json.dumps(result.to_json(), allow_nan=False)


def test_who_is_asked_and_in_what_batches_changes_nothing():
    game = SolvedNim(9)
    compiled = measure_regret(make_agent("greedy", game), 12)
    assert measure_regret(Asked("greedy", game), 12) == compiled


def test_the_regret_of_a_match_against_anyone():
    game = SolvedNim(9)
    match = play_match(make_agent("random", game), make_agent("greedy", game), 12, keep_actions=True)
    assert regret_of(match, require_exact_values(game)).regret > 0
    with pytest.raises(ValueError, match="keep_actions"):
        regret_of(play_match(make_agent("random", game), make_agent("greedy", game), 12), require_exact_values(game))


def test_illegal_answers_have_no_regret():
    game = SolvedNim(9)
    with pytest.raises(ValueError, match="'wrong' answered with an illegal action"):
        measure_regret(Wrong(game, 7), 6)


def test_games_without_a_solver_say_so():
    with pytest.raises(ValueError, match="the game has no solver"):
        measure_regret(make_agent("random", make_game("mosaic_chess")), 2)
    with pytest.raises(ValueError, match="objective='luck'; accepted: margin, outcome"):
        measure_regret(make_agent("random", SolvedNim(9)), 6, objective="luck")
