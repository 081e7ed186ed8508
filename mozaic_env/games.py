"""The games of the package by name: the one list that a new game joins."""

from importlib import import_module
from typing import Any

from mozaic_env.core.game import Game

GAMES = {"mozaic": "mozaic_env.mozaic.game:Mozaic"}


def make_game(name: str | Game, **options: Any) -> Game:
    """A game with its options fixed.

    Args:
        name: one of `GAMES`, or a game, which then is returned as it is.
        **options: the game's own, such as rules, rows, cols.

    Raises:
        ValueError: no such game, or an option that it does not have or accept.
    """
    if isinstance(name, Game):
        if options:
            raise ValueError(f"{name!r} has its options already; got {', '.join(sorted(options))} as well")
        return name
    if name not in GAMES:
        raise ValueError(f"unknown game {name!r}; accepted: {', '.join(GAMES)}")
    module, _, attribute = GAMES[name].partition(":")
    game_class = getattr(import_module(module), attribute)
    try:
        game: Game = game_class(**options)
    except TypeError as error:
        raise ValueError(f"{name}: {error}") from None
    return game
