"""A policy and value network for games without a board, which shares its weights over entities and kinds of things.

A game says (`mozaic_env.core.game.Game.entities`) which actions belong to entities, sources to take from, say,
and which numbers of the observation are about which kind of thing, a colour, say. One small encoder reads how much of a
kind an entity has, and how much else. One trunk reads all about a kind: its numbers, what is about no kind, the sum of
what the encoder says of all entities, and the mean of all that over the kinds (after M. Zaheer et al., Deep Sets,
2017). An action is valued by the product of what the kind's trunk asks for and what the encoder says of the entity. So
what is learnt of one entity or kind holds for all. All other actions, and the value, come from the mean of the trunks.
Needs torch alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from mozaic_env.agents.policy.network import NetworkConfig
from mozaic_env.core.capabilities import Entities
from mozaic_env.core.extras import importing
from mozaic_env.core.game import Game

with importing("a policy"):
    import torch
    from torch import Tensor, nn
    from torch.nn import functional


FACTORS = 8  # numbers in which trunk and encoder meet, for each action of an entity
ENCODED = 32  # width of the encoder
USUAL = 4.0  # by which what an entity has is divided

NO_ENTITIES = Entities("", (), 0, 1, {})


@dataclass(frozen=True)
class EntityLayout:
    """What a network has to know of a game.

    Attributes:
        scales: for each entry of the observation its key and what its numbers are divided by.
        actions: how many ids there are.
        entities: which actions belong to entities, and what is about which kind.
    """

    scales: tuple[tuple[str, tuple[float, ...]], ...]
    actions: int
    entities: Entities


def entity_layout(game: Game) -> EntityLayout:
    """The layout of a game: counts are divided by their bounds, at most a hundred."""
    scales = tuple(
        (field.key, tuple(float(max(min(high, 100), 1)) for high in field.high or (1,) * field.size))
        for field in game.fields
    )
    return EntityLayout(scales, game.num_actions, game.entities or NO_ENTITIES)


class EntityNetwork(nn.Module):
    """Observations in, action logits and values out."""

    def __init__(self, layout: EntityLayout, config: NetworkConfig) -> None:
        """Makes a network with random weights, drawn from torch's generator.

        Args:
            layout: of the game, from `entity_layout`.
            config: its size: `channels` is the width of a kind's trunk, `blocks` its residual blocks of two layers.
        """
        super().__init__()
        self.layout, self.config = layout, config
        entities, width = layout.entities, config.channels
        seen = _numbers(layout)
        self._seen: Tensor
        self._scale: Tensor
        self._entity_actions: Tensor
        self._free_actions: Tensor
        self._keep("_seen", seen)
        self._keep("_scale", [number for _, numbers in layout.scales for number in numbers])
        in_blocks = [block * entities.per + k for block in entities.blocks for k in range(entities.per)]
        free = list(range((max(entities.blocks, default=-1) + 1) * entities.per, layout.actions))
        self._keep("_entity_actions", in_blocks)
        self._keep("_free_actions", free)
        self.stem = Mixed(len(seen[0]) + (ENCODED if entities.blocks else 0), width)
        self.blocks = nn.ModuleList(Block(width) for _ in range(config.blocks))
        self.free_head = nn.Linear(width, len(free))
        self.value_hidden = nn.Linear(width, config.value_hidden)
        self.value_head = nn.Linear(config.value_hidden, 1)
        heads = [self.free_head, self.value_head]
        if entities.blocks:
            self.targets = entities.per // entities.kinds
            self.encoder = nn.Linear(2, ENCODED)
            self.places = nn.Parameter(torch.zeros(len(entities.blocks), 1, ENCODED))
            self.keys = nn.Linear(ENCODED, self.targets * FACTORS)
            self.queries = nn.Linear(width, self.targets * FACTORS)
            self.target_head = nn.Linear(width, self.targets)
            heads.append(self.target_head)
        # The first policy is nearly uniform and the first values nearly zero.
        for head in heads:
            nn.init.orthogonal_(head.weight, 0.1 if head is self.value_head else 0.01)
            nn.init.zeros_(head.bias)

    def _keep(self, name: str, numbers: list[int] | list[float] | list[list[int]]) -> None:
        self.register_buffer(name, torch.tensor(numbers), persistent=False)

    def forward(self, observation: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:
        """Evaluates a batch of observations.

        Args:
            observation: the entries of the game's observation, each of shape (n, *its shape), any dtype.

        Returns:
            Logits over all actions, legal or not, shape (n, actions), and the values for the seats that see the
            observations, shape (n,): of the rewards to come.
        """
        parts = [observation[key].flatten(1).float() for key, _ in self.layout.scales]
        seen = (torch.cat(parts, 1) / self._scale)[:, self._seen]
        key, encoded = self.layout.entities.key, None
        if key:
            encoded = self._encode(observation[key])
            seen = torch.cat([seen, encoded.sum(1) / USUAL], 2)
        trunks = functional.relu(self.stem(seen))
        for block in self.blocks:
            trunks = block(trunks)
        trunk = trunks.mean(1)
        free = self.free_head(trunk)
        logits = free.new_zeros(len(free), self.layout.actions).index_copy(1, self._free_actions, free)
        if encoded is not None:
            belonging = self._of_entities(encoded, trunks).flatten(1)
            logits = logits.index_copy(1, self._entity_actions, belonging.to(logits.dtype))
        value = self.value_head(functional.relu(self.value_hidden(trunk)))
        return logits, value[:, 0]

    def _encode(self, things: Tensor) -> Tensor:
        """What there is to say of each kind on each entity, shape (n, entities, kinds, ENCODED)."""
        entities = self.layout.entities
        counts = things.float().reshape(-1, len(entities.blocks), entities.kinds) / USUAL
        others = counts.sum(2, keepdim=True) - counts
        return functional.relu(self.encoder(torch.stack([counts, others], 3)) + self.places)

    def _of_entities(self, encoded: Tensor, trunks: Tensor) -> Tensor:
        """Logits of the entities' actions, shape (n, entities, kinds, actions for each kind)."""
        keys = self.keys(encoded).reshape(*encoded.shape[:3], self.targets, FACTORS)
        queries = self.queries(trunks).reshape(*trunks.shape[:2], self.targets, FACTORS)
        products = (keys * queries[:, None]).sum(4) * FACTORS**-0.5
        result: Tensor = products + self.target_head(trunks)[:, None]
        return result

    def is_finite(self) -> bool:
        """Whether all weights are numbers; training that went wrong leaves some that are not."""
        return all(bool(torch.isfinite(weights).all()) for weights in self.parameters())


def _numbers(layout: EntityLayout) -> list[list[int]]:
    """For each kind where in the whole observation, flattened, its own numbers stand, then those about no kind.

    What is on the entities is left out, since the encoder reads it.
    """
    kinds, start = layout.entities.kinds, 0
    own: list[list[int]] = [[] for _ in range(kinds)]
    rest: list[int] = []
    for key, scales in layout.scales:
        stride = layout.entities.strides.get(key)
        for place in range(len(scales) if key != layout.entities.key else 0):
            (rest if stride is None else own[place // stride % kinds]).append(start + place)
        start += len(scales)
    return [numbers + rest for numbers in own]


class Mixed(nn.Module):
    """A layer for each kind, shape (n, kinds, numbers), that sees the kind's numbers and the mean of all kinds'."""

    def __init__(self, size: int, width: int) -> None:
        super().__init__()
        self.own = nn.Linear(size, width)
        self.all = nn.Linear(size, width, bias=False)

    def forward(self, numbers: Tensor) -> Tensor:
        """The layer, without a non-linearity."""
        mixed: Tensor = self.own(numbers) + self.all(numbers.mean(1))[:, None]
        return mixed


class Block(nn.Module):
    """Two layers beside a shortcut, their input normalised."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.first = Mixed(width, width)
        self.second = nn.Linear(width, width)
        nn.init.zeros_(self.second.weight)
        nn.init.zeros_(self.second.bias)

    def forward(self, trunks: Tensor) -> Tensor:
        """One residual step of all kinds."""
        inner = functional.relu(self.first(self.norm(trunks)))
        return trunks + self.second(inner)
