"""A policy and value network for any game whose actions are planes over a board.

A convolutional trunk reads the board; the other entries of the observation shift and scale its
channels. The action head is one 1 x 1 convolution per tile, so what is learnt on one tile holds on
all; beside it stands a value head. The game's symmetries can be built in
(`mozaic_env.agents.policy.equivariance`). Nothing in the weights depends on the size of the board. Needs
torch alone.
"""

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

# OpenMP's threads wait for each other by spinning. Where other programs want the same cores, that turns milliseconds
# into seconds (on two busy cores a batch of 16 took a hundred times longer than with sleeping threads), so sleeping is
# the default here, if it can still be said: it is read when torch is first imported.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


from mozaic_env.agents.policy.equivariance import Group, between, group_of, lift, lower
from mozaic_env.core.extras import importing
from mozaic_env.core.game import Game

with importing("a policy"):
    import torch
    from torch import Tensor, nn
    from torch.nn import functional


MOST = 1024  # channels, blocks or hidden units of a network
BOARD = "board"  # the observation's entry of planes over the board: (planes, rows, cols)


@dataclass(frozen=True)
class Layout:
    """What a network has to know of a game.

    Attributes:
        board: planes, rows and columns of the observation's board.
        scales: for each other entry of the observation its key and what its numbers are divided by.
        actions: where each action stands: plane * tiles + tile.
        group: the game's symmetries; None where they are not those of a board.
        turned: the entry that says that the board is upside down to the actions; see `BoardLayout.turned_by`.
    """

    board: tuple[int, int, int]
    scales: tuple[tuple[str, tuple[float, ...]], ...]
    actions: tuple[int, ...]
    group: Group | None = None
    turned: str | None = None

    @property
    def planes(self) -> int:
        """How many planes of actions lie over the board."""
        return max(self.actions) // (self.board[1] * self.board[2]) + 1

    @property
    def counts(self) -> int:
        """How many numbers an observation has besides the board."""
        return sum(len(scale) for _, scale in self.scales)


def layout_of(game: Game) -> Layout:
    """The layout of a game.

    Counts are divided by their bounds; where a bound is only that of the number's type (a
    score's), by the number of tiles.

    Raises:
        ValueError: the game has no board, or its actions do not lie over it.
    """
    shapes, layout = {field.key: field.shape for field in game.fields}, game.board_layout
    if layout is None or len(shapes.get(BOARD, ())) != 3:
        raise ValueError(
            f"{game!r} has no network: it needs an observation entry {BOARD!r} of shape (planes, rows, cols) "
            "and a `board_layout`"
        )
    planes, rows, cols = shapes[BOARD]
    board, tiles = (planes, rows, cols), rows * cols
    scales = tuple(
        (
            field.key,
            tuple(float(max(min(high, tiles), 1)) for high in field.high or (1,) * field.size),
        )
        for field in game.fields
        if field.key not in (BOARD, layout.turned_by)
    )
    try:
        group = group_of(game, board, layout.planes)
    except ValueError:
        group = None
    return Layout(board, scales, tuple(int(place) for place in layout.planes), group, layout.turned_by)


@dataclass(frozen=True)
class NetworkConfig:
    """What fixes a network beside the game's layout.

    Attributes:
        channels: of the trunk.
        blocks: residual blocks of two 3 x 3 convolutions, behind the first convolution.
        value_hidden: width of the value head's hidden layer.
        symmetric: build the game's symmetries in; `channels` and `value_hidden` are then multiples of their number.
    """

    channels: int = 32
    blocks: int = 2
    value_hidden: int = 64
    symmetric: bool = False

    def describe(self) -> dict[str, Any]:
        """As plain data, for a checkpoint's card."""
        return {"kind": "board", **asdict(self)}

    @classmethod
    def from_description(cls, description: Mapping[str, Any]) -> "NetworkConfig":
        """The inverse of `describe`.

        Raises:
            ValueError: another kind of network, an unknown or missing number, or one below its
                least.
        """
        names = [field.name for field in fields(cls)]
        description = {"symmetric": False, **description}  # cards older than the choice do not have it
        if description.get("kind") != "board" or set(description) != {"kind", *names}:
            raise ValueError(f"network {dict(description)!r}; accepted: kind 'board' with {', '.join(names)}")
        if type(description["symmetric"]) is not bool:
            raise ValueError(f"network: symmetric={description['symmetric']!r}; accepted: true or false")
        for name in names[:-1]:
            least = 0 if name == "blocks" else 1
            if type(description[name]) is not int or not least <= description[name] <= MOST:
                raise ValueError(f"network: {name}={description[name]!r}; accepted: a whole number in {least}..{MOST}")
        return cls(**{name: description[name] for name in names})


class BoardNetwork(nn.Module):
    """Observations in, action logits and values out."""

    def __init__(self, layout: Layout, config: NetworkConfig = NetworkConfig()) -> None:
        """Makes a network with random weights, drawn from torch's generator.

        Args:
            layout: of the game, from `layout_of`.
            config: its size.

        Raises:
            ValueError: symmetries are asked for, and the game has none that fit, or the channels are no multiple.
        """
        super().__init__()
        self.layout, self.config = layout, config
        self._images = group_order(layout, config)
        scale = torch.tensor([number for _, numbers in layout.scales for number in numbers])
        self._scale: Tensor
        self._places: Tensor
        # Neither is learnt or stored: both follow from the layout.
        self.register_buffer("_scale", scale, persistent=False)
        self.register_buffer("_places", torch.tensor(layout.actions), persistent=False)
        channels, group = config.channels, layout.group
        self.stem_counts = nn.Linear(layout.counts, channels // self._images)
        self.blocks = nn.ModuleList(Block(layout, config) for _ in range(config.blocks))
        if config.symmetric and group is not None:
            sets, pooled = channels // group.order, config.value_hidden // group.order
            self.stem: nn.Module = lift(group, layout.board[0], sets)
            self.action_head: nn.Module = lower(group, sets, layout.planes)
            self.value_planes: nn.Module | None = between(group, sets, pooled, 1)
        else:
            self.stem = nn.Conv2d(layout.board[0], channels, 3, padding=1)
            self.action_head = nn.Conv2d(channels, layout.planes, 1)
            self.value_planes, pooled = None, channels
        self.value_hidden = nn.Linear(pooled + layout.counts, config.value_hidden)
        self.value_head = nn.Linear(config.value_hidden, 1)
        # The first policy is nearly uniform and the first values nearly zero.
        nn.init.orthogonal_(self.action_head.weight, 0.01)
        nn.init.orthogonal_(self.value_head.weight, 0.1)
        for head in (self.action_head, self.value_head):
            nn.init.zeros_(head.bias)  # type: ignore[arg-type]

    def forward(self, observation: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:
        """Evaluates a batch of observations.

        Args:
            observation: the entries of the game's observation, each of shape (n, *its shape), any
                dtype.

        Returns:
            Logits over all actions, legal or not, shape (n, actions), and the values for the seats
            that see the observations, shape (n,): of the rewards to come.
        """
        counts = torch.cat([observation[key].flatten(1).float() for key, _ in self.layout.scales], 1) / self._scale
        trunk = self.stem(observation[BOARD].float()) + spread(self.stem_counts(counts), self._images)
        trunk = functional.relu(trunk)
        for block in self.blocks:
            trunk = block(trunk, counts)
        planes = self.action_head(trunk)
        if self.layout.turned is not None:
            is_turned = observation[self.layout.turned].bool().reshape(-1, 1, 1, 1)
            planes = torch.where(is_turned, planes.flip(2), planes)
        logits = planes.flatten(1).index_select(1, self._places)
        pooled = trunk.mean((2, 3))
        if self.value_planes is not None:
            # What no symmetry changes: sums over each set of channels, of planes that the trunk has made for them.
            planes = functional.relu(self.value_planes(trunk))
            pooled = planes.reshape(len(planes), -1, self._images * planes[0, 0].numel()).mean(2)
        value = self.value_head(functional.relu(self.value_hidden(torch.cat([pooled, counts], 1))))
        return logits, value[:, 0]

    def is_finite(self) -> bool:
        """Whether all weights are numbers; training that went wrong leaves some that are not."""
        return all(bool(torch.isfinite(weights).all()) for weights in self.parameters())


def group_order(layout: Layout, config: NetworkConfig) -> int:
    """How many images of itself each kernel of a network has.

    Raises:
        ValueError: symmetries are asked for, and the game has none that fit, or the channels are no multiple.
    """
    if not config.symmetric:
        return 1
    if layout.group is None:
        raise ValueError("network: symmetric=true; this game's symmetries are not those of a board; accepted: false")
    order = layout.group.order
    for name in ("channels", "value_hidden"):
        if getattr(config, name) % order:
            raise ValueError(
                f"network: {name}={getattr(config, name)}; with symmetric=true accepted is a multiple of {order}, the "
                "number of this board's symmetries"
            )
    return order


def spread(numbers: Tensor, images: int) -> Tensor:
    """One number for each set of channels, shape (n, sets), as planes that all channels of the set can be added to."""
    return numbers.repeat_interleave(images, 1)[:, :, None, None] if images > 1 else numbers[:, :, None, None]


class Block(nn.Module):
    """Two convolutions beside a shortcut; the counts scale and shift the channels between them (FiLM).

    Source of the modulation: E. Perez et al., FiLM: Visual Reasoning with a General Conditioning
    Layer, 2018.
    """

    def __init__(self, layout: Layout, config: NetworkConfig) -> None:
        super().__init__()
        self._images = group_order(layout, config)
        channels, group = config.channels, layout.group
        sets = channels // self._images
        if config.symmetric and group is not None:
            self.first: nn.Module = between(group, sets, sets, 3)
            self.second: nn.Module = between(group, sets, sets, 3)
        else:
            self.first = nn.Conv2d(channels, channels, 3, padding=1)
            self.second = nn.Conv2d(channels, channels, 3, padding=1)
        self.film = nn.Linear(layout.counts, 2 * sets)

    def forward(self, trunk: Tensor, counts: Tensor) -> Tensor:
        """One residual step; both have the batch first."""
        scale, shift = self.film(counts).chunk(2, 1)
        inner = self.first(trunk) * (1 + spread(scale, self._images)) + spread(shift, self._images)
        return functional.relu(trunk + self.second(functional.relu(inner)))
