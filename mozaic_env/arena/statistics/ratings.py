"""Ratings from many matches: a Bradley-Terry fit on the Elo scale, with intervals.

With more than two players the results are those of the places: above whom an agent ended, seat by seat.
In the Bradley-Terry model agent i scores 1 / (1 + 10^((r_j - r_i) / 400)) against agent j; a draw
is half a win. The fit is done by choix (https://choix.lum.li), because it finds the maximum of the
likelihood of all results at once, whatever their order, and takes fractions of wins. Online
systems such as openskill follow players who change; agents do not, and there a rating would depend
on which match came first.

An agent that wins everything has no finite rating, and resampling what it did would always give
the same. So every agent is taken to have won one pair of games and to have lost one, spread over
its opponents, as the interval of a single match does (`mozaic_env.arena.statistics.intervals`). Intervals
come from a Bayesian bootstrap over pairs (D. Rubin, The Bayesian bootstrap, Annals of Statistics
9, 1981) with these added pairs as the prior.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np
import numpy.typing as npt

from mozaic_env.arena.results import MatchResult
from mozaic_env.arena.statistics.intervals import LEVEL, Interval, players_of, scores_of
from mozaic_env.core.extras import importing

ELO = 400 / log(10)  # points of Elo in one natural unit of strength
ANCHOR = "random"  # has rating 0 where it takes part
SAMPLES = 1000  # of the bootstrap

PairCounts = Mapping[tuple[str, str], Sequence[int]]  # by players: pairs with each share of points for the first


@dataclass(frozen=True)
class Rating:
    """An agent's place on the ladder.

    Attributes:
        name: of the agent.
        elo: Elo points above the anchor; None if no chain of matches leads to the anchor.
        interval: 95% interval of `elo`.
        lead: Elo points above the next agent below; None for the last.
        lead_interval: 95% interval of `lead`. Two agents can be told apart by it even where their
            own intervals overlap: those are wide if little is known of the way to the anchor.
        games: how many it has played.
        points: share of points in all of them.
    """

    name: str
    elo: float | None
    interval: Interval | None
    lead: float | None
    lead_interval: Interval | None
    games: int
    points: float


def merge_pairs(results: Sequence[MatchResult]) -> dict[tuple[str, str], tuple[int, ...]]:
    """How the pairs of each two agents went, over all their matches.

    Players come in the order of their first match; one against itself says nothing and is left out.
    """
    merged: dict[tuple[str, str], tuple[int, ...]] = {}
    for result in results:
        first, second = result.players
        counts = result.pairs
        if first == second:
            continue
        if (second, first) in merged:
            first, second, counts = second, first, counts[::-1]
        before = merged.get((first, second), (0,) * len(counts))
        merged[first, second] = tuple(a + b for a, b in zip(before, counts, strict=True))
    return merged


def points_between(pairs: PairCounts, first: str, second: str) -> float | None:
    """The first agent's share of points against the second; None if they did not meet."""
    counts = pairs.get((first, second))
    if counts is None:
        counts = pairs.get((second, first), ())[::-1]
    if first == second or not sum(counts):
        return None
    return float(np.array(counts) @ scores_of(counts)) / sum(counts)


def choose_anchor(names: Sequence[str]) -> str:
    """Whose rating is 0: random, or the first agent if random is absent."""
    return ANCHOR if ANCHOR in names else names[0]


def rate(pairs: PairCounts, seed: int = 0, samples: int = SAMPLES) -> list[Rating]:
    """Ratings of all agents that occur, the strongest first, agents without a rating last.

    Args:
        pairs: how the pairs of each two agents went, see `merge_pairs`.
        seed: of the bootstrap.
        samples: of the bootstrap.
    """
    names = list(dict.fromkeys(name for players in pairs for name in players))
    rated = _connected(choose_anchor(names), pairs)
    matches = {players: counts for players, counts in pairs.items() if players[0] in rated}
    elo, drawn = _fit_with_draws(rated, matches, np.random.default_rng(seed), samples)
    order = np.argsort(-elo, kind="stable")
    ratings = []
    for place, index in enumerate(order):
        lead = lead_interval = None
        if place + 1 < len(order):
            below = order[place + 1]
            lead = float(elo[index] - elo[below])
            lead_interval = _spread(drawn[:, index] - drawn[:, below])
        standing = (float(elo[index]), _spread(drawn[:, index]), lead, lead_interval)
        ratings.append(Rating(rated[index], *standing, *_games_and_points(rated[index], pairs)))
    for name in names:
        if name not in rated:
            ratings.append(Rating(name, None, None, None, None, *_games_and_points(name, pairs)))
    return ratings


def _games_and_points(name: str, pairs: PairCounts) -> tuple[int, float]:
    counts = np.zeros(len(next(iter(pairs.values()))), np.int64)
    for (first, second), of_pairing in pairs.items():
        if name in (first, second):
            counts += of_pairing if name == first else of_pairing[::-1]
    return players_of(counts) * int(counts.sum()), float(counts @ scores_of(counts) / max(counts.sum(), 1))


def _spread(drawn: npt.NDArray[np.float64]) -> Interval:
    low, high = np.quantile(drawn, [0.5 - LEVEL / 2, 0.5 + LEVEL / 2])
    return float(low), float(high)


def _connected(anchor: str, pairs: PairCounts) -> list[str]:
    """The anchor and all agents that a chain of matches leads to from there."""
    found = [anchor]
    for name in found:  # grows while it is walked through
        for players in pairs:
            if name in players:
                found += [other for other in players if other not in found]
    return found


def _fit_with_draws(
    names: list[str], pairs: PairCounts, rng: np.random.Generator, samples: int
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Elo points above names[0], shape (names,), and draws of them, shape (samples, names)."""
    if len(names) < 2:
        return np.zeros(1), np.zeros((samples, 1))
    places = np.array([[names.index(name) for name in players] for players in pairs])
    counts = np.array(list(pairs.values()), np.float64)
    opponents = np.bincount(places.ravel(), minlength=len(names))
    added = 2 / opponents[places].sum(axis=1)  # so that each agent has about one pair each way
    counts[:, 0] += added
    counts[:, -1] += added
    totals = counts.sum(axis=1, keepdims=True)
    drawn = np.empty((samples, len(names)))
    for sample in range(samples):
        weights = rng.gamma(counts)
        weights *= totals / weights.sum(axis=1, keepdims=True)
        drawn[sample] = _fit(len(names), places, weights)
    return _fit(len(names), places, counts), drawn


def _fit(size: int, places: npt.NDArray[Any], counts: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The Bradley-Terry fit, the first agent at 0."""
    with importing("a rating"):
        import choix

    wins = np.zeros((size, size))
    scores, games = scores_of(counts[0]), players_of(counts[0])
    for (first, second), of_pair in zip(places, counts, strict=True):
        wins[first, second] += games * of_pair @ scores
        wins[second, first] += games * of_pair @ (1 - scores)
    strengths = choix.ilsr_pairwise_dense(wins, max_iter=10_000)
    return ELO * (strengths - strengths[0])
