import numpy as np
import pytest
import torch

from mozaic_env.agents.policy.network import BoardNetwork, NetworkConfig, layout_of
from mozaic_env.games import make_game
from training.config import OpponentsSection, PrioritySection, RewardSection
from training.ppo.environment import PaidEnv
from training.ppo.league import MIRROR, PAST, PRIORITISED, League, chances, strategy_of


class Play:
    """A league and games between random moves and it, the learner's weights drawn anew at each update."""

    def __init__(self, games=24, **config):
        self.game = make_game("mozaic", rows=4, cols=4)
        self.learner = BoardNetwork(layout_of(self.game), NetworkConfig(channels=2, blocks=0, value_hidden=2))
        self.env = PaidEnv(self.game, games, RewardSection())
        self.env.seed(3)
        self.league = League(OpponentsSection(**config), self.game, self.learner, seed=0, bfloat16=False)
        self.rng = np.random.default_rng(0)
        self.steps = 0
        self.update()
        self.env.reset()

    def update(self):
        torch.manual_seed(self.steps)
        for weights in self.learner.parameters():
            torch.nn.init.normal_(weights)
        self.league.refresh(self.env.games, self.steps)

    def step(self):
        """A random legal step; returns the games that ended."""
        masks = self.env.games.action_masks()
        _, _, dones, infos = self.env.step(np.array([self.rng.choice(np.flatnonzero(mask)) for mask in masks]))
        self.steps += len(masks)
        return [(i, infos[i]) for i in np.flatnonzero(dones)]

    def opponent(self, i):
        """Name and weights of the opponent in game i."""
        agent = self.league.agents[self.env.games.opponent_indices[i]]
        if strategy_of(agent.name) == agent.name:
            return agent.name, 0.0
        return agent.name, sum(float(weights.double().abs().sum()) for weights in agent.network.parameters())

    def names_of_new_games(self):
        """Whom the games that begin now are against."""
        return {self.opponent(i)[0] for i, _ in self.step()}


def test_every_game_keeps_its_opponent_to_the_end_and_names_it():
    play = Play(mirror=0.5, past=0.4, fixed={"greedy": 0.1}, past_size=2, past_every=1)
    held = [play.opponent(i) for i in range(24)]
    names = set()
    for step in range(200):
        if step % 2:  # many updates within one game, and more copies than slots
            play.update()
        for i, info in (ended := play.step()):
            assert info["opponent"] == held[i][0]
            names.add(info["opponent"])
        for i in {i for i, _ in ended}:
            held[i] = play.opponent(i)
        assert [play.opponent(i) for i in range(24)] == held
    assert "greedy" in names
    assert len(names) > 20


def test_new_games_meet_the_newest_copy():
    play = Play(mirror=1, past=0, fixed={})
    for _ in range(5):
        for _ in range(40):  # longer than any game between two updates here
            play.step()
        play.update()
        assert play.names_of_new_games() <= {f"mirror@{play.steps - 24}"}
        newest = next(slot for slot in play.league.slots if slot.kind == MIRROR)
        for mine, theirs in zip(play.learner.parameters(), newest.network.parameters(), strict=True):
            assert torch.equal(mine, theirs)


def test_shares_are_kept():
    shares = {"mirror": 0.4, "past": 0.2, "prioritised": 0.2, "greedy": 0.2, "random": 0}
    fixed = {key: shares[key] for key in ("greedy", "random")}
    play = Play(games=200, mirror=0.4, past=0.2, prioritised=0.2, fixed=fixed, past_every=1)
    counts = dict.fromkeys(shares, 0)
    for step in range(150):
        if step % 50 == 0:
            play.update()
        for _, info in play.step():
            if step > 60:
                counts[strategy_of(info["opponent"])] += 1
    total = sum(counts.values())
    assert total > 1000
    assert counts["random"] == 0
    for strategy, share in shares.items():
        assert counts[strategy] / total == pytest.approx(share, abs=0.05)


def test_while_there_is_no_past_self_the_mirror_stands_in():
    play = Play(games=200, mirror=0.1, past=0.5, prioritised=0.2, fixed={"greedy": 0.2})
    names = [play.opponent(i)[0] for i in range(200)]
    assert set(names) == {"mirror@0", "greedy"}
    assert names.count("mirror@0") / 200 == pytest.approx(0.8, abs=0.1)


def test_past_selves_span_the_run_when_there_is_no_room_for_all():
    play = Play(mirror=0.5, past=0.5, fixed={}, past_size=4, past_every=2)
    for _ in range(40):
        for _ in range(30):
            play.step()
        play.update()
    past = sorted(slot.steps for slot in play.league.slots if slot.kind == PAST)
    assert len(past) == 4
    assert past[0] == 0
    assert past[-1] >= play.steps - 3 * 30 * 24  # the latest
    assert max(np.diff(past)) <= play.steps / 2


def test_an_update_without_steps_changes_nothing():
    play = Play(mirror=1, past=0, fixed={})
    before = [slot.kind for slot in play.league.slots]
    play.update()
    assert [slot.kind for slot in play.league.slots] == before


def test_only_names_of_copies_stand_for_a_strategy():
    names = ["mirror@0", "past@12", "prioritised@7", "greedy", "policy:runs/past@12", "past@home"]
    assert [strategy_of(name) for name in names] == ["mirror", "past", "prioritised", *names[3:]]


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
    found = chances(np.array([0.1, 0.5, 0.9]), PrioritySection(by=by, power=power))
    np.testing.assert_allclose(found, np.array(expected) / sum(expected))


def hard_first(play, updates):
    """Goes on for some updates, in which the learner loses to its first self and beats all others.

    Returns the past selves that were drawn: for each strategy the ages.
    """
    drawn = {PAST: [], PRIORITISED: []}
    for _ in range(updates):
        play.steps += 1
        play.update()
        names = {strategy: f"{strategy}@{slot.steps}" for strategy, slot in play.league.drawn.items()}
        for strategy, name in names.items():
            drawn[strategy].append(int(name.partition("@")[2]))
        outcomes = {name: -1 if name.endswith("@0") else 1 for name in names.values()}
        play.league.note([{"opponent": name, "outcome": outcome} for name, outcome in outcomes.items()] * 20)
    return drawn


def test_a_self_that_is_harder_to_beat_is_drawn_more_often():
    play = Play(mirror=0.2, past=0.4, prioritised=0.4, fixed={}, past_size=4, past_every=1)
    hard_first(play, 10)
    drawn = hard_first(play, 200)
    assert 0.15 < np.mean(np.array(drawn[PAST]) == 0) < 0.35  # one of four
    assert np.mean(np.array(drawn[PRIORITISED]) == 0) > 0.6
    metrics = play.league.metrics()
    assert metrics["past_selves/1/steps"] == 0
    assert metrics["past_selves/1/score"] < 0.2
    assert metrics["past_selves/2/score"] > 0.5
    assert sum(metrics[f"past_selves/{i}/chance"] for i in range(1, 5)) == pytest.approx(1)


def test_games_against_it_tell_how_hard_a_self_is_and_what_is_long_past_is_forgotten():
    play = Play(mirror=0, past=0, prioritised=1, fixed={}, past_size=1, past_every=100, priority={"decay": 0.5})
    play.steps += 1
    play.update()
    assert play.league.metrics()["past_selves/1/score"] == 0.5
    play.env.reset()
    play.env.take_endings()
    while len(play.env.endings) < 30:
        play.step()
    endings = play.env.take_endings()
    assert {ending["opponent"] for ending in endings} == {"prioritised@0"}
    points = sum((ending["outcome"] + 1) / 2 for ending in endings)
    play.league.note(endings)
    assert play.league.metrics()["past_selves/1/score"] == pytest.approx((points + 5) / (len(endings) + 10))
    for _ in range(30):
        play.league.note([{"opponent": "mirror@1", "outcome": 1}, {"opponent": "past@77", "outcome": 1}])
    assert play.league.metrics()["past_selves/1/score"] == pytest.approx(0.5)


def test_a_league_that_goes_on_is_the_same():
    config = {"mirror": 0.2, "past": 0.4, "prioritised": 0.4, "fixed": {}, "past_size": 3, "past_every": 2}
    one, two = Play(**config), Play(**config)
    hard_first(one, 15)
    two.league.restore(one.league.state(), two.env.games)
    two.steps = one.steps
    for play in (one, two):
        play.env.reset()
    assert {two.opponent(i)[0] for i in range(24)} <= {f"mirror@{one.steps}"} | {
        f"{strategy}@{slot.steps}" for strategy, slot in one.league.drawn.items()
    }
    assert two.league.metrics() == one.league.metrics()
    assert hard_first(two, 20) == hard_first(one, 20)
    assert two.league.metrics() == one.league.metrics()
