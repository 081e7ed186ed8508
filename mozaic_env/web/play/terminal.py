"""`mozaic play --terminal`: a game in the terminal, for any game of the package."""

import os
import secrets
import sys
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np

from mozaic_env.agents.base import Agent
from mozaic_env.agents.specs import make_agent
from mozaic_env.arena.report import console
from mozaic_env.core import contract as on
from mozaic_env.core.checks import check_whole_number
from mozaic_env.core.extras import MissingExtra, importing
from mozaic_env.core.game import Game
from mozaic_env.core.storage.files import atomic_write
from mozaic_env.core.storage.outputs import check_output_file
from mozaic_env.core.text.files import clean, user_path
from mozaic_env.core.text.messages import one_line
from mozaic_env.core.text.suggest import did_you_mean
from mozaic_env.web.play.daemon_executor import DaemonExecutor
from mozaic_env.web.play.play import HUMAN, IllegalMove, Play, legal_mask

with importing("--terminal"):
    from rich.console import Console
    from rich.text import Text


BOTH = "both"  # seats are the user's
FEW = 24  # moves are listed without being asked for
MOST_DRAWS = 4  # are told one by one; of more the number, as on the page, for the board shows what came of them
HELP = """\
{moves}   take that move; Tab completes it
moves          list all moves
hint [AGENT]   what the agent you play against, or another one, would do
undo           take your last move back; the same luck comes again
board          show the board once more
record FILE    write the game so far as a record, for mozaic replay or the page
help           this list
quit           end; so do Ctrl-D and Ctrl-C"""


def run(arguments: Namespace, game: Game, agents: Mapping[str, Agent]) -> int:
    """Plays a game; `arguments` as `mozaic_env.cli` reads them.

    Args:
        arguments: of the command line.
        game: what is played.
        agents: by names. The seats that the user does not take are theirs in this order, from the first one again
            where there are more seats; if none was asked for, all are the first one's, who is the usual opponent.
    """
    seed = secrets.randbelow(2**32) if arguments.seed is None else check_whole_number("seed", arguments.seed, 0)
    opponents = list(agents) if arguments.agents else list(agents)[:1]
    play = Play(game, seed, list(_seats(arguments.seat or "0", game, opponents)))
    terminal = Terminal(play, agents, console.make_console())
    try:
        terminal.play_on()
    except EOFError:
        if play.mover is not None:
            terminal.say("the input has ended")
    finally:  # after Ctrl-C and after an agent's failure as well
        terminal.show_record()
    return 0


def _seats(seat: str, game: Game, agents: Sequence[str]) -> Iterator[str]:
    """Who decides for each seat."""
    accepted = [*map(str, range(game.num_players)), BOTH]
    if seat not in accepted:
        raise ValueError(f"--seat {seat}; accepted: {', '.join(accepted)}")
    others = 0
    for number in range(game.num_players):
        if seat in (BOTH, str(number)):
            yield HUMAN
        else:
            yield agents[others % len(agents)]
            others += 1


class Quit(Exception):
    """The user ends the game."""


class Terminal:
    """One game between the user and agents."""

    def __init__(self, play: Play, agents: Mapping[str, Agent], out: Console) -> None:
        """Shows nothing yet.

        Args:
            play: the game.
            agents: who decides for its seats, by names.
            out: where to print.
        """
        self.play, self.game, self.out = play, play.game, out
        self._agents = dict(agents)
        self._advisers: dict[str, Agent] = {}
        self._worker = DaemonExecutor("agents")
        self._told = 0  # how many positions' events have been told
        self._seen = play.now  # the row that the user saw last
        self._written: set[str] = set()  # files that hold this game
        self._commands: dict[str, Callable[[str], None]] = {
            "moves": self._list_moves,
            "hint": self._hint,
            "undo": self._undo,
            "board": self._show_board,
            "record": self._record,
            "help": self._help,
            "quit": self._quit,
        }

    def play_on(self) -> None:
        """Plays until the user ends it, who can also look at a finished game, keep it and take moves back.

        Raises:
            EOFError: no more input.
        """
        seats = zip(self.game.seat_names, self.play.seats)
        self.say(f"seed {self.play.seed}; {', '.join(f'{seat}: {who}' for seat, who in seats)}. Type help for help.")
        _complete_with(self._words)
        try:
            while True:
                seat = self.play.mover
                if seat is None or self.play.seats[seat] == HUMAN:
                    self._show_board()
                    self._ask_user("over" if seat is None else self.game.seat_names[seat])
                else:
                    self._ask_agent(self.play.seats[seat])
        except Quit:
            return
        finally:
            _complete_with(lambda: ())

    def say(self, text: str) -> None:
        """Prints a line or several; a terminal breaks them between words."""
        self._show(Text(text))

    def _show(self, text: Text) -> None:
        wrapped = self.out.is_terminal  # elsewhere nothing needs to fit
        self.out.print(text, soft_wrap=not wrapped, overflow="fold" if wrapped else None, crop=False)

    # --- what happens -----------------------------------------------------------------------------

    def _ask_user(self, prompt: str) -> None:
        """Does what the user says until the game has gone on or back."""
        steps = list(self.play.steps)
        while self.play.steps == steps:
            self._obey(_read(f"{prompt}> "))

    def _ask_agent(self, name: str) -> None:
        self.play.play(self._asked(name, self._agents[name]), name)

    def _asked(self, name: str, agent: Agent) -> int:
        """What an agent would do now; Ctrl-C need not wait for it."""
        with console.waiting(f"{name} is thinking"):
            return int(self._worker.submit(agent.act, self.play.now.reshape(1)).result()[0])

    def _obey(self, line: str) -> None:
        """Does what a line says; tells the user what is wrong with it."""
        words = line.split(maxsplit=1)
        if not words:
            return
        name, rest = words[0], words[1].strip() if len(words) > 1 else ""
        command = self._commands.get(name.lower())
        try:
            if command is not None:
                command(rest)
            else:
                self.play.play(self._parse(line.strip()), HUMAN)
        except (ValueError, OSError, MissingExtra) as error:
            self.say(one_line(error))

    def _parse(self, text: str) -> int:
        """The action that a notation names, upper and lower case the same where that is clear."""
        moves = self._moves()
        alike = [action for notation, action in moves.items() if notation.lower() == text.lower()]
        if text in moves or len(alike) == 1:
            return moves.get(text, alike[0])
        if not moves:
            raise IllegalMove(f"{text!r} is no command, and the game is over; accepted: {', '.join(self._commands)}")
        if not (self._is_notation(text) or self._is_notation(text.lower())):
            commands, hint = ", ".join(self._commands), did_you_mean(text.split()[0].lower(), self._commands)
            raise IllegalMove(
                f"{text!r} is neither a move, such as {next(iter(moves))}, nor a command: {commands}{hint}"
            )
        accepted = "moves lists what is" if len(moves) > FEW else f"accepted: {', '.join(moves)}"
        raise IllegalMove(f"{text} is not possible now; {accepted}")

    def _is_notation(self, text: str) -> bool:
        try:
            self.game.parse_action(text)
        except ValueError:
            return False
        return True

    def _moves(self) -> dict[str, int]:
        """The legal actions by their notations, none when the game is over."""
        if self.play.mover is None:
            return {}
        actions = np.flatnonzero(legal_mask(self.game, self.play.now)).tolist()
        return {self.game.format_action(action): action for action in actions}

    def _words(self) -> Iterable[str]:
        return (*self._moves(), *self._commands)

    # --- commands ---------------------------------------------------------------------------------

    def _list_moves(self, rest: str = "") -> None:
        self.say("  ".join(self._moves()))

    def _hint(self, rest: str) -> None:
        if self.play.mover is None:
            raise IllegalMove("the game is over; nobody is to move")
        name = rest or next(iter(self._agents))
        agent = self._agents.get(name) or self._advisers.get(name)
        if agent is None:
            agent = self._advisers[name] = make_agent(name, self.game)
        self.say(f"{name} would play {self.game.format_action(self._asked(name, agent))}")

    def _undo(self, rest: str) -> None:
        self.play.undo()
        self._told = min(self._told, len(self.play.positions))
        self._seen = self.play.now
        self.say("taken back")

    def _record(self, rest: str) -> None:
        if not rest:
            raise ValueError("record takes the name of a file, as in: record game.txt")
        path = str(user_path(rest))
        check_output_file(path)
        if os.path.exists(path) and path not in self._written:
            raise ValueError(f"{path} exists; name another file")
        with atomic_write(path) as file:
            file.write(f"{self.play.record()}\n")
        self._written.add(path)
        self.say(f"wrote {path}")

    def _help(self, rest: str) -> None:
        example = next(iter(self._moves()), "a move")
        self.say(HELP.format(moves=example.ljust(12)))

    def _quit(self, rest: str) -> None:
        raise Quit

    # --- what is shown ----------------------------------------------------------------------------

    def _show_board(self, rest: str = "") -> None:
        """What has happened since the last time, the board, and what can be done."""
        self._tell()
        self.out.print()
        self._show(Text.from_ansi(self.game.draw_ansi(self.play.now, self._seen)))
        self._seen = self.play.now
        moves = list(self._moves())
        if moves:
            listed = " ".join(moves[:FEW]) + (" ..." if len(moves) > FEW else "")
            self.say(f"{len(moves)} {'move' if len(moves) == 1 else 'moves'}: {listed}")
        else:
            self.say(self._ending())

    def _tell(self) -> None:
        """Chance and decisions since the last time, in words."""
        play = self.play
        for number in range(self._told, len(play.positions)):
            if number:
                step = play.steps[number - 1]
                who = "" if step.by == HUMAN else f" ({step.by})"
                self.say(f"{step.told}{who}")
            drawn = play.drawn[number]
            for told in drawn if len(drawn) <= MOST_DRAWS else [f"{len(drawn)} draws"]:
                self.say(told)
        self._told = len(play.positions)

    def _ending(self) -> str:
        if self.play.stopped:
            return f"the game has reached its limit of {self.game.max_decisions} decisions"
        results = [float(on.outcome(self.play.now, seat)) for seat in range(self.game.num_players)]
        best = [name for name, result in zip(self.game.seat_names, results) if result == max(results)]
        if len(best) == len(results):
            return "a draw"
        return f"{' and '.join(best)} {'wins' if len(best) == 1 else 'win'}"

    def show_record(self) -> None:
        """The game so far as a record, to keep; also into the files that hold an earlier part of it."""
        if not self.play.steps:
            return
        record = self.play.record()
        for path in sorted(self._written):
            with atomic_write(path) as file:
                file.write(f"{record}\n")
        self.say(f"the game {'so far ' if self.play.mover is not None else ''}as a record:")
        self.out.print(Text(str(record)), soft_wrap=True)  # one line, to copy


def _read(prompt: str) -> str:
    """A line of input, shown with its prompt where nobody typed it; EOFError at the end."""
    if sys.stdin is None:  # closed by the parent process
        raise EOFError
    if sys.stdin.isatty():
        try:
            return input(prompt)
        except (EOFError, KeyboardInterrupt):
            print()  # the cursor stands behind the prompt
            raise
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    print(f"{prompt}{clean(line)}", flush=True)
    return str(clean(line))


def _complete_with(words: Callable[[], Iterable[str]]) -> None:
    """Tab completes these words, and lines can be edited, where the terminal and Python can do that."""
    if sys.stdin is None or not sys.stdin.isatty():
        return
    try:
        import readline
    except ImportError:  # not on every system
        return

    def complete(text: str, state: int) -> str | None:
        found = [word for word in words() if word.lower().startswith(text.lower())]
        return found[state] if state < len(found) else None

    readline.set_completer(complete)
    readline.set_completer_delims(" ")
    editline = "libedit" in (readline.__doc__ or "")  # on macOS
    readline.parse_and_bind("bind ^I rl_complete" if editline else "tab: complete")
