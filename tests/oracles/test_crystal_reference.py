"""Hand-made cases that pin the Crystal Mosaic reference to the rules page, sentence by sentence."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from tests.oracles.crystal_reference import (
    BOARDS,
    COLOURS,
    FACTORIES,
    MARKER,
    Player,
    ReferenceCrystal,
    random_reference_crystal,
    refill_at_random,
)


def at(
    players: int = 2,
    board: str = "grey",
    factories: str = "",
    centre: str = "",
    taken: int | None = None,
    **options: int,
) -> ReferenceCrystal:
    """A draft with these tiles on the table (factories separated by spaces), seat 0 to move, the rest in the bag."""
    game = ReferenceCrystal(players, board, **options)
    for number, tiles in enumerate(factories.split()):
        game.factories[number] = list(tiles)
    game.centre = list(centre)
    game.has_marker = taken
    if taken is not None:
        game.players[taken].floor = [MARKER]
    game.status, game.mover = "draft", 0
    return settle(game)


def settle(game: ReferenceCrystal) -> ReferenceCrystal:
    """What lies nowhere else is in the bag."""
    game.bag = []
    game.bag = [c for c in COLOURS for _ in range(20 - game.all_tiles().count(c))]
    return game


def give(game: ReferenceCrystal, seat: int, wall: str = "", floor: str = "", score: int = 0, **lines: str) -> Player:
    """Puts tiles in front of a player: wall rows separated by '/', lines as l1="B", l3="KK"."""
    player = game.players[seat]
    for row, letters in enumerate(wall.split("/") if wall else [], 1):
        for column, letter in enumerate(letters, 1):
            if letter != ".":
                player.wall[row, column] = letter
    for name, tiles in lines.items():
        player.lines[int(name[1])] = list(tiles)
    player.floor, player.score = list(floor), score
    if game.has_marker == seat and len(floor) < 7 and MARKER not in floor:
        player.floor.append(MARKER)
    settle(game)
    return player


def do(game: ReferenceCrystal, *words: str) -> ReferenceCrystal:
    for word in words:
        game.apply(next(a for a in game.legal_actions() if game.notation(a) == word))
    return game


def moves(game: ReferenceCrystal) -> set[str]:
    return {game.notation(action) for action in game.legal_actions()}


# --- material and refill ------------------------------------------------------------------------


@pytest.mark.parametrize(("players", "factories"), [(2, 5), (3, 7), (4, 9)])
def test_the_first_refill_puts_four_tiles_on_every_factory(players: int, factories: int) -> None:
    game = ReferenceCrystal(players)
    assert game.possible_draws() == dict.fromkeys(COLOURS, Fraction(1, 5))
    refill_at_random(game, random.Random(0))
    assert [len(factory) for factory in game.factories] == [4] * factories
    assert len(game.bag) == 100 - 4 * factories
    assert (game.status, game.mover, game.round, game.has_marker) == ("draft", 0, 1, None)


def test_an_empty_bag_is_filled_from_the_lid_in_mid_refill() -> None:
    game = ReferenceCrystal(2)
    game.bag, game.lid = ["B"] * 6, list("YYYYRRRRKKKKWWWW")
    game.players[0].wall = {}
    game._count_tiles = lambda: None  # tiles elsewhere do not matter here
    for _ in range(6):
        assert game.possible_draws() == {"B": 1}
        game.draw("B")
    assert game.factories[:3] == [["B"] * 4, ["B"] * 2, []]
    assert game.lid == []
    assert game.possible_draws() == dict.fromkeys("YRKW", Fraction(1, 4))


def test_with_bag_and_lid_empty_the_round_starts_with_what_there_is() -> None:
    game = ReferenceCrystal(2)
    game._count_tiles = lambda: None
    game.bag, game.lid = list("BY"), list("R")
    for colour in "BYR":
        game.draw(colour)
    assert game.status == "draft"
    assert game.factories == [["B", "Y", "R"], [], [], [], []]


def test_a_full_last_factory_leaves_the_lid_alone() -> None:
    game = ReferenceCrystal(2)
    game._count_tiles = lambda: None
    game.bag, game.lid = ["B"] * 20, ["Y"]
    for _ in range(20):
        game.draw("B")
    assert (game.status, game.bag, game.lid) == ("draft", [], ["Y"])


# --- draft --------------------------------------------------------------------------------------


def test_the_rest_of_a_factory_goes_to_the_centre() -> None:
    game = do(at(factories="BBYR KKKK"), "F1:B>2")
    assert sorted(game.centre) == ["R", "Y"]
    assert game.factories[0] == []
    assert game.players[0].lines[2] == ["B", "B"]
    assert game.mover == 1


def test_the_first_to_take_from_the_centre_takes_the_marker_and_begins_the_next_round() -> None:
    game = do(at(centre="BBY", factories="KKKK"), "F1:K>5", "C:B>3")
    assert game.has_marker == 1
    assert game.players[1].floor == [MARKER]
    do(game, "C:Y>2")
    assert game.players[0].floor == []
    assert (game.starter, game.status, game.has_marker) == (1, "chance", None)


def test_the_marker_takes_the_leftmost_free_space_before_the_tiles() -> None:
    game = do(at(centre="BBBK"), "C:B>1")
    assert game.players[0].floor == [MARKER, "B", "B"]


def test_the_marker_with_a_full_floor_still_gives_the_next_start() -> None:
    game = at(3, centre="BK", factories="KKKK")
    give(game, 1, floor="YYYYYYY")
    do(game, "F1:K>5", "C:B>-")
    assert game.players[1].floor == ["Y"] * 7
    assert game.lid == ["B"]
    assert game.has_marker == 1
    do(game, "C:K>2")
    assert game.starter == 1


def test_what_a_line_accepts() -> None:
    game = at(factories="BBYR")
    give(game, 0, wall="...../B..../...../...../.....", l1="Y", l3="BB", l4="YYY", l5="RRRRR")
    assert {word for word in moves(game) if ":B" in word} == {"F1:B>3", "F1:B>-"}  # 2: on the wall's row
    assert {word for word in moves(game) if ":Y" in word} == {"F1:Y>2", "F1:Y>4", "F1:Y>-"}
    assert {word for word in moves(game) if ":R" in word} == {"F1:R>2", "F1:R>-"}


def test_excess_goes_to_the_floor_and_beyond_the_seventh_space_to_the_lid() -> None:
    game = at(centre="BBBBBK", taken=1)
    give(game, 0, floor="YYYYY", l2="B")
    do(game, "C:B>2")
    assert game.players[0].lines[2] == ["B", "B"]
    assert game.players[0].floor == ["Y"] * 5 + ["B"] * 2
    assert game.lid == ["B", "B"]


# --- tiling -------------------------------------------------------------------------------------


def test_tiling_goes_from_the_starting_player_and_from_the_top_and_forced_lines_are_not_asked() -> None:
    game = at(centre="B", taken=1)
    game.starter = 1
    give(game, 0, l1="", l2="YY")
    give(game, 1, l3="KKK", l2="WW", l5="RRRR")
    do(game, "C:B>-")
    assert (game.status, game.mover, game.tiling_line) == ("tiling", 1, 2)
    assert moves(game) == {"@1", "@2", "@3", "@4", "@5"}
    do(game, "@3")
    assert (game.mover, game.tiling_line) == (1, 3)
    assert moves(game) == {"@1", "@2", "@3", "@4", "@5"}
    do(game, "@3")
    assert game.players[1].wall == {(2, 3): "W", (3, 3): "K"}
    assert game.players[1].score == 1 + 2
    assert (game.mover, game.tiling_line) == (0, 2)
    do(game, "@1")
    assert game.status == "chance"
    assert game.players[1].lines[5] == list("RRRR")  # incomplete lines stay
    assert sorted(game.lid) == sorted("W" + "KK" + "Y" + "B")


def test_on_the_base_board_every_space_is_fixed() -> None:
    game = at(board="base", centre="B", taken=1)
    give(game, 0, l2="WW", l3="YYY", l4="RRRR", l5="KKKKK")
    do(game, "C:B>1")
    assert game.status == "chance"  # nobody was asked
    assert game.players[0].wall == {(1, 1): "B", (2, 1): "W", (3, 4): "Y", (4, 1): "R", (5, 3): "K"}
    assert game.players[0].score == 1 + 2 + 1 + 1 + 1


def test_free_spaces_avoid_taken_spaces_the_colours_column_and_other_prints() -> None:
    game = at(board="side2", centre="YY", taken=1)
    give(game, 0, wall="Y..../.B.../...../...../.....")
    do(game, "C:Y>2")
    assert game.status == "tiling"
    assert game.spaces(0, 2) == [(2, 3), (2, 5)]  # 1: Y in the column; 2: taken; 4: printed R


def test_with_one_space_nobody_is_asked_and_with_none_the_line_goes_to_the_floor() -> None:
    game = at(centre="B", taken=1)
    give(game, 0, wall="YRKW./...../...../...../....B", floor="YYY", l2="KK")
    give(game, 1, wall="YRKW./...../...../...../.....")
    do(game, "C:B>1")
    # The only free space of row 1 lies in a column with blue: the tile goes to the floor, and row 2 is asked.
    assert game.players[0].lines[1] == []
    assert game.players[0].floor == list("YYYB")
    assert (game.mover, game.tiling_line) == (0, 2)
    forced = at(centre="B", taken=0)
    give(forced, 0, wall="YRKW./...../...../...../B....")
    do(forced, "C:B>1")
    assert forced.players[0].wall[1, 5] == "B"


def test_a_line_without_a_space_overflows_the_floor_into_the_lid() -> None:
    game = at(centre="Y", taken=1)
    give(game, 0, wall="...../...../...../RKWY./....B", floor="YYYYY", l4="BBBB")
    do(game, "C:Y>-")
    assert game.players[0].lines[4] == []
    assert game.lid.count("B") == 4  # two by the floor, two at once
    assert game.lid.count("Y") == 6
    assert game.players[0].score == 0


def test_a_printed_space_may_be_left_and_then_stays_empty_for_good() -> None:
    game = at(board="side2", centre="BB", taken=1)
    do(game, "C:B>2")
    assert moves(game) == {"@1", "@2", "@3", "@5"}
    do(game, "@1")
    give(game, 0, l2="RR")
    assert (2, 2) not in game.spaces(0, 2)
    assert (2, 4) in game.spaces(0, 2)


# --- scoring ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wall", "space", "points"),
    [
        ("...../...../...../...../.....", (3, 3), 1),  # alone
        ("...../...../YR.../...../.....", (3, 3), 3),  # across
        ("..Y../..R../...../..K../.....", (3, 3), 4),  # down
        ("..Y../..R../YR.K./...../.....", (3, 3), 7),  # an intersection counts both: 4 + 3
        ("...../...../Y.B.K/...../.....", (3, 2), 3),  # a gap ends the run
        ("YRKW./W..../...../...../.....", (1, 5), 5),
        ("..Y../..R../YR.KW/..K../..W..", (3, 3), 10),
        ("Y..../.R.../...../...R./....K", (3, 3), 1),  # diagonals do not touch
    ],
)
def test_points_of_a_tile(wall: str, space: tuple[int, int], points: int) -> None:
    for board, factor in (("grey", 1), ("side1", 2 if space == (3, 3) else 1)):
        game = at(board=board)
        player = give(game, 0, wall=wall)
        player.wall[space] = "B"
        assert game.points(player, space) == points * factor


def test_a_doubled_space_doubles_the_whole_intersection() -> None:
    game = at(board="side1", centre="Y", taken=1)
    give(game, 0, wall="..B../..R../.B.../...../.....", l3="YYY")
    do(game, "C:Y>-")
    assert (3, 3) in game.spaces(0, 3)  # printed in yellow
    do(game, "@3")
    assert game.players[0].score == 2 * (2 + 3) - 1


@pytest.mark.parametrize("board", BOARDS)
def test_floor_values_are_those_of_the_board(board: str) -> None:
    totals = []
    for occupied in range(8):
        game = at(board=board, centre="B", taken=1)
        give(game, 0, floor="R" * occupied, score=50)
        give(game, 1, floor=MARKER)
        do(game, "C:B>1")
        if game.status == "tiling":
            do(game, "@1")
        totals.append(game.players[0].score - 51)
    old, new = [0, -1, -2, -4, -6, -8, -11, -14], [0, -1, -1, -2, -4, -5, -7, -10]
    assert totals == (old if board in ("base", "grey") else new)


def test_floor_values_are_an_option_and_the_marker_occupies_a_space() -> None:
    game = at(centre="BBB", floor=(-5, -1, -1, -1, -1, -1, -1))
    give(game, 0, score=20)
    do(game, "C:B>2")
    do(game, "@1")
    assert game.players[0].score == 20 + 1 - 6
    assert game.players[0].floor == []


def test_the_score_never_falls_below_zero_in_the_sum_of_all_spaces() -> None:
    game = at(centre="B", taken=1)
    give(game, 0, floor="RRRRR", score=3)
    do(game, "C:B>1", "@2")
    assert game.players[0].score == 0  # 3 + 1 - 8


# --- the end ------------------------------------------------------------------------------------


def nearly(board: str = "grey", players: int = 2) -> ReferenceCrystal:
    """Seat 0 completes its first row with the last tile."""
    game = at(players, board=board, centre="B", taken=1)
    give(game, 0, wall=".YRKW/...../...../...../.....")
    return game


@pytest.mark.parametrize(("board", "row", "column", "colour"), [("grey", 2, 7, 10), ("side2", 3, 10, 12)])
def test_the_game_ends_with_a_complete_row_and_bonuses(board: str, row: int, column: int, colour: int) -> None:
    game = nearly(board)
    give(game, 1, wall="Y..../R.Y../BY.../W..Y./K...Y", score=31)  # a column and all yellows
    do(game, "C:B>1")
    assert game.status == "over"
    assert game.players[0].score == 5 + row
    assert game.players[1].score == 30 + column + colour
    assert game.outcomes() == [-1, 1]


def test_the_round_is_played_to_its_end() -> None:
    game = nearly()
    give(game, 1, l5="KKKKK")
    do(game, "C:B>1")
    assert (game.status, game.mover) == ("tiling", 1)
    do(game, "@1")
    assert game.status == "over"


@pytest.mark.parametrize(
    ("scores", "rows", "expected"),
    [
        ((10, 9), (1, 1), (1, -1)),
        ((10, 10), (1, 2), (-1, 1)),  # more complete rows
        ((10, 10), (1, 1), (0, 0)),  # all tied
        ((9, 10, 10), (1, 1, 1), (-1, Fraction(1, 2), Fraction(1, 2))),  # a shared win
        ((10, 10, 10), (2, 1, 1), (1, Fraction(-1, 2), Fraction(-1, 2))),
        ((10, 10, 10), (1, 1, 1), (0, 0, 0)),
        ((10, 10, 3, 10), (1, 1, 2, 0), (Fraction(1, 2), Fraction(1, 2), Fraction(-1, 2), Fraction(-1, 2))),
        ((10, 10, 10, 9), (1, 1, 1, 2), (Fraction(1, 3), Fraction(1, 3), Fraction(1, 3), -1)),
        ((3, 2, 1, 0), (1, 0, 0, 0), (1, Fraction(-1, 3), Fraction(-1, 3), Fraction(-1, 3))),
    ],
)
def test_results(scores: tuple[int, ...], rows: tuple[int, ...], expected: tuple[Fraction, ...]) -> None:
    game = ReferenceCrystal(len(scores))
    for player, score, complete in zip(game.players, scores, rows, strict=True):
        player.score = score
        player.wall = {(row, column): "B" for row in range(1, complete + 1) for column in range(1, 6)}
    assert game.outcomes() == list(expected)
    assert sum(game.outcomes()) == 0


def test_a_game_is_truncated_after_its_last_round() -> None:
    game = at(centre="B", taken=1, max_rounds=1)
    do(game, "C:B>1", "@1")
    assert (game.status, game.round) == ("truncated", 1)


def test_when_nobody_takes_the_marker_the_starting_player_stays() -> None:
    game = at(3, factories="BBBB")
    game.starter = 0
    do(game, "F1:B>-")
    assert (game.status, game.starter, game.round) == ("chance", 0, 2)


# --- all of it ----------------------------------------------------------------------------------


@pytest.mark.parametrize("players", FACTORIES)
@pytest.mark.parametrize("board", BOARDS)
def test_random_games_end_and_keep_all_tiles(board: str, players: int) -> None:
    rng = random.Random(f"{board} {players}")
    for _ in range(3):
        game = random_reference_crystal(ReferenceCrystal(players, board), rng)  # counts the tiles at every step
        assert game.status in ("over", "truncated")
        if game.status == "over":
            assert sum(game.outcomes()) == 0
