import subprocess
import sys

import numpy as np
import pytest
import torch

from mozaic_env.agents.policy.agent import PolicyAgent
from mozaic_env.agents.policy.checkpoint import save
from mozaic_env.agents.policy.network import BoardNetwork, NetworkConfig, layout_of
from mozaic_env.agents.specs import make_agent
from mozaic_env.arena.match import play_match
from mozaic_env.envs.gymnasium.single import GameEnv
from mozaic_env.games import make_game
from mozaic_env.simulation.batch import Batch
from mozaic_env.simulation.queries import masks_of


@pytest.fixture(scope="module")
def game():
    return make_game("mozaic")


@pytest.fixture(scope="module")
def network(game):
    """Random weights whose policy is far from uniform, so that wrong numbers change its choices."""
    torch.manual_seed(3)
    made = BoardNetwork(layout_of(game), NetworkConfig(channels=32, blocks=1)).eval()
    torch.nn.init.normal_(made.action_head.weight, std=1.5)
    return made


@pytest.fixture(scope="module")
def states(game):
    """777 states of random games at all stages, slides and removals among them."""
    batch = Batch(game, 777, autoreset=1)
    batch.begin(np.arange(777), np.random.default_rng(1).integers(2**64, size=777, dtype=np.uint64), None, None)
    rng = np.random.default_rng(2)
    kept = batch.rows.copy()
    for step in range(40):
        batch.step(np.array([rng.choice(np.flatnonzero(mask)) for mask in batch.buffers.masks]))
        kept[step::40] = batch.rows[step::40]
    return kept


def masks(game, states):
    written = np.zeros((len(states), game.num_actions), np.int8)
    masks_of(states, written)
    return written.astype(bool)


def test_every_action_is_legal(game, network, states):
    legal = masks(game, states)
    assert {int(hand) for hand in states["hand"]} == {0, 1, 2, 3}
    for sample in (False, True):
        actions = PolicyAgent(game, network, sample=sample).act(states)
        assert actions.dtype == np.int64
        assert legal[np.arange(len(states)), actions].all()


def test_greedy_takes_the_likeliest_action(game, network, states):
    agent = PolicyAgent(game, network)
    probabilities, _ = agent.evaluate(states)
    assert np.array_equal(agent.act(states), probabilities.argmax(1))


def test_probabilities_are_the_softmax_over_legal_actions_of_the_movers_view(game, network, states):
    probabilities, values = PolicyAgent(game, network).evaluate(states)
    legal = masks(game, states)
    assert (probabilities[~legal] == 0).all()
    assert np.allclose(probabilities.sum(1), 1)
    env = GameEnv(game, opponent=None)
    for i in range(0, len(states), 50):
        observation, _ = env.reset(options={"position": game.format_position(states[i])})
        with torch.no_grad():
            logits, value = network({key: torch.tensor(entry)[None] for key, entry in observation.items()})
        expected = torch.softmax(logits[0].double().masked_fill(~torch.tensor(legal[i]), -torch.inf), 0)
        assert np.allclose(probabilities[i], expected.numpy(), atol=1e-6)
        assert values[i] == pytest.approx(value.item(), abs=1e-5)


@pytest.mark.parametrize("sample", [False, True])
def test_choices_do_not_depend_on_the_company(game, network, states, sample):
    agent = PolicyAgent(game, network, sample=sample)
    together, (probabilities, values) = agent.act(states), agent.evaluate(states)
    order = np.random.default_rng(0).permutation(len(states))
    assert np.array_equal(agent.act(states[order]), together[order])
    for low, high in ((0, 1), (5, 7), (10, 27), (30, 94), (100, 613)):
        assert np.array_equal(agent.act(states[low:high]), together[low:high])
        few = agent.evaluate(states[low:high])
        assert np.array_equal(few[0], probabilities[low:high])
        assert np.array_equal(few[1], values[low:high])


def test_more_states_than_one_batch_of_the_network(game, network, states):
    agent = PolicyAgent(game, network)
    many = np.concatenate([states, states, states])
    assert np.array_equal(agent.act(many), np.tile(agent.act(states), 3))
    assert len(agent.act(states[:0])) == 0


def test_sampling_follows_the_probabilities(game, network, states):
    agent = PolicyAgent(game, network, sample=True)
    copies = np.repeat(states[600:601], 20_000)
    copies["key"] = np.random.default_rng(5).integers(2**64, size=len(copies), dtype=np.uint64)
    drawn = np.bincount(agent.act(copies), minlength=game.num_actions) / len(copies)
    expected = agent.evaluate(states[600:601])[0][0]
    error = np.sqrt(expected * (1 - expected) / len(copies))
    assert (expected > 0.01).sum() >= 3
    assert (np.abs(drawn - expected) <= 5 * error + 1e-12).all()


def test_sampling_is_a_function_of_key_seat_decision_and_seed(game, network, states):
    agent = PolicyAgent(game, network, sample=True)
    before = agent.act(states)
    assert np.array_equal(agent.act(states), before)
    agent.seed(1)
    assert not np.array_equal(agent.act(states), before)
    other = PolicyAgent(game, network, sample=True)
    other.seed(1)
    assert np.array_equal(agent.act(states), other.act(states))
    later = states.copy()
    later["draws"] += 1  # the game's own luck is another stream
    assert np.array_equal(other.act(later), other.act(states))


def test_a_spec_names_a_checkpoint_and_plays_like_its_network(game, network, states, tmp_path):
    save(tmp_path / "kept", network, game, steps=1, seed=2)
    for spec, sample in (
        (f"policy:{tmp_path}/kept", False),
        (f"{tmp_path}/kept", False),
        (f"policy:{tmp_path}/kept,sample=1", True),
    ):
        agent = make_agent(spec, game)
        assert agent.name == spec.removeprefix("policy:")
        assert np.array_equal(agent.act(states), PolicyAgent(game, network, sample=sample).act(states))


def test_as_an_opponent_and_in_a_match_it_plays_legally(game, network):
    agent = PolicyAgent(game, network, sample=True)
    env = GameEnv(game, opponent=agent, illegal="raise")
    for seed in range(3):
        _, info = env.reset(seed=seed)
        done = False
        while not done:
            _, _, terminated, truncated, info = env.step(np.flatnonzero(info["action_mask"])[0])
            done = terminated or truncated
    assert play_match(agent, make_agent("greedy", game), 40, 1).forfeits == (0, 0)


def test_the_module_loads_without_torch():
    code = "import mozaic_env.agents.policy.agent, sys; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
