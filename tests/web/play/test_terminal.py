"""`mozaic play --terminal` as someone at a keyboard, or a pipe, meets it."""

from __future__ import annotations

import io
import itertools
import os
import re
import select
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

pytest.importorskip("rich", reason="rich is not installed")
from rich.console import Console

from mozaic_env.agents.specs import make_agent
from mozaic_env.arena.report.console import make_console
from mozaic_env.cli import main
from mozaic_env.cli.contestants import read_option
from mozaic_env.core.record import parse_record
from mozaic_env.games import make_game
from mozaic_env.web.play import terminal
from mozaic_env.web.play.play import HUMAN, Play, legal_mask
from mozaic_env.web.play.terminal import Terminal
from tests.oracles import nim

ROOT = Path(__file__).resolve().parents[3]
GAME = make_game("mozaic", rows=4, cols=4)
SMALL = ["play", "--terminal", "--rows", "4", "--cols", "4", "--seed", "3"]


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., list[str]]:
    """Runs the command with these lines of input; the lines that it printed."""

    def run(lines: Sequence[str], *words: str, status: int = 0) -> list[str]:
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
        assert main([*SMALL, *words]) == status
        out, err = capsys.readouterr()
        assert err == ""
        assert "\x1b" not in out
        return out.splitlines()

    return run


def script(seats: Sequence[str], seed: int = 3) -> tuple[list[str], Play]:
    """A whole game: the first legal move for a human, the agent's for an agent; what the humans have to type."""
    play, lines = Play(GAME, seed, seats), []
    agents = {name: make_agent(name, GAME) for name in set(seats) - {HUMAN}}
    while play.mover is not None:
        name = seats[play.mover]
        if name == HUMAN:
            action = int(np.flatnonzero(legal_mask(GAME, play.now))[0])
            lines.append(GAME.format_action(action))
        else:
            action = int(agents[name].act(play.now.reshape(1))[0])
        play.play(action, name)
    return lines, play


def record_in(out: Sequence[str]) -> str:
    return next(line for line in out if line.startswith("rules="))


@pytest.mark.parametrize(
    ("seat", "seats"), [("both", (HUMAN, HUMAN)), ("0", (HUMAN, "pattern")), ("1", ("pattern", HUMAN))]
)
def test_a_whole_game_from_a_pipe(typed: Callable[..., list[str]], seat: str, seats: tuple[str, str]) -> None:
    lines, play = script(seats)
    out = typed(lines, "--agent", "pattern", "--seat", seat)
    assert record_in(out) == str(play.record())
    list(GAME.replay(parse_record(record_in(out))))
    lead = int(play.now["score"][0]) - int(play.now["score"][1])
    assert ("yellow wins" if lead > 0 else "blue wins" if lead < 0 else "a draw") in out
    for position, step in zip(play.drawn[1:], play.steps, strict=True):
        assert any(line.startswith(step.told) for line in out)
        assert set(position) <= set(out)
    agents_moves = [line for line in out if line.endswith(" (pattern)")]
    assert len(agents_moves) == sum(step.by == "pattern" for step in play.steps)


def test_what_is_shown_at_a_decision(typed: Callable[..., list[str]]) -> None:
    out = typed(["b2"], "--seat", "both")
    assert out[0] == "seed 3; yellow: human, blue: human. Type help for help."
    assert "16 moves: a1 b1 c1 d1 a2 b2 c2 d2 a3 b3 c3 d3 a4 b4 c4 d4" in out
    assert "yellow> b2" in out
    after = out[out.index("yellow> b2") + 1 :]
    assert after[0] == "yellow places a yellow gem on b2"
    assert "2   . [Y] .  ." in after
    assert "    a  b  c  d" in after
    assert any(line.startswith("bag: yellow") for line in after)
    assert any("to play, in hand: " in line for line in after)
    assert "the input has ended" in after


def test_help_names_every_command_and_the_commands_do_what_it_says(typed: Callable[..., list[str]]) -> None:
    out = typed(["help", "MOVES", "board", "hint", "hint random", "undo", "quit", "never read"], "--agent", "pattern")
    listed = [line.split()[0] for line in out[out.index("yellow> help") + 1 :][:8]]
    assert listed == ["a1", "moves", "hint", "undo", "board", "record", "help", "quit"]
    assert "a1  b1  c1  d1  a2  b2  c2  d2  a3  b3  c3  d3  a4  b4  c4  d4" in out
    assert out.count("    a  b  c  d") == 2
    assert re.fullmatch(r"pattern would play [a-d][1-4]", out[out.index("yellow> hint") + 1])
    assert re.fullmatch(r"random would play [a-d][1-4]", out[out.index("yellow> hint random") + 1])
    assert out[out.index("yellow> undo") + 1] == "there is nothing to take back"
    assert out[-1] == "yellow> quit"


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("zz", "'zz' is neither a move, such as b1, nor a command: moves, hint, undo, board, record, help, quit"),
        ("a1", "a1 is not possible now; accepted: b1, c1, d1, a2, b2, c2, d2, a3, b3, c3, d3, a4, b4, c4, d4"),
        ("A1", "A1 is not possible now; accepted: "),
        ("a1-b2", "a1-b2 is not possible now; "),
        ("b1 c1", "'b1 c1' is neither a move"),
        ("hint kasparov", "unknown agent 'kasparov'; accepted: "),
        ("record", "record takes the name of a file, as in: record game.txt"),
        ("record /missing/game.txt", "cannot write /missing/game.txt: No such file or directory"),
    ],
)
def test_what_is_wrong_is_said_and_the_game_goes_on(typed: Callable[..., list[str]], line: str, answer: str) -> None:
    out = typed(["a1", line, "B1"], "--seat", "both")
    asked = next(number for number, text in enumerate(out) if text == f"blue> {line}")
    assert out[asked + 1].startswith(answer)
    assert record_in(out).count("a1") == 1
    assert record_in(out).endswith("b1") or "b1 " in record_in(out)


def test_undo_brings_the_same_luck_again(typed: Callable[..., list[str]]) -> None:
    once = typed(["a1", "b1", "c1"], "--agent", "pattern")
    again = typed(["d4", "undo", "a1", "b1", "c4", "undo", "c1"], "--agent", "pattern")
    assert record_in(once) == record_in(again)
    assert "taken back" in again


def test_a_finished_game_can_be_kept_and_taken_back(typed: Callable[..., list[str]], tmp_path: Path) -> None:
    lines, play = script((HUMAN, HUMAN))
    file = tmp_path / "my game.txt"
    out = typed([*lines, "hint", "a1", f"record {file}", "undo", "moves", lines[-1]], "--seat", "both")
    assert out[out.index("over> hint") + 1] == "the game is over; nobody is to move"
    assert out[out.index("over> a1") + 1].startswith("'a1' is no command, and the game is over; accepted: moves, ")
    assert file.read_text() == f"{play.record()}\n"
    assert main(["replay", str(file), "--quiet"]) == 0
    assert sum(line in ("yellow wins", "blue wins", "a draw") for line in out) == 2


def test_a_record_in_a_file_grows_with_the_game_and_never_replaces_another(
    typed: Callable[..., list[str]], tmp_path: Path
) -> None:
    file, other = tmp_path / "game.txt", tmp_path / "other.txt"
    other.write_text("precious\n")
    out = typed(["a1", f"record {file}", f"record {other}", "b1", f"record {file}", "c1"], "--seat", "both")
    assert f"{other} exists; name another file" in out
    assert other.read_text() == "precious\n"
    assert out.count(f"wrote {file}") == 2
    assert file.read_text() == f"{record_in(out)}\n"
    assert "c1" in file.read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--seat", "2"], "--seat 2; accepted: 0, 1, both"),
        (["--seed", "-1"], "seed=-1; accepted: a whole number of at least 0"),
        (["--agent", "kasparov"], "unknown agent 'kasparov'"),
        (["--rules", "ruby"], "rules='ruby'; accepted"),
    ],
)
def test_a_wrong_option_is_said_in_one_line(capsys: pytest.CaptureFixture[str], words: list[str], message: str) -> None:
    start = SMALL[:-2] if "--seed" in words else SMALL  # each option once
    assert main([*start, *words]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert message in err


@pytest.mark.parametrize("option", ["--seat", "--seed"])
def test_options_of_the_terminal_are_not_silently_dropped(capsys: pytest.CaptureFixture[str], option: str) -> None:
    assert main(["play", option, "1"]) == 2
    assert "--seat and --seed go with --terminal" in capsys.readouterr().err


def test_without_a_seed_each_game_is_another_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seeds = set()
    for _ in range(3):
        monkeypatch.setattr(sys, "stdin", io.StringIO(""))
        assert main(["play", "--terminal", "--seat", "both", "--rows", "2", "--cols", "2"]) == 0
        seeds.add(capsys.readouterr().out.splitlines()[0])
    assert len(seeds) == 3


def test_a_closed_input_is_an_input_that_has_ended(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert main([*SMALL, "--agent", "random"]) == 0
    out, err = capsys.readouterr()
    assert "the input has ended" in out
    assert err == ""


def test_an_agent_that_fails_costs_nobody_the_game_so_far(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        "mozaic_env.agents.baselines.CompiledAgent.act", lambda self, states, masks=None: np.array([95])
    )
    monkeypatch.setattr(sys, "stdin", io.StringIO("a1\nb1\n"))
    assert main([*SMALL, "--agent", "pattern"]) == 2
    out, err = capsys.readouterr()
    assert "y:a1" in record_in(out.splitlines())
    assert err == "mozaic play: xd4 is not possible here\n"


def test_any_game_can_be_played(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Three players, no chance, no picture of its own in colours."""
    game = nim.Nim(7)
    agent = make_agent("greedy", game)
    play = Play(game, 0, [HUMAN, "greedy", "greedy"])
    monkeypatch.setattr(sys, "stdin", io.StringIO("4\n2\n1\n1\n1\n1\n"))
    table = Terminal(play, {"greedy": agent}, make_console())
    with pytest.raises(EOFError):
        table.play_on()
    table.show_record()
    out = capsys.readouterr().out.splitlines()
    assert "ooooooo" in out
    assert out[out.index("first> 4") + 1] == "'4' is neither a move, such as 1, nor a command: " + ", ".join(
        ["moves", "hint", "undo", "board", "record", "help", "quit"]
    )
    assert "3 moves: 1 2 3" in out
    assert any(line.endswith(" win") for line in out)  # two of the three
    assert out[-1].startswith("game=nim stones=7 first=human second=greedy third=greedy seed=0 result=-1,0.5,0.5 |")


GAMES = [("mozaic", []), ("mosaic_chess", []), *(("crystal_mosaic", [f"players={n}"]) for n in (2, 3, 4))]


@pytest.mark.parametrize("agents", [[], ["greedy"], ["greedy", "random"]], ids=["usual", "one", "two"])
@pytest.mark.parametrize(("name", "options"), GAMES, ids=lambda value: "-".join(value) if value else "")
def test_every_other_seat_is_held_by_the_agents_that_were_named(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
    options: list[str],
    agents: list[str],
) -> None:
    game = make_game(name, **dict(read_option(option) for option in options))
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    words = [word for option in options for word in ("--option", option)]
    assert main(["play", "--terminal", "--game", name, *words, *(["--agents", *agents] if agents else [])]) == 0
    expected = ["human", *itertools.islice(itertools.cycle(agents or game.usual_agents[:1]), game.num_players - 1)]
    seats = ", ".join(f"{seat}: {who}" for seat, who in zip(game.seat_names, expected, strict=True))
    assert f"; {seats}. " in capsys.readouterr().out.splitlines()[0]


@pytest.mark.parametrize("width", [40, 80])
@pytest.mark.parametrize(("name", "options"), GAMES, ids=lambda value: "-".join(value) if value else "")
def test_a_terminal_shows_few_lines_and_breaks_them_between_words(name: str, options: list[str], width: int) -> None:
    game = make_game(name, **dict(read_option(option) for option in options))
    play = Play(game, 1, [HUMAN, *["random"] * (game.num_players - 1)])
    shown = io.StringIO()
    out = Console(file=shown, force_terminal=True, color_system=None, width=width)
    table = Terminal(play, {"random": make_agent("random", game)}, out)
    with mock.patch.object(terminal, "_read", side_effect=["help", "moves", EOFError]), pytest.raises(EOFError):
        table.play_on()
    lines = shown.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    opening = lines[: lines.index("")]
    assert len(" ".join(opening)) < 300
    legal = np.flatnonzero(legal_mask(game, play.now)).tolist()
    assert {game.format_action(action) for action in legal} <= {word for line in lines for word in line.split()}
    assert set(terminal.HELP.split()[1:]) <= {word for line in lines for word in line.split()}


# --- a terminal -----------------------------------------------------------------------------------


class Keyboard:
    """The command in a pseudo-terminal."""

    def __init__(self, *words: str, **environment: str) -> None:
        pty = pytest.importorskip("pty", reason="there are no pseudo-terminals here")
        self.ours, theirs = pty.openpty()
        variables = os.environ | {"PYTHONPATH": str(ROOT), "TERM": "xterm-256color", "COLUMNS": "100"} | environment
        variables.pop("NO_COLOR", None)
        command = [sys.executable, "-W", "error", "-m", "mozaic_env", *SMALL, *words]
        self.process = subprocess.Popen(
            command, stdin=theirs, stdout=theirs, stderr=theirs, env=variables, start_new_session=True,
            preexec_fn=_take_terminal,
        )  # fmt: skip
        os.close(theirs)
        self.seen = ""

    def wait_for(self, text: str, seconds: float = 120) -> str:
        """What has been shown up to this text."""
        end = time.monotonic() + seconds
        while text not in self.seen:
            assert time.monotonic() < end, self.seen
            if select.select([self.ours], [], [], 0.2)[0]:
                try:
                    self.seen += os.read(self.ours, 65536).decode()
                except OSError:  # the other side has gone
                    break
        before, found, self.seen = self.seen.partition(text)
        assert found, before
        return before

    def press(self, keys: str) -> None:
        os.write(self.ours, keys.encode())

    def end(self, seconds: float = 60) -> tuple[int, str]:
        """The exit status, and what was shown at last."""
        rest, end = self.seen, time.monotonic() + seconds
        while True:
            if time.monotonic() > end:
                self.process.kill()
                raise AssertionError(f"the command goes on after: {rest}")
            if not select.select([self.ours], [], [], 0.2)[0]:
                continue
            try:
                piece = os.read(self.ours, 65536)
            except OSError:
                break
            if not piece:
                break
            rest += piece.decode()
        status = self.process.wait(timeout=60)
        os.close(self.ours)
        return status, rest.replace("\r\n", "\n")


def _take_terminal() -> None:
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # so that Ctrl-C reaches the process


def test_at_a_terminal_there_are_colours_and_completion_and_ctrl_c_ends_it() -> None:
    keyboard = Keyboard("--seat", "both", "--agent", "random")
    keyboard.wait_for("yellow> ")
    keyboard.press("d4\n")
    assert re.search(r"\x1b\[[\d;]*30[\d;]*m\[Y\]", keyboard.wait_for("blue> "))
    pytest.importorskip("readline", reason="there is no readline here")
    keyboard.press("boa\t\n")
    keyboard.wait_for("board")
    keyboard.wait_for("blue> ")
    keyboard.press("c\t\t")  # several begin so: they are shown
    keyboard.wait_for("c4")
    time.sleep(1)  # while readline writes on: Python loses a signal that comes just before it waits for keys
    keyboard.press("\x03")
    status, rest = keyboard.end()
    assert status == 130
    assert "the game so far as a record:\nrules=amethyst board=4x4 first=y" in rest
    assert bare(rest).endswith("interrupted\n")
    assert "Traceback" not in rest


def test_at_a_terminal_ctrl_d_ends_it() -> None:
    keyboard = Keyboard("--seat", "both", "--agent", "random")
    keyboard.wait_for("yellow> ")
    keyboard.press("\x04")
    status, rest = keyboard.end()
    assert status == 0
    assert "the input has ended" in rest
    assert "Traceback" not in rest


def bare(text: str) -> str:
    return re.sub(r"\x1b\[[\d;]*m", "", text)


def test_what_a_terminal_would_show_can_be_read_without_colours() -> None:
    _, play = script((HUMAN, HUMAN))
    for row in play.positions:
        coloured, plain = GAME.draw_ansi(row), GAME.draw_text(row)
        assert [line.split() for line in bare(coloured).splitlines()] == [line.split() for line in plain.splitlines()]
        gems = int(row["gems"][0]).bit_count() + int(row["gems"][1]).bit_count()
        assert coloured.count("\x1b[0m") == gems


def test_what_has_changed_is_in_brackets_with_what_was_scored() -> None:
    before = GAME.parse_position("yby1/3b/yy2/y3 y y 1 2,6,1,1,1,1 0-8")[0]
    after = GAME.parse_position("yby1/3b/1y2/yy2 b b 1 3,5,1,1,1,1 4-8")[0]
    shown = [line.rstrip() for line in bare(GAME.draw_ansi(after, before)).splitlines()]
    assert shown[:4] == ["4   Y  b  Y  .", "3   .  .  .  b", "2  [.] Y  .  .", "1   Y [Y] .  ."]
    assert "score: yellow (Y) 4 (+4), blue (b) 8" in shown
    assert "[" not in bare(GAME.draw_ansi(after))
