import numpy as np
import pytest
import torch

from mozaic_env.agents.network import BoardNetwork, NetworkConfig, layout_of
from mozaic_env.games import make_game
from training.config import OpponentsSection, RewardSection
from training.environment import PaidEnv
from training.league import MIRROR, PAST, League


class Play:
    """A league and games between random moves and it, the learner's weights drawn anew at each update."""

    def __init__(self, games=24, **config):
        self.game = make_game("mozaic", rows=4, cols=4)
        self.learner = BoardNetwork(layout_of(self.game), NetworkConfig(channels=2, blocks=0, value_hidden=2))
        self.env = PaidEnv(self.game, games, RewardSection())
        self.env.seed(3)
        self.league = League(
            OpponentsSection(**config), self.game, self.learner, per_update=games, seed=0, bfloat16=False
        )
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
        index = self.env.games.opponent_indices[i]
        if index < len(self.league.fixed):
            return self.league.fixed[index].name, 0.0
        agent = self.league.slots[index - len(self.league.fixed)].agent
        return agent.name, sum(float(weights.double().abs().sum()) for weights in agent.network.parameters())


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
        begun = {play.opponent(i)[0] for i, _ in play.step()}
        assert begun <= {f"self@{play.steps - 24}"}
        newest = next(slot for slot in play.league.slots if slot.strategy == MIRROR)
        for mine, theirs in zip(play.learner.parameters(), newest.agent.network.parameters(), strict=True):
            assert torch.equal(mine, theirs)


def test_shares_are_kept():
    play = Play(games=200, mirror=0.5, past=0.3, fixed={"greedy": 0.2, "random": 0}, past_every=1)
    counts = {"mirror": 0, "past": 0, "greedy": 0, "random": 0}
    for step in range(150):
        if step % 50 == 0:
            play.update()
        for _, info in play.step():
            if step > 60:
                counts[play.league.strategy(info["opponent"], play.steps)] += 1
    total = sum(counts.values())
    assert total > 1000
    assert counts["random"] == 0
    assert counts["greedy"] / total == pytest.approx(0.2, abs=0.05)
    assert (counts["mirror"] + counts["past"]) / total == pytest.approx(0.8, abs=0.05)


def test_past_selves_span_the_run_when_there_is_no_room_for_all():
    play = Play(mirror=0.5, past=0.5, fixed={}, past_size=4, past_every=2)
    for _ in range(40):
        for _ in range(30):
            play.step()
        play.update()
    past = sorted(slot.steps for slot in play.league.slots if slot.strategy == PAST)
    assert len(past) == 4
    assert past[0] <= 2 * 30 * 24  # the first
    assert past[-1] >= play.steps - 3 * 30 * 24  # the latest
    assert max(np.diff(past)) <= play.steps / 2


def test_an_update_without_steps_changes_nothing():
    play = Play(mirror=1, past=0, fixed={})
    before = [slot.strategy for slot in play.league.slots]
    play.update()
    assert [slot.strategy for slot in play.league.slots] == before
