"""Game records: written, read, replayed without luck, and refused after any tampering."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mozaic_env.core.contract import deal
from mozaic_env.core.record import Record, parse_record
from mozaic_env.games.mozaic import rules
from mozaic_env.games.mozaic.game import Mozaic
from tests.oracles.random_games import VARIANTS, random_step, running, seeded_rows

SEEN = ("gems", "score", "bag", "hand", "plays", "mover", "draws", "decisions")


def played(
    game: Mozaic, seed: int = 0, limit: int = 1000, start: str | None = None
) -> tuple[np.void, list[int], list[np.void]]:
    """A random game: its row before the first action, the actions, and the row after each."""
    rows = seeded_rows(game, 1, seed)
    if start is not None:
        key = rows["key"].copy()
        rows = game.parse_position(start)
        rows["key"] = key
    first, actions, after = rows[0].copy(), [], []
    deal(rows[0])
    while running(rows)[0] and len(actions) < limit:
        actions.append(int(random_step(rows)[0]))
        after.append(rows[0].copy())
    return first, actions, after


def states(game: Mozaic, record: Record) -> list[tuple[str, np.void]]:
    return list(game.replay(record))


def test_parse_is_the_inverse_of_str() -> None:
    record = Record({"rules": "onyx", "yellow": "a=b"}, ("x", "y:d4"), True)
    assert str(record) == "rules=onyx yellow=a=b | x y:d4 ..."
    assert parse_record(str(record)) == record
    assert parse_record(f"  {record}\n") == record
    assert parse_record("|") == Record()


@pytest.mark.parametrize(("edition", "ranks", "files"), VARIANTS)
@pytest.mark.parametrize("ending", ["over", "truncated", "running"])
def test_a_replay_is_the_game(edition: str, ranks: int, files: int, ending: str) -> None:
    game = Mozaic(edition, ranks, files)
    limit = 1000 if ending == "over" else 3
    for seed in range(4):
        start, actions, after = played(game, seed, limit)
        header = {"yellow": "random", "seed": seed}
        record = parse_record(str(game.write_record(start, actions, header, ending)))
        assert record.header["seed"] == str(seed)
        assert record.truncated == (ending == "truncated")
        found = states(game, record)
        assert [word for word, _ in found] == list(record.words)
        # Each decision of the game is one word; the luck between is words of its own.
        decided = [row for word, row in found if ":" in word]
        assert len(decided) == len(after)
        row = start.copy()
        for action, again in zip(actions, decided, strict=True):
            deal(row)
            rules.apply(row, action)
            for name in SEEN:
                np.testing.assert_array_equal(again[name], row[name])
        if ending == "over":
            assert game.format_position(found[-1][1]) == game.format_position(after[-1])
            score = after[-1]["score"]
            assert record.header["result"] == f"{score[0]}-{score[1]}"
        else:
            # Everything up to the next decision is recorded: its gem is the one draw to come.
            last = found[-1][1]
            rules.resolve(last, after[-1]["hand"])
            assert game.format_position(last) == game.format_position(after[-1])
            assert ("result" in record.header) == (ending == "truncated")


def test_words_say_what_happens() -> None:
    game = Mozaic("amethyst", 2, 2)
    line = "rules=amethyst board=2x2 first=y result=0-0 | y:a1 x e:a1-b2 b:a2 d:xb2 b:b1 e r x r y:a1 d:xa1 y:b2 y:a1"
    found = states(game, parse_record(line))
    assert game.format_position(found[-1][1]) == "by/yb - - 0 0,0,1,1,1,1 0-0"
    assert "".join("yb"[row["mover"]] for _, row in found[:-1]) == "bbbybybyybyby"


@pytest.mark.parametrize("edition", ["amethyst", "onyx"])
@pytest.mark.parametrize(
    "start",
    [
        "b1b1/1y2/4/y3 b e 2 6,6,0,1,1,0 8-0",
        "4/4/4/4 b y 1 7,8,1,1,1,1 0-0",  # like the first position, but for the mover
        "4/4/4/4 y y 1 7,8,1,1,1,1 4-0",  # like the first position, but for the score
        "bbyb/yyby/bbyy/yyb1 y b 1 0,0,1,1,1,1 0-0",
    ],
)
def test_from_a_position(edition: str, start: str) -> None:
    game = Mozaic(edition, 4, 4)
    first, actions, after = played(game, start=start)
    record = parse_record(str(game.write_record(first, actions, {}, "over")))
    assert record.header["position"] == start.replace(" ", "_")
    assert record.header["first"] == start.split(" ")[1]
    last = states(game, record)[-1][1]
    assert game.format_position(last) == game.format_position(after[-1])


def test_the_first_position_needs_no_mention() -> None:
    start = "4/4/4/4 y y 1 7,8,1,1,1,1 0-0"
    game = Mozaic("amethyst", 4, 4)
    first, actions, _ = played(game, start=start)
    assert "position" not in game.write_record(first, actions, {}, "over").header


def test_from_the_middle_of_a_game() -> None:
    """The part that is left, whether the row is at a decision or at a draw."""
    for seed in range(20):
        game = Mozaic("onyx", 4, 4)
        start, actions, after = played(game, seed)
        row = start.copy()
        for action in actions[:5]:
            deal(row)
            rules.apply(row, action)
        record = parse_record(str(game.write_record(row, actions[5:], {}, "over")))
        assert record.header["position"] == game.format_position(after[4]).replace(" ", "_")
        last = states(game, record)[-1][1]
        assert game.format_position(last) == game.format_position(after[-1])


@pytest.mark.parametrize(("key", "value"), [("a b", "c"), ("a", "b c"), ("a", "b|c"), ("a=", "b"), ("", "b")])
def test_a_header_that_would_not_read_back(key: str, value: str) -> None:
    with pytest.raises(ValueError, match=r"record header: .* would not read back"):
        Record({key: value})
    game = Mozaic(rows=2, cols=2)
    start, actions, _ = played(game)
    with pytest.raises(ValueError, match=r"record header: .* would not read back"):
        game.write_record(start, actions, {key: value}, "over")


# --- tampering ----------------------------------------------------------------------------------

GOOD = "rules=onyx board=2x2 first=b result=0-0 | r y:a1 x d:xa1 b:a1 b:b2 e y:a2 x y:b1"


def replay(line: str) -> list[tuple[str, np.void]]:
    return states(Mozaic("onyx", 2, 2), parse_record(line))


def test_the_record_to_tamper_with_is_good() -> None:
    assert len(replay(GOOD)) == 10


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        # header
        ("rules=onyx ", "", "header: rules is missing; accepted: onyx"),
        ("rules=onyx", "rules=amethyst", "header: rules is 'amethyst'; accepted: onyx"),
        ("board=2x2", "board=8x8", "header: board is '8x8'; accepted: 2x2"),
        ("board=2x2 ", "", "header: board is missing"),
        ("first=b", "first=w", "header: first is 'w'; accepted: y, b"),
        ("first=b ", "", "header: first is missing"),
        ("result=0-0", "result=4-0", "result=4-0, its words give 0-0"),
        ("result=0-0", "result=draw", "result=draw, its words give 0-0"),
        ("result=0-0", "result=0-0 first=b", "header: first is given twice"),
        ("result=0-0", "result=0-0 note", "header: 'note' is not key=value"),
        ("result=0-0", "result=0-0 =note", "header: '=note' is not key=value"),
        ("| ", "", "one '|'.*got 0 bars"),
        ("| ", "| | ", "one '|'.*got 2 bars"),
        ("result=0-0", "position=2/2_b_y_1_1,2 result=0-0", "position '2/2 b y 1 1,2'"),
        (
            "first=b",
            "first=y position=2/2_b_y_1_1,2,1,1,1,1_0-0",
            "header: first is 'y'; accepted: b",
        ),
        # words
        ("| r", "| q", "word 1, 'q': accepted words are"),
        ("| r", "| r:a1", "word 1, 'r:a1': r asks for no decision here"),
        ("| r", "| ry", "word 1, 'ry': accepted words are"),
        ("| r", "| :a1", "word 1, ':a1': accepted words are"),
        ("| r", "| ...", "word 1, '...': accepted words are"),
        ("| r", "| d:xa1", "word 1, 'd:xa1': d asks for no decision here"),
        ("y:a1", "y", "word 2, 'y': y asks for a decision here, such as y:a1"),
        ("y:a1", "y:", "word 2, 'y:': '' is not an action"),
        ("y:a1", "y:a3", "word 2, 'y:a3': 'a3' is not an action on a 2x2 board"),
        ("y:a1", "y:a1:b1", "word 2, 'y:a1:b1': 'a1:b1' is not an action"),
        ("y:a1", "y:xa1", "word 2, 'y:xa1': xa1 is not legal with y in hand at '2/2"),
        ("d:xa1", "d:xb1", "word 4, 'd:xb1': xb1 is not legal with d in hand"),
        ("d:xa1", "d:a1", "word 4, 'd:a1': a1 is not legal"),
        ("d:xa1", "x", "word 4, 'x': no x is in the bag: 1,2,1,1,1,0"),
        ("b:b2", "b:a1", "word 6, 'b:a1': a1 is not legal with b in hand at '2/b1 y b 1"),
        ("b:b2", "b:a1-b2", "word 6, 'b:a1-b2': a1-b2 is not legal"),
        ("y:a2", "b:a2", "word 8, 'b:a2': no b is in the bag"),
        ("e y:a2", "e:a1-b2 y:a2", "word 7, 'e:a1-b2': e asks for no decision here"),
        ("y:b1", "y:b1 y:a1", "word 11, 'y:a1': the game is already over"),
        ("y:b1", "y:b1 r", "word 11, 'r': the game is already over"),
        ("y:b1", "y:b1 ...", r"'\.\.\.' \(truncated\), but the game is over"),
        ("y:b1", "", "result, but its words end before the game is over"),
        ("x y:b1", "x ... y:b1", "word 10, '...': accepted words are"),
    ],
)
def test_tampering_is_refused(old: str, new: str, words: str | None) -> None:
    assert GOOD.count(old) == 1
    line = GOOD.replace(old, new)
    with pytest.raises(ValueError, match=words):
        replay(line)


def test_the_gem_in_hand_at_the_start_can_not_be_exchanged() -> None:
    line = "rules=amethyst board=2x2 first=y | b:a1"
    with pytest.raises(ValueError, match="word 1, 'b:a1': y is in hand"):
        states(Mozaic(rows=2, cols=2), parse_record(line))
    with pytest.raises(ValueError, match="header: first is 'b'; accepted: y"):
        states(Mozaic(rows=2, cols=2), parse_record(line.replace("first=y", "first=b")))


def test_a_truncated_game_keeps_its_points_so_far() -> None:
    line = GOOD.replace("x y:b1", "...")
    assert len(replay(line)) == 8
    with pytest.raises(ValueError, match="result=0-4, its words give 0-0"):
        replay(line.replace("0-0", "0-4"))


def test_two_lines_are_not_a_record() -> None:
    with pytest.raises(ValueError, match="a record is one line"):
        parse_record("rules=onyx |\ny:a1")


@pytest.mark.parametrize("edition", ["amethyst", "onyx"])
def test_a_word_left_out_or_exchanged_never_goes_unnoticed(edition: str) -> None:
    """With the result in the header every loss of a decision is found, at the latest at the end."""
    game = Mozaic(edition, 3, 4)
    for seed in range(5):
        start, actions, _ = played(game, seed)
        record = game.write_record(start, actions, {}, "over")
        for i, word in enumerate(record.words):
            if word.startswith(("y:", "b:")):
                rest = record.words[:i] + record.words[i + 1 :]
                with pytest.raises(ValueError, match=r"record word \d+|its words end"):
                    states(game, Record(record.header, rest))


@settings(deadline=None, derandomize=True, max_examples=300)
@given(
    st.text()
    | st.lists(st.sampled_from([*GOOD.split(" "), "..."]), max_size=12).map(
        lambda words: " ".join([*GOOD.split(" ")[:3], "|", *words])
    )
)
def test_any_line_is_a_record_or_a_value_error(line: str) -> None:
    try:
        record = parse_record(line)
        found = states(Mozaic("onyx", 2, 2), record)
    except ValueError:
        return
    assert [word for word, _ in found] == list(record.words)
