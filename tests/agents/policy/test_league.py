"""Who a policy in training meets: which earlier selves are kept and drawn, and that no game changes its opponent."""

import itertools
from collections import Counter

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from mozaic_env.agents.policy.league import (
    PAST,
    PRIORITISED,
    SPARE,
    League,
    Opponents,
    Priority,
    admit,
    chances,
    scores_by_strategy,
    strategy_of,
    thin,
)
from mozaic_env.agents.policy.network import BoardNetwork, NetworkConfig, layout_of
from mozaic_env.games import make_game
from mozaic_env.simulation.self_play import Ending, SelfPlayGames

GAME = make_game("mozaic", rows=4, cols=4)


def make_network():
    return BoardNetwork(layout_of(GAME), NetworkConfig(channels=2, blocks=0, value_hidden=2))


def some_weights(number):
    torch.manual_seed(number)
    return {key: torch.randn_like(tensor) for key, tensor in make_network().state_dict().items()}


def make_league(**config):
    return League(GAME, Opponents(**config), make_network, seed=0)


class Play:
    """Games of a random policy against a league, which grows at each update."""

    def __init__(self, games=24, **config):
        self.league, self.rng, self.steps = make_league(mirror=0, **config), np.random.default_rng(0), 0
        self.past = {}
        shares = self.league.update(self.admit(), set())
        self.games = SelfPlayGames(
            GAME, mirror=0, versus=games, opponents=self.league.agents, shares=shares, steps=1, seed=[3]
        )

    def admit(self):
        self.past = admit(self.past, self.steps, some_weights(self.steps), self.league.opponents.past_size)
        return self.past

    def update(self):
        self.games.set_shares(self.league.update(self.admit(), self.games.opponents_in_use))

    def step(self):
        """One decision of each game; returns the games that ended."""
        self.games.play(
            lambda _, masks: (np.where(masks, self.rng.random(masks.shape), -1).argmax(1), *np.zeros((2, len(masks))))
        )
        self.steps += self.games.size
        endings, self.games.endings = self.games.endings, []
        return endings

    def held(self):
        """Name and weights of the opponent in each game."""
        agents = [self.league.agents[i] for i in self.games._versus.batch.episodes["opponent"]]
        return [
            (
                agent.name,
                0.0
                if agent.name == "greedy"
                else sum(float(w.double().abs().sum()) for w in agent.network.parameters()),
            )
            for agent in agents
        ]


def test_every_game_keeps_its_opponent_to_the_end_and_names_it():
    play = Play(past=0.4, prioritised=0.4, fixed={"greedy": 0.1}, past_size=2)
    held, names = play.held(), set()
    for step in range(120):
        if step % 2:  # many updates within one game, and more selves than slots
            play.update()
        ended = Counter(ending.opponent for ending in play.step())
        names |= set(ended)
        changed = [before for before, after in zip(held, play.held(), strict=True) if before != after]
        assert Counter(name for name, _ in changed) <= ended  # the others may have met the same one again
        held = play.held()
    assert "greedy" in names
    assert len(names) > 20


def test_shares_are_kept():
    shares = {"past": 0.4, "prioritised": 0.3, "greedy": 0.3, "random": 0}
    play = Play(games=100, past=0.4, prioritised=0.3, fixed={"greedy": 0.3, "random": 0})
    counts = dict.fromkeys(shares, 0)
    for step in range(120):
        if step % 40 == 0:
            play.update()
        for ending in play.step():
            counts[strategy_of(ending.opponent)] += 1
    total = sum(counts.values())
    assert total > 500
    for strategy, share in shares.items():
        assert counts[strategy] / total == pytest.approx(share, abs=0.05)


@pytest.mark.parametrize(
    ("shares", "games", "split"),
    [
        ({"mirror": 1, "past": 0}, 8, (8, 0)),
        ({"mirror": 0, "past": 1}, 8, (0, 8)),
        ({"mirror": 0.7, "past": 0.1, "prioritised": 0.1, "fixed": {"greedy": 0.1}}, 10, (7, 3)),
        ({"mirror": 99, "past": 1}, 4, (3, 1)),
        ({"mirror": 1, "past": 99}, 4, (1, 3)),
    ],
)
def test_games_are_split_by_the_shares(shares, games, split):
    assert Opponents(**shares).split(games) == split


@pytest.mark.parametrize(
    ("ages", "size", "kept"),
    [
        ([], 3, []),
        ([0, 5], 3, [0, 5]),
        ([0, 10, 20, 30], 3, [0, 20, 30]),
        ([0, 10, 20, 30, 31], 4, [0, 10, 20, 31]),
        ([7, 0], 1, [7]),
    ],
)
def test_the_first_the_latest_and_evenly_between(ages, size, kept):
    assert thin(ages, size) == kept


def test_many_are_thinned_evenly():
    past = {}
    for age in range(0, 1000, 10):
        past = admit(past, age, {"age": age}, 8)
    kept = sorted(past)
    gaps = [later - earlier for earlier, later in itertools.pairwise(kept)]
    assert (kept[0], kept[-1]) == (0, 990)
    assert max(gaps) <= 3 * min(gaps[:-1])
    assert all(weights == {"age": age} for age, weights in past.items())


def test_weights_go_into_free_slots_alone_and_those_out_of_play_get_no_new_games():
    league = make_league(mirror=0, past=1, past_size=2)
    assert league.update({0: some_weights(0)}, set()) == [1, 0, 0, 0, 0]
    assert league.agents[0].name == "past@0"
    first = {key: tensor.clone() for key, tensor in league.slots[0].network.state_dict().items()}
    for age in range(10, 10 + 10 * SPARE, 10):  # slot 0 is in a game that does not end
        shares = league.update({age: some_weights(age)}, {0})
        assert (league.agents[0].name, shares[0]) == ("past@0", 0)
        assert league.agents[shares.index(1)].name == f"past@{age}"
    assert all(torch.equal(first[key], tensor) for key, tensor in league.slots[0].network.state_dict().items())
    drawn = league.drawn[PAST].network.state_dict()
    assert all(torch.equal(tensor, drawn[key]) for key, tensor in some_weights(age).items())


def test_without_a_free_slot_it_waits():
    league = make_league(mirror=0, past=1, past_size=1)
    assert not any(league.update({0: some_weights(0)}, set(range(len(league.agents)))))
    assert any(league.update({0: some_weights(0)}, set()))


def test_only_names_of_earlier_selves_stand_for_a_strategy():
    names = [None, "past@12", "prioritised@7", "greedy", "policy:runs/past@12", "past@home"]
    assert [strategy_of(name) for name in names] == ["mirror", "past", "prioritised", *names[3:]]


def test_scores_are_summed_by_strategy():
    endings = [Ending("past@3", 1.0, 2.0, 9), Ending("past@8", 0.0, -1.0, 9), Ending(None, -1.0, -4.0, 9)]
    assert scores_by_strategy(endings) == {"past": (2, 1.5, 1.0), "mirror": (1, 0.0, -4.0)}


@pytest.mark.parametrize(
    ("by", "power", "expected"),
    [
        ("hard", 1, [0.9, 0.5, 0.1]),
        ("hard", 2, [0.81, 0.25, 0.01]),
        ("hard", 0, [1, 1, 1]),
        ("even", 2, [0.09, 0.25, 0.09]),
    ],
)
def test_the_formulas_of_prioritised_fictitious_self_play(by, power, expected):
    found = chances(np.array([0.1, 0.5, 0.9]), Priority(by=by, power=power))
    np.testing.assert_allclose(found, np.array(expected) / sum(expected))


def hard_first(league, past, updates):
    """Goes on for some updates, in which the policy loses to its first self and beats all others.

    Returns the ages of the selves that were drawn, for each strategy.
    """
    drawn = {PAST: [], PRIORITISED: []}
    for _ in range(updates):
        league.update(past, set())
        endings = []
        for strategy, slot in league.drawn.items():
            drawn[strategy].append(slot.steps)
            endings += [Ending(f"{strategy}@{slot.steps}", 1.0 if slot.steps else -1.0, 0.0, 9)] * 20
        league.note(endings)
    return drawn


def test_a_self_that_is_harder_to_beat_is_drawn_more_often():
    league, past = make_league(past=0.4, prioritised=0.4), {age: some_weights(age) for age in range(4)}
    hard_first(league, past, 10)
    drawn = hard_first(league, past, 200)
    assert 0.15 < np.mean(np.array(drawn[PAST]) == 0) < 0.35  # one of four
    assert np.mean(np.array(drawn[PRIORITISED]) == 0) > 0.6
    metrics = league.metrics()
    assert metrics["past_selves/1/steps"] == 0
    assert metrics["past_selves/1/score"] < 0.2
    assert metrics["past_selves/2/score"] > 0.5
    assert sum(metrics[f"past_selves/{i}/chance"] for i in range(1, 5)) == pytest.approx(1)
    assert make_league(past=1).metrics() == {}


def test_games_against_it_tell_how_hard_a_self_is_and_what_is_long_past_is_forgotten():
    play = Play(past=0, prioritised=1, past_size=1, priority=Priority(decay=0.5))
    endings = []
    while len(endings) < 30:
        endings += play.step()
    assert {ending.opponent for ending in endings} == {"prioritised@0"}
    assert play.league.metrics()["past_selves/1/score"] == 0.5
    play.league.note(endings)
    points = sum((ending.outcome + 1) / 2 for ending in endings)
    assert play.league.metrics()["past_selves/1/score"] == pytest.approx((points + 5) / (len(endings) + 10))
    for _ in range(30):
        play.league.note([Ending(None, 1.0, 0.0, 9), Ending("past@77", 1.0, 0.0, 9)])
    assert play.league.metrics()["past_selves/1/score"] == pytest.approx(0.5)


def test_a_league_that_goes_on_is_the_same():
    past = {age: some_weights(age) for age in range(3)}
    one, two = (make_league(mirror=0.2, past=0.4, prioritised=0.4, past_size=3) for _ in range(2))
    hard_first(one, past, 15)
    two.restore(one.state(), past)
    assert two.metrics() == one.metrics()
    assert hard_first(two, past, 20) == hard_first(one, past, 20)
    assert two.metrics() == one.metrics()
