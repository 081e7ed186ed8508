"""From what is typed on the command line to a game and the agents that play it."""

import os
from argparse import Namespace
from collections.abc import Sequence
from typing import Any

from mozaic_env.agents.base import Agent
from mozaic_env.agents.specs import is_folder, make_agent
from mozaic_env.core.game import Game
from mozaic_env.games import make_game

DEFAULT_GAME = "mozaic"
GAME_OPTIONS = ("rules", "rows", "cols")  # of the command line, each None where not given
POLICY = "policy:"


def make_contestants(specs: Sequence[str], arguments: Namespace) -> tuple[Game, list[Agent]]:
    """The game and the agents that specs name.

    The game's options are those on the command line; what is not given there comes from the first
    checkpoint among the specs, and else is the game's default.

    Raises:
        ValueError: no such agent, or one that does not play this game.
    """
    specs = [normal_spec(spec) for spec in specs]
    name, options = DEFAULT_GAME, dict[str, Any]()
    for folder in filter(None, map(_checkpoint, specs)):
        from mozaic_env.agents import checkpoint  # needs torch

        game = checkpoint.read_card(checkpoint.resolve(folder))["game"]
        name, options = str(game.get("name")), dict(game.get("options", {}))
        break
    options |= {key: getattr(arguments, key) for key in GAME_OPTIONS if getattr(arguments, key, None) is not None}
    game = make_game(name, **options)
    return game, [make_agent(spec, game) for spec in specs]


def normal_spec(spec: str) -> str:
    """The spec as results name it: ``policy:runs/x`` and ``./runs/x/`` are both ``runs/x``."""
    spec = spec.strip()
    folder, comma, options = spec.removeprefix(POLICY).partition(",")
    if is_folder(folder) and (spec.startswith(POLICY) or is_folder(spec)):
        return os.path.normpath(folder) + comma + options
    return spec


def _checkpoint(spec: str) -> str | None:
    """The folder of the checkpoint in a spec, if there is one."""
    if spec.startswith(POLICY) or is_folder(spec):
        return spec.removeprefix(POLICY).split(",")[0]
    words = spec.partition(":")[2].split(",")
    return next((word.removeprefix("policy=") for word in words if word.startswith("policy=")), None)
