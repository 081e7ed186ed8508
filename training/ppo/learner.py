"""MaskablePPO trained on self-play: what is different from sb3-contrib's, all of it here.

* Decisions come from `mozaic_env.simulation.self_play`, which gives those of all seats that the policy holds, and not
  from a vector environment: `act` is asked by the games, `learn_from` takes a fragment of them.
* The loss has a term more: the divergence of the policy from a fixed one, such as the imitated policy of a warm start.
* Schedules follow the budget, time included, and not the steps alone; a run may end between two minibatches.
* Advantages are normalised over an update and not over a minibatch.
"""

import copy
from collections import defaultdict
from typing import Any

import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.utils import explained_variance
from torch import Tensor
from torch.nn import functional

from mozaic_env.agents.policy.network import NetworkConfig
from mozaic_env.agents.policy.networks import Network
from mozaic_env.core.game import Game
from mozaic_env.envs.sb3 import GameVecEnv
from mozaic_env.simulation.advantages import Array
from mozaic_env.simulation.self_play import Fragment, Observation
from training.config import Config
from training.ppo.buffer import FragmentBuffer, Minibatch
from training.ppo.policy import NetworkPolicy, entropies, evaluate, of_actions
from training.runs.budget import Budget


class SelfPlayPPO(MaskablePPO):
    """MaskablePPO on fragments of self-play.

    Attributes:
        reference: the network whose policy this one stays close to, or None.
    """

    policy: NetworkPolicy
    rollout_buffer: FragmentBuffer

    def __init__(self, *arguments: Any, budget: Budget, kl_coefficient: float = 0.0, **options: Any) -> None:
        """Takes MaskablePPO's arguments, the budget, and the weight of the divergence from `reference`."""
        self.budget, self.kl_coefficient = budget, kl_coefficient
        self.reference: Network | None = None
        super().__init__(*arguments, rollout_buffer_class=FragmentBuffer, **options)

    def _setup_model(self) -> None:
        super()._setup_model()
        self.rollout_buffer = FragmentBuffer(device=self.device)

    @property
    def network(self) -> Network:
        """The policy's network."""
        return self.policy.network

    def stay_close_to(self, network: Network) -> None:
        """From now on the loss holds the divergence from this network's policy; no later change of it counts."""
        self.reference = copy.deepcopy(network).eval().requires_grad_(False)

    def act(self, observation: Observation, masks: Array) -> tuple[Array, Array, Array]:
        """Actions drawn by the policy, their log probabilities, and values; each of shape (n,)."""
        self.policy.set_training_mode(False)
        views = {key: torch.from_numpy(entry).to(self.device) for key, entry in observation.items()}
        with torch.no_grad():
            actions, values, log_probabilities = self.policy(views, action_masks=masks)
        return actions.cpu().numpy(), log_probabilities.cpu().numpy(), values[:, 0].cpu().numpy()

    def learn_from(self, fragment: Fragment, decisions: int) -> None:
        """Trains on a fragment.

        Args:
            fragment: of self-play.
            decisions: that were made for it, by which the steps grow.
        """
        self.num_timesteps += decisions
        self._current_progress_remaining = 1.0 - self.budget.used(self.num_timesteps)
        if len(fragment.actions):  # else nothing is known yet of what came of any decision
            self.rollout_buffer.fill(fragment)
            self.train()

    def train(self) -> None:
        """PPO's epochs over what the buffer holds; notes the means over all minibatches."""
        self.policy.set_training_mode(True)
        self._update_learning_rate(self.policy.optimizer)
        clip_range: float = self.clip_range(self._current_progress_remaining)
        noted: dict[str, list[Tensor]] = defaultdict(list)
        for _ in range(self.n_epochs):
            for batch in self.rollout_buffer.get(self.batch_size):
                self.budget.check()
                terms = self._losses(batch, clip_range)
                self.policy.optimizer.zero_grad()
                terms["loss"].backward()  # type: ignore[no-untyped-call]
                torch.nn.utils.clip_grad_norm_(self.policy.parameters(), self.max_grad_norm)
                self.policy.optimizer.step()
                for name, value in terms.items():
                    noted[name].append(value.detach())
            self._n_updates += 1
        for name, values in noted.items():
            self.logger.record(f"train/{name}", float(torch.stack(values).mean()))
        explained = explained_variance(self.rollout_buffer.values, self.rollout_buffer.returns)
        self.logger.record("train/explained_variance", float(explained))
        self.logger.record("train/n_updates", self._n_updates, exclude="tensorboard")
        self.logger.record("train/clip_range", clip_range)

    def _losses(self, batch: Minibatch, clip_range: float) -> dict[str, Tensor]:
        """The loss of a minibatch, its terms, and what else is noted, by the names of the metrics."""
        log_probabilities, values = self.policy.evaluate(batch.observations, batch.action_masks)
        difference = of_actions(log_probabilities, batch.actions) - batch.old_log_prob
        ratio = difference.exp()
        clipped = ratio.clamp(1 - clip_range, 1 + clip_range)
        policy_loss = -torch.min(batch.advantages * ratio, batch.advantages * clipped).mean()
        value_loss = functional.mse_loss(values, batch.returns)
        entropy = entropies(log_probabilities).mean()
        loss = policy_loss + self.vf_coef * value_loss - self.ent_coef * entropy
        terms = {"policy_gradient_loss": policy_loss, "value_loss": value_loss, "entropy": entropy}
        if self.reference is not None:
            with torch.no_grad():
                wanted, _ = evaluate(self.reference, batch.observations, batch.action_masks, self.policy.bfloat16)
            terms["divergence"] = (wanted.exp() * (wanted - log_probabilities)).sum(1).mean()  # Kullback-Leibler
            loss = loss + self.kl_coefficient * terms["divergence"]
        with torch.no_grad():
            terms["approx_kl"] = (ratio - 1 - difference).mean()  # J. Schulman, Approximating KL divergence, 2020
            terms["clip_fraction"] = ((ratio - 1).abs() > clip_range).float().mean()
        return {"loss": loss, **terms}


def make_learner(config: Config, game: Game, budget: Budget, device: str, bfloat16: bool) -> SelfPlayPPO:
    """A learner as configured, its weights random by the configuration's seed."""
    ppo = config.ppo

    def learning_rate(left: float) -> float:
        return ppo.learning_rate_end + left * (ppo.learning_rate - ppo.learning_rate_end)

    return SelfPlayPPO(
        NetworkPolicy,
        GameVecEnv(1, game),  # tells the spaces; nothing is played in it
        budget=budget,
        kl_coefficient=config.warm_start.kl_coefficient,
        learning_rate=learning_rate,
        n_steps=ppo.rollout * ppo.games,
        batch_size=ppo.minibatch,
        n_epochs=ppo.epochs,
        clip_range=ppo.clip,
        ent_coef=ppo.entropy,
        vf_coef=ppo.value_weight,
        max_grad_norm=ppo.max_grad_norm,
        policy_kwargs={
            "game": game,
            "network": NetworkConfig(**config.network.model_dump()),
            "bfloat16": bfloat16,
        },
        seed=config.seed,
        device=device,
    )
