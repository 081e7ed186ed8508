"""A policy and value network for games without a board: a trunk over all that is seen, and a head over entities.

Where a game says so (`mozaic_env.core.game.Game.action_entities`), blocks of its actions belong to entities, alike but
for what an entry of the observation says of each: sources to take from, say. One small encoder reads every entity, the
trunk sees their sum, and an action of an entity is valued by the product of what the trunk asks for and what the
encoder says. What is learnt of one entity so holds for all. All other actions come from the trunk. Needs torch alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from mozaic_env.agents.network import NetworkConfig
from mozaic_env.core.game import Entities, Game

FACTORS = 8  # numbers in which trunk and encoder meet, for each action of an entity


@dataclass(frozen=True)
class EntityLayout:
    """What a network has to know of a game.

    Attributes:
        scales: for each entry of the observation its key and what its numbers are divided by.
        actions: how many ids there are.
        entities: which actions belong to entities; None: none.
    """

    scales: tuple[tuple[str, tuple[float, ...]], ...]
    actions: int
    entities: Entities | None


def entity_layout(game: Game) -> EntityLayout:
    """The layout of a game: counts are divided by their bounds, at most a hundred."""
    scales = tuple(
        (field.key, tuple(float(max(min(high, 100), 1)) for high in field.high or (1,) * field.size))
        for field in game.fields
    )
    return EntityLayout(scales, game.num_actions, game.action_entities)


class EntityNetwork(nn.Module):
    """Observations in, action logits and values out."""

    def __init__(self, layout: EntityLayout, config: NetworkConfig) -> None:
        """Makes a network with random weights, drawn from torch's generator.

        Args:
            layout: of the game, from `entity_layout`.
            config: its size: `channels` is the width of the trunk, `blocks` its residual blocks of two layers.
        """
        super().__init__()
        self.layout, self.config = layout, config
        width, entities = config.channels, layout.entities
        self._scales: dict[str, Tensor] = {}
        for key, numbers in layout.scales:
            self.register_buffer(f"_scale_{key}", torch.tensor(numbers), persistent=False)
        key, rows, per = ("", 0, 0) if entities is None else (entities.key, len(entities.blocks), entities.per)
        sizes = {name: len(numbers) for name, numbers in layout.scales}
        encoded = 64
        others = sum(size for name, size in sizes.items() if name != key)
        self.stem = nn.Linear(others + (encoded if rows else 0), width)
        self.blocks = nn.ModuleList(Block(width) for _ in range(config.blocks))
        self.free_head = nn.Linear(width, layout.actions)
        self.value_hidden = nn.Linear(width, config.value_hidden)
        self.value_head = nn.Linear(config.value_hidden, 1)
        if rows:
            self.encoder = nn.Linear(sizes[key] // rows, encoded)
            self.kinds = nn.Parameter(torch.zeros(rows, encoded))
            self.keys = nn.Linear(encoded, per * FACTORS)
            self.queries = nn.Linear(width, per * FACTORS)
            assert entities is not None
            places = torch.arange(per) + torch.tensor(entities.blocks)[:, None] * per
            self.register_buffer("_places", places.flatten(), persistent=False)
            self._places: Tensor
        # The first policy is nearly uniform and the first values nearly zero.
        nn.init.orthogonal_(self.free_head.weight, 0.01)
        nn.init.orthogonal_(self.value_head.weight, 0.1)
        for head in (self.free_head, self.value_head):
            nn.init.zeros_(head.bias)

    def forward(self, observation: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:
        """Evaluates a batch of observations.

        Args:
            observation: the entries of the game's observation, each of shape (n, *its shape), any dtype.

        Returns:
            Logits over all actions, legal or not, shape (n, actions), and the values for the seats that see the
            observations, shape (n,): of the rewards to come.
        """
        entities = self.layout.entities
        parts, encoded = [], None
        for key, _ in self.layout.scales:
            numbers = observation[key].flatten(1).float() / getattr(self, f"_scale_{key}")
            if entities is not None and key == entities.key:
                rows = numbers.unflatten(1, (len(entities.blocks), -1))
                encoded = functional.relu(self.encoder(rows) + self.kinds)
            else:
                parts.append(numbers)
        if encoded is not None:
            parts.append(encoded.sum(1) / 4)
        trunk = functional.relu(self.stem(torch.cat(parts, 1)))
        for block in self.blocks:
            trunk = block(trunk)
        logits = self.free_head(trunk)
        if encoded is not None:
            assert entities is not None
            keys = self.keys(encoded).unflatten(2, (entities.per, FACTORS))
            queries = self.queries(trunk).unflatten(1, (entities.per, FACTORS))
            products = (keys * queries[:, None]).sum(3) * FACTORS**-0.5
            logits = logits.index_add(1, self._places, products.flatten(1).to(logits.dtype))
        value = self.value_head(functional.relu(self.value_hidden(trunk)))
        return logits, value[:, 0]

    def is_finite(self) -> bool:
        """Whether all weights are numbers; training that went wrong leaves some that are not."""
        return all(bool(torch.isfinite(weights).all()) for weights in self.parameters())


class Block(nn.Module):
    """Two layers beside a shortcut, their input normalised."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.first = nn.Linear(width, width)
        self.second = nn.Linear(width, width)
        nn.init.zeros_(self.second.bias)

    def forward(self, trunk: Tensor) -> Tensor:
        """One residual step, the batch first."""
        inner = functional.relu(self.first(self.norm(trunk)))
        return trunk + self.second(inner)
