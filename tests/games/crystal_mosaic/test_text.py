"""Notation, positions and records: what is read back, and what is refused and why."""

from __future__ import annotations

import re

import numpy as np
import pytest

from mozaic_env.core.record import parse_record
from mozaic_env.envs.gymnasium.single import GameEnv
from mozaic_env.games import game_of_record
from mozaic_env.games.crystal_mosaic import actions, rules
from mozaic_env.games.crystal_mosaic.game import CrystalMosaic
from mozaic_env.testing import rows as on

GAME = CrystalMosaic(board="grey")
EMPTY = "0:-/-/-/-/-:...../...../...../...../.....:-"
START = f"1 1 1 BBYY/RRRR/KKWW/BYRK/W * 17,17,15,17,17 0,0,0,0,0 {EMPTY} {EMPTY}"


def test_every_action_has_its_notation() -> None:
    texts = [actions.format_action(action) for action in range(actions.NUM_ACTIONS)]
    assert len(set(texts)) == 305
    assert [actions.parse_action(text) for text in texts] == list(range(305))
    assert texts[30 * 2 + 6 * 2 + 1] == "F3:R>2"
    assert texts[30 * 9 + 6 * 4 + 5] == "C:W>-"
    assert texts[303] == "@4"


@pytest.mark.parametrize(
    "text",
    ["", "F0:R>2", "F10:R>2", "C:G>1", "C:R>6", "C:R>0", "C:R", "@0", "@6", "F3:R>2 ", "f3:r>2", "C:RR>2", "@1\n"],
)
def test_what_is_no_action_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not an action; accepted are F3:R>2"):
        actions.parse_action(text)


def test_the_start_is_read_and_written() -> None:
    row = GAME.parse_position(START)[0]
    assert GAME.format_position(row) == START
    assert on.mover(row) == 0


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("1 1 1 ", "0 1 1 ", "round '0'; accepted: a number from 1 to 30"),
        ("1 1 1 ", "31 1 1 ", "round '31'"),
        ("1 1 1 ", "1 3 1 ", "starter '3'; accepted: a number from 1 to 2"),
        ("1 1 1 ", "1 1 3 ", "turn: seat '3'"),
        ("1 1 1 ", "1 1 1@6 ", "turn: line '6'; accepted: a number from 1 to 5"),
        ("1 1 1 ", "1 1 1@2 ", "tiling comes when the table is empty"),
        ("1 1 1 ", "1 1 - ", "the game is over, so table and floors are empty"),
        ("/W *", "/W/- *", "6 factories; 2 players have 5"),
        ("BBYY/", "YYBB/", "factory 'YYBB'; accepted: letters of BYRKW in this order"),
        ("BBYY/", "BBYYW/", "factory 'BBYYW' has 5 tiles; at most 4 fit"),
        ("BBYY/", "BBYG/", "factory 'BBYG'; accepted"),
        (" * ", " - ", "the marker '\\*' is nowhere"),
        (" * ", " *- ", "centre '-'|accepted"),
        (" * ", " *B ", "21 tiles of B in all; there are 20"),
        ("17,17,15,17,17", "18,17,15,17", "five counts in the order B,Y,R,K,W"),
        ("17,17,15,17,17", "16,17,15,17,17", "19 tiles of B in all"),
        ("17,17,15,17,17", "18,17,15,17,x", "bag 'x'; accepted"),
        (EMPTY, "0:-/-/-/-:...../...../...../...../.....:-", "five lines and five rows"),
        (EMPTY, "0:-/-/-/-/-:...../...../...../.....:-", "five lines and five rows"),
        (EMPTY, "1000:-/-/-/-/-:...../...../...../...../.....:-", "score '1000'; accepted: a number from 0 to 999"),
        (EMPTY, "0:BB/-/-/-/-:...../...../...../...../.....:-", "line 1 holds at most 1 tiles of one colour"),
        (EMPTY, "0:-/BY/-/-/-:...../...../...../...../.....:-", "line 2 holds at most 2 tiles of one colour"),
        (EMPTY, "0:-/-/-/-/-:G..../...../...../...../.....:-", "row 'G....' of a wall"),
        (EMPTY, "0:-/-/-/-/-:...../...../...../...../.....:BBBBBBBB", "has 8 tiles; at most 7 fit"),
        (EMPTY, "0:-/-/-/-/-:...../...../...../...../.....:*", "the marker is in two places"),
        (EMPTY, "0:-/-/-/-/-:...../...../...../...../.....", "expected <score>:<lines>:<wall>:<floor>"),
        (f" {EMPTY}", "", "has 7 fields|8 fields"),
    ],
)  # fmt: skip
def test_malformed_positions_say_what_is_wrong(old: str, new: str, message: str) -> None:
    assert old in START
    text = START.replace(old, new, 1)
    with pytest.raises(ValueError, match=message) as error:
        GAME.parse_position(text)
    assert repr(text) in str(error.value)


@pytest.mark.parametrize(
    ("board", "wall", "line", "bag", "message"),
    [
        ("grey", "BB.../...../...../...../.....", "-", "15,17,15,17,17", "has a colour twice"),
        ("grey", "B..../...../B..../...../.....", "-", "15,17,15,17,17", "column 1 of a wall has a colour twice"),
        ("base", "Y..../...../...../...../.....", "-", "17,16,15,17,17", "row 1 of a wall has Y where another colour"),
        ("side2", "...../.Y.../...../...../.....", "-", "17,16,15,17,17", "row 2 of a wall has Y where another colour"),
        ("grey", "B..../...../...../...../.....", "B", "15,17,15,17,17", "line 1 holds a colour that its row"),
        ("grey", "BYRKW/...../...../...../.....", "-", "16,16,14,16,16", "has a complete row, so the game is over"),
    ],
)  # fmt: skip
def test_walls_that_no_game_can_reach_are_refused(board: str, wall: str, line: str, bag: str, message: str) -> None:
    text = START.replace(EMPTY, f"0:{line}/-/-/-/-:{wall}:-", 1).replace("17,17,15,17,17", bag)
    with pytest.raises(ValueError, match=message):
        CrystalMosaic(board=board).parse_position(text)


def record_of(seed: int, **options: object) -> str:
    env = GameEnv("crystal_mosaic", opponent=None, **options)  # type: ignore[arg-type]
    _, info = env.reset(seed=seed)
    over = False
    while not over:
        action = int(np.random.default_rng(env.state["decisions"]).choice(np.flatnonzero(info["action_mask"])))
        _, _, terminated, truncated, info = env.step(np.int64(action))
        over = terminated or truncated
    return env.record


def test_a_record_says_which_game_it_is_of_and_replays() -> None:
    line = record_of(3, players=3, board="side1", floor="base", max_rounds=4)
    record = parse_record(line)
    game = game_of_record(record)
    assert game == CrystalMosaic(3, "side1", "base", 4)
    assert record.truncated  # by its last round
    *_, (_, last) = game.replay(record)
    assert rules.cut_off(last)
    assert record.header["result"] == "-".join(map(str, last["score"][:3]))
    assert re.fullmatch("([BYRKW]{4}/){6}[BYRKW]{4}", record.words[0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda words: ["C:B>1", *words], "a refill comes here"),
        (lambda words: [words[0].replace("/", ""), *words[1:]], "a refill comes here"),
        (lambda words: [words[0][:-5], *words[1:]], "the refill has more than 16 tiles"),
        (lambda words: [words[0] + "/B", *words[1:]], "the refill has 20 tiles"),
        (lambda words: ["BBBB/" * 5 + "BBBB", *words[1:]], "the refill has 20 tiles"),
        (lambda words: [words[0], words[0], *words[1:]], "is not an action"),
        (lambda words: [words[0], "@1", *words[1:]], "not legal"),
        (lambda words: [*words, "C:B>1"], "already over"),
        (lambda words: words[:-1], "the record has a result|gives|give"),
    ],
)  # fmt: skip
def test_records_that_cannot_be_are_refused(change, message: str) -> None:  # type: ignore[no-untyped-def]
    record = parse_record(record_of(3))
    game = game_of_record(record)
    words = change(list(record.words))
    with pytest.raises(ValueError, match=message):
        list(game.replay(type(record)(record.header, tuple(words), record.truncated)))


@pytest.mark.parametrize("key", ["players", "board", "floor", "max_rounds"])
def test_a_record_without_an_option_is_refused(key: str) -> None:
    record = parse_record(record_of(3))
    header = {name: value for name, value in record.header.items() if name != key}
    with pytest.raises(ValueError, match=rf"record header: {key}=\.\.\. is needed"):
        game_of_record(type(record)(header, record.words))


@pytest.mark.parametrize("number", ["9" * 5000, "\u0663", "3_0", "-3"])
@pytest.mark.parametrize("key", ["players", "max_rounds"])
def test_numbers_of_a_header_are_plain_and_short(key: str, number: str) -> None:
    record = parse_record(record_of(3))
    with pytest.raises(ValueError, match=f"record header: {key}="):
        game_of_record(type(record)({**record.header, key: number}, record.words))
