"""The command's answers to odd requests: too much, too long, too early."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

from mozaic_env.cli import main
from mozaic_env.core.record import parse_record
from mozaic_env.core.text.messages import LONGEST_WORD, one_line
from mozaic_env.games import game_of_record

ROOT = Path(__file__).resolve().parents[2]
DIGITS = "9" * 5000


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What a wrong command says: one readable line on stderr, nothing on stdout, status 2."""
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("mozaic")
    assert err.count("\n") == 1
    assert len(err) < 1000
    return err


def test_a_message_is_one_line_and_keeps_what_people_read() -> None:
    word = "x" * LONGEST_WORD
    assert one_line(f"two\nlines  {word}") == f"two lines {word}"
    short = one_line(f"board={DIGITS}1 is wrong")
    assert re.fullmatch(r"board=9{94}\.\.\.9{19}1 is wrong", short)


@pytest.mark.parametrize(
    "words", [["evaluate", "r\udce4n", "--against", "random"], ["tournament", "random", "r\udce4n"]]
)
def test_agents_that_no_result_could_name_are_refused_at_the_start(
    capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    assert "'r\\udce4n' is no UTF-8 as this process reads it (utf-8)" in refused(capsys, *words)


@pytest.mark.parametrize("games", ["1000000000000000000000", "100000002", DIGITS[:400] + "0"])
def test_more_games_than_fit_into_memory(capsys: pytest.CaptureFixture[str], games: str) -> None:
    message = refused(capsys, "evaluate", "pattern", "--against", "random", "--games", games)
    assert "accepted: at most 100,000,000" in message
    assert "games=" in message


def test_numbers_of_thousands_of_digits(capsys: pytest.CaptureFixture[str]) -> None:
    for option in ("--games", "--seed", "--rows"):
        assert option in refused(capsys, "evaluate", "pattern", "--against", "random", option, DIGITS)
    agent = f"expectimax:depth={DIGITS}"
    assert "at most 18 digits" in refused(capsys, "evaluate", agent, "--against", "random")


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (f"rules=amethyst board={DIGITS}x8 first=y | y:d4", "board=ROWSxCOLS are needed"),
        ("rules=amethyst board=²x8 first=y | y:d4", "board=ROWSxCOLS are needed"),
        (f"rules={DIGITS} board=8x8 first=y | y:d4", "accepted: 'amethyst', 'onyx'"),
        (f"rules=amethyst board=8x8 first=y result={DIGITS}-0 | y:d4 ...", "its words give 0-0"),
        (f"rules=amethyst board=8x8 first=y | y:{DIGITS}", "is not an action on a 8x8 board"),
    ],
    ids=["board", "digit", "rules", "result", "word"],
)
def test_records_that_are_too_long_for_their_error(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, record: str, message: str
) -> None:
    file = tmp_path / "games.txt"
    file.write_text(record + "\n")
    assert main(["replay", str(file), "--quiet"]) == 2
    err = capsys.readouterr().err
    assert message in err
    assert "int" not in err  # no talk of sys.set_int_max_str_digits
    assert (err.count("\n"), len(err) < 1000) == (1, True)


def test_a_board_of_two_digits_is_told_apart_from_one_that_is_no_board() -> None:
    with pytest.raises(ValueError, match="rows=10; accepted: a whole number from 2 to 8"):
        game_of_record(parse_record("rules=amethyst board=10x8 first=y |"))


def test_too_little_memory_is_said(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: object, **options: object) -> None:
        raise MemoryError("Unable to allocate 7 GiB")

    monkeypatch.setattr(import_module("mozaic_env.arena.evaluate"), "play_match", full)
    assert "not enough memory" in refused(capsys, "evaluate", "pattern", "--against", "random", "--games", "2")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("option", ["--records", "--json"])
def test_a_full_disk_is_said_with_the_file(capsys: pytest.CaptureFixture[str], option: str) -> None:
    words = ["evaluate", "random", "--against", "random", "--games", "2", "--rows", "2", "--cols", "2"]
    assert main([*words, option, "/dev/full"]) == 2
    assert capsys.readouterr().err.splitlines()[-1].endswith("No space left on device: '/dev/full'")


def test_numba_that_must_not_compile_is_refused_in_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `mozaic_env.core.jit` refuses it, whose own test says so."""

    def refuse(arguments: object) -> None:
        raise RuntimeError("NUMBA_DISABLE_JIT is set, but mozaic_env can't run uncompiled")

    monkeypatch.setattr("mozaic_env.cli.evaluate.run", refuse)
    assert "mozaic evaluate: NUMBA_DISABLE_JIT is set" in refused(capsys, "evaluate", "random", "--against", "random")
