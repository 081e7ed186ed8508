"""Earlier selves: which are kept, and that none is exchanged in the middle of a game (PufferLib 620)."""

from __future__ import annotations

import itertools

import pytest

pytest.importorskip("torch")

from mozaic_env.agents.policy.network import BoardNetwork, NetworkConfig, layout_of
from mozaic_env.games import make_game
from mozaic_env.rllib.opponents import SPARE, PastSelves, thin


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
    kept = []
    for age in range(0, 1000, 10):
        kept = thin([*kept, age], 8)
    gaps = [later - earlier for earlier, later in itertools.pairwise(kept)]
    assert (kept[0], kept[-1]) == (0, 990)
    assert max(gaps) <= 3 * min(gaps[:-1])


@pytest.fixture
def selves():
    game = make_game("mozaic", rows=3, cols=4)
    loaded = []

    def load(network, weights):
        loaded.append((network, weights["name"]))

    past = PastSelves(game, 2, lambda: BoardNetwork(layout_of(game), NetworkConfig(4, 0, 4)), load, seed=0)
    past.loaded = loaded
    return past


def names(past):
    return [agent.name for agent in past.agents]


def test_weights_go_into_free_slots_alone(selves):
    selves.update({0: {"name": "zero"}}, set())
    assert names(selves)[0] == "self@0"
    assert selves.shares(0.5) == [0.5, 0, 0, 0, 0]
    selves.update({0: {"name": "zero"}, 10: {"name": "ten"}}, {0})
    assert [name for _, name in selves.loaded] == ["zero", "ten"]  # what is there is not loaded again
    for age in range(20, 20 + 10 * SPARE, 10):  # slot 0 is in a game that does not end
        selves.update({age: {"name": str(age)}}, {0})
        assert names(selves)[0] == "self@0"
    assert all(network is not selves.agents[0].network for network, name in selves.loaded[1:])


def test_those_out_of_play_get_no_new_games(selves):
    selves.update({0: {"name": "zero"}}, set())
    selves.update({10: {"name": "ten"}}, {0})
    shares = selves.shares(1.0)
    assert sum(shares) == 1.0
    assert names(selves)[shares.index(1.0)] == "self@10"
    selves.update({}, {0})
    assert not any(selves.shares(1.0))


def test_without_a_free_slot_it_waits(selves):
    everyone = set(range(len(selves.agents)))
    selves.update({0: {"name": "zero"}}, everyone)
    assert not any(selves.shares(1.0))
    selves.update({0: {"name": "zero"}}, set())
    assert any(selves.shares(1.0))
