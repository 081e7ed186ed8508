"""Options that several verbs of the command share."""

import argparse
import textwrap

from mozaic_env.agents.names import FORMS
from mozaic_env.core.exact import MARGIN, OBJECTIVES
from mozaic_env.games import DEFAULT_GAME, FLAGS, GAMES

HELP_WIDTH = 80
AGENT_HELP = (
    "an agent such as random, greedy, pattern, expectimax:depth=2, mcts:simulations=200, "
    "or the path of a run or checkpoint; all are listed below"
)


def agents_and(*examples: str) -> str:
    """The text below the help of a verb that takes agents."""
    forms = [
        textwrap.fill(form, HELP_WIDTH, initial_indent="  ", subsequent_indent="      ", break_on_hyphens=False)
        for form in FORMS
    ]
    return "\n".join(["agents:", *forms, "", *(f"example: {example}" for example in examples)])


def add_game_options(parser: argparse.ArgumentParser) -> None:
    """Adds what says which game is played."""
    group = parser.add_argument_group(
        "the game", "default: as the checkpoints among the agents say, else the full game"
    )
    group.add_argument("--game", choices=tuple(GAMES), help=f"what to play (default: {DEFAULT_GAME})")
    for name, (kind, metavar, text) in FLAGS.items():
        group.add_argument(f"--{name}", type=kind, metavar=metavar, help=text)
    group.add_argument(
        "--option",
        action="append",
        metavar="KEY=VALUE",
        help="any option of the game, such as players=3; may come several times",
    )


def add_threads(parser: argparse.ArgumentParser, text: str) -> None:
    """Adds `--threads`."""
    parser.add_argument("--threads", type=int, default=1, metavar="N", help=f"{text} (default: %(default)s)")


def add_objective(parser: argparse.ArgumentParser, text: str) -> None:
    """Adds `--objective`."""
    parser.add_argument("--objective", choices=OBJECTIVES, default=MARGIN, help=f"{text} (default: %(default)s)")


def add_match_options(parser: argparse.ArgumentParser, games: int) -> None:
    """Adds what matches have in common."""
    parser.add_argument(
        "--games",
        type=int,
        default=games,
        metavar="N",
        help="games of each match; even, for they are played in pairs, and at more than two seats rounded up to whole "
        "rotations (default: %(default)s)",
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=0,
        metavar="S",
        help="the same seed gives the same games (default: %(default)s)",
    )
    add_threads(parser, "for games between compiled agents; changes no result")


def add_server_options(parser: argparse.ArgumentParser) -> None:
    """Adds what a page's server takes."""
    parser.add_argument("--host", default="127.0.0.1", help="address to listen at (default: %(default)s, this machine)")
    parser.add_argument("--port", type=int, metavar="N", help="0 for any (default: 8000, or any where that is taken)")
    parser.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="another host name by which browsers may ask for the page; can be repeated",
    )
    parser.add_argument("--no-browser", dest="browser", action="store_false", help="do not open a page")
