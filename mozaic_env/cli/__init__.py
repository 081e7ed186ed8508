"""The `mozaic` command: a module for each verb, imported when it is asked for.

A verb's module adds its options (`add_arguments`) and does its work (`run`, which returns the exit status). It imports
what the work needs only then. Errors are one line on stderr with exit status 2, Ctrl-C is status 130.
"""

import argparse
import os
import sys
import textwrap
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NoReturn

from mozaic_env import __version__
from mozaic_env.cli.options import HELP_WIDTH
from mozaic_env.cli.parser import INTERRUPTED, USAGE_ERROR, Parser
from mozaic_env.core.extras import MissingExtra
from mozaic_env.core.text.messages import one_line, replace_missing_letters

BROKEN_PIPE = 141  # as shells report signal 13
VERBS = {
    "evaluate": "Play matches of one agent against others and say how sure the results are.",
    "tournament": "Play a round robin and rate all agents, those of earlier results included.",
    "solve": (
        "Solve a board of Mozaic: the exact value of every action. Up to 16 tiles, 12 for --objective outcome. "
        "Interrupted, the same command goes on."
    ),
    "exploit": "Work out what the best response to an agent gets, exactly, on a board that is small enough.",
    "replay": "Step through game records, check them, and print or draw the position after each word.",
    "play": (
        "Play in the browser or the terminal, against agents, people at the same screen, or agents among themselves."
    ),
    "watch": (
        "Show a training run in the browser while it goes on: strength, games, speed, and a game of its latest policy."
    ),
    "bench": "Measure how fast the environments are here, next to other libraries that are installed.",
}


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
        # The reader of the output is gone; what is still buffered must not raise once more at exit.
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
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True, dest="name", parser_class=_Verb)
    for name, text in VERBS.items():
        subparsers.add_parser(
            name,
            help=text,
            description=textwrap.fill(text, HELP_WIDTH),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
    return parser


class _Verb(Parser):
    """The parser of one verb; gets its options when a command line is for it."""

    def parse_known_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> Any:  # type: ignore[override]
        if self.get_default("run") is None:
            module = import_module(f"mozaic_env.cli.{self.prog.split()[-1]}")
            module.add_arguments(self)
            self.set_defaults(run=module.run)
        return super().parse_known_args(args, namespace)


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
