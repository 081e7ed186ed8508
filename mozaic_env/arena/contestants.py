"""From what is typed on the command line to a game and the agents that play it."""

import os
import re
from argparse import Namespace
from collections.abc import Sequence
from typing import Any

from mozaic_env.agents.base import Agent
from mozaic_env.agents.specs import CHAMPION, is_folder, make_agent
from mozaic_env.arena.files import check_names
from mozaic_env.core.game import Game
from mozaic_env.games import make_game

DEFAULT_GAME = "mozaic"
GAME_OPTIONS = ("rules", "rows", "cols")  # of the command line, each None where not given
POLICY = "policy:"


def make_contestants(specs: Sequence[str], arguments: Namespace, *, versions: bool = False) -> tuple[Game, list[Agent]]:
    """The game and the agents that specs name.

    The game and its options are those on the command line; what is not given there comes from the first checkpoint
    among the specs, if that is for this game, and else is the default.

    Args:
        specs: see `mozaic_env.agents.specs`.
        arguments: of the command line.
        versions: whether an agent's name tells its checkpoint's weights apart from those of another training, as in
            ``runs/quick@1c09ae``: for results that are kept while runs come and go.

    Raises:
        ValueError: no such agent, or one that does not play this game.
    """
    check_names(specs)
    specs = [normal_spec(spec) for spec in specs]
    cards = [_card(spec) for spec in specs]
    asked, options = getattr(arguments, "game", None), dict[str, Any]()
    name = asked or DEFAULT_GAME
    played = next((card["game"] for card in cards if card is not None), None)
    if played is not None and asked in (None, played.get("name")):
        name, options = str(played.get("name")), dict(played.get("options", {}))
    given = {key: getattr(arguments, key, None) for key in GAME_OPTIONS}
    options |= {key: value for key, value in given.items() if value is not None}
    options |= _read_options(getattr(arguments, "option", None) or ())
    game = make_game(name, **options)
    agents = [make_agent(spec, game) for spec in specs]
    if versions:
        for agent, card in zip(agents, cards, strict=True):
            if card is not None:
                agent.name += f"@{str(card['weights'].get('sha256'))[:6]}"
    return game, agents


def _read_options(words: Sequence[str]) -> dict[str, Any]:
    options = dict[str, Any]()
    for word in words:
        key, value = read_option(word)
        if key in options:
            raise ValueError(f"--option {word!r}: {key} is given twice; accepted: each option once")
        options[key] = value
    return options


def read_option(word: str) -> tuple[str, Any]:
    """A game's option as it is typed, such as ``players=3``; whole numbers become such.

    Raises:
        ValueError: there is no key or no value.
    """
    key, equals, text = word.partition("=")
    if not key or not equals or not text:
        raise ValueError(f"--option {word!r}; accepted: KEY=VALUE, such as players=3")
    return key, int(text) if re.fullmatch(r"-?[0-9]{1,9}", text) else text


def normal_spec(spec: str) -> str:
    """The spec as results name it: ``policy:runs/x`` and ``./runs/x/`` are both ``runs/x``."""
    spec = spec.strip()
    folder, comma, options = spec.removeprefix(POLICY).partition(",")
    if is_folder(folder) and (spec.startswith(POLICY) or is_folder(spec)):
        return os.path.normpath(folder) + comma + options
    return spec


def _card(spec: str) -> dict[str, Any] | None:
    """The card of the checkpoint in a spec, if there is one."""
    folder = None
    if spec.startswith(POLICY) or is_folder(spec):
        folder = spec.removeprefix(POLICY).split(",")[0]
    else:
        for word in spec.partition(":")[2].split(","):
            if word.startswith("policy="):
                folder = word.removeprefix("policy=")
    if not folder or folder == CHAMPION:  # the package's, which comes without a folder to name
        return None
    from mozaic_env.agents import checkpoint  # needs torch

    return checkpoint.read_card(checkpoint.resolve(folder))
