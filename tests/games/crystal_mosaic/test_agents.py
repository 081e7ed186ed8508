"""Heuristics, search, policies and matches at tables of two, three and four."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from mozaic_env.agents.kernels import MAX_WEIGHTS
from mozaic_env.agents.search.agents import LookaheadAgent
from mozaic_env.agents.specs import make_agent
from mozaic_env.arena.match import check_games, play_match, rotations, whole_rotations
from mozaic_env.arena.records import match_records
from mozaic_env.arena.results import Games, MatchResult, places_won
from mozaic_env.arena.statistics.ratings import merge_pairs, rate
from mozaic_env.arena.tournament import play_tournament
from mozaic_env.core.game import Game
from mozaic_env.games.crystal_mosaic.game import CrystalMosaic
from mozaic_env.games.crystal_mosaic.rules import DRAFT
from mozaic_env.testing import rows as on

START = "-/-/-/-/-:...../...../...../...../.....:-"


def weights_of(game: Game, name: str) -> np.ndarray:
    padded = np.zeros(MAX_WEIGHTS)
    padded[: len(game.heuristics[name])] = game.heuristics[name]
    return padded


def valued(row: np.void, seat: int, weights: np.ndarray) -> dict[int, float]:
    actions, values = np.empty(305, np.int64), np.empty(305)
    size = on.action_values(row, seat, weights, actions, values)
    return dict(zip(actions[:size].tolist(), values[:size].tolist(), strict=True))


def after(row: np.void, action: int) -> np.void:
    changed = row.copy()
    on.apply(changed, action)
    return changed


def decisions(game: CrystalMosaic, step: int) -> np.ndarray:
    rows = on.states(game, 8)
    return rows[on.where(rows) >= 0][::step]


@pytest.mark.parametrize("heuristic", ["greedy", "planner"])
@pytest.mark.parametrize(("players", "board"), [(2, "side2"), (3, "base"), (4, "side1")])
def test_action_values_are_what_the_value_changes_by(players: int, board: str, heuristic: str) -> None:
    game = CrystalMosaic(players, board)
    weights, compared = weights_of(game, heuristic), 0
    for row in decisions(game, 11):
        for seat in range(players):
            now = on.value(row, seat, weights)
            for action, value in list(valued(row, seat, weights).items())[::7]:
                then = after(row, action)
                if row["phase"] == DRAFT and then["phase"] == DRAFT:
                    assert on.value(then, seat, weights) - now == pytest.approx(value, abs=1e-9)
                    compared += 1
    assert compared > 200


def test_greedy_completes_lines_and_spares_its_floor() -> None:
    game = CrystalMosaic(board="grey")
    text = f"1 1 1 BBYY/RRRR/KKWW/BYRK/W * 17,17,15,17,17 0,0,0,0,0 0:{START} 0:{START}"
    row = game.parse_position(text)[0]
    best = valued(row, 0, weights_of(game, "greedy"))
    top = max(best.values())
    named = {game.format_action(action) for action, value in best.items() if value == top}
    # Each brings one tile of one point and nothing on the floor.
    assert named == {"F1:B>2", "F1:Y>2", "F2:R>4", "F3:K>2", "F3:W>2"} | {
        f"F{source}:{colour}>1" for source, colours in ((4, "BYRK"), (5, "W")) for colour in colours
    }
    assert best[game.parse_action("F1:B>-")] == -2.0  # the first two spaces of the grey board
    assert best[game.parse_action("F2:R>1")] == pytest.approx(1 - 4)


def slow_paranoid(row: np.void, seat: int, depth: int, weights: np.ndarray) -> float:
    if on.mover(row) < 0 or depth == 0:
        return on.value(row, seat, weights)
    mine = on.mover(row) == seat
    if depth == 1:
        values = valued(row, seat, weights).values()
        return on.value(row, seat, weights) + (max(values) if mine else min(values))
    below = [slow_paranoid(after(row, action), seat, depth - 1, weights) for action in valued(row, seat, weights)]
    return max(below) if mine else min(below)


def slow_maxn(row: np.void, depth: int, weights: np.ndarray, seats: int) -> list[float]:
    if on.mover(row) < 0 or depth == 0:
        return [on.value(row, seat, weights) for seat in range(seats)]
    mover = on.mover(row)
    own = valued(row, mover, weights)
    if depth == 1:
        return slow_maxn(after(row, max(own, key=own.__getitem__)), 0, weights, seats)
    ordered = sorted(own, key=own.__getitem__, reverse=True)
    return max((slow_maxn(after(row, a), depth - 1, weights, seats) for a in ordered), key=lambda found: found[mover])


def few_actions(game: CrystalMosaic, most: int) -> list[np.void]:
    """Decisions late in a round, where an exhaustive search is quick."""
    rows = on.states(game, 12)
    rows = rows[on.where(rows) >= 0]
    masks = np.zeros((len(rows), game.num_actions), np.int8)
    on.look(rows, on.where(rows), masks, np.zeros((len(rows), game.frame.itemsize), np.uint8))
    chosen = rows[(masks.sum(1) > 3) & (masks.sum(1) <= most)]
    return list(chosen[:: max(1, len(chosen) // 12)])


@pytest.mark.parametrize("players", [2, 3])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_the_search_finds_what_trying_everything_finds(players: int, depth: int) -> None:
    game = CrystalMosaic(players, "grey")
    weights = weights_of(game, "planner")
    paranoid = LookaheadAgent(game, depth=depth, width=305)
    maxn = LookaheadAgent(game, "maxn", depth=depth, width=305)
    for row in few_actions(game, 12):
        seat = on.mover(row)
        found = paranoid.action_values(row.reshape(1))[0]
        for action in valued(row, seat, weights):
            expected = slow_paranoid(after(row, action), seat, depth - 1, weights)
            if depth == 1:
                expected = on.value(row, seat, weights) + valued(row, seat, weights)[action]
            assert found[action] == pytest.approx(expected, abs=1e-9)
        others = maxn.action_values(row.reshape(1))[0]
        np.testing.assert_array_equal(np.isnan(others), np.isnan(found))
        if players == 2:
            np.testing.assert_array_equal(others, found)
        elif depth > 1:
            for action in valued(row, seat, weights):
                expected = slow_maxn(after(row, action), depth - 1, weights, players)[seat]
                assert others[action] == pytest.approx(expected, abs=1e-9)


COMPILED_ANEW = [pytest.param(spec, marks=pytest.mark.slow) for spec in ("expectimax", "mcts:simulations=20")]


@pytest.mark.parametrize("spec", ["paranoid", "maxn:depth=2,width=5", *COMPILED_ANEW])
@pytest.mark.parametrize("players", [2, 4])
def test_searching_agents_play_legally(spec: str, players: int) -> None:
    game = CrystalMosaic(players)
    agent, rows = make_agent(spec, game), decisions(game, 61)
    masks = np.zeros((len(rows), game.num_actions), np.int8)
    on.look(rows, on.where(rows), masks, np.zeros((len(rows), game.frame.itemsize), np.uint8))
    chosen = agent.act(rows)
    assert masks[np.arange(len(rows)), chosen].all()
    np.testing.assert_array_equal(agent.act(rows[::-1])[::-1], chosen)


@pytest.mark.parametrize(
    "spec", ["paranoid:depth=0", "paranoid:depth=9", "maxn:width=0", "maxn:heuristic=x", "maxn:nodes=3"]
)
def test_bad_searches_are_named(spec: str) -> None:
    with pytest.raises(ValueError, match=f"agent '{spec}'.*accepted"):
        make_agent(spec, CrystalMosaic())


# --- matches ------------------------------------------------------------------------------------


def match(players: int, first: str, second: str, games: int, **options: Any) -> MatchResult:
    game = CrystalMosaic(players)
    return play_match(make_agent(first, game), make_agent(second, game), games, **options)


def test_rotations_seat_the_first_agent_everywhere_once() -> None:
    assert rotations(2).tolist() == [[0, 1], [1, 0]]
    assert rotations(3).tolist() == [[0, 1, 2], [2, 0, 1], [1, 2, 0]]


@pytest.mark.parametrize("players", [3, 4])
def test_an_agent_scores_exactly_half_against_itself_at_any_table(players: int) -> None:
    result = match(players, "greedy", "greedy", 20 * players, seed=2)
    games = result.details
    assert games is not None
    assert (result.points, result.distinct) == (0.5, 20)  # the games of a rotation are one over again
    assert result.pairs[players * (players - 1)] == 20
    assert len(np.unique(games.seeds)) == 20
    np.testing.assert_array_equal(games.seating, np.tile(rotations(players), (20, 1)))
    assert [seat.games for seat in result.seats] == [20] * players
    assert result.interval[0] < 0.5 < result.interval[1]


def test_matches_at_three_seats_depend_on_nothing_but_the_seed() -> None:
    plain = match(3, "planner", "random", 60, seed=4, keep_actions=True)
    assert match(3, "planner", "random", 60, seed=4, batch=7, threads=2) == plain
    assert plain.verdict == "stronger"
    assert plain.points > 0.8
    again = MatchResult.from_json(json.loads(json.dumps(plain.to_json())))
    assert again == plain
    game = CrystalMosaic(3)
    records = list(match_records(game, plain))
    assert len(records) == 60
    assert [records[1].header[seat] for seat in game.seat_names] == ["random", "planner", "random"]
    list(game.replay(records[1]))
    with pytest.raises(ValueError, match="can't be seen from"):
        plain.mirrored()
    broken = plain.to_json()
    broken["pairs"] = (*broken["pairs"][:-1], broken["pairs"][-1] + 1)
    with pytest.raises(ValueError, match="do not add up"):
        MatchResult.from_json(broken)


def test_places_go_by_result_and_then_by_lead() -> None:
    from mozaic_env.simulation.state import FORFEITED, TERMINATED, TRUNCATED

    results = np.array([[1, -0.5, -0.5], [0.5, 0.5, -1], [0, 0, 0], [0, 0, 0], [0.5, 0.5, -1]])
    margins = np.array([[1.0, -3.0, -2.0], [0, 0, -1], [0, 0, 0], [2, -2, -5], [-5, 4, 9]])
    endings = np.array([TERMINATED, TERMINATED, TERMINATED, TRUNCATED, FORFEITED], np.int8)
    none = np.zeros(5, np.int64)
    games = Games(none.astype(np.uint64), none, results, margins, none, endings, none.astype(np.uint64))
    assert places_won(games, 0).tolist() == [1, 0.75, 0.5, 0.5, 0.75]
    assert places_won(games, 1).tolist() == [0, 0.75, 0.5, 0.5, 0.75]
    assert places_won(games, 2).tolist() == [0.5, 0, 0.5, 0.5, 0]


def test_numbers_of_games_are_whole_rotations() -> None:
    check_games(9, 3)
    with pytest.raises(ValueError, match="games=10; accepted: a multiple of 3, because games are played in all 3"):
        check_games(10, 3)
    assert [whole_rotations(10, players) for players in (2, 3, 4)] == [10, 12, 12]
    with pytest.raises(ValueError, match="even number"):
        whole_rotations(9, 2)


def test_a_tournament_at_three_seats_rates_by_places() -> None:
    game = CrystalMosaic(3)
    agents = [make_agent(name, game) for name in ("random", "greedy", "planner")]
    results = play_tournament(agents, 40, 1)
    assert len(results) == 6  # each alone against two of each other one
    assert {result.games for result in results} == {42}
    assert not play_tournament(agents, 40, 1, known=results)
    ratings = rate(merge_pairs(results), samples=30)
    assert [rating.name for rating in ratings] == ["planner", "greedy", "random"]
    assert [rating.games for rating in ratings] == [4 * 42] * 3
