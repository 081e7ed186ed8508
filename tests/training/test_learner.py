"""MaskablePPO with the network on every kind of vector environment; an illegal action would raise."""

import functools

import gymnasium as gym
import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv, VecMonitor

from mozaic_env.agents.policy.network import NetworkConfig
from mozaic_env.envs.sb3 import GameVecEnv
from mozaic_env.games import make_game
from training.ppo.learner import NetworkPolicy, _draw
from training.runs.budget import Budget, Stopped

OPTIONS = {"rules": "onyx", "rows": 4, "cols": 4, "opponent": "greedy", "reward": "margin", "illegal": "raise"}


def make_env():
    return gym.make("mozaic_env:Mozaic-v0", **OPTIONS)


def native(games=4):
    return GameVecEnv(games, "mozaic", **OPTIONS)


KINDS = {
    "dummy": lambda: DummyVecEnv([make_env] * 4),
    "subprocess": lambda: SubprocVecEnv([make_env] * 2, start_method="spawn"),
    "native": native,
    "monitored": lambda: VecMonitor(native()),
}


def make_model(env, **options):
    game = make_game("mozaic", rules="onyx", rows=4, cols=4)
    network = NetworkConfig(channels=16, blocks=1, value_hidden=16)
    defaults = {"n_steps": 16, "batch_size": 32, "n_epochs": 2, "learning_rate": 3e-3, "seed": 1, "device": "cpu"}
    return MaskablePPO(NetworkPolicy, env, policy_kwargs={"game": game, "network": network}, **{**defaults, **options})


@pytest.mark.parametrize("kind", KINDS)
def test_learning_runs_and_keeps_to_the_masks(kind):
    env = KINDS[kind]()
    try:
        model = make_model(env)
        before = [weights.clone() for weights in model.policy.parameters()]
        model.learn(128)
        assert any(not torch.equal(old, new) for old, new in zip(before, model.policy.parameters(), strict=True))
        assert all(torch.isfinite(weights).all() for weights in model.policy.parameters())
    finally:
        env.close()


def mean_margin(model, deterministic):
    env = native(200)
    env.seed(0)
    observation, margins = env.reset(), []
    while len(margins) < 400:
        actions, _ = model.predict(observation, action_masks=env.action_masks(), deterministic=deterministic)
        observation, _, _, infos = env.step(actions)
        margins += [info["margin"] for info in infos if info]
    return np.mean(margins)


def test_it_learns():
    env = native(64)
    env.seed(5)
    model = make_model(env, batch_size=256, n_epochs=4, gamma=0.99, gae_lambda=0.9)
    before = mean_margin(model, deterministic=False)
    model.learn(12_000)
    assert mean_margin(model, deterministic=False) > before + 0.4


def test_the_policy_gives_what_ppo_needs():
    env = native(8)
    model = make_model(env)
    observation = {key: torch.tensor(entry) for key, entry in env.reset().items()}
    masks = env.action_masks()
    actions, values, log_probabilities = model.policy(observation, action_masks=masks)
    assert masks[np.arange(8), actions.numpy()].all()
    again = model.policy.evaluate_actions(observation, actions, torch.tensor(masks).float())
    assert torch.allclose(again[0], values)
    assert torch.allclose(again[1], log_probabilities, atol=1e-6)
    distribution = model.policy.get_distribution(observation, masks)
    assert torch.allclose(again[1], distribution.log_prob(actions), atol=1e-6)
    assert torch.allclose(again[2], distribution.entropy(), atol=1e-5)
    assert torch.allclose(model.policy.predict_values(observation), values)
    best, _, _ = model.policy(observation, deterministic=True, action_masks=masks)
    assert torch.equal(best, distribution.mode())


def test_a_network_is_kept_close_to():
    def divergence(keep):
        env = native(16)
        env.seed(5)
        model = make_model(env, n_epochs=4, ent_coef=1.0)
        model.policy._keep = keep
        model.policy.keep_close_to(model.policy.network)
        start = {key: weights.clone() for key, weights in model.policy.kept.state_dict().items()}
        model.learn(2048)
        assert all(torch.equal(start[key], weights) for key, weights in model.policy.kept.state_dict().items())
        observation = {key: torch.tensor(entry) for key, entry in env.reset().items()}
        with torch.no_grad():
            logits, kept = model.policy.network(observation)[0], model.policy.kept(observation)[0]
        return torch.nn.functional.kl_div(logits.log_softmax(1), kept.softmax(1), reduction="batchmean")

    assert divergence(10.0) < 0.2 * divergence(0.0)


def test_with_a_kept_network_the_entropies_are_weighed_with_the_divergence():
    env = native(8)
    model = make_model(env)
    observation = {key: torch.tensor(entry) for key, entry in env.reset().items()}
    masks = torch.tensor(env.action_masks())
    actions = masks.float().argmax(1)
    _, log_probabilities, entropy = model.policy.evaluate_actions(observation, actions, masks)
    model.policy.keep_close_to(model.policy.network)
    model.policy._entropy, model.policy._keep = 0.5, 2.0
    assert torch.allclose(model.policy.evaluate_actions(observation, actions, masks)[2], 0.5 * entropy, atol=1e-5)
    with torch.no_grad():
        for weights in model.policy.network.action_head.parameters():
            weights += torch.randn_like(weights)
    _, changed, bonus = model.policy.evaluate_actions(observation, actions, masks)
    assert not torch.allclose(changed, log_probabilities)
    now, before = (net(observation)[0].masked_fill(~masks, -1e8) for net in (model.policy.network, model.policy.kept))
    now, before = (torch.distributions.Categorical(logits=logits) for logits in (now, before))
    expected = 0.5 * now.entropy() - 2 * torch.distributions.kl_divergence(before, now)
    assert torch.allclose(bonus, expected, atol=1e-4)


def test_a_budget_stops_an_update_between_minibatches():
    budget = Budget(1000, None)
    model = make_model(native())
    model.policy.budget = budget
    model.learn(64)
    budget.signal = 15
    budget.check_signal = functools.partial(_stop)
    with pytest.raises(Stopped):
        model.train()


def _stop():
    raise Stopped("now")


def test_the_highest_dice_draw_a_legal_action(monkeypatch):
    """A draw may round up to the sum of all probabilities; behind that stand illegal actions, and then nothing."""
    probabilities = torch.tensor([[0.1, 0.2, 0.3, 0.4 - 1e-7, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0, 0.0, 0.0]])
    monkeypatch.setattr(torch, "rand", lambda *size, device: torch.ones(size))
    assert _draw(probabilities).tolist() == [3, 1]
    monkeypatch.setattr(torch, "rand", lambda *size, device: torch.zeros(size))
    assert _draw(probabilities).tolist() == [0, 1]
