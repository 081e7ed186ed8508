"""The network as a stable-baselines3 policy, and as its own opponent."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from gymnasium import spaces
from sb3_contrib.common.maskable.distributions import MaskableDistribution
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.torch_layers import CombinedExtractor
from torch import Tensor, nn
from torch.nn import functional

from mozaic_env.agents.policy.network import NetworkConfig
from mozaic_env.agents.policy.networks import Network, make_network
from mozaic_env.core.game import Game

Observation = Mapping[str, Tensor]
Masks = npt.NDArray[np.bool_] | Tensor | None

_ILLEGAL = -1e8  # logit of illegal actions: their probability is exactly 0, and 0 times it is still 0


def computes_in_bfloat16(device: str) -> bool:
    """Whether bfloat16 is faster than float32 on a device: on CPUs only with instructions for it."""
    if device != "cpu":
        return torch.cuda.is_bf16_supported()
    return bool(torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported())


def evaluate(network: nn.Module, observation: Observation, masks: Masks, bfloat16: bool) -> tuple[Tensor, Tensor]:
    """Log probabilities of the actions, those of illegal ones very low, and values of shape (n,); in float32.

    Args:
        network: called with the observation.
        observation: entries of shape (n, ...).
        masks: shape (n, actions); None: everything is legal.
        bfloat16: compute in mixed precision.
    """
    device = next(network.parameters()).device.type
    with torch.autocast(device, torch.bfloat16, enabled=bfloat16):
        logits, values = network(observation)
    logits = logits.float()
    if masks is not None:
        legal = torch.as_tensor(masks, device=logits.device).bool().reshape(logits.shape)
        logits = torch.where(legal, logits, _ILLEGAL)
    return functional.log_softmax(logits, 1), values.float()


class Player(nn.Module):
    """A network as agents play it: in bfloat16 where that is asked for, answers in float32."""

    def __init__(
        self, network: nn.Module, bfloat16: bool, timer: Callable[[], AbstractContextManager[None]] = nullcontext
    ) -> None:
        """Takes the network, which stays the caller's; what `timer` gives is entered while it computes."""
        super().__init__()
        self.network, self.bfloat16, self._timer = network, bfloat16, timer

    def forward(self, observation: Observation) -> tuple[Tensor, Tensor]:
        """As `Network.forward`."""
        device = next(self.network.parameters()).device.type
        with self._timer(), torch.autocast(device, torch.bfloat16, enabled=self.bfloat16):
            logits, values = self.network(observation)
            return logits.float(), values.float()


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
    ) -> None:
        """Makes a policy with random weights.

        Args:
            observation_space: of the game.
            action_space: of the game.
            lr_schedule: the learning rate as a function of what is left of the budget.
            game: whose layout the network has.
            network: its size.
            bfloat16: compute in mixed precision.
        """
        self._make = game, network
        self.bfloat16 = bfloat16
        super().__init__(observation_space, action_space, lr_schedule, features_extractor_class=CombinedExtractor)

    def _build(self, lr_schedule: Any) -> None:
        self.network: Network = make_network(*self._make)
        self.optimizer = torch.optim.Adam(self.parameters(), lr_schedule(1), eps=1e-5, fused=True)

    def evaluate(self, observation: Observation, masks: Masks = None) -> tuple[Tensor, Tensor]:
        """Log probabilities of all actions, shape (n, actions), and values, shape (n,)."""
        return evaluate(self.network, observation, masks, self.bfloat16)

    def forward(
        self, obs: Observation, deterministic: bool = False, action_masks: Masks = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Actions, values (n, 1) and log probabilities of the actions."""
        log_probabilities, values = self.evaluate(obs, action_masks)
        actions = log_probabilities.argmax(1) if deterministic else _draw(log_probabilities.exp())
        return actions, values[:, None], of_actions(log_probabilities, actions)

    def evaluate_actions(
        self, obs: Observation, actions: Tensor, action_masks: Masks = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Values (n, 1), log probabilities of the actions, and entropies over the legal actions."""
        log_probabilities, values = self.evaluate(obs, action_masks)
        return values[:, None], of_actions(log_probabilities, actions), entropies(log_probabilities)

    def get_distribution(self, obs: Observation, action_masks: Masks = None) -> MaskableDistribution:
        """The distribution over actions, as `predict` asks for it."""
        distribution = self.action_dist.proba_distribution(action_logits=self.evaluate(obs)[0])
        if action_masks is not None:
            distribution.apply_masking(action_masks)
        return distribution

    def predict_values(self, obs: Observation) -> Tensor:
        """Values, shape (n, 1)."""
        return self.evaluate(obs)[1][:, None]


def of_actions(log_probabilities: Tensor, actions: Tensor) -> Tensor:
    """The log probabilities of the actions taken, shape (n,)."""
    return log_probabilities.gather(1, actions[:, None])[:, 0]


def entropies(log_probabilities: Tensor) -> Tensor:
    """In nats, shape (n,)."""
    return -(log_probabilities.exp() * log_probabilities).sum(1)


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
