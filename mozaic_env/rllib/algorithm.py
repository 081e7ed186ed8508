"""RLlib's PPO, fed by runners that play many games each, with earlier selves among the opponents.

The learning is RLlib's: its learner group, loss, optimizer, schedules and checkpoints. What differs from its PPO is
`training_step`: runners send columns with advantages, not episodes, so no Python runs for each game.
"""

import time
from collections.abc import Mapping
from typing import Any

from mozaic_env.core.extras import importing

with importing("mozaic_env.rllib", "tree"):
    import ray
    from ray.rllib.algorithms.ppo.ppo import PPO
    from ray.rllib.algorithms.ppo.torch.ppo_torch_learner import PPOTorchLearner
    from ray.rllib.core import ALL_MODULES, COMPONENT_LEARNER, COMPONENT_RL_MODULE, DEFAULT_MODULE_ID
    from ray.rllib.core.columns import Columns
    from ray.rllib.evaluation.postprocessing import Postprocessing
    from ray.rllib.execution.rollout_ops import synchronous_parallel_sample
    from ray.rllib.policy.sample_batch import MultiAgentBatch, concat_samples
    from ray.rllib.utils.metrics import (
        ENV_RUNNER_RESULTS,
        ENV_RUNNER_SAMPLING_TIMER,
        LEARNER_RESULTS,
        LEARNER_UPDATE_TIMER,
        NUM_ENV_STEPS_SAMPLED_LIFETIME,
        SYNCH_WORKER_WEIGHTS_TIMER,
        TIMERS,
    )

from mozaic_env.agents.policy.league import Weights, admit
from mozaic_env.agents.policy.networks import Network, make_network
from mozaic_env.games import make_game
from mozaic_env.rllib.module import load_weights, own_weights
from mozaic_env.rllib.runner import SELF_PLAY, SelfPlay

ENOUGH = 0.75  # of a whole batch: then an update does not wait for the fragment of a runner that is gone
LOOK_SECONDS = 5  # between two looks whether lost runners are back, each of which waits a little for an answer
PAST = "past"  # in a checkpoint: the earlier selves
APPROX_KL, CLIP_FRACTION = "approx_kl", "clip_fraction"


class MaskedPPOLearner(PPOTorchLearner):  # type: ignore[misc]  # ray has no type information
    """PPO's loss without the runners' logits: of the old policy the log probabilities are enough."""

    def compute_loss_for_module(
        self, *, module_id: str, config: Any, batch: dict[str, Any], fwd_out: Mapping[str, Any]
    ) -> Any:
        """RLlib's loss; its KL term has weight 0, so the logits that it wants are the new ones."""
        logits = fwd_out[Columns.ACTION_DIST_INPUTS]
        new = self.module[module_id].unwrapped().get_train_action_dist_cls().from_logits(logits.detach())
        difference = new.logp(batch[Columns.ACTIONS]) - batch[Columns.ACTION_LOGP]
        ratio = difference.exp()
        facts = {
            APPROX_KL: (ratio - 1 - difference).mean(),  # J. Schulman, Approximating KL divergence, 2020
            CLIP_FRACTION: ((ratio - 1).abs() > config.clip_param).float().mean(),
        }
        self.metrics.log_dict(facts, key=module_id, window=1)
        return super().compute_loss_for_module(
            module_id=module_id,
            config=config,
            batch={**batch, Columns.ACTION_DIST_INPUTS: logits.detach()},
            fwd_out=fwd_out,
        )


class SelfPlayPPO(PPO):  # type: ignore[misc]  # ray has no type information
    """PPO whose config's `env_config` holds a `mozaic_env.rllib.runner.SelfPlay`.

    Attributes:
        past: weights of earlier selves by their age in decisions; kept here, so no lost runner takes them along.
    """

    def setup(self, config: Any) -> None:
        """Starts the runners; the learner as it begins is the first earlier self."""
        self.past: dict[int, Weights] = {}
        self._looked = 0.0  # when it was last asked whether lost runners are back
        super().setup(config)
        self._admit()

    @property
    def task(self) -> SelfPlay:
        """What the runners play."""
        task: SelfPlay = self.config.env_config[SELF_PLAY]
        return task

    @property
    def decisions(self) -> int:
        """How many decisions were trained on so far."""
        return int(self.metrics.peek((ENV_RUNNER_RESULTS, NUM_ENV_STEPS_SAMPLED_LIFETIME), default=0))

    @property
    def network(self) -> Network:
        """A copy of the learner's network."""
        network = make_network(make_game(self.task.game, **self.task.options), self.task.network)
        return load_weights(network, self._weights())

    def _weights(self) -> Weights:
        """The learner's, by their names in the network."""
        where = f"{COMPONENT_LEARNER}/{COMPONENT_RL_MODULE}"
        state = self.learner_group.get_state(components=where, inference_only=True)
        return own_weights(state[COMPONENT_LEARNER][COMPONENT_RL_MODULE][DEFAULT_MODULE_ID])

    def training_step(self) -> None:
        """Plays, learns, and sends the weights out; does nothing while no runner answers."""
        with self.metrics.log_time((TIMERS, ENV_RUNNER_SAMPLING_TIMER), reduce="mean", window=1):
            batches, facts = synchronous_parallel_sample(
                worker_set=self.env_runner_group,
                max_env_steps=int(ENOUGH * self.config.total_train_batch_size),
                sample_timeout_s=None,  # one that is slow is waited for, one that is dead is not
                concat=False,
                _uses_new_env_runners=True,
                _return_metrics=True,
            )
            if not batches:
                return
            self.metrics.aggregate(facts, key=ENV_RUNNER_RESULTS)
        with self.metrics.log_time((TIMERS, LEARNER_UPDATE_TIMER), reduce="mean", window=1):
            batch = concat_samples(batches).shuffle()
            advantages = batch[Postprocessing.ADVANTAGES]
            batch[Postprocessing.ADVANTAGES] = (advantages - advantages.mean()) / max(advantages.std(), 1e-8)
            results = self.learner_group.update(
                batch=MultiAgentBatch({DEFAULT_MODULE_ID: batch}, env_steps=len(batch)),
                timesteps={NUM_ENV_STEPS_SAMPLED_LIFETIME: self.decisions},
                num_epochs=self.config.num_epochs,
                minibatch_size=self.config.minibatch_size,
                shuffle_batch_per_epoch=self.config.shuffle_batch_per_epoch,
            )
            self.metrics.aggregate(results, key=LEARNER_RESULTS)
        with self.metrics.log_time((TIMERS, SYNCH_WORKER_WEIGHTS_TIMER)):
            self.env_runner_group.sync_weights(
                from_worker_or_learner_group=self.learner_group,
                policies=set(results[0]) - {ALL_MODULES},
                inference_only=True,
            )
            if (self.iteration + 1) % self.task.opponents.past_every == 0:
                self._admit()

    def _admit(self) -> None:
        """Makes the learner of now an earlier self."""
        opponents = self.task.opponents
        if opponents.past or opponents.prioritised:
            self.past = admit(self.past, self.decisions, self._weights(), opponents.past_size)
            self._send_past()

    def _send_past(self, runners: list[int] | None = None) -> None:
        past = ray.put(self.past)
        self.env_runner_group.foreach_env_runner(
            lambda runner: runner.set_past(ray.get(past)), remote_worker_ids=runners
        )

    def restore_env_runners(self, env_runner_group: Any) -> list[int]:
        """Looks for runners that have come back and brings them up to date.

        Returns:
            Their numbers.
        """
        there, all_of_them = (
            env_runner_group.num_healthy_remote_env_runners(),
            env_runner_group.num_remote_env_runners(),
        )
        if there == all_of_them or (there and time.monotonic() - self._looked < LOOK_SECONDS):
            return []
        restored: list[int] = env_runner_group.probe_unhealthy_env_runners()
        self._looked = time.monotonic()
        if restored:
            env_runner_group.sync_weights(
                from_worker_or_learner_group=self.learner_group, to_worker_indices=restored, inference_only=True
            )
            self._send_past(restored)
            luck = self.decisions  # so that it does not play the games once more that were lost with it
            env_runner_group.foreach_env_runner(lambda runner: runner.begin(luck), remote_worker_ids=restored)
        return restored

    def get_state(self, *arguments: Any, **options: Any) -> dict[str, Any]:
        """RLlib's state and the earlier selves."""
        state: dict[str, Any] = super().get_state(*arguments, **options)
        return {**state, PAST: self.past}

    def set_state(self, state: Mapping[str, Any]) -> None:
        """The inverse of `get_state`."""
        super().set_state(state)
        if PAST in state:
            self.past = dict(state[PAST])
            self._send_past()
