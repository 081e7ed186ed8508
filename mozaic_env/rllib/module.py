"""The project's networks as an RLModule that never picks an illegal action."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from mozaic_env.core.extras import importing

with importing("mozaic_env.rllib", "tree"):
    import torch
    from ray.rllib.core.columns import Columns
    from ray.rllib.core.rl_module.apis.value_function_api import ValueFunctionAPI
    from ray.rllib.core.rl_module.rl_module import RLModuleSpec
    from ray.rllib.core.rl_module.torch.torch_rl_module import TorchRLModule
    from torch import Tensor

from mozaic_env.agents.policy.network import NetworkConfig
from mozaic_env.agents.policy.networks import Network, check_network, make_network
from mozaic_env.core.game import Game
from mozaic_env.envs.gymnasium.spaces import action_space
from mozaic_env.envs.rllib import ACTION_MASK, OBSERVATIONS, masked_space
from mozaic_env.games import make_game

ILLEGAL = -1e8  # logit of illegal actions: their probability is exactly 0, and 0 times it is still 0

_PREFIX = "network."  # of the network's weights among the module's

Weights = Mapping[str, npt.NDArray[Any]]


class MaskedModule(TorchRLModule, ValueFunctionAPI):  # type: ignore[misc]  # ray has no type information
    """A policy and value network for observations of `observations` and `action_mask`, of any game.

    `model_config` holds `game`, `options` (the game's own), and the sizes of
    `mozaic_env.agents.policy.network.NetworkConfig`; `module_spec` writes it.
    """

    def setup(self) -> None:
        """Makes the network, its weights random."""
        config = dict(self.model_config)
        self.game = make_game(config["game"], **config["options"])
        sizes = {name: config[name] for name in NetworkConfig().__dict__}
        self.network = make_network(self.game, NetworkConfig(**sizes))

    def _forward(self, batch: Mapping[str, Any], **kwargs: Any) -> dict[str, Tensor]:
        """Logits, those of illegal actions very low, and values of shape (n,)."""
        observation = batch[Columns.OBS]
        logits, values = self.network(observation[OBSERVATIONS])
        masked = torch.where(observation[ACTION_MASK] > 0, logits, ILLEGAL)
        return {Columns.ACTION_DIST_INPUTS: masked, Columns.VF_PREDS: values}

    def _forward_train(self, batch: Mapping[str, Any], **kwargs: Any) -> dict[str, Tensor]:
        out = self._forward(batch)
        return {**out, Columns.EMBEDDINGS: out[Columns.VF_PREDS]}  # what `compute_values` gets, so all is done once

    def compute_values(self, batch: Mapping[str, Any], embeddings: Tensor | None = None) -> Tensor:
        """Values for the seats that see the observations, shape (n,)."""
        return self._forward(batch)[Columns.VF_PREDS] if embeddings is None else embeddings


def module_spec(game: Game, network: NetworkConfig) -> RLModuleSpec:
    """What to give to `AlgorithmConfig.rl_module` for a game; ValueError if it has no such network."""
    check_network(game, network)
    return RLModuleSpec(
        module_class=MaskedModule,
        observation_space=masked_space(game),
        action_space=action_space(game),
        model_config={"game": game.name, "options": game.options, **network.__dict__},
    )


def own_weights(state: Mapping[str, Any]) -> Weights:
    """A network's weights by their own names, from the state of its `MaskedModule` as `get_state` gives it."""
    return {key.removeprefix(_PREFIX): np.array(tensor) for key, tensor in state.items()}


def load_weights(network: Network, weights: Weights) -> Network:
    """Fills a network with `own_weights`; returns the network."""
    network.load_state_dict({key: torch.from_numpy(tensor) for key, tensor in weights.items()})
    return network
