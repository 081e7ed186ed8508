"""The rules as the kernels play them: hand-made cases."""

from __future__ import annotations

import numpy as np
import pytest

from mozaic_env.core.contract import CHANCE, OVER, deal
from mozaic_env.games.mozaic import rules
from mozaic_env.games.mozaic.actions import LETTERS
from mozaic_env.games.mozaic.game import Mozaic
from tests.oracles.random_games import look, seeded_rows

both_editions = pytest.mark.parametrize("edition", ["amethyst", "onyx"])


class Case:
    """One row, driven by words: 'x', 'r' are draws alone, 'y:d4' draws and plays, ':d4' plays."""

    def __init__(self, edition: str, position: str, ranks: int = 8, files: int = 8) -> None:
        self.game = Mozaic(edition, ranks, files)
        self.row = self.game.parse_position(position)[0]

    def do(self, *words: str) -> Case:
        for word in words:
            gem, _, move = word.partition(":")
            if gem:
                assert rules.mover(self.row) == CHANCE
                rules.resolve(self.row, LETTERS.index(gem))
            if move:
                action = self.game.parse_action(move)
                assert rules.is_legal(self.row, action)
                rules.apply(self.row, action)
        return self

    @property
    def turn(self) -> tuple[str, str, int]:
        """What is going on, whose turn it is, draws owed."""
        kind = {CHANCE: "chance", OVER: "over"}.get(rules.mover(self.row), "decision")
        return kind, LETTERS[self.row["mover"]], int(self.row["plays"])

    @property
    def out(self) -> str:
        """The exception gems that are neither in the bag nor in hand."""
        absent = (LETTERS[g] for g in range(2, 6) if not self.row["bag"][g])
        return "".join(letter for letter in absent if LETTERS.index(letter) != self.row["hand"])

    @property
    def score(self) -> tuple[int, int]:
        return int(self.row["score"][0]), int(self.row["score"][1])


FIRST = "8/8/8/8/8/8/8/8 y y 1 31,32,1,1,1,1 0-0"


def at(tiles: str, hand: str, edition: str = "amethyst", mover: str = "y") -> Case:
    """That gem in hand on these tiles of an 8x8 board, everything else in the bag."""
    left = [32 - tiles.count("y"), 32 - tiles.count("b"), 1, 1, 1, 1]
    left[LETTERS.index(hand)] -= 1
    return Case(edition, f"{tiles} {mover} {hand} 1 {','.join(map(str, left))} 0-0")


def test_first_position_of_amethyst() -> None:
    game = Mozaic()
    row = seeded_rows(game, 1)[0]
    assert game.format_position(row) == FIRST


def test_onyx_opens_with_a_draw_from_the_full_bag() -> None:
    row = seeded_rows(Mozaic("onyx"), 1)[0]
    assert rules.mover(row) == CHANCE
    assert row["bag"].tolist() == [32, 32, 1, 1, 1, 1]


@both_editions
def test_double_turn_then_the_other_player(edition: str) -> None:
    case = Case(edition, FIRST).do(":a1", "x")
    assert (case.turn, case.out) == (("chance", "b", 2), "x")
    case.do("y:c3")
    assert (case.turn, case.out) == (("chance", "b", 1), "x")
    case.do("b:e5")
    assert (case.turn, case.out) == (("chance", "y", 1), "")


@both_editions
def test_ruby_alone_and_second(edition: str) -> None:
    case = Case(edition, FIRST).do(":a1", "r")
    assert (case.turn, case.out) == (("chance", "y", 1), "")
    case.do("x", "b:c3", "r")
    assert (case.turn, case.out) == (("chance", "b", 1), "")


def test_ruby_first_of_two() -> None:
    case = Case("amethyst", FIRST).do(":a1", "x", "r")
    assert (case.turn, case.out) == (("chance", "y", 1), "")
    case = Case("onyx", FIRST).do(":a1", "x", "r")
    assert (case.turn, case.out) == (("chance", "b", 1), "x")
    case.do("r")
    assert (case.turn, case.out) == (("chance", "y", 1), "")


@pytest.mark.parametrize(("edition", "out"), [("amethyst", "{}x"), ("onyx", "x")])
@pytest.mark.parametrize("word", ["e:a1-b2", "d:xa1", "d"])
def test_exceptions_first_of_two(edition: str, out: str, word: str) -> None:
    case = Case(edition, FIRST).do(":a1")
    if word == "d":  # without effect: the board is emptied before
        case.do("d:xa1")
    case.do("x", word)
    assert case.turn[0::2] == ("chance", 1)
    assert case.out == out.format(word[0])
    case.do("y:h8")
    assert (case.turn[0], case.out) == ("chance", "")


def test_without_effect() -> None:
    case = Case("amethyst", "2/y1 y b 1 1,1,1,1,1,1 0-0", 2, 2).do(":b2", "e")  # a1, b2 block
    assert (case.turn, case.out) == (("chance", "y", 1), "")
    case = at("8/8/8/8/8/8/8/y7", "d").do(":xa1", "d")
    assert (case.turn, case.out) == (("chance", "y", 1), "")
    case.do("e")
    assert (case.turn, case.out) == (("chance", "b", 1), "")


@pytest.mark.parametrize("mover", "yb")
@pytest.mark.parametrize("colour", "yb")
@pytest.mark.parametrize(
    ("tiles", "hand", "move", "points"),
    [
        ("8/8/8/2cc4/2c5/8/8/8", "c", "d4", 4),
        ("8/8/8/2ccc3/2c1c3/8/8/8", "c", "d4", 8),
        ("8/8/8/2ccc3/2c1c3/2cc4/8/8", "c", "d4", 12),
        ("8/8/8/2ccc3/2c1c3/2ccc3/8/8", "c", "d4", 16),
        ("8/8/8/2cc4/2c5/4c3/8/8", "e", "e3-d4", 4),
        ("8/8/8/2ccc3/2c1c3/2ccc3/8/8", "e", "e3-d4", 12),
        ("8/8/8/2cc4/2cc4/8/8/8", "d", "xd4", 0),  # never deducted
        ("8/8/8/2cc4/2cc4/8/8/8", "e", "d4-e3", 0),
        ("8/8/8/2cc4/2cc4/8/8/8", "c", "h1", 0),  # a square elsewhere
        ("8/8/8/8/c6c/7c/8/8", "c", "a5", 0),  # h3, h4, a4, a5 follow one another as numbers
        ("8/8/8/8/8/8/c6c/c7", "c", "h1", 0),
        ("c7/8/8/8/8/8/8/cc6", "c", "b8", 0),  # nor do the top and the bottom rank meet
        ("6cc/7c/8/8/8/8/8/8", "c", "g7", 4),
    ],
)
def test_points_go_to_the_owner(tiles: str, hand: str, move: str, points: int, colour: str, mover: str) -> None:
    case = at(tiles.replace("c", colour), hand.replace("c", colour), mover=mover).do(f":{move}")
    assert case.score == ((points, 0) if colour == "y" else (0, points))


def test_four_of_two_colours_are_no_square() -> None:
    assert at("8/8/8/2yy4/2y5/8/8/8", "b").do(":d4").score == (0, 0)


def test_completing_again_scores_again() -> None:
    case = at("8/8/8/8/8/8/yy6/y7", "y").do(":b1", "e:b2-c3", "e:c3-b2", "d:xa1", "y:a1")
    assert case.score == (12, 0)


def test_removal_fills_the_bag_at_once() -> None:
    case = at("8/8/8/8/8/8/8/yb6", "d", mover="b").do(":xb1")
    assert case.row["bag"].tolist() == [31, 32, 1, 1, 1, 1]
    # Out of an empty supply it can even be the second draw of the same double turn.
    case = Case("amethyst", "1y/1b y b 1 1,0,1,1,1,1 0-0", 2, 2).do(":a1", "x", "d:xa1", "b:a2")
    assert (case.turn, case.out) == (("chance", "y", 1), "")


@both_editions
def test_slides_go_to_empty_tiles_on_the_board(edition: str) -> None:
    case = at("7b/8/8/8/8/2y5/1b6/8", "e", edition)
    mask = look(case.game, case.row.reshape(1))[0][0]
    moves = {case.game.format_action(int(action)) for action in np.flatnonzero(mask)}
    assert moves == {"b2-a1", "b2-c1", "b2-a3", "c3-d4", "c3-b4", "c3-d2", "h8-g7"}


@both_editions
def test_the_last_gem_ends_the_game_with_a_draw_still_owed(edition: str) -> None:
    case = Case(edition, "by/b1 b y 2 0,0,1,1,1,0 4-0", 2, 2).do(":b1")
    assert rules.mover(case.row) == OVER
    assert case.game.format_position(case.row) == "by/by - - 0 0,0,1,1,1,0 4-0"
    assert (rules.outcome(case.row, 0), rules.outcome(case.row, 1)) == (1, -1)
    deal(case.row)  # nothing is drawn any more
    assert case.game.format_position(case.row) == "by/by - - 0 0,0,1,1,1,0 4-0"
