"""A game's observation and actions as Gymnasium spaces."""

from typing import Any

import numpy as np
from gymnasium import spaces

from mozaic_env.core.game import Field, Game


def field_space(field: Field) -> spaces.Space[np.ndarray]:
    """Zeros and ones as MultiBinary (int8), counts as a Box with exact bounds."""
    if field.high is None:
        return spaces.MultiBinary(field.shape)
    high = np.array(field.high, field.dtype).reshape(field.shape)
    return spaces.Box(np.zeros_like(high), high, dtype=field.dtype)


def observation_space(game: Game) -> Any:
    """The observation Dict of one game, its entries in the order of `game.fields`."""
    return spaces.Dict([(field.key, field_space(field)) for field in game.fields])


def action_space(game: Game) -> spaces.Discrete:
    """All action ids of a game."""
    return spaces.Discrete(game.num_actions)
