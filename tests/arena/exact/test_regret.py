"""Regret: against a count by hand, against the margin that it explains, on a toy game for three and on Mozaic."""

from __future__ import annotations

import json

import numpy as np
import pytest

from mozaic_env.agents.exact.perfect import PerfectAgent
from mozaic_env.agents.specs import make_agent
from mozaic_env.arena.exact.regret import measure_regret, regret_of
from mozaic_env.arena.match import play_match
from mozaic_env.core.exact import MARGIN, OUTCOME, require_exact_values
from mozaic_env.games import make_game
from mozaic_env.testing import rows as kernels
from tests.arena.arena_agents import Asked, Wrong
from tests.oracles.sorted_nim import SolvedNim


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


def test_the_values_of_another_board_are_refused():
    match = play_match(
        *(make_agent("random", make_game("mozaic", rows=4, cols=4)) for _ in range(2)), 2, keep_actions=True
    )
    with pytest.raises(ValueError, match=r"a match of mozaic, .*rows=4, cols=4; accepted: one of Mozaic\(.*rows=2"):
        regret_of(match, require_exact_values(make_game("mozaic", rows=2, cols=4)))


def test_illegal_answers_have_no_regret():
    game = SolvedNim(9)
    with pytest.raises(ValueError, match="'wrong' answered with an illegal action"):
        measure_regret(Wrong(game, 7), 6)


def test_games_without_a_solver_say_so():
    with pytest.raises(ValueError, match="the game has no solver"):
        measure_regret(make_agent("random", make_game("mosaic_chess")), 2)
    with pytest.raises(ValueError, match="objective='luck'; accepted: margin, outcome"):
        measure_regret(make_agent("random", SolvedNim(9)), 6, objective="luck")


# --- Mozaic: with luck ------------------------------------------------------------------------------


@pytest.mark.parametrize(("rules", "name"), [("amethyst", "random"), ("onyx", "pattern"), ("amethyst", "greedy")])
@pytest.mark.parametrize("objective", [MARGIN, OUTCOME])
def test_regret_is_the_expected_loss(rules, name, objective):
    """The performance difference lemma: luck has no part in the one, and averages out in the other."""
    game = make_game("mozaic", rules=rules, rows=2, cols=4)
    result = measure_regret(make_agent(name, game), 4000, seed=2, objective=objective)
    low, high = result.lead_interval
    error = (high - low) / 2 / 1.96
    assert abs(result.regret + result.lead) < 4 * error
    assert result.regret > 10 * error


def test_its_interval_is_at_most_a_third_of_the_margins():
    game = make_game("mozaic", rows=2, cols=4)
    result = measure_regret(make_agent("expectimax:depth=2", game), 1000)
    width, lead_width = (high - low for low, high in (result.interval, result.lead_interval))
    assert 0 < 3 * width < lead_width


def test_groups_of_mozaic_are_the_gem_in_hand_and_how_full_the_board_is():
    game = make_game("mozaic", rows=2, cols=4)
    texts = [
        ("4/4 y y 1 3,4,1,1,1,1 0-0", 0, 0),
        ("4/4 y b 1 4,3,1,1,1,1 0-0", 1, 0),
        ("yb2/4 y e 1 3,3,0,1,1,1 0-0", 2, 1),
        ("yb2/yb2 b d 1 2,2,1,0,1,1 0-0", 3, 2),
        ("ybyb/yb1y b b 1 0,0,1,1,1,1 0-0", 0, 3),
    ]
    states = np.concatenate([game.parse_position(text) for text, _, _ in texts])
    gem, phase = game.group_decisions(states)
    assert (gem.by, phase.by) == ("gem in hand", "board covered")
    assert gem.groups.tolist() == [expected for _, expected, _ in texts]
    assert phase.groups.tolist() == [expected for _, _, expected in texts]
    assert [grouping.groups.tolist() for grouping in game.group_decisions(states[:0])] == [[], []]
