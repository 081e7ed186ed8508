"""The network under stock MaskablePPO on every kind of vector environment, and the learner of runs on self-play."""

import signal

import gymnasium as gym
import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv, VecMonitor

from mozaic_env.agents.policy.network import NetworkConfig
from mozaic_env.envs.sb3 import GameVecEnv
from mozaic_env.games import make_game
from mozaic_env.simulation.self_play import SelfPlayGames
from training.config import Config
from training.ppo.learner import make_learner
from training.ppo.policy import NetworkPolicy, _draw
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


def make_own(**settings):
    """The learner of a run, and games in which it holds all seats."""
    warm, ppo = settings.pop("warm_start", {}), {"minibatch": 32, "epochs": 2, "games": 16, "rollout": 16, **settings}
    config = Config(
        game={"options": {"rules": "onyx", "rows": 4, "cols": 4}},
        network={"channels": 16, "blocks": 1, "value_hidden": 16},
        ppo=ppo,
        warm_start=warm,
    )
    game = config.make_game()
    learner = make_learner(config, game, Budget(10_000, None), "cpu", False)
    learner.set_logger(Logger(None, []))
    return learner, SelfPlayGames(game, mirror=config.ppo.games, steps=config.ppo.rollout, rewards=config.rewards)


def play(learner, games, updates):
    for _ in range(updates):
        learner.learn_from(games.play(learner.act), games.steps * games.size)


def some_positions(learner, size=8):
    env = GameVecEnv(size, learner.policy._make[0])
    env.seed(1)
    observation = {key: torch.tensor(entry) for key, entry in env.reset().items()}
    return observation, torch.tensor(env.action_masks())


def test_it_learns_from_all_seats_of_mirror_games():
    learner, games = make_own(games=64, minibatch=256, epochs=4, learning_rate=3e-3, learning_rate_end=3e-3)
    before = mean_margin(learner, deterministic=False)
    play(learner, games, 12)
    assert learner.num_timesteps == 12 * 64 * 16
    assert mean_margin(learner, deterministic=False) > before + 0.4


def test_without_a_reference_the_update_is_that_of_sb3_contrib():
    """Our loss with one minibatch an epoch, where it does not matter over what advantages are normalised."""
    learner, games = make_own(minibatch=10_000, epochs=3, entropy=0.01)
    stock, _ = make_own(minibatch=10_000, epochs=3, entropy=0.01)
    fragment = games.play(learner.act)
    for model in (learner, stock):
        model.rollout_buffer.fill(fragment)
    learner.train()
    MaskablePPO.train(stock)
    for mine, theirs in zip(learner.policy.parameters(), stock.policy.parameters(), strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-2, atol=5e-4)
    ours, theirs = learner.logger.name_to_value, stock.logger.name_to_value
    for name in (
        "value_loss",
        "policy_gradient_loss",
        "explained_variance",
        "clip_range",
        "learning_rate",
        "n_updates",
    ):
        assert ours[f"train/{name}"] == pytest.approx(theirs[f"train/{name}"], rel=1e-3, abs=1e-5), name
    assert ours["train/entropy"] == pytest.approx(-theirs["train/entropy_loss"], rel=1e-4)


def test_the_policy_stays_close_to_the_reference():
    def divergence(coefficient):
        learner, games = make_own(epochs=4, warm_start={"kl_coefficient": coefficient})
        learner.stay_close_to(learner.network)
        start = {key: weights.clone() for key, weights in learner.reference.state_dict().items()}
        play(learner, games, 8)
        assert all(torch.equal(start[key], weights) for key, weights in learner.reference.state_dict().items())
        observation, _ = some_positions(learner, 16)
        with torch.no_grad():
            logits, kept = learner.network(observation)[0], learner.reference(observation)[0]
        return torch.nn.functional.kl_div(logits.log_softmax(1), kept.softmax(1), reduction="batchmean")

    assert divergence(10.0) < 0.2 * divergence(0.0)


def test_the_divergence_is_a_term_of_the_loss():
    learner, games = make_own(entropy=0.5, warm_start={"kl_coefficient": 2.0})
    learner.rollout_buffer.fill(games.play(learner.act))
    batch = next(learner.rollout_buffer.get())
    plain = learner._losses(batch, 0.2)
    assert "divergence" not in plain
    learner.stay_close_to(learner.network)
    with torch.no_grad():
        for weights in learner.network.action_head.parameters():
            weights += torch.randn_like(weights)
    terms = learner._losses(batch, 0.2)
    now, before = (
        torch.distributions.Categorical(logits=net(batch.observations)[0].masked_fill(~batch.action_masks, -1e8))
        for net in (learner.network, learner.reference)
    )
    torch.testing.assert_close(terms["divergence"], torch.distributions.kl_divergence(before, now).mean())
    torch.testing.assert_close(terms["entropy"], now.entropy().mean())
    rest = terms["policy_gradient_loss"] + learner.vf_coef * terms["value_loss"] - 0.5 * terms["entropy"]
    torch.testing.assert_close(terms["loss"], rest + 2 * terms["divergence"])


def test_minibatches_hold_each_decision_once_and_none_is_small():
    learner, games = make_own()
    fragment = games.play(learner.act)
    learner.rollout_buffer.fill(fragment)
    orders = []
    for seed in (1, 1, 2):
        np.random.seed(seed)  # noqa: NPY002 - as stable-baselines3 does
        batches = list(learner.rollout_buffer.get(30))
        orders.append(torch.cat([batch.old_log_prob for batch in batches]))
        *full, last = [len(batch.actions) for batch in batches]
        assert set(full) == {30}
        assert 15 <= last <= 45
        for key, entry in fragment.observation.items():
            taken = torch.cat([batch.observations[key] for batch in batches]).reshape(len(entry), -1).double()
            assert taken.sum() == torch.from_numpy(entry).double().sum()
        assert all(batch.action_masks[torch.arange(len(batch.actions)), batch.actions].all() for batch in batches)
    assert torch.equal(orders[0], orders[1])
    assert not torch.equal(orders[0], orders[2])
    assert sorted(orders[0].tolist()) == sorted(fragment.log_probabilities.tolist())


def test_a_fragment_too_short_to_show_what_came_of_anything_changes_nothing():
    learner, _ = make_own()
    games = SelfPlayGames(learner.policy._make[0], mirror=1, steps=1)
    before = [weights.clone() for weights in learner.policy.parameters()]
    play(learner, games, 1)
    assert learner.num_timesteps == 1
    assert all(torch.equal(*pair) for pair in zip(before, learner.policy.parameters(), strict=True))
    play(learner, games, 40)  # one decision at a time
    assert learner.network.is_finite()


def test_a_budget_stops_an_update_between_minibatches():
    learner, games = make_own()
    fragment = games.play(learner.act)
    learner.budget.signal = signal.SIGTERM
    with pytest.raises(Stopped):
        learner.learn_from(fragment, 1)


def test_the_highest_dice_draw_a_legal_action(monkeypatch):
    """A draw may round up to the sum of all probabilities; behind that stand illegal actions, and then nothing."""
    probabilities = torch.tensor([[0.1, 0.2, 0.3, 0.4 - 1e-7, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0, 0.0, 0.0]])
    monkeypatch.setattr(torch, "rand", lambda *size, device: torch.ones(size))
    assert _draw(probabilities).tolist() == [3, 1]
    monkeypatch.setattr(torch, "rand", lambda *size, device: torch.zeros(size))
    assert _draw(probabilities).tolist() == [0, 1]
