"""What a match says: figures with their uncertainty, made from the games and kept as JSON."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np
import numpy.typing as npt

from mozaic_env.arena.statistics import intervals
from mozaic_env.arena.statistics.intervals import Interval
from mozaic_env.simulation.state import FORFEITED, TERMINATED, TRUNCATED


@dataclass(frozen=True)
class Games:
    """What happened in each game of a match, in order; games 2p and 2p + 1 are pair p.

    With n players each n games in a row are a rotation; player 0 is the first agent, the others are the second.

    Attributes:
        seeds: uint64, shape (games,): `env.reset(seed=)` with it sees the same luck; equal within
            a pair.
        seating: int64, shape (games, seats): the number of the player in each seat.
        results: float64, shape (games, players): each player's result, from -1 to 1.
        margins: float64, shape (games, players): each player's lead at the end, in the game's unit.
        lengths: int64, shape (games,): number of decisions.
        endings: int8, shape (games,): `TERMINATED`, `TRUNCATED` or `FORFEITED` of
            `mozaic_env.simulation.state`.
        courses: uint64, shape (games,): equal for games in which the same happened from the first
            draw to the last.
        actions: int16, shape (games, longest), -1 behind the end of a game; None if they were not
            kept.
    """

    seeds: npt.NDArray[np.uint64]
    seating: npt.NDArray[np.int64]
    results: npt.NDArray[np.float64]
    margins: npt.NDArray[np.float64]
    lengths: npt.NDArray[np.int64]
    endings: npt.NDArray[np.int8]
    courses: npt.NDArray[np.uint64]
    actions: npt.NDArray[np.int16] | None = None


@dataclass(frozen=True)
class SeatResult:
    """The first player's games in one seat; `points` is a share, `interval` its 95% interval, `margin` a mean."""

    games: int
    wins: int
    draws: int
    losses: int
    points: float
    interval: Interval
    margin: float

    def mirrored(self) -> "SeatResult":
        """The opponent's results in these games."""
        interval = (1 - self.interval[1], 1 - self.interval[0])
        return SeatResult(self.games, self.losses, self.draws, self.wins, 1 - self.points, interval, -self.margin)


@dataclass(frozen=True)
class MatchResult:
    """The figures of a match, seen from its first player.

    Equal for equal games: how long they took is not compared.

    Attributes:
        players: the agents' names.
        game: the game's name.
        options: the game's options.
        seed: of the match.
        max_decisions: after how many a game was truncated.
        games: number of games, twice the number of pairs.
        wins: of the first player, shared ones included.
        draws: truncated games included.
        losses: of the first player.
        truncated: games that reached the limit.
        forfeits: games that each player lost by an illegal action.
        points: (wins + draws / 2) / games; with more than two players the mean share of the others whom the first
            player was placed above, half for a tie, see `places_won`.
        interval: the 95% interval of `points`, see `mozaic_env.arena.statistics.intervals`.
        margin: mean lead of the first player at the end, in the game's unit.
        margin_interval: its 95% interval; None for one pair, which tells no spread.
        pairs: how many pairs gave the first player 0, 1/2, 1, 3/2 and 2 points of 2; with more players rotations,
            see `mozaic_env.arena.statistics.intervals.rotation_counts`.
        seats: the first player's results in each seat.
        distinct: number of games that differ in what happened; in few distinct games there is
            little to learn from.
        mean_length: decisions a game.
        pairing_gain: by what factor pairing narrowed the interval of the points; None if pairs do
            not vary.
        margin_pairing_gain: the same for the margin.
        seconds: how long it took.
        details: the games one by one; not kept in JSON.
    """

    players: tuple[str, str]
    game: str
    options: dict[str, Any]
    seed: int
    max_decisions: int
    games: int
    wins: int
    draws: int
    losses: int
    truncated: int
    forfeits: tuple[int, int]
    points: float
    interval: Interval
    margin: float
    margin_interval: Interval | None
    pairs: tuple[int, ...]
    seats: tuple[SeatResult, ...]
    distinct: int
    mean_length: float
    pairing_gain: float | None
    margin_pairing_gain: float | None
    seconds: float = dataclasses.field(default=0.0, compare=False)
    details: Games | None = dataclasses.field(default=None, compare=False, repr=False)

    @property
    def games_per_second(self) -> float:
        """Speed; what Python agents compile when first asked is included."""
        return self.games / self.seconds if self.seconds else float("inf")

    @property
    def verdict(self) -> str:
        """Whether the interval of the points excludes equality: stronger, weaker or undecided."""
        low, high = self.interval
        return "stronger" if low > 0.5 else "weaker" if high < 0.5 else "undecided"

    def mirrored(self) -> "MatchResult":
        """The same match of two players seen from the second."""
        if len(self.seats) != 2:
            raise ValueError(f"a match at {len(self.seats)} seats can't be seen from the agent that holds most of them")
        games = self.details
        if games is not None:
            games = dataclasses.replace(
                games,
                seating=1 - games.seating,
                results=games.results[:, ::-1],
                margins=games.margins[:, ::-1],
            )
        low, high = self.interval
        return dataclasses.replace(
            self,
            players=self.players[::-1],
            wins=self.losses,
            losses=self.wins,
            forfeits=self.forfeits[::-1],
            points=1 - self.points,
            interval=(1 - high, 1 - low),
            margin=-self.margin,
            margin_interval=self.margin_interval and (-self.margin_interval[1], -self.margin_interval[0]),
            pairs=self.pairs[::-1],
            seats=(self.seats[1].mirrored(), self.seats[0].mirrored()),
            details=games,
        )

    def to_json(self) -> dict[str, Any]:
        """All figures as JSON values; `from_json` reads them back equal."""
        return dataclasses.asdict(dataclasses.replace(self, details=None)) | {"details": None}

    @classmethod
    def from_json(cls, values: Any) -> "MatchResult":
        """The result from what `to_json` gave, through a JSON file or not.

        Raises:
            ValueError: something is missing, unknown, of another type, or does not add up.
        """
        if not isinstance(values, Mapping):
            raise ValueError(f"a match result is a JSON object; got {type(values).__name__}")
        names = {field.name for field in dataclasses.fields(cls)} - {"details"}
        given = {key: value for key, value in values.items() if key != "details"}
        if set(given) != names:
            missing, unknown = names - set(given), set(given) - names
            raise ValueError(
                f"match result: missing {', '.join(sorted(missing)) or 'nothing'}, "
                f"unknown {', '.join(sorted(unknown)) or 'nothing'}"
            )
        try:
            for name in ("players", "forfeits", "interval", "pairs"):
                given[name] = tuple(given[name])
            if given["margin_interval"] is not None:
                given["margin_interval"] = tuple(given["margin_interval"])
            given["seats"] = tuple(
                SeatResult(**{**seat, "interval": tuple(seat["interval"])}) for seat in given["seats"]
            )
            result = cls(**given)
            result._check()
        except (TypeError, KeyError) as error:
            raise ValueError(f"match result: {error}") from None
        return result

    def _check(self) -> None:
        numbers = [self.points, *self.interval, self.margin, *(self.margin_interval or ())]
        numbers += [self.mean_length, self.seconds]
        numbers += [gain for gain in (self.pairing_gain, self.margin_pairing_gain) if gain is not None]
        for seat in self.seats:
            numbers += [seat.games, seat.wins, seat.draws, seat.losses, seat.points, *seat.interval, seat.margin]
        for what, fine in (
            ("players are two names", len(self.players) == 2 and all(isinstance(name, str) for name in self.players)),
            ("game is a name", isinstance(self.game, str)),
            ("options are key: value", isinstance(self.options, dict)),
            ("seed and max_decisions are whole numbers", type(self.seed) is int and type(self.max_decisions) is int),
            ("figures are numbers", all(_is_number(number) for number in numbers)),
            ("intervals have two ends", len(self.interval) == 2),
            ("there are two seats or more", len(self.seats) >= 2),
            ("there is at least one pair of games", type(self.games) is int and self.games >= 2),
        ):
            if not fine:
                raise ValueError(f"match result: {what}; this one is otherwise")
        counts = (self.games, self.wins, self.draws, self.losses, *self.pairs)
        if not all(isinstance(number, int) and number >= 0 for number in counts) or len(self.players) != 2:
            raise ValueError("match result: games, wins, draws, losses and pairs are counts, players are two names")
        seats = len(self.seats)
        fits = len(self.pairs) == 2 * seats * (seats - 1) + 1
        score = sum(number * step for step, number in enumerate(self.pairs))
        if seats == 2:
            fits = fits and score == 2 * self.wins + self.draws
        if (
            not fits
            or self.wins + self.draws + self.losses != self.games
            or seats * sum(self.pairs) != self.games
            or abs(score - 2 * (seats - 1) * self.games * self.points) > 1e-6 * self.games
        ):
            raise ValueError("match result: wins, draws, losses and pairs do not add up to the games")


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and isfinite(value)


def summarise(games: Games, **facts: Any) -> MatchResult:
    """The figures of a match between two players.

    Args:
        games: what happened.
        **facts: `players`, `game`, `options`, `seed`, `max_decisions`, `seconds`.
    """
    results, margins = games.results[:, 0], games.margins[:, 0]
    points, players = places_won(games), games.seating.shape[1]
    seats = np.argmin(games.seating, axis=1)  # where player 0 sits
    forfeited = games.endings == FORFEITED
    wins, draws, losses = _wins_draws_losses(results)
    pairs = intervals.rotation_counts(points, players)
    return MatchResult(
        games=len(results),
        wins=wins,
        draws=draws,
        losses=losses,
        truncated=int(np.count_nonzero(games.endings == TRUNCATED)),
        forfeits=(int(np.sum(forfeited & (results < 0))), int(np.sum(forfeited & (results > 0)))),
        points=float(np.rint(points.sum() * 2 * (players - 1))) / (2 * (players - 1) * len(results)),
        interval=intervals.points_interval(pairs),
        margin=float(margins.mean()),
        margin_interval=intervals.mean_interval(margins.reshape(-1, players).mean(axis=1)),
        pairs=pairs,
        seats=tuple(_seat_result(results, points, margins, seats == seat, players) for seat in range(players)),
        distinct=len(np.unique(games.courses)),
        mean_length=float(games.lengths.mean()),
        pairing_gain=intervals.pairing_gain(2 * points - 1, seats, players),
        margin_pairing_gain=intervals.pairing_gain(margins, seats, players),
        details=games,
        **facts,
    )


def places_won(games: Games, player: int = 0) -> npt.NDArray[np.float64]:
    """The share of the others whom a player was placed above in each game, half for a tie; shape (games,).

    Places go by the results; who has lost is placed by the lead at the end, unless by an illegal action.
    """
    results, margins = games.results, games.margins
    played_out = (games.endings == TERMINATED)[:, None]
    ahead = results[:, [player]] - results
    level = (ahead == 0) & (results < 0) & played_out
    ahead = np.where(level, margins[:, [player]] - margins, ahead)
    won = (np.sign(ahead) + 1) / 2
    return (won.sum(axis=1) - 0.5) / (results.shape[1] - 1)  # half a point against oneself


def _wins_draws_losses(results: npt.NDArray[np.float64]) -> tuple[int, int, int]:
    return int(np.sum(results > 0)), int(np.sum(results == 0)), int(np.sum(results < 0))


def _seat_result(
    results: npt.NDArray[np.float64],
    points: npt.NDArray[np.float64],
    margins: npt.NDArray[np.float64],
    chosen: npt.NDArray[np.bool_],
    players: int,
) -> SeatResult:
    wins, draws, losses = _wins_draws_losses(results[chosen])
    games, steps = wins + draws + losses, 4 * (players - 1)
    quarters = np.rint(points[chosen] * steps).astype(np.int64)
    share = float(quarters.sum()) / (steps * games)
    interval = intervals.points_interval(np.bincount(quarters, minlength=steps + 1))  # no two games share their luck
    return SeatResult(games, wins, draws, losses, share, interval, float(margins[chosen].mean()))
