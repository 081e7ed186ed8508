"""The network as a stable-baselines3 policy, and MaskablePPO with a budget."""

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from gymnasium import spaces
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.distributions import MaskableDistribution
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.torch_layers import CombinedExtractor
from torch import Tensor
from torch.nn import functional

from mozaic_env.agents.policy.network import NetworkConfig
from mozaic_env.agents.policy.networks import Network, make_network
from mozaic_env.core.game import Game
from training.config import Config
from training.ppo.buffer import RolloutBuffer
from training.ppo.environment import PaidEnv
from training.runs.budget import Budget

Observation = Mapping[str, Tensor]
Masks = npt.NDArray[np.bool_] | Tensor | None

_ILLEGAL = -1e8  # logit of illegal actions: their probability is exactly 0, and 0 times it is still 0


def computes_in_bfloat16(device: str) -> bool:
    """Whether bfloat16 is faster than float32 on a device: on CPUs only with instructions for it."""
    if device != "cpu":
        return torch.cuda.is_bf16_supported()
    return bool(torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported())


class NetworkPolicy(MaskableActorCriticPolicy):
    """The game's network behind the interface of sb3-contrib's policies."""

    def __init__(
        self,
        observation_space: spaces.Space[Any],
        action_space: spaces.Space[Any],
        lr_schedule: Any,
        *,
        game: Game,
        network: NetworkConfig,
        bfloat16: bool = False,
        budget: Budget | None = None,
        entropy: float = 0.0,
        keep: float = 0.0,
    ) -> None:
        """Makes a policy with random weights.

        Args:
            observation_space: of the game.
            action_space: of the game.
            lr_schedule: the learning rate as a function of what is left of the budget.
            game: whose layout the network has.
            network: its size.
            bfloat16: compute in mixed precision.
            budget: checked at each minibatch, so that a run stops within an update too.
            entropy: with `keep_close_to`: the weight of the entropy.
            keep: the weight of the divergence from that network's policy.
        """
        self._make = game, network
        self._entropy, self._keep = entropy, keep
        self._kept: tuple[Network, ...] = ()  # in a tuple, since it is no part of this module
        self.noted: dict[str, list[Tensor]] = {}  # values of the last update's decisions, by their metrics' names
        self.bfloat16, self.budget = bfloat16, budget
        super().__init__(observation_space, action_space, lr_schedule, features_extractor_class=CombinedExtractor)

    def _build(self, lr_schedule: Any) -> None:
        self.network = make_network(*self._make)
        self.optimizer = torch.optim.Adam(self.parameters(), lr_schedule(1), eps=1e-5, fused=True)

    def keep_close_to(self, network: Network) -> None:
        """From now on the loss holds the divergence from this network's policy; no later change of it counts."""
        self._kept = (copy.deepcopy(network).eval().requires_grad_(False),)

    @property
    def kept(self) -> Network | None:
        """What `keep_close_to` has copied."""
        return self._kept[0] if self._kept else None

    def _evaluate(
        self, observation: Observation, masks: Masks, network: Network | None = None
    ) -> tuple[Tensor, Tensor]:
        """Logits, those of illegal actions very low, and values of shape (n,)."""
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.bfloat16):
            logits, values = (network or self.network)(observation)
        logits = logits.float()
        if masks is not None:
            legal = torch.as_tensor(masks, device=logits.device).bool().reshape(logits.shape)
            logits = torch.where(legal, logits, _ILLEGAL)
        return logits, values.float()

    def forward(
        self, obs: Observation, deterministic: bool = False, action_masks: Masks = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Actions, values (n, 1) and log probabilities of the actions."""
        logits, values = self._evaluate(obs, action_masks)
        log_probabilities = functional.log_softmax(logits, 1)
        actions = logits.argmax(1) if deterministic else _draw(functional.softmax(logits, 1))
        return actions, values[:, None], _of(log_probabilities, actions)

    def evaluate_actions(
        self, obs: Observation, actions: Tensor, action_masks: Masks = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Values (n, 1), log probabilities of the actions, and entropies over the legal actions.

        With `keep_close_to`, in place of the entropies what the loss rewards: entropy, less the
        Kullback-Leibler divergence of this policy from the kept one, both weighted.
        """
        if self.budget is not None:
            self.budget.check()
        logits, values = self._evaluate(obs, action_masks)
        log_probabilities = functional.log_softmax(logits, 1)
        entropy = -(functional.softmax(logits, 1) * log_probabilities).sum(1)
        self._note("train/entropy", entropy)
        if self._kept:
            with torch.no_grad():
                kept, _ = self._evaluate(obs, action_masks, self.kept)
                wanted, weights = functional.log_softmax(kept, 1), functional.softmax(kept, 1)
            divergence = (weights * (wanted - log_probabilities)).sum(1)
            self._note("train/divergence", divergence)
            entropy = self._entropy * entropy - self._keep * divergence
        return values[:, None], _of(log_probabilities, actions), entropy

    def _note(self, name: str, values: Tensor) -> None:
        if self.training:
            self.noted.setdefault(name, []).append(values.detach().mean())

    def get_distribution(self, obs: Observation, action_masks: Masks = None) -> MaskableDistribution:
        """The distribution over actions, as `predict` asks for it."""
        logits, _ = self._evaluate(obs, None)
        distribution = self.action_dist.proba_distribution(action_logits=logits)
        if action_masks is not None:
            distribution.apply_masking(action_masks)
        return distribution

    def predict_values(self, obs: Observation) -> Tensor:
        """Values, shape (n, 1)."""
        return self._evaluate(obs, None)[1][:, None]


def _draw(probabilities: Tensor) -> Tensor:
    """An action for each row by its probabilities, none of which is drawn that is 0.

    On one core it takes an eighteenth of the time of torch.multinomial.
    """
    up_to = probabilities.cumsum(1)
    total = up_to[:, -1:]
    dice = torch.rand(len(up_to), 1, device=up_to.device) * total
    # The product may be rounded up to the total, behind which there is no action.
    dice = torch.minimum(dice, torch.nextafter(total, torch.zeros_like(total)))
    return torch.searchsorted(up_to, dice, right=True)[:, 0]


def _of(log_probabilities: Tensor, actions: Tensor) -> Tensor:
    return log_probabilities.gather(1, actions[:, None])[:, 0]


class SelfPlayPPO(MaskablePPO):
    """MaskablePPO whose schedules follow the budget, time included, and not the steps alone.

    Attributes:
        decisions_before: learnt from before self-play; the metrics' steps begin there.
    """

    def __init__(self, *arguments: Any, budget: Budget, **options: Any) -> None:
        """Takes MaskablePPO's arguments and the budget."""
        self.budget, self.decisions_before = budget, 0
        super().__init__(*arguments, rollout_buffer_class=RolloutBuffer, **options)

    def _update_info_buffer(self, infos: list[dict[str, Any]], dones: npt.NDArray[np.bool_] | None = None) -> None:
        """Nothing: `RunCallback` counts the endings."""

    def dump_logs(self, iteration: int = 0) -> None:
        """Writes the metrics down, without those that `RunCallback` notes under other names."""
        self.logger.dump(self.decisions_before + self.num_timesteps)

    def train(self) -> None:
        """Updates the policy, and notes entropy and divergence apart, which entropy_loss adds up."""
        self.policy.noted = {}
        super().train()
        for known in (self.logger.name_to_value, self.logger.name_to_excluded):
            known.pop("train/entropy_loss", None)
        for name, values in self.policy.noted.items():
            self.logger.record(name, float(torch.stack(values).mean()))

    def _update_current_progress_remaining(self, num_timesteps: int, total_timesteps: int) -> None:
        self._current_progress_remaining = 1.0 - self.budget.used(num_timesteps)


def make_learner(config: Config, game: Game, env: PaidEnv, budget: Budget, device: str, bfloat16: bool) -> SelfPlayPPO:
    """A learner as configured, its weights random by the configuration's seed."""
    ppo, keep = config.ppo, 0.0 if config.warm_start.teacher is None else config.warm_start.keep

    def learning_rate(left: float) -> float:
        return ppo.learning_rate_end + left * (ppo.learning_rate - ppo.learning_rate_end)

    return SelfPlayPPO(
        NetworkPolicy,
        env,
        budget=budget,
        learning_rate=learning_rate,
        n_steps=ppo.rollout,
        batch_size=ppo.minibatch,
        n_epochs=ppo.epochs,
        gamma=ppo.discount,
        gae_lambda=ppo.gae_lambda,
        clip_range=ppo.clip,
        ent_coef=1.0 if keep else ppo.entropy,  # with `keep` the policy has weighed the entropies
        vf_coef=ppo.value_weight,
        max_grad_norm=ppo.max_grad_norm,
        policy_kwargs={
            "game": game,
            "network": NetworkConfig(**config.network.model_dump()),
            "bfloat16": bfloat16,
            "budget": budget,
            "entropy": ppo.entropy,
            "keep": keep,
        },
        seed=config.seed,
        device=device,
    )
