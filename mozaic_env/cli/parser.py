"""Command lines: errors of one line that say what may have been meant, and no option twice."""

import argparse
import sys
from collections.abc import Sequence
from itertools import takewhile
from typing import Any, NoReturn

from mozaic_env.core.text.messages import one_line
from mozaic_env.core.text.suggest import did_you_mean

USAGE_ERROR, INTERRUPTED = 2, 130  # the latter as shells report signal 2


class Parser(argparse.ArgumentParser):
    """Reads a command line; what is wrong is one line on stderr and exit status 2.

    Argparse by itself takes the last of two values for one option, and calls a misspelt option a missing one.
    """

    def error(self, message: str) -> NoReturn:
        self.exit(USAGE_ERROR, f"{self.prog}: {one_line(message)} (see {self.prog} --help)\n")

    def parse_known_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> Any:  # type: ignore[override]
        words = list(sys.argv[1:] if args is None else args)
        self._check_options(words)
        found, more = super().parse_known_args(words, namespace)
        if more and self._subparsers is None:  # said by the command's own parser, whose help tells what it takes
            self.error(f"unrecognized arguments: {' '.join(more)}")
        return found, more

    def _check_options(self, words: Sequence[str]) -> None:
        """Ends the program at an option that there is not, or that comes twice, which would lose the first."""
        if self._subparsers is not None:  # what follows the command is the business of its own parser
            words = list(takewhile(lambda word: word.startswith("-"), words))
        known, seen = self._option_string_actions, set[str]()
        for word in takewhile(lambda word: word != "--", words):
            option = word.partition("=")[0]
            if not word.startswith("--") or " " in option:  # a value, as argparse sees it too
                continue
            meant = {name: action for name, action in known.items() if name == option}
            meant = meant or {name: action for name, action in known.items() if name.startswith(option)}
            if not meant:
                self.error(f"there is no option {option}{did_you_mean(option, known)}")
            name, action = next(iter(meant.items()))
            if len(meant) > 1 or action.nargs == 0 or isinstance(action, argparse._AppendAction):
                continue  # ambiguous, which argparse says; a flag; meant to come several times
            if action.dest in seen:
                self.error(f"{name} is given twice; accepted: each option once")
            seen.add(action.dest)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            accepted = [str(choice) for choice in action.choices]
            hint = did_you_mean(str(value), accepted)
            raise argparse.ArgumentError(action, f"invalid choice: {value!r}; accepted: {', '.join(accepted)}{hint}")
