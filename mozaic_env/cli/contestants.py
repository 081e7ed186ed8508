"""From what is typed on the command line to a game and the agents that play it."""

import re
from argparse import Namespace
from collections.abc import Mapping, Sequence
from typing import Any

from mozaic_env.agents.base import Agent
from mozaic_env.agents.names import MODULES, Spec, read_spec
from mozaic_env.agents.ntuple.tables import holds_tables
from mozaic_env.agents.ntuple.tables import read_card as read_tables_card
from mozaic_env.agents.ntuple.tables import resolve as resolve_tables
from mozaic_env.agents.specs import make_agent
from mozaic_env.core.extras import need
from mozaic_env.core.game import Game
from mozaic_env.core.storage.outputs import check_names
from mozaic_env.games import DEFAULT_GAME, FLAGS, make_game


def make_contestants(specs: Sequence[str], arguments: Namespace, *, versions: bool = False) -> tuple[Game, list[Agent]]:
    """The game and the agents that specs name.

    The game and its options are those on the command line; what is not given there comes from the first checkpoint
    among the specs, if that is for this game, and else is the default.

    Args:
        specs: see `mozaic_env.agents.names`.
        arguments: of the command line.
        versions: whether an agent's name tells its checkpoint's weights apart from those of another training, as in
            ``runs/quick@1c09ae``: for results that are kept while runs come and go.

    Raises:
        ValueError: no such agent, one that does not play this game, or an option that is given twice.
        MissingExtra: one is a policy, and torch or safetensors is not installed.
    """
    check_names(specs)
    cards = [_card(spec) for spec in specs]
    asked, options = getattr(arguments, "game", None), dict[str, Any]()
    name = asked or DEFAULT_GAME
    played = next((card["game"] for card in cards if card is not None), None)
    if played is not None and asked in (None, played.get("name")):
        name, options = str(played.get("name")), dict(played.get("options", {}))
    given = {key: getattr(arguments, key, None) for key in FLAGS}
    given = {key: value for key, value in given.items() if value is not None}
    options |= given | _read_options(getattr(arguments, "option", None) or (), given)
    game = make_game(name, **options)
    agents = [make_agent(spec, game) for spec in specs]
    if versions:
        for agent, card in zip(agents, cards, strict=True):
            if card is not None:
                agent.name += f"@{str(card['weights'].get('sha256'))[:6]}"
    return game, agents


def _read_options(words: Sequence[str], given: Mapping[str, Any]) -> dict[str, Any]:
    """The options in ``KEY=VALUE`` words; ValueError if one comes twice or has been given otherwise."""
    options = dict[str, Any]()
    for word in words:
        key, value = read_option(word)
        if key in options or key in given:
            also = f", also as --{key} {given[key]}" if key in given else ""
            raise ValueError(f"--option {word!r}: {key} is given twice{also}; accepted: each option once")
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


def modules_of(specs: Sequence[str]) -> tuple[str, ...]:
    """What of the extras the agents need, for `mozaic_env.core.extras.need`."""
    return MODULES if any(read is not None and read.is_network for read in map(_read, specs)) else ()


def _read(spec: str) -> Spec | None:
    """The spec taken apart; None if it is none, which `make_agent` explains when it is known which agents there are."""
    try:
        return read_spec(spec)
    except ValueError:
        return None


def _card(spec: str) -> dict[str, Any] | None:
    """The card of the checkpoint in a spec; None where there is none, as for the package's own champion."""
    read = _read(spec)
    if read is None or read.checkpoint is None:
        return None
    if holds_tables(read.checkpoint):
        return read_tables_card(resolve_tables(read.checkpoint))
    need(f"agent {spec!r}", *MODULES)
    from mozaic_env.agents.policy import checkpoint

    return checkpoint.read_card(checkpoint.resolve(read.checkpoint))
