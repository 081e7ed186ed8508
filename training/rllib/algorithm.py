"""A run's configuration in RLlib's words, and the algorithm that comes of it."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from ray.rllib.algorithms.ppo.ppo import PPOConfig

from mozaic_env.agents.policy.network import NetworkConfig
from mozaic_env.core.game import Game
from mozaic_env.rllib.algorithm import MaskedPPOLearner, SelfPlayPPO
from mozaic_env.rllib.module import module_spec
from mozaic_env.rllib.runner import SELF_PLAY, GamesEnvRunner, SelfPlay
from training.rllib.config import RLlibConfig


@contextmanager
def make_algorithm(config: RLlibConfig, game: Game, luck: tuple[int, ...]) -> Iterator[Any]:
    """RLlib's PPO as configured, its runners and learners started; they end with the context."""
    torch.set_num_threads(config.learners.threads)
    algorithm = algorithm_config(config, game, luck).build_algo()
    try:
        yield algorithm
    finally:
        algorithm.stop()
        shutil.rmtree(algorithm.logdir, ignore_errors=True)  # which RLlib makes; all that counts is in the run folder


def algorithm_config(config: RLlibConfig, game: Game, luck: tuple[int, ...]) -> Any:
    """The configuration in RLlib's words."""
    ppo = config.ppo
    network = NetworkConfig(**config.network.model_dump())
    spec = module_spec(game, network)
    task = SelfPlay(
        game=game.name,
        options=game.options,
        network=network,
        games=ppo.games,
        steps=ppo.rollout,
        rewards=config.rewards,
        opponents=config.opponents.as_opponents(),
        seed=luck,
    )
    return (
        PPOConfig(algo_class=SelfPlayPPO)
        .environment(
            observation_space=spec.observation_space, action_space=spec.action_space, env_config={SELF_PLAY: task}
        )
        .rl_module(rl_module_spec=spec)
        .env_runners(
            env_runner_cls=GamesEnvRunner,
            num_env_runners=config.runners.number,
            num_cpus_per_env_runner=config.runners.cpus,
            num_envs_per_env_runner=ppo.games,
            rollout_fragment_length=ppo.rollout,
            create_local_env_runner=config.runners.number == 0,
            merge_env_runner_states=False,  # there are no connectors with a state
            broadcast_env_runner_states=False,
        )
        .learners(
            learner_class=MaskedPPOLearner,
            num_learners=config.learners.number,
            num_gpus_per_learner=config.learners.gpus,
        )
        .training(
            train_batch_size_per_learner=config.batch // max(config.learners.number, 1),
            minibatch_size=ppo.minibatch // max(config.learners.number, 1),
            num_epochs=ppo.epochs,
            shuffle_batch_per_epoch=True,
            lr=[[0, ppo.learning_rate], [config.steps, ppo.learning_rate_end]],
            gamma=ppo.discount,
            lambda_=ppo.gae_lambda,
            clip_param=ppo.clip,
            entropy_coeff=ppo.entropy,
            vf_loss_coeff=ppo.value_weight,
            vf_clip_param=float("inf"),
            use_kl_loss=False,
            grad_clip=ppo.max_grad_norm,
            grad_clip_by="global_norm",
        )
        .fault_tolerance(
            restart_failed_env_runners=True,
            delay_between_env_runner_restarts_s=1.0,
            env_runner_health_probe_timeout_s=1.0,
        )
        .debugging(seed=config.seed, log_level="ERROR")
        .reporting(min_time_s_per_iteration=0)
    )
