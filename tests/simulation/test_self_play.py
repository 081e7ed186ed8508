"""What a fragment holds, against a slow game by game account that knows no fragments, batches or compiled loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mozaic_env.agents.specs import make_agent
from mozaic_env.core.contract import OVER
from mozaic_env.core.stream import NEXT_GAME, random_bits
from mozaic_env.games import make_game
from mozaic_env.simulation.advantages import Decisions, Finals, Weights, estimate_advantages
from mozaic_env.simulation.self_play import Rewards, SelfPlayGames
from mozaic_env.testing import rows as kernels

REWARDS = Rewards(margin=0.5, outcome=0.75, discount=0.9, gae_lambda=0.8)


def small() -> Any:
    return make_game("mozaic", rules="onyx", rows=3, cols=4)


class Chooser:
    """A random legal policy whose values are random too; remembers what it was asked and said."""

    def __init__(self, seed: int = 0) -> None:
        self.random = np.random.default_rng(seed)
        self.asked: list[tuple[dict[str, Any], Any]] = []
        self.said: list[tuple[Any, Any, Any]] = []

    def __call__(self, observation, masks):
        self.asked.append(({key: entry.copy() for key, entry in observation.items()}, masks.copy()))
        size = len(masks)
        actions = np.where(masks > 0, self.random.random(masks.shape), -1).argmax(1)
        said = actions, self.random.random(size).astype(np.float32), self.random.normal(size=size).astype(np.float32)
        self.said.append(said)
        return said


# --- advantages ---------------------------------------------------------------------------------


def slowly(seats, ended, leads, values, finals, cuts, weights, players):
    """Advantages of all decisions that become complete, and in which fragment they do; one decision at a time."""
    margin, discount, decay = weights
    steps, games = seats.shape
    found: dict[tuple[int, int], tuple[int, float]] = {}  # (step, game): (fragment, advantage)
    for game in range(games):
        for seat in range(players):
            events = []  # this seat's decisions and the ends of its games, in order
            for step in range(steps):
                if seats[step, game] == seat:
                    events.append(("decides", step))
                if ended[step, game] >= 0:
                    events.append(("ends", step))
            after = None
            for number in range(len(events) - 1, -1, -1):
                what, step = events[number]
                if what == "ends":
                    continue
                if number + 1 == len(events):
                    continue  # still open when all is over
                then, later = events[number + 1]
                fragment = int(np.searchsorted(cuts, later, side="right"))
                if then == "ends":
                    lead, extra, value = (part[ended[later, game], seat] for part in finals)
                    further = 0.0
                else:
                    lead, extra, value = leads[later, game], 0.0, values[later, game]
                    known = found.get((later, game))
                    further = known[1] if known is not None and known[0] == fragment else 0.0
                reward = margin * (lead - leads[step, game]) + extra
                surprise = reward + discount * value - values[step, game]
                found[step, game] = fragment, surprise + discount * decay * further
                after = step
            assert after is None or after >= 0
    return found


@pytest.mark.parametrize("players", [1, 2, 4])
def test_advantages_along_each_seat_with_double_turns_misses_and_ends(players):
    """Stoix 103, muzero-general 55, 108: nothing assumes that seats take turns."""
    rng = np.random.default_rng(players)
    fragments, steps, games = 5, 6, 30
    total = fragments * steps
    seats = rng.integers(players, size=(total, games))
    ended = np.full((total, games), -1)
    over = rng.random((total, games)) < 0.15
    ended[over] = np.arange(over.sum())
    leads, values = rng.normal(size=(total, games)), rng.normal(size=(total, games))
    finals = tuple(rng.normal(size=(over.sum(), players)) for _ in range(3))
    weights = (0.5, 0.9, 0.8)
    cuts = np.arange(1, fragments) * steps  # first steps of fragments
    expected = slowly(seats, ended, leads, values, finals, cuts, weights, players)

    got: dict[tuple[int, int], tuple[int, float]] = {}
    kept_from = np.full((games, players), -1)  # the step of each decision that was left open
    kept_lead, kept_value = np.zeros((games, players)), np.zeros((games, players))
    for number in range(fragments):
        part = slice(number * steps, (number + 1) * steps)
        seen = Decisions(
            np.ascontiguousarray(seats[part]),
            np.ascontiguousarray(ended[part]),
            np.concatenate([leads[part].ravel(), kept_lead.ravel()]),
            np.concatenate([values[part].ravel(), kept_value.ravel()]).astype(np.float32),
            kept_from >= 0,
        )
        ready, advantages, left = estimate_advantages(seen, Finals(*finals), Weights(*weights))
        fresh = [(number * steps + row // games, row % games) for row in range(steps * games)]
        kept = [(int(kept_from[game, seat]), game) for game in range(games) for seat in range(players)]
        places = [*fresh, *kept]  # step and game of each row
        for row in np.flatnonzero(ready):
            key = places[row]
            assert key not in got
            got[key] = number, advantages[row]
        for game in range(games):
            for seat in range(players):
                if left[game, seat] >= 0:
                    step, _ = places[left[game, seat]]
                    kept_from[game, seat] = step
                    kept_lead[game, seat], kept_value[game, seat] = leads[step, game], values[step, game]
                else:
                    kept_from[game, seat] = -1
    assert got.keys() == expected.keys()
    for key, (fragment, advantage) in expected.items():
        assert got[key][0] == fragment
        assert got[key][1] == pytest.approx(advantage, rel=1e-5, abs=1e-5)


# --- games --------------------------------------------------------------------------------------


def account(games: SelfPlayGames, keys: Any, chooser: Chooser, fragments: int) -> list[tuple[Any, ...]]:
    """Plays the mirror games once more, one row at a time, with the actions that were chosen.

    Returns:
        For each game its decisions: (step, seat, lead, value, ending), an ending being (leads, outcomes, cut) or None.
    """
    game, limit = games.game, int(games._groups[0].batch.settings["limit"][0])
    calls = [said for (_, masks), said in zip(chooser.asked, chooser.said) if len(masks) == games.size]
    found = []
    for number, key in enumerate(keys):
        row = game.rows(1)[0]
        row["key"] = key
        kernels.setup_rows(rows := np.array([row]))
        kernels.deal(rows[0])
        decisions = []
        for step in range(fragments * games.steps):
            actions, _, values = calls[step]
            seat = kernels.mover(rows[0])
            lead = kernels.margin(rows[0], seat)
            kernels.apply(rows[0], int(actions[number]))
            kernels.deal(rows[0])
            over = kernels.mover(rows[0]) == OVER
            ending = None
            if over or rows[0]["decisions"] >= limit:
                leads = [kernels.margin(rows[0], who) for who in range(game.num_players)]
                results = [kernels.outcome(rows[0], who) if over else 0.0 for who in range(game.num_players)]
                ending = leads, results, not over
                rows[0]["key"] = random_bits(rows[0]["key"], NEXT_GAME, 0)
                kernels.setup_rows(rows)
                kernels.deal(rows[0])
            decisions.append((step, seat, lead, float(values[number]), ending))
        found.append(decisions)
    return found


def keys_of(games: SelfPlayGames) -> Any:
    return games._groups[0].batch.rows["key"].copy()


def sorted_rows(*columns: Any) -> Any:
    table = np.stack([np.asarray(column, np.float64) for column in columns], 1)
    return table[np.lexsort(table.T[::-1])]  # by the first column, whose numbers are all different


@pytest.mark.parametrize(
    ("game", "options", "fragments"),
    [
        ("mozaic", {"rules": "onyx", "rows": 3, "cols": 4}, 9),
        pytest.param("crystal_mosaic", {"players": 3}, 60, marks=pytest.mark.slow),  # it compiles for minutes
    ],
)
def test_fragments_against_games_played_one_by_one(game, options, fragments):
    """Rewards, ends, openings of the next game: all that reaches the learner, summed by hand."""
    games = SelfPlayGames(make_game(game, **options), mirror=9, steps=7, rewards=REWARDS, seed=[3])
    players = games.game.num_players
    keys, chooser = keys_of(games), Chooser(1)
    parts = [games.play(chooser) for _ in range(fragments)]
    told = account(games, keys, chooser, fragments)

    seats = np.array([[decision[1] for decision in one] for one in told]).T
    leads = np.array([[decision[2] for decision in one] for one in told]).T
    values = np.array([[decision[3] for decision in one] for one in told]).T
    endings = [(step, n, one[step][4]) for n, one in enumerate(told) for step in range(len(one)) if one[step][4]]
    assert len(endings) > 15
    ended = np.full(seats.shape, -1)
    for number, (step, game, _) in enumerate(endings):
        ended[step, game] = number
    finals = (
        np.array([ending[0] for _, _, ending in endings]),
        REWARDS.outcome * np.array([ending[1] for _, _, ending in endings]),
        np.zeros((len(endings), players)),
    )
    weights = REWARDS.margin, REWARDS.discount, REWARDS.gae_lambda
    expected = slowly(seats, ended, leads, values, finals, np.arange(1, fragments) * 7, weights, players)
    for number, part in enumerate(parts):
        mine = [(place, advantage) for place, (fragment, advantage) in expected.items() if fragment == number]
        actions = [chooser.said[step][0][game] for (step, game), _ in mine]
        logs = [chooser.said[step][1][game] for (step, game), _ in mine]
        targets = [advantage + values[step, game] for (step, game), advantage in mine]
        np.testing.assert_allclose(
            sorted_rows(part.log_probabilities, part.actions, part.advantages, part.targets),
            sorted_rows(logs, actions, [advantage for _, advantage in mine], targets),
            rtol=1e-4,
            atol=1e-4,
        )
        scores = [chooser.asked[step][0]["score"][game] for (step, game), _ in mine]
        assert sorted(map(tuple, part.observation["score"].tolist())) == sorted(map(tuple, np.array(scores).tolist()))
        assert part.masks[np.arange(len(part.actions)), part.actions].all()
    ends = [(ending.outcome, ending.margin) for ending in games.endings]
    assert sorted(ends) == sorted((ending[1][0], ending[0][0]) for _, _, ending in endings)
    assert all(ending.opponent is None for ending in games.endings)


def test_a_game_that_the_limit_cuts_still_has_a_value():
    games = SelfPlayGames(small(), mirror=4, steps=6, rewards=Rewards(0.0, 1.0, 0.5, 0.0), max_decisions=3, seed=[0])
    zeros = np.zeros(4, np.float32)

    def choose(observation, masks):
        size = len(masks)
        if size == 4:
            return (masks > 0).argmax(1), zeros, zeros
        assert size % games.game.num_players == 0  # all seats' views of games that were cut
        return np.zeros(size, np.int64), np.zeros(size, np.float32), np.full(size, 8.0, np.float32)

    part = games.play(choose)
    # With values of 0 on the way, lambda 0 and no other reward, what is left is discount * value of the last view.
    assert set(part.advantages.tolist()) == {0.0, 4.0}
    assert len(games.endings) == 8
    assert {ending.outcome for ending in games.endings} == {0.0}


def test_versus_games_give_one_seats_decisions_and_name_the_opponent():
    game = small()
    others = [make_agent("random", game), make_agent("greedy", game)]
    games = SelfPlayGames(game, mirror=0, versus=12, opponents=others, steps=40, seed=[1])
    games.set_shares([0.0, 1.0])  # of those that begin from now on
    chooser = Chooser()
    first = games.play(chooser)
    assert {ending.opponent for ending in games.endings} == {"random", "greedy"}
    assert games.opponents_in_use == {1}
    games.endings.clear()
    second = games.play(chooser)
    assert {ending.opponent for ending in games.endings} == {"greedy"}
    # All are the learner's; of each game at most the last one is still open.
    assert len(first.actions) >= 12 * 40 - 12
    assert len(first.actions) + len(second.actions) == 2 * 12 * 40 - int(games._open.sum())
    assert games._open.sum(1).max() == 1
    # A random policy loses to greedy most of the time, seen from the learner's seat.
    assert np.mean([ending.outcome for ending in games.endings]) < 0


def test_nothing_is_lost_or_told_twice():
    game = small()
    games = SelfPlayGames(game, mirror=5, versus=4, opponents=[make_agent("random", game)], steps=8, seed=[2])
    chooser = Chooser()
    told = sum(len(games.play(chooser).actions) for _ in range(10))
    assert told == 10 * 8 * 9 - int(games._open.sum())


def test_seeds_repeat_and_other_seeds_do_not():
    def fragment(seed, again=False):
        games = SelfPlayGames(small(), mirror=6, steps=9, seed=seed)
        if again:
            games.play(Chooser())
            games.begin(seed)
        return games.play(Chooser(7))

    one, two, other, begun = fragment([1, 2]), fragment([1, 2]), fragment([1, 3]), fragment([1, 2], again=True)
    for name in ("actions", "advantages", "masks"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
        np.testing.assert_array_equal(getattr(one, name), getattr(begun, name))
    assert len(one.actions) != len(other.actions) or (one.masks != other.masks).any()


def test_bad_numbers():
    for options in ({"mirror": 0}, {"mirror": 2, "versus": 1}, {"mirror": -1, "versus": 3}):
        with pytest.raises(ValueError, match="at least one game"):
            SelfPlayGames(small(), steps=4, **options)
    with pytest.raises(ValueError, match="one step"):
        SelfPlayGames(small(), mirror=1, steps=0)
