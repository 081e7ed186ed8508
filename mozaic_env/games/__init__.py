"""The games of the package by name: the one list that a new game joins. Cheap to import."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mozaic_env.core.game import Game
    from mozaic_env.core.record import Record

GAMES = {
    "mozaic": "mozaic_env.games.mozaic.game:Mozaic",
    "crystal_mosaic": "mozaic_env.games.crystal_mosaic.game:CrystalMosaic",
    "mosaic_chess": "mozaic_env.games.mosaic_chess.game:MosaicChess",
}
DEFAULT_GAME = "mozaic"  # of the command line, and of records that name none
FLAGS: dict[str, tuple[type, str, str]] = {  # options with a flag of their own on the command line: type, metavar, help
    "rules": (str, "EDITION", "of Mozaic: amethyst or onyx"),
    "rows": (int, "N", "of Mozaic: ranks of the board, 2 to 8"),
    "cols": (int, "N", "of Mozaic: files of the board, 2 to 8"),
}


def gym_id(name: str) -> str:
    """The id of a game's environments, such as ``Mozaic-v0``."""
    return f"{GAMES[name].rpartition(':')[2]}-v0"


class UnknownOption(ValueError, TypeError):
    """A game was given an option that it does not have.

    A TypeError too, as Python has it for unexpected keyword arguments: libraries that try a keyword of their own on
    every environment, as TorchRL's `GymEnv` does, go on without it.
    """


def make_game(name: "str | Game", **options: Any) -> "Game":
    """A game with its options fixed.

    Args:
        name: one of `GAMES`, or a game, which then is returned as it is.
        **options: the game's own, such as rules, rows, cols.

    Raises:
        ValueError: no such game, or an option that it does not accept.
        UnknownOption: an option that it does not have.
    """
    return game_with(name, options)


def game_with(name: "str | Game", options: Mapping[str, Any], own: Iterable[str] = ()) -> "Game":
    """`make_game` on behalf of a function that has arguments of its own.

    Args:
        name: as for `make_game`.
        options: what was given beyond the function's own arguments.
        own: the names of these, one of which may have been misspelt.

    Raises:
        ValueError: as for `make_game`.
        UnknownOption: the same; the message names all that would have been accepted.
    """
    from mozaic_env.core.game import Game

    kind = type(name) if isinstance(name, Game) else game_class(name)
    check_options(kind, options, own)
    if not isinstance(name, Game):
        return kind(**options)
    if options:
        raise ValueError(f"{name!r} has its options already; got {', '.join(sorted(options))} as well")
    return name


def check_options(kind: "type[Game]", options: Mapping[str, Any], own: Iterable[str] = ()) -> None:
    """UnknownOption if an option is none of the game's; `own` are further names that the message is to have."""
    from mozaic_env.core.text.suggest import did_you_mean

    known = inspect.signature(kind).parameters
    unknown = sorted(set(options) - set(known))
    if unknown:
        accepted = [*known, *own]
        raise UnknownOption(
            f"{kind.name} got an unexpected keyword argument {', '.join(map(repr, unknown))}; "
            f"accepted: {', '.join(accepted)}{did_you_mean(unknown[0], accepted)}"
        )


def keywords_of(function: Callable[..., Any]) -> list[str]:
    """The names of a function's keyword-only arguments, to hand to `game_with`."""
    parameters = inspect.signature(function).parameters.values()
    return [parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY]


def game_class(name: str) -> "type[Game]":
    """The class of a game; ValueError if there is no such game."""
    if not isinstance(name, str) or name not in GAMES:
        raise ValueError(f"unknown game {name!r}; accepted: {', '.join(GAMES)}")
    module, _, attribute = GAMES[name].partition(":")
    found: type[Game] = getattr(import_module(module), attribute)
    return found


def game_of_record(record: "Record") -> "Game":
    """The game that a record is of: `game=` in its header says which, else it is Mozaic, and more keys its options.

    Raises:
        ValueError: the header names no game of the package, or not all of its options.
    """
    return game_class(record.header.get("game", DEFAULT_GAME)).of_header(record.header)
