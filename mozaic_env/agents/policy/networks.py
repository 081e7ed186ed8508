"""Which network a game has: one over its board where it has such, else one over its entities.

The kind stands in a checkpoint's card beside the size.
"""

from collections.abc import Mapping
from typing import Any

from mozaic_env.agents.policy.entities import EntityNetwork, entity_layout
from mozaic_env.agents.policy.network import BOARD, BoardNetwork, NetworkConfig, group_order, layout_of
from mozaic_env.core.game import Game

Network = BoardNetwork | EntityNetwork
KIND = "kind"
ENTITIES = "entities"


def has_board(game: Game) -> bool:
    """Whether the game's actions lie over a board that its observation shows."""
    return game.board_layout is not None and any(field.key == BOARD for field in game.fields)


def check_network(game: Game, config: NetworkConfig) -> None:
    """ValueError if a game can have no network of that size."""
    if has_board(game):
        group_order(layout_of(game), config)
    elif config.symmetric:
        raise ValueError(f"network: symmetric is for games with a board; {game!r} has none")


def make_network(game: Game, config: NetworkConfig) -> Network:
    """A network for a game with random weights, drawn from torch's generator.

    Raises:
        ValueError: as `check_network`.
    """
    check_network(game, config)
    if has_board(game):
        return BoardNetwork(layout_of(game), config)
    return EntityNetwork(entity_layout(game), config)


def describe(network: Network) -> dict[str, Any]:
    """Kind and size as plain data, for a checkpoint's card."""
    described = network.config.describe()
    return {**described, KIND: ENTITIES} if isinstance(network, EntityNetwork) else described


def config_of(description: Mapping[str, Any], game: Game) -> NetworkConfig:
    """The inverse of `describe`.

    Raises:
        ValueError: another kind of network than the game has, or a size that is none.
    """
    if has_board(game):
        return NetworkConfig.from_description(description)
    if description.get(KIND) != ENTITIES:
        raise ValueError(f"network {dict(description)!r}; accepted for {game!r}: kind {ENTITIES!r}")
    return NetworkConfig.from_description({**description, KIND: "board"})
