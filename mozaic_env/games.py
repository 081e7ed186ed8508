"""The games of the package by name: the one list that a new game joins."""

import inspect
from importlib import import_module
from typing import Any

from mozaic_env.core.game import Game
from mozaic_env.core.record import Record

GAMES = {
    "mozaic": "mozaic_env.mozaic.game:Mozaic",
    "crystal_mosaic": "mozaic_env.crystal_mosaic.game:CrystalMosaic",
    "mosaic_chess": "mozaic_env.mosaic_chess.game:MosaicChess",
}


class UnknownOption(ValueError, TypeError):
    """A game was given an option that it does not have.

    A TypeError too, as Python has it for unexpected keyword arguments: libraries that try a keyword of their own on
    every environment, as TorchRL's `GymEnv` does, go on without it.
    """


def make_game(name: str | Game, **options: Any) -> Game:
    """A game with its options fixed.

    Args:
        name: one of `GAMES`, or a game, which then is returned as it is.
        **options: the game's own, such as rules, rows, cols.

    Raises:
        ValueError: no such game, or an option that it does not accept.
        UnknownOption: an option that it does not have.
    """
    if isinstance(name, Game):
        if options:
            raise ValueError(f"{name!r} has its options already; got {', '.join(sorted(options))} as well")
        return name
    kind = game_class(name)
    try:
        return kind(**options)
    except TypeError:
        accepted = inspect.signature(kind).parameters
        unknown = ", ".join(map(repr, sorted(set(options) - set(accepted))))
        raise UnknownOption(
            f"{name} got an unexpected keyword argument {unknown}; accepted: {', '.join(accepted)}"
        ) from None


def game_class(name: str) -> type[Game]:
    """The class of a game; ValueError if there is no such game."""
    if not isinstance(name, str) or name not in GAMES:
        raise ValueError(f"unknown game {name!r}; accepted: {', '.join(GAMES)}")
    module, _, attribute = GAMES[name].partition(":")
    found: type[Game] = getattr(import_module(module), attribute)
    return found


def game_of_record(record: Record) -> Game:
    """The game that a record is of: `game=` in its header says which, else it is Mozaic, and more keys its options.

    Raises:
        ValueError: the header names no game of the package, or not all of its options.
    """
    return game_class(record.header.get("game", "mozaic")).of_header(record.header)
