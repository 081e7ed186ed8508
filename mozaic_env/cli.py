"""The `mozaic` command: a function for each subcommand adds its parser, the work is done elsewhere.

Errors are one line on stderr with exit status 2, Ctrl-C is status 130.
"""

import argparse
import os
import sys
import textwrap
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NoReturn

from mozaic_env import __version__
from mozaic_env.agents.names import FORMS
from mozaic_env.arena.messages import one_line, replace_missing_letters
from mozaic_env.arena.parser import INTERRUPTED, USAGE_ERROR, Parser
from mozaic_env.core.exact import MARGIN, OBJECTIVES
from mozaic_env.core.extras import MissingExtra
from mozaic_env.games import DEFAULT_GAME, FLAGS, GAMES

BROKEN_PIPE = 141  # as shells report signal 13
AGENT_HELP = (
    "an agent such as random, greedy, pattern, expectimax:depth=2, mcts:simulations=200, "
    "or the path of a run or checkpoint; all are listed below"
)
HELP_WIDTH = 80

Subparsers = Any  # argparse keeps the type private


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command.

    Args:
        argv: the words behind `mozaic`; None: those of this process.

    Returns:
        The exit status.
    """
    parser = build_parser()
    replace_missing_letters()
    try:
        arguments = parser.parse_args(argv)
    except SystemExit as done:  # --help, --version, or a wrong word
        return int(done.code or 0)
    try:
        status = arguments.run(arguments)
        if sys.stdout is not None:
            sys.stdout.flush()
        return int(status)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read the output is gone; what is still buffered must not raise once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except (ValueError, OSError, MissingExtra) as error:
        return _complain(arguments.name, str(error))
    except RuntimeError as error:
        if "NUMBA_DISABLE_JIT" not in str(error):
            raise
        return _complain(arguments.name, str(error))
    except MemoryError as error:
        return _complain(arguments.name, f"there is not enough memory for this: {error}")


def _complain(command: str, message: str) -> int:
    if sys.stderr is not None:
        print(f"mozaic {command}: {one_line(message)}", file=sys.stderr)
    return USAGE_ERROR


def build_parser() -> argparse.ArgumentParser:
    """The parser of the whole command."""
    parser = Parser(prog="mozaic", description="Matches, ratings and records of the games of mozaic_env.")
    parser.add_argument("--version", action="version", version=f"mozaic_env {__version__}")
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True, dest="name")
    for add in (
        _add_evaluate,
        _add_tournament,
        _add_solve,
        _add_exploit,
        _add_replay,
        _add_play,
        _add_watch,
        _add_bench,
    ):
        add(subparsers)
    return parser


def _add(subparsers: Subparsers, name: str, module: str, text: str, **options: Any) -> argparse.ArgumentParser:
    """A subcommand that the function `run` of a module does, which is imported only then."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        name,
        help=text,
        description=textwrap.fill(text, HELP_WIDTH),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        **options,
    )

    def run(arguments: argparse.Namespace) -> int:
        status: int = import_module(module).run(arguments)
        return status

    parser.set_defaults(run=run)
    return parser


def _agents_and(*examples: str) -> str:
    """What stands below the help of a command that takes agents."""
    forms = [
        textwrap.fill(form, HELP_WIDTH, initial_indent="  ", subsequent_indent="      ", break_on_hyphens=False)
        for form in FORMS
    ]
    return "\n".join(["agents:", *forms, "", *(f"example: {example}" for example in examples)])


def _add_game_options(parser: argparse.ArgumentParser) -> None:
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


def _add_threads(parser: argparse.ArgumentParser, text: str) -> None:
    parser.add_argument("--threads", type=int, default=1, metavar="N", help=f"{text} (default: %(default)s)")


def _add_objective(parser: argparse.ArgumentParser, text: str) -> None:
    parser.add_argument("--objective", choices=OBJECTIVES, default=MARGIN, help=f"{text} (default: %(default)s)")


def _add_match_options(parser: argparse.ArgumentParser, games: int) -> None:
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
    _add_threads(parser, "for games between compiled agents; changes no result")


def _add_evaluate(subparsers: Subparsers) -> None:
    parser = _add(
        subparsers,
        "evaluate",
        "mozaic_env.arena.evaluate",
        "Play matches of one agent against others and say how sure the results are.",
    )
    parser.epilog = _agents_and(
        "mozaic evaluate runs/quick --against random greedy pattern --games 2000 --seed 1",
        "mozaic evaluate pattern --regret --rows 4 --cols 4",
    )
    parser.add_argument("who", metavar="WHO", help=AGENT_HELP)
    parser.add_argument(
        "--against",
        nargs="+",
        default=[],
        metavar="AGENT",
        help="the opponents, named in the same way",
    )
    parser.add_argument(
        "--regret",
        action="store_true",
        help="play against perfect play too, and add up what each decision gives away, on a board that is solved",
    )
    _add_objective(parser, "with --regret: what perfect play maximises")
    _add_match_options(parser, 1000)
    parser.add_argument("--records", metavar="FILE", help="write one game record per game")
    parser.add_argument("--json", metavar="FILE", help="write all figures as JSON")
    parser.add_argument(
        "--report",
        metavar="DIR",
        nargs="?",
        const="",
        help="write a report with pictures; no DIR: into the run folder that is evaluated",
    )
    _add_game_options(parser)


def _add_tournament(subparsers: Subparsers) -> None:
    parser = _add(
        subparsers,
        "tournament",
        "mozaic_env.arena.tournament",
        "Play a round robin and rate all agents, those of earlier results included.",
    )
    parser.epilog = _agents_and("mozaic tournament random greedy pattern --results ladder.jsonl --report report")
    parser.add_argument("agents", nargs="*", metavar="AGENT", help=AGENT_HELP + "; none: show the results so far")
    _add_match_options(parser, 1000)
    parser.add_argument(
        "--results",
        metavar="FILE",
        help="JSON Lines file to add the results to; what it holds already counts and is not "
        "played again, so an interrupted tournament goes on where it was",
    )
    parser.add_argument("--report", metavar="DIR", help="write a report with pictures")
    parser.add_argument(
        "--records",
        metavar="FILE",
        help="write one game record per game that is played now; with --results they are added to the file, like those",
    )
    parser.add_argument(
        "--ray",
        metavar="ADDRESS",
        help="spread the matches over a Ray cluster: HOST:PORT of its head, auto on one of its machines, or local to "
        "start Ray here; changes no result",
    )
    _add_game_options(parser)


def _add_solve(subparsers: Subparsers) -> None:
    parser = _add(
        subparsers,
        "solve",
        "mozaic_env.arena.exact.solve",
        "Solve a board of Mozaic: the exact value of every action. Up to 16 tiles, 12 for --objective outcome. "
        "Interrupted, the same command goes on.",
    )
    parser.epilog = "example: mozaic solve --rows 4 --cols 4"
    _add_objective(parser, "what perfect play is for: the expected lead or the expected result")
    parser.add_argument("--out", metavar="FILE", help="where the values go (default: the cache, where all find them)")
    _add_threads(parser, "changes no result")
    _add_game_options(parser)


def _add_exploit(subparsers: Subparsers) -> None:
    parser = _add(
        subparsers,
        "exploit",
        "mozaic_env.arena.exact.exploit",
        "Work out what the best response to an agent gets, exactly, on a board that is small enough.",
    )
    parser.epilog = "example: mozaic exploit pattern --rows 3 --cols 4"
    parser.add_argument(
        "who",
        metavar="WHO",
        help="random, greedy or another heuristic, on boards of up to 16 tiles; on up to 12 tiles also expectimax, "
        "perfect, and the path of a run or checkpoint",
    )
    _add_threads(parser, "changes no result")
    _add_game_options(parser)


def _add_replay(subparsers: Subparsers) -> None:
    parser = _add(
        subparsers,
        "replay",
        "mozaic_env.arena.replay",
        "Step through game records, check them, and print or draw the position after each word.",
    )
    parser.add_argument("file", metavar="FILE", help="game records, one a line")
    parser.add_argument("--game", type=int, metavar="N", help="the N-th record alone")
    parser.add_argument("--quiet", action="store_true", help="check only")
    parser.add_argument("--boards", action="store_true", help="draw the boards")
    parser.add_argument("--gif", metavar="FILE", help="write the game as an animated GIF")
    parser.add_argument("--png", metavar="DIR", help="write a PNG picture after each word")
    parser.add_argument("--svg", metavar="DIR", help="write an SVG picture after each word")


def _add_play(subparsers: Subparsers) -> None:
    parser = _add(
        subparsers,
        "play",
        "mozaic_env.web.play.command",
        "Play in the browser or the terminal, against agents, people at the same screen, or agents among themselves.",
    )
    parser.epilog = _agents_and("mozaic play --agents runs/quick pattern random --rules onyx")
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
    _add_server_options(parser)
    parser.add_argument(
        "--sessions",
        type=int,
        default=500,
        metavar="N",
        help="pages that may play at the same time (default: %(default)s)",
    )
    _add_game_options(parser)


def _add_watch(subparsers: Subparsers) -> None:
    parser = _add(
        subparsers,
        "watch",
        "mozaic_env.web.watch.command",
        "Show a training run in the browser while it goes on: strength, games, speed, and a game of its latest policy.",
    )
    parser.epilog = "example: mozaic watch runs/quick"
    parser.add_argument("run_folder", metavar="RUN", help="the folder of a run, running or ended")
    parser.add_argument("--once", metavar="FILE", help="write the page as it is now into one HTML file instead")
    _add_server_options(parser)


def _add_server_options(parser: argparse.ArgumentParser) -> None:
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


def _add_bench(subparsers: Subparsers) -> None:
    parser = _add(
        subparsers,
        "bench",
        "mozaic_env.bench.command",
        "Measure how fast the environments are here, next to other libraries that are installed.",
    )
    parts = ("kernels", "vector", "single", "sb3", "startup", "peers")
    parser.add_argument("--only", nargs="+", choices=parts, metavar="PART", help=f"some of: {', '.join(parts)}")
    parser.add_argument("--seconds", type=float, metavar="S", help="for each row (default: 1, with --quick 0.1)")
    parser.add_argument("--quick", action="store_true", help="short, and without the first compilation")
    parser.add_argument("--json", metavar="FILE", help="write all figures as JSON")
    parser.add_argument("--plot", metavar="FILE", help="draw the rates, as .png, .svg or .pdf")
    _add_game_options(parser)


def command() -> NoReturn:
    """The `mozaic` command as a process."""
    status = main()
    if status == INTERRUPTED:
        # CPython notes a KeyboardInterrupt that came while it ran a string, as it does to make a dataclass, and ends by
        # the signal in place of the status, even though the interrupt was answered.
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
        os._exit(status)
    sys.exit(status)


if __name__ == "__main__":
    command()
