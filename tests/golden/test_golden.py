"""The golden playthroughs are there, complete, and what the code does today."""

from __future__ import annotations

from pathlib import Path

import pytest

from mozaic_env.core.record import parse_record
from mozaic_env.games import GAMES, make_game
from mozaic_env.games.crystal_mosaic.actions import BOARDS, COLOURS
from mozaic_env.games.mozaic.actions import EDITIONS
from tests.golden.playthrough import FOLDER, VARIANTS, files, registered, variants_of, write

KEPT = files()
each = pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem)


def test_every_registered_game_has_playthroughs() -> None:
    assert registered() == set(GAMES) == set(VARIANTS)
    assert all(VARIANTS.values())


def test_every_edition_has_them_on_two_boards() -> None:
    boards = {(game.rules, game.board) for game in variants_of("mozaic")}
    assert boards == {(rules, board) for rules in EDITIONS for board in ((8, 8), (4, 4))}


def test_there_are_no_others() -> None:
    assert sorted(FOLDER.glob("*.txt")) == sorted(KEPT)


@each
def test_the_playthrough_is_still_the_same(path: Path) -> None:
    """If it changed and should have: `make golden`, and read the diff."""
    assert write(*KEPT[path]).splitlines() == path.read_text(encoding="utf-8").splitlines()


def test_every_board_and_number_of_players_has_one() -> None:
    games = variants_of("crystal_mosaic")
    assert {game.board for game in games} == set(BOARDS)
    assert {game.num_players for game in games} == {2, 3, 4}


# What words of a record have to be there, by what they begin with; a refill begins with any colour.
SHOWN = {
    "mozaic": lambda options: set("ybedrx"),
    "crystal_mosaic": lambda options: {"refill", "F", "C"} | (set() if options["board"] == "base" else {"@"}),
}


def begins(name: str, word: str) -> str:
    return "refill" if name == "crystal_mosaic" and word[0] in COLOURS else word[0]


@each
def test_the_playthrough_shows_every_kind_of_event(path: Path) -> None:
    """And its record replays to the position that it ends in."""
    name, options, _ = KEPT[path]
    lines = path.read_text(encoding="utf-8").splitlines()
    record = parse_record(lines[-1])
    if name in SHOWN:
        assert {begins(name, word) for word in record.words} == SHOWN[name](options)
    game = make_game(name, **options)
    *_, (_, last) = game.replay(record)
    assert f"{'truncated' if record.truncated else 'over'}: {game.format_position(last)}" in lines
