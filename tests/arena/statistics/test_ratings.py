from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from mozaic_env.arena.statistics.ratings import choose_anchor, merge_pairs, points_between, rate

TRUTH = {"random": 0.0, "weak": 150.0, "middle": 420.0, "strong": 500.0}


def expected(gap):
    return 1 / (1 + 10 ** (-gap / 400))


def synthetic(rng, pairs, truth=TRUTH):
    """Results of independent games between agents of known strength."""
    table, names = {}, list(truth)
    for i, first in enumerate(names):
        for second in names[i + 1 :]:
            won = rng.binomial(2, expected(truth[first] - truth[second]), size=pairs)
            table[first, second] = tuple(np.bincount(2 * won, minlength=5))
    return table


def test_known_strengths_are_recovered():
    ratings = rate(synthetic(np.random.default_rng(0), 20_000), samples=20)
    assert [rating.name for rating in ratings] == ["strong", "middle", "weak", "random"]
    for rating in ratings:
        assert rating.elo == pytest.approx(TRUTH[rating.name], abs=8)
        assert rating.games == 3 * 40_000
    assert ratings[-1].elo == 0
    assert ratings[-1].interval == (0, 0)


def test_intervals_contain_the_true_strength():
    rng, hits, lead_hits, total = np.random.default_rng(3), 0, 0, 0
    for trial in range(40):
        ratings = rate(synthetic(rng, 40), seed=trial, samples=100)
        for rating, below in pairwise(ratings):
            if rating.name != "random":
                low, high = rating.interval
                assert low <= rating.elo <= high
                hits += low <= TRUTH[rating.name] <= high
                low, high = rating.lead_interval
                lead_hits += low <= TRUTH[rating.name] - TRUTH[below.name] <= high
                total += 1
    assert total > 100
    assert 0.9 <= hits / total <= 0.995
    assert 0.88 <= lead_hits / total <= 0.995


def test_one_pairing_gives_the_gap_of_its_points():
    (strong, weak) = rate({("a", "b"): (10, 0, 30, 0, 58)}, samples=50)
    share = (15 + 59) / 100  # with one pair won and one lost added
    assert (strong.name, weak.name, weak.elo) == ("a", "b", 0) or strong.elo == 0
    gap = strong.elo - weak.elo
    assert expected(gap) == pytest.approx(share, abs=1e-6)
    assert (strong.lead, weak.lead) == (gap, None)


def test_an_agent_that_wins_everything_has_a_finite_rating_and_a_wide_interval():
    perfect, random = rate({("perfect", "random"): (0, 0, 0, 0, 500)})
    assert 800 < perfect.elo < 1400
    low, high = perfect.interval
    assert 700 < low < perfect.elo < high
    assert high - low > 400
    assert (random.elo, random.points) == (0, 0)


def test_close_agents_can_be_told_apart_though_both_are_far_from_the_anchor():
    pairs = {
        ("best", "random"): (0, 0, 0, 0, 500),
        ("good", "random"): (0, 0, 0, 0, 500),
        ("best", "good"): (100, 0, 200, 0, 200),
    }
    best, good, _ = rate(pairs)
    assert best.interval[0] < good.interval[1]  # they overlap widely
    assert best.lead_interval[0] > 30


def test_order_and_names_of_the_results_change_nothing():
    pairs = synthetic(np.random.default_rng(5), 300)
    mirrored = {(b, a): counts[::-1] for (a, b), counts in reversed(pairs.items())}
    for one, other in zip(rate(pairs, samples=2), rate(mirrored, samples=2), strict=True):
        assert one.name == other.name
        assert one.elo == pytest.approx(other.elo, abs=1e-4)
        assert (one.games, one.points) == (other.games, pytest.approx(other.points))


def test_agents_without_a_chain_of_matches_to_the_anchor_have_no_rating():
    pairs = {("random", "a"): (1, 0, 2, 0, 3), ("b", "c"): (1, 0, 2, 0, 3)}
    ratings = {rating.name: rating for rating in rate(pairs, samples=10)}
    assert list(ratings)[2:] == ["b", "c"]
    assert ratings["a"].elo is not None
    assert ratings["b"].elo is None
    assert ratings["b"].interval is None
    assert ratings["b"].games == 12


def test_the_anchor_is_random_or_else_the_first():
    assert choose_anchor(["a", "random", "b"]) == "random"
    assert choose_anchor(["a", "b"]) == "a"
    ratings = {rating.name: rating.elo for rating in rate({("a", "b"): (9, 0, 1, 0, 2)}, samples=2)}
    assert ratings["a"] == 0
    assert ratings["b"] > 0


class Played:
    def __init__(self, first, second, *pairs):
        self.players, self.pairs = (first, second), pairs


def test_pairs_of_several_matches_are_added_whoever_came_first():
    merged = merge_pairs(
        [
            Played("a", "b", 1, 0, 2, 0, 5),
            Played("b", "a", 1, 1, 0, 0, 0),
            Played("a", "a", 0, 0, 9, 0, 0),
        ]
    )
    assert merged == {("a", "b"): (1, 0, 2, 1, 6)}
    assert points_between(merged, "a", "b") == pytest.approx((1 + 0.75 + 6) / 10)
    assert points_between(merged, "b", "a") == pytest.approx(1 - 0.775)
    assert points_between(merged, "a", "a") is None
    assert points_between(merged, "a", "c") is None
