from __future__ import annotations

from itertools import product
from math import comb, sqrt

import numpy as np
import pytest
from scipy import stats

from mozaic_env.arena.statistics.intervals import (
    mean_interval,
    pair_counts,
    pairing_gain,
    points_interval,
    student_quantile,
)


def coverage(pairs: int, won: float, lost: float) -> float:
    """Probability that the interval contains the truth, over all matches of so many pairs.

    A pair is won with probability `won`, lost with probability `lost`, else split.
    """
    truth, total = 0.5 + (won - lost) / 2, 0.0
    for w in range(pairs + 1):
        for x in range(pairs + 1 - w):
            split = pairs - w - x
            low, high = points_interval((x, 0, split, 0, w))
            if low <= truth <= high:
                ways = comb(pairs, w) * comb(pairs - w, x)
                total += ways * won**w * lost**x * (1 - won - lost) ** split
    return total


@pytest.mark.parametrize(("pairs", "least"), [(5, 0.91), (10, 0.93), (25, 0.93), (50, 0.94)])
@pytest.mark.parametrize("points", [0.5, 0.55, 0.7, 0.9, 0.97, 0.995])
@pytest.mark.parametrize("games", ["opposite", "independent", "alike"])
def test_the_points_interval_covers_the_truth(pairs, least, points, games):
    # The two games of a pair: luck decides them (one is won, one is lost, where it can be so), or
    # they have nothing to do with each other, or they tend to go the same way.
    both = {
        "opposite": 2 * points - 1 + 0.01 * (points < 0.99),
        "independent": points**2,
        "alike": points**2 + 0.5 * points * (1 - points),
    }[games]
    neither = both - (2 * points - 1)
    covered = coverage(pairs, both, neither)
    assert covered >= least
    if pairs >= 25 and points <= 0.7 and games != "opposite":
        assert covered < 0.98  # and no wider than it needs to be


def test_the_points_interval_is_the_adjusted_one_for_matched_pairs():
    won, lost, split = 17, 6, 27
    size = won + lost + split + 2
    first, second = (won + 1) / size, (lost + 1) / size
    difference = first - second
    half = 1.959963984540054 * sqrt((first + second - difference**2) / size)
    expected = (0.5 + (difference - half) / 2, 0.5 + (difference + half) / 2)
    assert points_interval((lost, 0, split, 0, won)) == pytest.approx(expected, abs=1e-12)


def test_the_points_interval_keeps_some_width_at_the_extremes_and_in_the_middle():
    low, high = points_interval((0, 0, 0, 0, 500))
    assert high == 1
    assert 0.99 < low < 0.997  # 500 won pairs leave a chance to lose of about 3 in 500 possible
    assert points_interval((500, 0, 0, 0, 0)) == pytest.approx((0, 1 - low), abs=1e-12)
    low, high = points_interval((0, 0, 500, 0, 0))
    assert 0.49 < low < 0.5 < high < 0.51
    assert points_interval((0, 0, 0, 0, 1))[0] < 0.2  # one pair says next to nothing


def test_the_points_interval_shrinks_with_the_root_of_the_number_of_pairs():
    def width(scale):
        low, high = points_interval((10 * scale, 4 * scale, 60 * scale, 6 * scale, 20 * scale))
        return high - low

    assert width(25) / width(100) == pytest.approx(2, rel=0.01)


def test_pair_counts_against_counting_by_hand():
    outcomes = (-1.0, 0.0, 1.0)
    results = np.array([game for pair in product(outcomes, outcomes) for game in pair])
    assert pair_counts(results) == (1, 2, 3, 2, 1)
    assert pair_counts(np.array([1.0, 1.0, -1.0, 1.0])) == (0, 0, 1, 0, 1)


@pytest.mark.parametrize("degrees", [1, 2, 3, 4, 7, 30, 1000])
def test_student_quantile_against_scipy(degrees):
    assert student_quantile(degrees) == pytest.approx(stats.t.ppf(0.975, degrees), rel=0.006)


def test_mean_interval_covers_in_95_of_100():
    rng = np.random.default_rng(5)
    hits = sum(low <= 2 <= high for low, high in (mean_interval(rng.normal(2, 3, size=6)) for _ in range(20_000)))
    assert 0.94 < hits / 20_000 < 0.96
    assert mean_interval(np.array([1.0])) is None


def test_pairing_gain_is_one_for_independent_games_and_grows_with_what_pairs_cancel():
    rng = np.random.default_rng(1)
    seats = np.tile([0, 1], 20_000)
    own = rng.normal(size=40_000)
    assert pairing_gain(own, seats) == pytest.approx(1, abs=0.02)
    luck = np.repeat(rng.normal(size=20_000), 2) * np.where(seats == 0, 1, -1)
    # Equal parts of luck, which cancels within a pair, and of the rest: half of the variance goes.
    assert pairing_gain(own + luck, seats) == pytest.approx(sqrt(2), abs=0.03)
    # What favours a seat cancels too, but so it does among independent games in both seats.
    assert pairing_gain(own + 5 * seats, seats) == pytest.approx(1, abs=0.02)


def test_pairing_gain_is_unknown_where_pairs_do_not_vary():
    assert pairing_gain(np.array([1.0, -1.0, 1.0, -1.0]), np.array([0, 1, 0, 1])) is None
    assert pairing_gain(np.array([1.0, -1.0]), np.array([0, 1])) is None
