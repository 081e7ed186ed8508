from __future__ import annotations

import numpy as np
import pytest

from mozaic_env.arena.match import pair_seeds, play_match
from mozaic_env.arena.results import MatchResult
from mozaic_env.games import make_game
from mozaic_env.simulation.state import FORFEITED, TRUNCATED
from tests.arena.arena_agents import Asked, Wrong, agents, small_game


@pytest.fixture(params=[("amethyst", 8, 8), ("onyx", 4, 4)], ids=str)
def game(request):
    rules, rows, cols = request.param
    return make_game("mozaic", rules=rules, rows=rows, cols=cols)


@pytest.mark.parametrize("name", ["random", "greedy", "pattern"])
def test_an_agent_scores_exactly_half_against_itself(game, name):
    (agent,) = agents(game, name)
    result = play_match(agent, agent, 60, seed=5)
    assert (result.points, result.margin) == (0.5, 0.0)
    assert result.pairs == (0, 0, 30, 0, 0)
    assert result.wins == result.losses
    assert result.distinct == 30  # the second game of a pair is the first one over again
    assert result.pairing_gain is None
    assert result.interval[0] < 0.5 < result.interval[1]


def test_results_depend_neither_on_threads_nor_on_the_batch_nor_on_being_asked(game):
    greedy, random = agents(game, "greedy", "random")
    plain = play_match(greedy, random, 100, seed=11)
    assert play_match(greedy, random, 100, seed=11, threads=2) == plain
    assert play_match(greedy, random, 100, seed=11, threads=3, batch=7) == plain
    assert play_match(greedy, random, 100, seed=11, batch=1, keep_actions=True) == plain
    asked = Asked("greedy", game)
    assert play_match(asked, random, 100, seed=11) == plain
    assert play_match(asked, Asked("random", game), 100, seed=11, batch=9) == plain
    assert play_match(greedy, random, 100, seed=12) != plain


def test_python_agents_are_asked_for_many_games_at_once():
    game = small_game()
    asked = Asked("greedy", game)
    play_match(asked, agents(game, "random")[0], 200)
    assert max(asked.batches) > 80
    assert len(asked.batches) < 60


def test_exchanged_agents_give_the_mirrored_match(game):
    greedy, random = agents(game, "greedy", "random")
    one, other = play_match(greedy, random, 80, seed=3), play_match(random, greedy, 80, seed=3)
    swapped = np.arange(80).reshape(-1, 2)[:, ::-1].ravel()  # the games of a pair change places
    for name in ("results", "margins"):
        mine, theirs = getattr(one.details, name), getattr(other.details, name)
        np.testing.assert_array_equal(mine[swapped], theirs[:, ::-1])
    np.testing.assert_array_equal(one.details.courses[swapped], other.details.courses)
    assert (one.wins, one.draws, one.losses) == (other.losses, other.draws, other.wins)
    assert one.interval == pytest.approx((1 - other.interval[1], 1 - other.interval[0]), abs=1e-12)
    assert one.pairs == other.pairs[::-1]
    assert one.seats[0].wins == other.seats[1].losses


def test_a_longer_match_begins_with_the_shorter_one(game):
    greedy, random = agents(game, "greedy", "random")
    short, long = play_match(greedy, random, 20, seed=3), play_match(greedy, random, 50, seed=3)
    np.testing.assert_array_equal(short.details.courses, long.details.courses[:20])


def test_both_games_of_a_pair_have_the_same_luck_and_pairs_have_different_luck():
    game = small_game()
    greedy, random = agents(game, "greedy", "random")
    games = play_match(greedy, random, 40, seed=8, keep_actions=True).details
    np.testing.assert_array_equal(games.seeds[::2], games.seeds[1::2])
    assert len(np.unique(games.seeds)) == 20
    np.testing.assert_array_equal(games.seating[::2], np.tile([0, 1], (20, 1)))
    np.testing.assert_array_equal(games.seating[1::2], np.tile([1, 0], (20, 1)))
    np.testing.assert_array_equal(pair_seeds(8, 10), pair_seeds(8, 40)[:10])


def test_figures_follow_from_the_games():
    game = small_game()
    greedy, random = agents(game, "greedy", "random")
    result = play_match(greedy, random, 200, seed=1)
    games = result.details
    mine, margins = games.results[:, 0], games.margins[:, 0]
    np.testing.assert_array_equal(games.results.sum(axis=1), 0)
    np.testing.assert_array_equal(np.sign(margins), mine)
    assert (result.wins, result.draws, result.losses) == tuple(np.sum(mine == r) for r in (1, 0, -1))
    assert result.draws > 0
    assert result.points == (mine.mean() + 1) / 2
    assert result.margin == margins.mean()
    assert result.mean_length == games.lengths.mean()
    assert [seat.points for seat in result.seats] == [(mine[k::2].mean() + 1) / 2 for k in (0, 1)]
    assert [seat.margin for seat in result.seats] == [margins[k::2].mean() for k in (0, 1)]
    assert result.verdict == "stronger"
    assert result.games_per_second > 0


def test_a_game_at_the_limit_is_a_draw():
    game = small_game()
    result = play_match(*agents(game, "greedy", "random"), 20, max_decisions=5)
    assert (result.draws, result.truncated, result.points) == (20, 20, 0.5)
    assert set(result.details.lengths) == {5}
    assert set(result.details.endings) == {TRUNCATED}


@pytest.mark.parametrize(
    "answer",
    [-1, 96, 10**12, lambda masks: np.argmin(masks, axis=1)],
    ids=["negative", "one too many", "huge", "illegal"],
)
def test_an_illegal_action_loses_the_game(answer):
    game = small_game()
    (random,) = agents(game, "random")
    result = play_match(random, Wrong(game, answer), 20)
    assert (result.wins, result.forfeits) == (20, (0, 20))
    assert set(result.details.endings) == {FORFEITED}
    mirrored = play_match(Wrong(game, answer), random, 20)
    assert (mirrored.losses, mirrored.forfeits) == (20, (20, 0))


@pytest.mark.parametrize(
    "answer", [lambda masks: np.zeros(len(masks) + 1, np.int64), lambda masks: np.zeros(len(masks))]
)
def test_an_answer_of_another_shape_or_type_is_an_error(answer):
    game = small_game()
    with pytest.raises(ValueError, match="agent 'wrong' was asked for 4 actions"):
        play_match(Wrong(game, answer), agents(game, "random")[0], 4, batch=8)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"games": 0}, "games=0; accepted: a whole number of at least 2"),
        ({"games": -2}, "games=-2; accepted"),
        ({"games": 7}, "games=7; accepted: an even number"),
        ({"games": 2.0}, "games=2.0; accepted"),
        ({"games": 2, "seed": -1}, "seed=-1; accepted"),
        ({"games": 2, "threads": 0}, "threads=0; accepted"),
        ({"games": 2, "batch": 0}, "batch=0; accepted"),
        ({"games": 2, "max_decisions": 0}, "max_decisions=0; accepted"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    random, greedy = agents(small_game(), "random", "greedy")
    with pytest.raises(ValueError, match=message):
        play_match(random, greedy, **arguments)


def test_agents_for_different_games_do_not_meet():
    with pytest.raises(ValueError, match="a match needs both for the same game"):
        play_match(*agents(small_game(), "random"), *agents(make_game("mozaic"), "random"), 2)


def test_progress_is_told_in_order_and_to_the_end():
    game = small_game()
    greedy, random = agents(game, "greedy", "random")
    for first in (greedy, Asked("greedy", game)):
        told = []
        play_match(first, random, 100, threads=2, batch=16, progress=told.append)
        assert told == sorted(told)
        assert told[-1] == 100
        assert len(told) > 5


def test_an_error_in_one_of_many_threads_parts_ends_the_match():
    game = small_game()
    greedy, random = agents(game, "greedy", "random")

    def stop(done):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        play_match(greedy, random, 10_000, threads=2, progress=stop)


def test_results_survive_json():
    import json

    game = small_game()
    for games in (2, 40):
        result = play_match(*agents(game, "greedy", "random"), games, keep_actions=True)
        back = MatchResult.from_json(json.loads(json.dumps(result.to_json(), allow_nan=False)))
        assert back == result
        assert back.seconds == result.seconds
        assert back.details is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda values: values.pop("wins"), "missing wins"),
        (lambda values: values.update(speed=3), "unknown speed"),
        (lambda values: values.update(wins=values["wins"] + 1), "do not add up"),
        (lambda values: values.update(pairs=[0, 0, 0, 0, 10]), "do not add up"),
        (lambda values: values.update(wins="7"), "are counts"),
        (lambda values: values.update(pairs=7), "match result"),
        (lambda values: values.update(seats=[{"games": 1}]), "match result"),
    ],
)
def test_json_that_is_no_result_is_refused(change, message):
    values = play_match(*agents(small_game(), "greedy", "random"), 20).to_json()
    change(values)
    with pytest.raises(ValueError, match=message):
        MatchResult.from_json(values)
    with pytest.raises(ValueError, match="JSON object"):
        MatchResult.from_json([values])
