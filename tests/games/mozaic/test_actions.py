"""Action ids and their notation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mozaic_env.games.mozaic.game import Mozaic
from tests.oracles.reference import ReferenceGame

BOARDS = [(8, 8), (4, 4), (2, 2), (3, 4), (2, 8), (8, 2), (8, 5), (7, 6)]


@pytest.mark.parametrize(("ranks", "files"), BOARDS)
def test_there_and_back_and_as_in_the_reference(ranks: int, files: int) -> None:
    game, reference = Mozaic(rows=ranks, cols=files), ReferenceGame(rows=ranks, cols=files)
    assert game.num_actions == 6 * ranks * files
    found = {}
    for action in range(game.num_actions):
        try:
            found[action] = game.format_action(action)
        except ValueError:
            with pytest.raises(ValueError, match="off the board"):
                reference.notation(action)
            with pytest.raises(ValueError, match=f"slides .. off the {ranks}x{files} board"):
                game.format_action(action)
            continue
        assert found[action] == reference.notation(action)
        assert game.parse_action(found[action]) == action
    assert len(set(found.values())) == len(found)
    # Two directions of each diagonal of each block, and a placement and a removal of each tile.
    assert len(found) == 4 * (ranks - 1) * (files - 1) + 2 * ranks * files


def test_sixty_slides_leave_the_8x8_board() -> None:
    game, off = Mozaic(), []
    for action in range(game.num_actions):
        try:
            game.format_action(action)
        except ValueError:
            off.append(action)
    assert len(off) == 60
    edges = {tile for tile in range(64) if tile % 8 in (0, 7) or tile // 8 in (0, 7)}
    assert {(action - 64) // 4 for action in off} == edges


def test_ids_of_the_rules_page() -> None:
    game = Mozaic()
    for action, text in {
        0: "a1",
        7: "h1",
        27: "d4",
        56: "a8",
        63: "h8",
        64 + 4 * 27: "d4-e5",
        64 + 4 * 27 + 1: "d4-c5",
        64 + 4 * 27 + 2: "d4-e3",
        64 + 4 * 27 + 3: "d4-c3",
        320: "xa1",
        347: "xd4",
        383: "xh8",
    }.items():
        assert game.format_action(action) == text
        assert game.parse_action(text) == action
    assert game.format_action(np.int64(27)) == "d4"


@pytest.mark.parametrize("action", [-1, 384, 10**9])
def test_ids_that_do_not_exist(action: int) -> None:
    with pytest.raises(ValueError, match=rf"action {action} is not in 0\.\.383"):
        Mozaic().format_action(action)


NO_NOTATION = """
d 4d D4 d9 i1 d0 d44 x d4x xxd4 xd4-e5 d4- -d4 d4-d4 d4-d5 d4-e4 d4-f6 d4-xe5 d4-e5-f6 d4e5 a1-h2
pass d４
"""


@pytest.mark.parametrize("text", ["", " d4", "d4 ", "d4\n", *NO_NOTATION.split()])
def test_what_is_no_notation(text: str) -> None:
    with pytest.raises(ValueError, match=r"accepted are d4 \(place\), d4-e5") as caught:
        Mozaic().parse_action(text)
    assert repr(text) in str(caught.value)


@pytest.mark.parametrize("text", ["e1", "a4", "xe1", "d3-e4", "e4-d3"])
def test_tiles_outside_a_smaller_board(text: str) -> None:
    with pytest.raises(ValueError, match=r"on a 3x4 board.*outside"):
        Mozaic(rows=3, cols=4).parse_action(text)


@settings(deadline=None, derandomize=True, max_examples=300)
@given(st.text() | st.text("abcdh1248x-", max_size=7))
def test_any_text_is_an_action_or_a_value_error(text: str) -> None:
    game = Mozaic(rows=4, cols=4)
    try:
        action = game.parse_action(text)
    except ValueError:
        return
    assert game.format_action(action) == text


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rules": "opal"}, "rules='opal'; accepted: 'amethyst', 'onyx'"),
        ({"rules": None}, "rules=None; accepted"),
        ({"rows": 1}, "rows=1; accepted: a whole number from 2 to 8"),
        ({"cols": 9}, "cols=9; accepted"),
        ({"rows": 4.0}, "rows=4.0; accepted"),
        ({"rows": "8"}, "rows='8'; accepted"),
        ({"rows": True}, "rows=True; accepted"),
        ({"rows": 3, "cols": 5}, "15 tiles; accepted: boards with an even number"),
    ],
)
def test_games_that_do_not_exist(options: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Mozaic(**options)  # type: ignore[arg-type]


def test_options_make_the_game_again() -> None:
    game = Mozaic("onyx", np.int64(3), 4)
    assert Mozaic(**game.options) == game
    assert hash(Mozaic(**game.options)) == hash(game)
    assert game != Mozaic("amethyst", 3, 4)
    assert repr(game) == "Mozaic(rules='onyx', rows=3, cols=4)"
