"""Hand-made cases that pin the reference to the rules page, row by row."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction

import pytest

from tests.oracles.reference import KINDS, RULES, ReferenceGame, random_reference_game

EMPTY = "8/8/8/8/8/8/8/8"
FULL_BAG = Counter(y=32, b=32, e=1, d=1, r=1, x=1)
both_editions = pytest.mark.parametrize("rules", RULES)


def at(
    tiles: str, hand: str, rules: str = "amethyst", mover: str = "y", plays: int = 1, out: str = ""
) -> ReferenceGame:
    """The decision with `hand` on these tiles; `out` is set aside, all else is in the bag."""
    gems = [c for c in tiles if c in "yb"]
    half = (len(gems) + sum(int(c) for c in tiles if c.isdigit())) // 2
    bag = Counter(y=half, b=half, e=1, d=1, r=1, x=1)
    bag.subtract(gems + list(hand) + list(out))
    counts = ",".join(str(bag[kind]) for kind in KINDS)
    return ReferenceGame.from_position(f"{tiles} {mover} {hand} {plays} {counts} 0-0", rules)


def do(game: ReferenceGame, *words: str) -> ReferenceGame:
    """Play words: 'x', 'r', 'e', 'd' are draws alone; 'y:d4' draws and plays; ':d4' plays."""
    for word in words:
        gem, _, move = word.partition(":")
        if gem:
            game.draw(gem)
        if move:
            game.apply(next(a for a in game.legal_actions() if game.notation(a) == move))
    return game


def moves(game: ReferenceGame) -> set[str]:
    return {game.notation(action) for action in game.legal_actions()}


def missing(game: ReferenceGame) -> str:
    """The exception gems that are not in the bag."""
    return "".join(kind for kind in "edrx" if not game.bag[kind])


def turn(game: ReferenceGame) -> tuple[str, str, int]:
    return game.status, game.mover, game.plays


# --- openings -----------------------------------------------------------------------------------


def test_amethyst_opens_with_a_yellow_gem_in_yellows_hand() -> None:
    game = ReferenceGame()
    assert game.position() == "8/8/8/8/8/8/8/8 y y 1 31,32,1,1,1,1 0-0"
    assert game.legal_actions() == list(range(64))
    do(game, ":a1")
    assert turn(game) == ("chance", "b", 1)
    single = Fraction(1, 67)
    assert game.possible_draws() == {
        "y": Fraction(31, 67), "b": Fraction(32, 67), "e": single, "d": single, "r": single,
        "x": single,
    }  # fmt: skip


@pytest.mark.parametrize("first", ["y", "b"])
def test_onyx_opens_with_a_draw_from_the_full_bag(first: str) -> None:
    game = ReferenceGame("onyx", first=first)
    assert turn(game) == ("chance", first, 1)
    assert game.bag == FULL_BAG
    assert game.possible_draws()["x"] == Fraction(1, 68)
    assert sum(game.possible_draws().values()) == 1


def test_gems_that_are_used_up_can_not_come() -> None:
    game = do(at("1y/1b", "b"), ":a1")  # both blue gems are placed
    assert set(game.possible_draws()) == set("yedrx")
    with pytest.raises(ValueError, match="can't be drawn"):
        game.draw("b")


# --- the table of turns -------------------------------------------------------------------------


@both_editions
@pytest.mark.parametrize("colour", ["y", "b"])
def test_a_colour_gem_of_either_colour_goes_on_any_empty_tile(rules: str, colour: str) -> None:
    game = at("3/yb1", colour, rules)
    assert moves(game) == {"c1", "a2", "b2", "c2"}
    do(game, ":c2")
    assert game.board[2, 1] == colour
    assert turn(game) == ("chance", "b", 1)


@both_editions
def test_emerald_slides_either_colour_one_diagonal_step_to_an_empty_tile(rules: str) -> None:
    # b2 is yellow with c3 taken; c3 is blue; a1 is blocked by b2.
    game = at("4/2b1/1y2/y3", "e", rules)
    assert moves(game) == {"b2-a3", "b2-c1", "c3-d4", "c3-b4", "c3-d2"}
    do(game, ":c3-b4")
    assert game.board == {(0, 0): "y", (1, 1): "y", (1, 3): "b"}
    assert turn(game) == ("chance", "b", 1)
    assert missing(game) == ""


@both_editions
def test_diamond_removes_either_colour_into_the_bag_at_once(rules: str) -> None:
    game = at("4/2b1/1y2/y3", "d", rules)
    assert moves(game) == {"xa1", "xb2", "xc3"}
    before = game.bag.copy()
    do(game, ":xc3")
    assert game.board == {(0, 0): "y", (1, 1): "y"}
    assert game.bag == before + Counter(b=1, d=1)
    assert game.score == {"y": 0, "b": 0}
    assert turn(game) == ("chance", "b", 1)


@both_editions
def test_ruby_misses_the_turn_and_is_back_before_the_next_draw(rules: str) -> None:
    game = do(at(EMPTY, "y", rules), ":a1", "r")
    assert turn(game) == ("chance", "y", 1)
    assert missing(game) == ""


@both_editions
def test_double_turn_gem_gives_two_draws_then_the_other_player_draws(rules: str) -> None:
    game = do(at(EMPTY, "y", rules), ":a1", "x")
    assert (turn(game), missing(game)) == (("chance", "b", 2), "x")
    do(game, "y")
    assert (turn(game), missing(game)) == (("decision", "b", 2), "x")
    do(game, ":c3")
    assert (turn(game), missing(game)) == (("chance", "b", 1), "x")
    do(game, "b")
    assert (turn(game), missing(game)) == (("decision", "b", 1), "x")
    do(game, ":e5")
    assert (turn(game), missing(game)) == (("chance", "y", 1), "")


@both_editions
def test_double_turn_gem_is_never_drawn_inside_its_own_double_turn(rules: str) -> None:
    game = do(at(EMPTY, "y", rules), ":a1", "x")
    for word in ("y:c3", "y:e5"):
        assert "x" not in game.possible_draws()
        with pytest.raises(ValueError, match="can't be drawn"):
            game.draw("x")
        do(game, word)
    assert "x" in game.possible_draws()


@both_editions
@pytest.mark.parametrize("gem", ["e", "d"])
def test_emerald_or_diamond_on_an_empty_board_uses_up_the_draw(rules: str, gem: str) -> None:
    game = do(at("8/8/8/8/8/8/8/y7", "d", rules), ":xa1")
    assert turn(game) == ("chance", "b", 1)
    do(game, gem)
    assert turn(game) == ("chance", "y", 1)
    assert game.bag == FULL_BAG


@both_editions
def test_emerald_without_a_slide_uses_up_the_draw(rules: str) -> None:
    game = do(at("2/y1", "b", rules), ":b2")  # a1 and b2 block each other
    do(game, "e")
    assert turn(game) == ("chance", "y", 1)
    assert game.bag == Counter(y=1, b=1, e=1, d=1, r=1, x=1)


# --- scoring ------------------------------------------------------------------------------------

# d4 is empty; the yellow gems around it make 1, 2, 3 and 4 squares with it.
AROUND_D4 = [
    ("8/8/8/2yy4/2y5/8/8/8", 4),
    ("8/8/8/2yyy3/2y1y3/8/8/8", 8),
    ("8/8/8/2yyy3/2y1y3/2yy4/8/8", 12),
    ("8/8/8/2yyy3/2y1y3/2yyy3/8/8", 16),
    ("8/8/8/2yy4/8/2yy4/8/8", 0),
    ("8/8/8/2yyb3/2b1y3/2yby3/8/8", 0),
]


@pytest.mark.parametrize(("tiles", "points"), AROUND_D4)
@pytest.mark.parametrize("mover", ["y", "b"])
@pytest.mark.parametrize("colour", ["y", "b"])
def test_a_placement_scores_for_the_owner_of_the_colour(tiles: str, points: int, mover: str, colour: str) -> None:
    if colour == "b":
        tiles = tiles.translate(str.maketrans("yb", "by"))
    game = do(at(tiles, colour, mover=mover), ":d4")
    assert game.score == {"y": 0, "b": 0, colour: points}


def test_four_of_two_colours_are_no_square() -> None:
    assert do(at("8/8/8/2yy4/2y5/8/8/8", "b"), ":d4").score == {"y": 0, "b": 0}


def test_only_blocks_with_the_gem_count() -> None:
    # a1-b2 is a square already; f6 completes nothing.
    assert do(at("8/8/8/8/8/8/yy6/yy6", "y"), ":f6").score == {"y": 0, "b": 0}


def test_blocks_do_not_wrap_around_the_edge() -> None:
    # In tile numbers h3, a4, h4, a5 are 23, 24, 31, 32; h1, h2 and a1, a2 face each other.
    assert do(at("8/8/8/8/y6y/7y/8/8", "y"), ":a5").score == {"y": 0, "b": 0}
    assert do(at("8/8/8/8/8/8/y6y/y7", "y"), ":h1").score == {"y": 0, "b": 0}
    assert do(at("y7/8/8/8/8/8/8/yy6", "y"), ":b8").score == {"y": 0, "b": 0}


@pytest.mark.parametrize("corner", ["a1", "h1", "a8", "h8"])
def test_corner_squares_count(corner: str) -> None:
    tiles = "1y4y1/yy4yy/8/8/8/8/yy4yy/1y4y1"
    assert do(at(tiles, "y"), f":{corner}").score == {"y": 4, "b": 0}


@pytest.mark.parametrize("mover", ["y", "b"])
@pytest.mark.parametrize("colour", ["y", "b"])
def test_a_slide_scores_for_the_owner_of_the_colour(mover: str, colour: str) -> None:
    tiles = "8/8/8/2yy4/2y5/4y3/8/8".replace("y", colour)
    game = do(at(tiles, "e", mover=mover), ":e3-d4")
    assert game.score == {"y": 0, "b": 0, colour: 4}


def test_a_slide_out_of_the_ring_scores_three_squares() -> None:
    # The block of d4 and e3 stays open, for e3 is where the gem came from.
    assert do(at("8/8/8/2yyy3/2y1y3/2yyy3/8/8", "e"), ":e3-d4").score == {"y": 12, "b": 0}


def test_breaking_by_a_slide_is_free_and_completing_again_scores_again() -> None:
    game = do(at("8/8/8/8/8/8/yy6/y7", "y"), ":b1")
    assert game.score == {"y": 4, "b": 0}
    do(game, "e:b2-c3")
    assert game.score == {"y": 4, "b": 0}
    do(game, "e:c3-b2")
    assert game.score == {"y": 8, "b": 0}


def test_breaking_by_a_removal_is_free_and_completing_again_scores_again() -> None:
    game = do(at("8/8/8/8/8/8/bb6/b7", "b"), ":b1", "d:xa2")
    assert game.score == {"y": 0, "b": 4}
    do(game, "b:a2")
    assert game.score == {"y": 0, "b": 8}


# --- the two editions ---------------------------------------------------------------------------


def test_amethyst_ruby_first_loses_both_draws() -> None:
    game = do(ReferenceGame(), ":a1", "x", "r")
    assert (turn(game), missing(game)) == (("chance", "y", 1), "")


def test_onyx_ruby_first_leaves_the_second_turn_and_can_come_again() -> None:
    game = do(ReferenceGame("onyx", first="b"), "x", "r")
    assert (turn(game), missing(game)) == (("chance", "b", 1), "x")
    do(game, "r")
    assert (turn(game), missing(game)) == (("chance", "y", 1), "")


@both_editions
def test_ruby_second_costs_the_second_draw(rules: str) -> None:
    game = do(at(EMPTY, "y", rules), ":a1", "x", "y:c3", "r")
    assert (turn(game), missing(game)) == (("chance", "y", 1), "")
    assert len(game.board) == 2


@pytest.mark.parametrize(("rules", "out"), [("amethyst", "x{}"), ("onyx", "x")])
@pytest.mark.parametrize("word", ["e:c3-d4", "d:xc3"])
def test_an_exception_played_first_returns_with_its_turn(rules: str, out: str, word: str) -> None:
    game = do(at("8/8/8/8/8/2y5/8/8", "y", rules), ":a1", "x", word)
    gem = word[0]
    assert turn(game) == ("chance", "b", 1)
    assert set(missing(game)) == set(out.format(gem))
    assert (gem in game.possible_draws()) == (rules == "onyx")
    do(game, "b")  # still so while the second gem is in hand
    assert set(missing(game)) == set(out.format(gem))
    do(game, ":h8")
    assert (turn(game), missing(game)) == (("chance", "y", 1), "")


@pytest.mark.parametrize(("rules", "out"), [("amethyst", "xd"), ("onyx", "x")])
def test_an_exception_without_effect_returns_like_a_played_one(rules: str, out: str) -> None:
    game = do(at("8/8/8/8/8/8/8/y7", "d", rules), ":xa1", "x", "d")
    assert turn(game) == ("chance", "b", 1)
    assert set(missing(game)) == set(out)
    do(game, "e")
    assert (turn(game), missing(game)) == (("chance", "y", 1), "")


@both_editions
def test_a_gem_removed_first_can_be_drawn_second(rules: str) -> None:
    game = do(at("1y/1b", "b", rules), ":a1", "x", "d:xa1")  # both blue gems were on the board
    assert game.bag["b"] == 1
    do(game, "b:a2")
    assert (turn(game), missing(game)) == (("chance", "y", 1), "")


@both_editions
def test_second_exceptions_are_all_back_after_the_double_turn(rules: str) -> None:
    game = do(at("8/8/8/8/8/2y5/8/8", "y", rules), ":a1", "x", "e:c3-d4", "d:xd4")
    assert (turn(game), missing(game)) == (("chance", "y", 1), "")


# --- the end ------------------------------------------------------------------------------------


@both_editions
def test_the_last_gem_ends_the_game_with_a_draw_still_owed(rules: str) -> None:
    game = do(at("by/b1", "y", rules, mover="b", plays=2, out="x"), ":b1")
    assert turn(game) == ("over", "-", 0)
    assert game.position() == "by/by - - 0 0,0,1,1,1,0 0-0"
    assert game.aside == Counter(x=1)
    assert game.legal_actions() == []
    for late in (lambda: game.apply(0), lambda: game.draw("e"), game.possible_draws):
        with pytest.raises(ValueError, match=r"is not legal|nothing is drawn"):
            late()
    assert ReferenceGame.from_position(game.position(), rules).aside == game.aside


def test_gems_set_aside_stay_out_at_the_end() -> None:
    game = do(at("by/b1", "y", plays=1, out="xe"), ":b1")
    assert game.position() == "by/by - - 0 0,0,0,1,1,0 0-0"


def test_more_points_win_and_equal_points_draw() -> None:
    tiles = "yybb/yybb/1bby"
    for points, winner in (("4-8", "b"), ("8-4", "y"), ("4-4", "-"), ("12-8", "y")):
        game = ReferenceGame.from_position(f"{tiles} b y 1 0,0,1,1,1,1 {points}")
        assert game.winner() is None
        do(game, ":a1")
        assert game.winner() == winner


# --- actions ------------------------------------------------------------------------------------


def test_ids_of_the_8x8_board() -> None:
    game = ReferenceGame()
    names = {0: "a1", 7: "h1", 56: "a8", 63: "h8", 27: "d4", 320: "xa1", 347: "xd4", 383: "xh8",
             172: "d4-e5", 173: "d4-c5", 174: "d4-e3", 175: "d4-c3"}  # fmt: skip
    assert {action: game.notation(action) for action in names} == names
    for action in (-1, 384):
        with pytest.raises(ValueError, match="accepted: 0 to 383"):
            game.notation(action)


def test_sixty_slide_ids_leave_the_board() -> None:
    game = ReferenceGame()
    slides = []
    for action in range(64, 320):
        try:
            slides.append(game.notation(action))
        except ValueError:
            continue
    assert len(slides) == len(set(slides)) == 256 - 60
    assert {"h1-g2", "a8-b7"} <= set(slides)


def test_legal_ids() -> None:
    assert at("8/8/8/8/3y4/8/8/8", "e").legal_actions() == [172, 173, 174, 175]
    assert at("7b/8/8/8/8/8/8/y7", "e").legal_actions() == [64, 64 + 4 * 63 + 3]
    assert at("7b/8/8/8/8/8/8/y7", "d").legal_actions() == [320, 383]
    assert at("7b/8/8/8/8/8/8/y7", "b").legal_actions() == list(range(1, 63))


def test_ids_of_a_2x3_board() -> None:
    game = ReferenceGame(rows=2, cols=3)
    assert game.position() == "3/3 y y 1 2,3,1,1,1,1 0-0"
    assert game.legal_actions() == [0, 1, 2, 3, 4, 5]
    names = {2: "c1", 3: "a2", 5: "c2", 6: "a1-b2", 11: "b1-a2", 24: "b2-c1", 25: "b2-a1",
             29: "c2-b1", 30: "xa1", 35: "xc2"}  # fmt: skip
    assert {action: game.notation(action) for action in names} == names
    for action in (7, 26, 36):
        with pytest.raises(ValueError, match=r"off the board|accepted: 0 to 35"):
            game.notation(action)
    assert at("3/1y1", "e").legal_actions() == [6 + 4 * 1, 6 + 4 * 1 + 1]
    assert at("b2/1y1", "d").legal_actions() == [31, 33]


@pytest.mark.parametrize(("rows", "cols"), [(1, 4), (3, 3), (8, 9), (10, 2), (7, 7)])
def test_boards_that_do_not_exist(rows: int, cols: int) -> None:
    with pytest.raises(ValueError, match="2x2 to 8x8"):
        ReferenceGame(rows=rows, cols=cols)


@pytest.mark.parametrize(("rules", "first"), [("amethyst", "b"), ("onyx", None), ("opal", "y")])
def test_openings_that_do_not_exist(rules: str, first: str | None) -> None:
    with pytest.raises(ValueError, match="accepted"):
        ReferenceGame(rules, first=first)


def test_what_is_not_allowed_is_refused() -> None:
    game = do(ReferenceGame(), ":a1")
    for chance in (lambda: game.apply(1), game.position):
        with pytest.raises(ValueError, match=r"is not legal|draw first"):
            chance()
    game.draw("y")
    # a1 is taken, and a colour gem neither slides nor removes.
    for action in (0, 64, 320, 383, 384, -1):
        with pytest.raises(ValueError, match="is not legal"):
            game.apply(action)
    with pytest.raises(ValueError, match="nothing is drawn"):
        game.draw("y")
    assert game.position() == "8/8/8/8/8/8/8/y7 b y 1 30,32,1,1,1,1 0-0"


# --- positions ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "1b1y/4/4/y1bb b b 1 6,4,1,1,1,1 4-16",
        "1b1y/4/4/y1bb y e 2 6,5,0,1,1,0 0-0",
        "1b1y/4/4/y1bb y d 1 6,5,0,0,1,0 0-0",
    ],
)
def test_position_strings_come_back(text: str) -> None:
    assert ReferenceGame.from_position(text).position() == text


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("2/2 y y 1 1,2,1,1,1,1", "5 fields"),
        ("2/2 y y 1 2,2,1,1,1,1 0-0", "gems lost or made"),  # three yellow gems
        ("2/2 y y 1 0,2,1,1,1,1 0-0", "a colour gem is missing"),  # one yellow gem
        ("2/2 y y 1 1,2,1,1,1,-1 0-0", "a count below 0"),
        ("2/2 y y 1 1,2,1,1,1 0-0", "bad plays, bag or score"),
        ("2/2 y y 2 1,2,1,1,1,1 0-0", "set aside is ''"),  # first half, its gem in the bag
        ("2/2 y y 1 1,2,0,1,1,1 0-0", "set aside is 'e'"),  # an ordinary turn
        ("2/2 y y 1 1,2,1,1,0,0 0-0", "set aside is 'rx'"),
        ("2/2 y y 2 1,2,0,1,1,0 0-0", "set aside is 'ex'"),  # first half
        ("2/2 y y 3 1,2,1,1,1,0 0-0", "plays"),
        ("2/2 - y 1 1,2,1,1,1,1 0-0", "mover"),
        ("2/2 y - 1 2,2,1,1,1,1 0-0", "in hand can't be played"),
        ("2/2 y r 1 2,2,1,1,0,1 0-0", "in hand can't be played"),
        ("2/2 y d 1 2,2,1,0,1,1 0-0", "in hand can't be played"),
        ("1b/y1 y e 1 1,1,0,1,1,1 0-0", "in hand can't be played"),
        ("by/by y - 1 0,0,1,1,1,1 0-0", "the game is over"),
        ("11/2 y y 1 1,2,1,1,1,1 0-0", "it is written '2/2"),
        ("2/3 y y 1 1,2,1,1,1,1 0-0", "differ in length"),
        ("2/2 y y 1 1,2,1,1,1,1 2-0", "score"),
    ],
)
def test_positions_that_can_not_be_are_refused(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        ReferenceGame.from_position(text)


def test_onyx_never_has_the_emerald_out_at_a_later_decision() -> None:
    text = "4/4/4/y3 y y 1 6,8,0,1,1,0 0-0"
    assert ReferenceGame.from_position(text, "amethyst").aside == Counter("ex")
    with pytest.raises(ValueError, match="set aside"):
        ReferenceGame.from_position(text, "onyx")


def test_a_clone_goes_its_own_way() -> None:
    game = ReferenceGame()
    other = do(game.clone(), ":a1", "b:b2")
    assert game.position() == ReferenceGame().position()
    assert len(other.board) == 2


# --- whole games --------------------------------------------------------------------------------


def squares(game: ReferenceGame) -> Counter[str]:
    """Squares of each colour on the whole board."""
    count: Counter[str] = Counter()
    for file in range(game.cols - 1):
        for rank in range(game.rows - 1):
            block = {game.board.get((file + i, rank + j)) for i in (0, 1) for j in (0, 1)}
            if len(block) == 1:
                count[block.pop() or "none"] += 1
    return count


@both_editions
@pytest.mark.parametrize(("rows", "cols"), [(2, 2), (2, 3), (4, 4), (5, 6), (8, 8)])
def test_random_games(rules: str, rows: int, cols: int) -> None:
    rng = random.Random(f"{rules} {rows}x{cols}")
    for _ in range(4):
        game = None
        for game in random_reference_game(rng, rules, rows, cols):
            text, legal = game.position(), game.legal_actions()
            again = ReferenceGame.from_position(text, rules)
            assert (again.position(), again.legal_actions()) == (text, legal)
            assert (again.aside, again.bag) == (game.aside, game.bag)
            assert legal
            assert legal == sorted(set(legal))
            assert len({game.notation(action) for action in legal}) == len(legal)
            # A gain is what the whole board holds more than with the played gem's tile bare.
            action = rng.choice(legal)
            again.apply(action)
            if game.hand == "d":
                assert again.score == game.score
            else:
                with_gem, bare = squares(again), again.clone()
                target = game.notation(action)[-2:]
                colour = bare.board.pop(("abcdefgh".index(target[0]), int(target[1]) - 1))
                gain = 4 * (with_gem[colour] - squares(bare)[colour])
                assert again.score == {**game.score, colour: game.score[colour] + gain}
        assert game is not None
        assert game.status == "over"
        assert game.winner() in ("y", "b", "-")
        assert len(game.board) == rows * cols
