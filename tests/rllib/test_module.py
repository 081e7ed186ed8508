"""The RLModule: the game's network, masked."""

from __future__ import annotations

import numpy as np
import pytest

from mozaic_env.games import make_game
from mozaic_env.testing.rows import look, seeded, where

pytestmark = [pytest.mark.ray, pytest.mark.filterwarnings("ignore")]  # Ray warns of itself


@pytest.fixture
def game():
    pytest.importorskip("ray.rllib", reason="needs ray[rllib], of the extra rllib: make test-ray")
    return make_game("mozaic", rules="onyx", rows=4, cols=4)


@pytest.fixture
def module(game):
    import torch

    from mozaic_env.agents.policy.network import NetworkConfig
    from mozaic_env.rllib.module import module_spec

    torch.manual_seed(0)
    return module_spec(game, NetworkConfig(8, 1, 8)).build()


@pytest.fixture
def batch(game):
    import torch

    from mozaic_env.testing import rows as kernels

    rows = seeded(game, 64)
    kernels.play_on(rows, 0, 5)
    rows = rows[where(rows) >= 0]
    frames = np.zeros((len(rows), game.frame.itemsize), np.uint8)
    masks = np.zeros((len(rows), game.num_actions), np.int8)
    look(rows, where(rows), masks, frames)
    entries = frames.view(game.frame)[:, 0]
    views = {field.key: torch.from_numpy(entries[field.key].copy()) for field in game.fields}
    return {"obs": {"observations": views, "action_mask": torch.from_numpy(masks)}}


def test_illegal_actions_have_no_probability_and_no_part_in_the_entropy(module, batch):
    out = module.forward_exploration(batch)
    distribution = module.get_exploration_action_dist_cls().from_logits(out["action_dist_inputs"])
    legal = batch["obs"]["action_mask"].bool()
    probabilities = out["action_dist_inputs"].softmax(1)
    assert (probabilities[~legal] == 0).all()
    assert legal.gather(1, distribution.sample()[:, None]).all()
    plain = probabilities.clamp_min(1e-30)
    np.testing.assert_allclose(distribution.entropy(), -(plain * plain.log()).sum(1), rtol=1e-4, atol=1e-6)


def test_it_is_the_network(module, batch):
    logits, values = module.network(batch["obs"]["observations"])
    out = module.forward_train(batch)
    legal = batch["obs"]["action_mask"].bool()
    np.testing.assert_array_equal(out["action_dist_inputs"][legal].detach(), logits[legal].detach())
    for given in (out["embeddings"], None):
        np.testing.assert_array_equal(module.compute_values(batch, given).detach(), values.detach())


def test_weights_go_back_into_a_network(module, game, batch):
    from mozaic_env.agents.policy.network import NetworkConfig
    from mozaic_env.agents.policy.networks import make_network
    from mozaic_env.rllib.module import load_weights, own_weights

    network = load_weights(make_network(game, NetworkConfig(8, 1, 8)), own_weights(module.get_state()))
    np.testing.assert_array_equal(
        network(batch["obs"]["observations"])[0].detach(), module.network(batch["obs"]["observations"])[0].detach()
    )
