import threading
import time

import numpy as np
import pytest
import torch
from stable_baselines3.common.logger import Logger

from mozaic_env.agents.policy.network import BoardNetwork, NetworkConfig, layout_of
from mozaic_env.games import make_game
from training.config import Config, RewardSection, WarmStartSection
from training.imitation.demonstrations import Ahead, Demonstrations, TeacherGames, make_teacher, returns
from training.imitation.imitation import Memory, WarmStart
from training.runs.budget import Budget, Stopped
from training.runs.timing import Stopwatch

GAME = make_game("mozaic", rows=4, cols=4)
TEACHER = "expectimax:depth=2"
BY_MARGIN = RewardSection(margin=1.0)


def make_games(discount=1.0, seed=0, reward=BY_MARGIN, **settings):
    config = WarmStartSection(**{"games": 8, "segment": 40, **settings})
    return TeacherGames(config, make_teacher(TEACHER, GAME), GAME, reward, discount, seed)


def test_returns_are_what_the_seat_is_rewarded_with_from_there_on():
    story = [(5, 0, 0.0), (6, 1, 1.0), (7, 1, 2.0), (8, 0, -1.0)]
    reward = RewardSection(margin=0.5, outcome=2.0)
    found = dict(returns(story, [-3.0, 3.0], [-1.0, 1.0], reward, 0.9))
    assert found[8] == pytest.approx(0.5 * (-3 + 1) - 2)
    assert found[7] == pytest.approx(0.5 * (3 - 2) + 2)
    assert found[6] == pytest.approx(0.5 * (2 - 1) + 0.9 * found[7])
    assert found[5] == pytest.approx(0.5 * (-1 - 0) + 0.9 * found[8])


def test_lead_so_far_and_undiscounted_return_make_the_final_lead_for_every_decision_of_a_game():
    segment = make_games(segment=100).next_segment()
    score = segment.observation["score"].astype(float)
    lead = (score[..., 0] - score[..., 1]) / 4
    steps, games, values = segment.returns
    assert len(steps) > 500
    for game in range(8):
        of_game = games == game
        final = np.abs(values[of_game] + lead[steps[of_game], game])
        ends = np.flatnonzero(np.diff(steps[of_game]) > 0)  # each game's decisions come backwards
        for one in np.split(final, ends + 1):
            assert np.allclose(one, one[0], atol=1e-5)


def test_targets_are_the_softmax_of_the_teachers_values_over_legal_actions():
    asked = []

    class Recorded:
        name = "recorded"

        def action_values(self, states):
            asked.append(make_teacher(TEACHER, GAME).action_values(states))
            return asked[-1]

    config = WarmStartSection(games=8, segment=40, temperature=2.0)
    segment = TeacherGames(config, Recorded(), GAME, BY_MARGIN, 1.0, 0).next_segment()
    values = np.stack(asked)
    assert np.array_equal(~np.isnan(values), segment.masks)
    assert np.all(segment.targets[~segment.masks] == 0)
    assert np.allclose(segment.targets.astype(float).sum(-1), 1, atol=5e-3)
    top = np.nanmax(values, -1)
    assert np.array_equal(np.take_along_axis(values, segment.best[..., None], -1)[..., 0], top)
    powers = np.where(segment.masks, np.exp((np.nan_to_num(values) - top[..., None]) / 2), 0)
    assert np.allclose(segment.targets, powers / powers.sum(-1, keepdims=True), atol=1e-3)


def test_the_same_seed_gives_the_same_segment_and_random_moves_make_other_games():
    one, two, other, straight = (
        make_games(seed=seed, random_moves=share).next_segment()
        for seed, share in ((1, 0.5), (1, 0.5), (2, 0.5), (1, 0.0))
    )
    assert np.array_equal(one.observation["board"], two.observation["board"])
    assert not np.array_equal(one.observation["board"], other.observation["board"])
    assert not np.array_equal(one.observation["board"], straight.observation["board"])


def numbered(steps, known=()):
    """Two games; each decision's observation is its number, and what is known of returns is -10 times that."""
    shape = (len(steps), 2)
    numbers = np.array(steps)[:, None] * 2 + np.arange(2)
    at, game = np.array(known, int).reshape(-1, 2).T
    return Demonstrations(
        {"number": numbers},
        np.ones((*shape, 3), bool),
        np.zeros((*shape, 3), np.float16),
        numbers,
        (at, game, (-10.0 * (2 * at + game)).astype(np.float32)),
    )


def test_the_memory_holds_the_latest_and_puts_late_returns_where_they_belong():
    memory = Memory(3)
    memory.add(numbered([0, 1]))
    memory.add(numbered([2, 3], known=[(0, 0), (1, 0), (2, 0)]))
    memory.add(numbered([4, 5]))
    memory.add(numbered([6, 7], known=[(1, 1), (2, 1), (6, 1), (3, 0)]))  # steps 0 and 1 are forgotten
    batch = memory.draw(1000, np.random.default_rng(0), "cpu")
    assert set(batch["number"].tolist()) == set(range(4, 16))
    assert torch.equal(batch["number"], batch["best"])
    known = {4: -40.0, 5: -50.0, 6: -60.0, 13: -130.0}
    for number, value in zip(batch["number"].tolist(), batch["returns"].tolist()):
        assert value == known[number] if number in known else np.isnan(value)


def make_warm_start(network, **settings):
    settings = {"teacher": TEACHER, "decisions": 20_000, "games": 64, "minibatch": 256, **settings}
    config = Config(warm_start=WarmStartSection(**settings))
    return WarmStart(config, GAME, network, Budget(1, None), Stopwatch(), "cpu", False)


def make_network():
    torch.manual_seed(0)
    return BoardNetwork(layout_of(GAME), NetworkConfig(channels=16, blocks=1, value_hidden=16))


def test_the_network_learns_what_the_teacher_thinks_and_how_games_end():
    noted = []

    class Notes(Logger):
        def dump(self, step=0):
            noted.append(dict(self.name_to_value))

    warm = make_warm_start(make_network(), decisions=40_000)
    for _ in warm.run(Notes(None, [])):
        noted.append(None)
    assert warm.is_over
    assert warm.decisions == 40_960
    assert noted.count(None) == 40
    last = next(entry for entry in reversed(noted) if entry)
    batch = Memory(4)
    batch.add(make_games(seed=99, games=64, discount=0.99, reward=RewardSection()).next_segment())
    test = batch.draw(2000, np.random.default_rng(0), "cpu")
    with torch.no_grad():
        (_, before), (logits, after) = make_network()(test), warm.network(test)
    known = ~test["returns"].isnan()
    assert correlation(before[known], test["returns"][known]) < 0.04
    assert correlation(after[known], test["returns"][known]) > 0.08  # luck decides most on so small a board
    agreement = (torch.where(test["masks"], logits, -1e8).argmax(1) == test["best"]).float().mean()
    assert agreement > 0.4
    assert last["warm_start/agreement"] == pytest.approx(float(agreement), abs=0.1)
    assert last["warm_start/learning_rate"] < 4e-4


def correlation(values, returns):
    return np.corrcoef(values, returns)[0, 1]


def test_a_loss_that_is_no_number_ends_it_before_the_weights_are_spoilt():
    network = make_network()
    warm = make_warm_start(network, learning_rate=1e30, max_grad_norm=1e30)
    with pytest.raises(FloatingPointError, match=r"warm_start\.learning_rate"):
        list(warm.run(Logger(None, [])))
    assert not warm.is_over


def test_a_signal_ends_it_between_minibatches_and_the_thread_with_it():
    warm = make_warm_start(make_network())

    def stop():
        if warm.decisions > 2000:
            raise Stopped("now")

    warm._main.check_signal = stop
    before = threading.active_count()
    with pytest.raises(Stopped):
        list(warm.run(Logger(None, [])))
    assert 2000 < warm.decisions < 20_000
    assert not warm.is_over
    assert threading.active_count() == before


def test_what_a_teacher_needs_to_begin_is_not_counted(monkeypatch):
    first, play_on = [True], TeacherGames.next_segment

    def slow_at_first(self):
        if first.pop() if first else False:  # as after an installation, when everything is compiled
            time.sleep(1.5)
        return play_on(self)

    monkeypatch.setattr(TeacherGames, "next_segment", slow_at_first)
    warm = make_warm_start(make_network(), games=8, segment=8, decisions=1_000_000, minutes=1 / 60)
    list(warm.run(Logger(None, [])))
    assert warm.decisions > 64


def test_an_error_in_the_thread_reaches_who_waits():
    def failing():
        raise ZeroDivisionError("no games today")

    with Ahead(failing) as segment, pytest.raises(ZeroDivisionError, match="no games today"):
        segment.take(lambda: None)


@pytest.mark.parametrize("spec", ["random", "mcts", "nobody"])
def test_a_teacher_needs_action_values(spec):
    with pytest.raises(ValueError, match="action values" if spec != "nobody" else "unknown agent"):
        make_teacher(spec, GAME)
