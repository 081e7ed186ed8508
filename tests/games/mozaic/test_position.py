"""Position strings: there and back, and everything that no game can reach is refused."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mozaic_env.games.mozaic.game import Mozaic
from tests.oracles.random_games import VARIANTS, random_positions, running
from tests.oracles.reference import ReferenceGame

STATE = ("gems", "score", "bag", "hand", "plays", "mover", "edition", "rows", "cols")
FIRST = "8/8/8/8/8/8/8/8 y y 1 31,32,1,1,1,1 0-0"
MIDDLE = "8/8/3b4/8/2yy4/2y2b2/8/8 b e 2 29,30,0,1,1,0 4-0"
OVER = "by/by - - 0 0,0,1,1,1,0 0-4"
fuzz = settings(deadline=None, derandomize=True, max_examples=500)


@pytest.mark.parametrize(("edition", "ranks", "files"), VARIANTS)
def test_there_and_back(edition: str, ranks: int, files: int) -> None:
    game = Mozaic(edition, ranks, files)
    rows = random_positions(game, 40, seed=5)
    rows = rows[np.random.default_rng(5).permutation(len(rows))[:250]]
    for row in rows:
        text = game.format_position(row)
        again = game.parse_position(text)[0]
        assert game.format_position(again) == text
        for name in STATE[: None if row["plays"] else 5]:  # nobody moves when the game is over
            np.testing.assert_array_equal(again[name], row[name])
        assert (again["key"], again["draws"], again["decisions"]) == (0, 0, 0)
    assert set(rows["plays"]) == {0, 1, 2}
    assert not running(rows).all()


def test_corners_of_the_board() -> None:
    row = Mozaic().parse_position("y6b/8/8/8/8/8/8/b6y y y 1 29,30,1,1,1,1 8-120")[0]
    assert [int(board) for board in row["gems"]] == [1 << 56 | 1 << 7, 1 << 63 | 1]
    assert row["score"].tolist() == [8, 120]
    assert (row["mover"], row["hand"], row["plays"]) == (0, 0, 1)


SMALL = [  # 2 x 2, two gems of each colour
    # form
    ("", "1 fields"),
    ("2/2", "1 fields"),
    ("2/2 y y 1 1,2,1,1,1,1", "5 fields"),
    ("2/2 y y 1 1,2,1,1,1,1 0-0 0", "7 fields"),
    (" 2/2 y y 1 1,2,1,1,1,1 0-0", "7 fields"),
    ("2/2  y y 1 1,2,1,1,1,1 0-0", "7 fields"),
    ("2/2\ty y 1 1,2,1,1,1,1 0-0", "5 fields"),
    # tiles
    ("2 y y 1 1,2,1,1,1,1 0-0", "1 ranks; this board is 2x2"),
    ("2/2/2 y y 1 1,2,1,1,1,1 0-0", "3 ranks; this board is 2x2"),
    ("2/3 y y 1 1,2,1,1,1,1 0-0", "rank '3' has 3 tiles"),
    ("2/1 y y 1 1,2,1,1,1,1 0-0", "rank '1' has 1 tiles"),
    ("2/9 y y 1 1,2,1,1,1,1 0-0", "rank '9'; accepted"),
    ("2/0yy y y 1 1,2,1,1,1,1 0-0", "rank '0yy'; accepted"),
    ("2/11 y y 1 1,2,1,1,1,1 0-0", "rank '11'; accepted"),
    ("2/y. y y 1 1,2,1,1,1,1 0-0", "rank 'y.'; accepted"),
    ("2/Y1 y y 1 1,2,1,1,1,1 0-0", "rank 'Y1'; accepted"),
    ("2/ye y y 1 1,2,1,1,1,1 0-0", "rank 'ye'; accepted"),
    ("2/ y y 1 1,2,1,1,1,1 0-0", "rank ''; accepted"),
    # words
    ("2/2 - y 1 1,2,1,1,1,1 0-0", "mover '-'; accepted are y and b"),
    ("2/2 w y 1 1,2,1,1,1,1 0-0", "mover 'w'; accepted are y and b"),
    ("2/2 y r 1 2,2,1,1,0,1 0-0", "hand 'r'; accepted are y, b, e, d"),
    ("2/2 y x 1 2,2,1,1,1,0 0-0", "hand 'x'; accepted are y, b, e, d"),
    ("2/2 y yb 1 1,2,1,1,1,1 0-0", "hand 'yb'; accepted"),
    ("2/2 y y 0 1,2,1,1,1,1 0-0", "plays '0'; accepted are 1 and 2"),
    ("2/2 y y 3 1,2,1,1,1,0 0-0", "plays '3'; accepted are 1 and 2"),
    ("by/by - - 1 0,0,1,1,1,1 0-0", "plays '1'; accepted"),
    ("by/by y - 0 0,0,1,1,1,1 0-0", "mover 'y'; accepted"),
    ("2/2 y y 1 1,2,1,1,1 0-0", "bag '1,2,1,1,1'; expected six counts"),
    ("2/2 y y 1 1,2,1,1,1,1,0 0-0", "expected six counts"),
    ("2/2 y y 1 1,2,1,1,1,-1 0-0", "expected six counts"),
    ("2/2 y y 1 01,2,1,1,1,1 0-0", "expected six counts"),
    ("2/2 y y 1 1,2,1,1,1, 0-0", "expected six counts"),
    ("2/2 y y 1 1,2,1,1,1,١ 0-0", "expected six counts"),
    ("2/2 y y 1 1,2,1,1,1,1 0", "score '0'; expected"),
    ("2/2 y y 1 1,2,1,1,1,1 0--4", "score '0--4'; expected"),
    ("2/2 y y 1 1,2,1,1,1,1 -4-0", "score '-4-0'; expected"),
    ("2/2 y y 1 1,2,1,1,1,1 00-0", "score '00-0'; expected"),
    ("2/2 y y 1 1,2,1,1,1,1 4294967296-0", "score '4294967296-0'; expected"),
    # gems
    ("2/2 y y 1 2,2,1,1,1,1 0-0", "3 gems of y .* there are 2"),
    ("2/2 y y 1 0,2,1,1,1,1 0-0", "1 gems of y .* there are 2"),
    ("bb/b1 y y 1 1,0,1,1,1,1 0-0", "3 gems of b .* there are 2"),
    ("2/2 y y 1 1,2,2,1,1,1 0-0", "2 emerald gems"),
    ("1b/2 y d 1 2,1,1,1,1,1 0-0", "2 diamond gems"),
    ("2/2 y y 1 1,2,1,1,9,1 0-0", "9 ruby gems"),
    ("2/2 y y 1 1,2,1,1,1,1 2-0", "points come in fours"),
    ("2/2 y y 1 1,2,1,1,1,1 0-6", "points come in fours"),
    # turns
    ("2/2 - - 0 2,2,1,1,1,1 0-0", "tiles are empty"),
    ("by/by b e 1 0,0,0,1,1,1 0-0", "the board is full"),
    ("2/2 y d 1 2,2,1,0,1,1 0-0", "the board is empty"),
    ("2/2 y e 1 2,2,0,1,1,1 0-0", "no gem can slide"),
    ("1b/y1 y e 1 1,1,0,1,1,1 0-0", "no gem can slide"),
    ("2/2 y y 2 1,2,1,1,1,1 0-0", "set aside: none"),
    ("2/2 y y 2 1,2,1,1,0,0 0-0", "set aside: r, x"),
    ("2/2 y y 2 1,2,0,1,1,0 0-0", "set aside: e, x"),
    ("2/2 y y 1 1,2,0,1,1,1 0-0", "e can't be"),
    ("2/2 y y 1 1,2,1,0,1,1 0-0", "d can't be"),
    ("2/2 y y 1 1,2,1,1,0,1 0-0", "r can't be"),
    ("2/2 y y 1 1,2,1,1,0,0 0-0", "r, x can't be"),
    ("2/2 y y 1 1,2,0,0,1,0 0-0", "e, d, x can't be"),
    ("by/by - - 0 0,0,1,1,0,1 0-0", "r can't be"),
]


@pytest.mark.parametrize(("text", "words"), SMALL)
@pytest.mark.parametrize("edition", ["amethyst", "onyx"])
def test_what_can_not_be_is_refused(text: str, words: str, edition: str) -> None:
    with pytest.raises(ValueError, match=words) as caught:
        Mozaic(edition, 2, 2).parse_position(text)
    assert repr(text) in str(caught.value)


@pytest.mark.parametrize("gem", ["e", "d"])
@pytest.mark.parametrize("over", [False, True])
def test_only_amethyst_keeps_an_exception_out_for_the_second_draw(gem: str, over: bool) -> None:
    counts = "0,1,1,0" if gem == "e" else "1,0,1,0"
    text = f"by/by - - 0 0,0,{counts} 0-0" if over else f"2/2 y y 1 1,2,{counts} 0-0"
    assert Mozaic("amethyst", 2, 2).parse_position(text)["plays"] == (0 if over else 1)
    with pytest.raises(ValueError, match=f"{gem}, x can't be"):
        Mozaic("onyx", 2, 2).parse_position(text)


@pytest.mark.parametrize("given", [None, 5, b"2/2 y y 1 1,2,1,1,1,1 0-0", ["2/2"]])
def test_what_is_no_text_is_refused(given: object) -> None:
    with pytest.raises(ValueError, match="a position is a string of the form"):
        Mozaic("onyx", 2, 2).parse_position(given)  # type: ignore[arg-type]


def test_a_position_of_another_board_is_refused() -> None:
    with pytest.raises(ValueError, match="8 ranks; this board is 4x4"):
        Mozaic(rows=4, cols=4).parse_position(FIRST)
    with pytest.raises(ValueError, match="has 8 tiles; this board is 8x6"):
        Mozaic(rows=8, cols=6).parse_position(FIRST)


@fuzz
@given(st.text() | st.text("yb12345678/ -edrx,0", max_size=50))
def test_any_text_is_a_position_or_a_value_error(text: str) -> None:
    accepts(Mozaic(rows=2, cols=2), text)


def accepts(game: Mozaic, text: str) -> bool:
    """Whether it is a position; each has one way to write it."""
    try:
        row = game.parse_position(text)[0]
    except ValueError:
        return False
    assert game.format_position(row) == text
    return True


def reference_accepts(text: str, edition: str, ranks: int, files: int) -> bool:
    try:
        game = ReferenceGame.from_position(text, edition)
    except (ValueError, KeyError, IndexError):
        return False
    return (game.rows, game.cols) == (ranks, files)


@pytest.mark.parametrize("edition", ["amethyst", "onyx"])
@pytest.mark.parametrize("start", [FIRST, MIDDLE, OVER])
def test_a_damaged_position_is_accepted_only_where_the_reference_does(edition: str, start: str) -> None:
    ranks = start.split(" ")[0].count("/") + 1
    game, rng = Mozaic(edition, ranks, ranks), random.Random(f"{edition} {start}")
    accepted = 0
    for _ in range(10_000):
        letters = list(start)
        for _ in range(rng.randint(1, 3)):
            at = rng.randrange(len(letters))
            letters[at : at + rng.randint(0, 1)] = rng.choice(["", *"yybbed-/ ,00112234"])
        text = "".join(letters)
        found = accepts(game, text)
        assert found == reference_accepts(text, edition, ranks, ranks), text
        accepted += found and text != start
    assert accepted > 10


@pytest.mark.parametrize("edition", ["amethyst", "onyx"])
def test_every_combination_on_the_smallest_board(edition: str) -> None:
    """Tiles, mover, hand, plays and the exceptions in the bag, all with the right colour counts."""
    game, accepted = Mozaic(edition, 2, 2), 0
    for tiles in ("2/2", "y1/2", "1b/y1", "yb/1y", "yb/by", "yy/bb"):
        for word in range(2 * 5 * 3 * 16):
            mover, rest = "yb"[word % 2], word // 2
            hand, rest = "ybed-"[rest % 5], rest // 5
            plays, rest = rest % 3, rest // 3
            if hand == "-":
                mover = "-"
            colours = [2 - tiles.count(colour) - (hand == colour) for colour in "yb"]
            if min(colours) < 0:
                continue
            bag = ",".join(map(str, [*colours, *(rest >> bit & 1 for bit in range(4))]))
            text = f"{tiles} {mover} {hand} {plays} {bag} 0-0"
            found = accepts(game, text)
            assert found == reference_accepts(text, edition, 2, 2), text
            accepted += found
    assert accepted > 50
