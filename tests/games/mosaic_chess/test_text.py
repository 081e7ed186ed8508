"""Positions, moves, actions and records of Mosaic Chess as text."""

from __future__ import annotations

import pytest

from mozaic_env.core.record import parse_record
from mozaic_env.games import game_of_record
from mozaic_env.games.mosaic_chess import notation
from mozaic_env.testing import rows as on
from tests.oracles.chess_games import GAME, at, moves_of, play

START = GAME.format_position(on.seeded(GAME, 1)[0])
BARE = "kr10/12/12/12/12/12/12/12/12/12/12/KR10"


def test_positions_hold_what_fen_does_not() -> None:
    row = play(at(START), "c4-c5", "c9-c8", "c2-c4", "c11-c9")
    assert GAME.format_position(row).endswith(" w - 2 3 - c2-c4,c11-c9")
    on.apply(row, notation.actions_of_move(moves_of(row)[0])[0])
    text = GAME.format_position(row)
    assert GAME.format_position(at(text)) == text
    plain = " ".join(text.split(" ")[:5])
    assert GAME.format_position(at(plain)) == plain
    assert at(plain)["past"] == 0


def test_a_parsed_position_knows_its_repetitions() -> None:
    row = play(at(f"{BARE} w - 0 1"), *("b1-c1", "b12-c12", "c1-b1", "c12-b12"))
    assert at(GAME.format_position(row))["repeats"] == 1
    play(row, "b1-c1", "b12-c12", "c1-b1", "c12-b12")
    parsed = at(GAME.format_position(row))
    assert parsed == row or parsed["ending"] == row["ending"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"{BARE} w - 0", "fields"),
        (f"{BARE}/12 w - 0 1", "13 ranks"),
        (BARE.replace("12", "11", 1) + " w - 0 1", "11 squares"),
        (BARE.replace("12", "9" * 5000, 1) + " w - 0 1", "no piece; accepted"),
        (BARE.replace("12", "\u0661\u0662", 1) + " w - 0 1", "no piece; accepted"),
        (BARE.replace("r", "t") + " w - 0 1", "no piece"),
        (BARE.replace("k", "1") + " w - 0 1", "kings of Black"),
        (f"{BARE} x - 0 1", "side"),
        (f"{BARE} w e5 0 1", "en passant"),
        (f"{BARE} w - 201 1", "plies"),
        (f"{BARE} w - 00 1", "plies"),
        (f"{BARE} w - 0 0", "move number"),
        (f"{BARE} w - 0 1 l5", "no piece there can move"),
        (f"{BARE} w - 0 1 -", "would be written"),
        (f"{BARE} w - 0 1 - b1-c1", "later"),
        (f"{BARE} w - 3 2 - a5-c1", "can't have been"),
        ("k11/12/12/12/12/12/12/12/12/12/12/KR10 w - 0 1", "king alone"),
        ("kr10/12/12/12/12/12/12/12/12/12/P11/KR10 w - 0 1", "pawn"),
        ("kR10/12/12/12/12/12/12/12/12/12/12/K1r9 w - 0 1", "left the king attacked"),
        (BARE.replace("10", "9a") + " w - 0 1", ""),
    ],
)
def test_bad_positions(text: str, said: str) -> None:
    if not said:
        GAME.parse_position(text)
        return
    with pytest.raises(ValueError, match=said) as error:
        GAME.parse_position(text)
    assert repr(text) in str(error.value)


def test_actions_and_moves_are_told() -> None:
    assert [GAME.format_action(a) for a in (0, 144 + 13, 288 + 143)] == ["a1", "-b2", "-l12+"]
    for text in ("a13", "m1", "a1+", "--a1", "a1-a2", "-a01", "A1"):
        with pytest.raises(ValueError, match="accepted"):
            GAME.parse_action(text)
    row = at("kr10/12/12/12/P11/12/12/12/12/12/12/KR10 w - 0 1".replace("P11", "1N10"))
    assert GAME.tell_action(row, GAME.parse_action("b8")) == "white chooses the knight on b8"
    on.apply(row, GAME.parse_action("b8"))
    assert GAME.tell_action(row, GAME.parse_action("-b10+")) == (
        "white moves the knight from b8 to b10, promotes to gryphon"
    )
    assert {place.name for place in GAME.places(row)} >= set(GAME.clicks(row, GAME.parse_action("-b10")))


def test_records_tell_moves() -> None:
    line = "game=mosaic_chess max_plies=1000 result=* | c4-c6 c9-c8 c2-c4 c11 ..."
    record = parse_record(line)
    game = game_of_record(record)
    assert game == GAME
    rows = list(game.replay(record))
    assert [word for word, _ in rows] == ["c4-c6", "c9-c8", "c2-c4", "c11"]
    assert rows[-1][1]["decisions"] == 7
    for wrong, said in (
        ("c4-c7", "not legal"),
        ("c4xc5", "would be written"),
        ("c4", "not a move"),
        ("c4-c5+", "not legal"),
    ):
        with pytest.raises(ValueError, match=said):
            list(game.replay(parse_record(line.replace("c4-c6", wrong))))


def test_a_record_of_a_won_game() -> None:
    start = at("6k5/1R10/2R9/l11/12/12/12/12/12/12/12/K11 w - 0 1")
    actions = [GAME.parse_action(text) for text in ("c10", "-c12+")]
    record = GAME.write_record(start, actions, {"white": "someone"}, "over")
    assert record.words == ("c10-c12+",)
    assert record.header["result"] == "1-0"
    assert record.header["white"] == "someone"
    *_, (_, last) = GAME.replay(record)
    assert on.outcome(last, 0) == 1


@pytest.mark.parametrize("limit", ["", "9" * 5000, "\u0663", "-3"])
def test_a_record_has_to_say_its_limit_in_plain_digits(limit: str) -> None:
    with pytest.raises(ValueError, match="record header: max_plies="):
        game_of_record(parse_record(f"game=mosaic_chess max_plies={limit} | a4-a5"))
