"""`mozaic play`: a page in the browser, or the terminal."""

from __future__ import annotations

import argparse
import os
from argparse import Namespace
from typing import TYPE_CHECKING

from mozaic_env.agents.names import folder_name, is_path, split_folder
from mozaic_env.cli.options import AGENT_HELP, add_game_options, add_server_options, agents_and
from mozaic_env.core.extras import need

if TYPE_CHECKING:
    from mozaic_env.agents.base import Agent
    from mozaic_env.core.game import Game


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options of the verb."""
    parser.epilog = agents_and("mozaic play --agents runs/quick pattern random --rules onyx")
    parser.add_argument("--terminal", action="store_true", help="play in this terminal; agents take the other seats")
    parser.add_argument("--seat", metavar="N", help="with --terminal: yours, a number or both (default: 0)")
    parser.add_argument("--seed", type=int, metavar="S", help="with --terminal: the same seed gives the same luck")
    parser.add_argument(
        "--agents",
        "--agent",
        nargs="+",
        metavar="AGENT",
        help="whom the page offers, the usual opponent first, or who takes the other seats, in this order; each "
        + AGENT_HELP
        + " (default: strong and weak ones)",
    )
    add_server_options(parser)
    parser.add_argument(
        "--sessions",
        type=int,
        default=500,
        metavar="N",
        help="pages that may play at the same time (default: %(default)s)",
    )
    add_game_options(parser)


def run(arguments: Namespace) -> int:
    """Serves the page, or plays in the terminal."""
    from mozaic_env.cli.contestants import modules_of

    if arguments.terminal:
        need("--terminal", "rich", *modules_of(arguments.agents or ()))
        from mozaic_env.web.play import terminal

        return terminal.run(arguments, *_agents(arguments))
    if arguments.seat is not None or arguments.seed is not None:
        raise ValueError("--seat and --seed go with --terminal; the page has players and seed to choose")
    need("the page", "starlette", "uvicorn", *modules_of(arguments.agents or ()))
    from mozaic_env.web.play.game_server import GameServer
    from mozaic_env.web.server.app import PLAY, application, play_routes  # needs what the terminal does not
    from mozaic_env.web.server.serve import serve
    from mozaic_env.web.server.sessions import Sessions

    if arguments.sessions < 1:
        raise ValueError(f"--sessions {arguments.sessions}; accepted: a whole number of at least 1")
    game, agents = _agents(arguments)
    games = GameServer(game, agents, Sessions(arguments.sessions))
    print("getting ready; the first time compiles, for up to a minute", flush=True)
    warm_up(game, agents)
    app = application([PLAY], play_routes(games), host=arguments.host, names=arguments.allow_host)
    serve(app, arguments.host, arguments.port, browser=arguments.browser, what=f"play {game.name}")
    return 0


def _agents(arguments: Namespace) -> tuple[Game, dict[str, Agent]]:
    from mozaic_env.cli.contestants import make_contestants

    if arguments.agents:
        game, agents = make_contestants(arguments.agents, arguments)
    else:
        game, _ = make_contestants([], arguments)
        agents = [agent for spec in game.usual_agents if (agent := _agent_if_there(spec, game)) is not None]
    return game, name_agents(agents)


def _agent_if_there(spec: str, game: Game) -> Agent | None:
    """An agent, or None if this installation or this variant of the game lacks it."""
    from mozaic_env.agents.specs import make_agent

    try:
        return make_agent(spec, game)
    except (ValueError, ModuleNotFoundError):
        return None


def name_agents(agents: list[Agent]) -> dict[str, Agent]:
    """The agents by names for visitors: of a path the last part alone, equal ones told apart by numbers."""
    from mozaic_env.web.play.play import HUMAN

    named: dict[str, Agent] = {}
    for agent in agents:
        name = agent.name
        folder, options = split_folder(name.removeprefix("policy:"))
        if is_path(folder):
            name = ",".join([folder_name(os.path.basename(os.path.normpath(folder))), *options])
        if name == HUMAN:
            name = f"agent-{HUMAN}"
        count = 1
        while (unique := name if count == 1 else f"{name}-{count}") in named:
            count += 1
        named[unique] = agent
    return named


def warm_up(game: Game, agents: dict[str, Agent]) -> None:
    """Compiles all that a game needs, so that no visitor waits for it."""
    from mozaic_env.web.play import analysis, view
    from mozaic_env.web.play.play import HUMAN, Play

    play = Play(game, 0, [HUMAN] * game.num_players)
    for name, strong in agents.items():
        agent = strong.quick()
        if play.mover is None:
            play.undo()
        row = play.now.reshape(1)
        if analysis.kind_of(agent) is not None:
            analysis.analyse(agent, row)
        play.play(int(agent.act(row)[0]), name)
    view.of_play(play, 0)
