import numpy as np
import pytest
import torch
from sb3_contrib.common.maskable.buffers import MaskableDictRolloutBuffer

from mozaic_env.envs.sb3 import GameVecEnv
from training.ppo.buffer import RolloutBuffer

STEPS, GAMES = 6, 5


def fill(buffers, seed):
    """Plays random moves, with made-up values, into all buffers."""
    env = GameVecEnv(GAMES, "mozaic", rows=4, cols=4, reward="margin")
    env.seed(seed)
    rng, observation = np.random.default_rng(seed), env.reset()
    starts = np.ones(GAMES, bool)
    for buffer in buffers:
        buffer.reset()
    for _ in range(STEPS):
        masks = env.action_masks()
        actions = (masks * rng.random(masks.shape)).argmax(1)
        after, rewards, dones, _ = env.step(actions)
        values, log_probs = torch.tensor(rng.random((2, GAMES)), dtype=torch.float32)
        for buffer in buffers:
            buffer.add(observation, actions, rewards, starts, values[:, None], log_probs, action_masks=masks)
        observation, starts = after, dones
    last = torch.tensor(rng.random((GAMES, 1)), dtype=torch.float32)
    for buffer in buffers:
        buffer.compute_returns_and_advantage(last, starts)


def make(kind):
    env = GameVecEnv(GAMES, "mozaic", rows=4, cols=4)
    return kind(STEPS, env.observation_space, env.action_space, "cpu", gae_lambda=0.9, gamma=0.99, n_envs=GAMES)


def decisions(buffer, batch_size):
    """All decisions as bytes, in order, from minibatches."""
    found = []
    for batch in buffer.get(batch_size):
        parts = [*batch.observations.values(), *batch[1:]]
        assert len({len(part) for part in parts}) == 1
        arrays = [part.numpy().reshape(len(part), -1).astype(np.float32) for part in parts]
        found += [row.tobytes() for row in np.concatenate(arrays, 1)]
    return sorted(found)


@pytest.mark.parametrize("batch_size", [None, 7, 15])
def test_it_gives_what_the_buffer_of_the_library_gives_rollout_after_rollout(batch_size):
    own, theirs = make(RolloutBuffer), make(MaskableDictRolloutBuffer)
    before = None
    for seed in range(3):
        fill((own, theirs), seed)
        first = decisions(own, batch_size)
        assert len(set(first)) == STEPS * GAMES
        assert first != before
        assert first == decisions(own, batch_size) == decisions(theirs, batch_size)
        before = first


def test_minibatches_come_in_another_order_each_time_and_repeat_with_the_generator():
    buffer = make(RolloutBuffer)
    fill((buffer,), 0)
    orders = []
    for seed in (1, 1, 2):
        np.random.seed(seed)  # noqa: NPY002 - as stable-baselines3 does
        orders.append(next(buffer.get(8)).old_values.tolist())
    assert orders[0] == orders[1] != orders[2]


def test_without_masks_everything_was_legal():
    buffer = make(RolloutBuffer)
    fill((buffer,), 0)
    assert not next(buffer.get()).action_masks.all()
    buffer.reset()
    env = GameVecEnv(GAMES, "mozaic", rows=4, cols=4)
    zeros = np.zeros(GAMES)
    for _ in range(STEPS):
        buffer.add(env.reset(), zeros.astype(int), zeros, zeros, torch.zeros(GAMES, 1), torch.zeros(GAMES))
    assert next(buffer.get()).action_masks.all()
