"""Mozaic in plain words, and where on its picture it is played."""

from __future__ import annotations

import pytest

from mozaic_env.games.mozaic.actions import Gem
from mozaic_env.games.mozaic.game import Mozaic
from tests.games.mozaic.test_drawing import tiles_of

GAME = Mozaic(rows=4, cols=4)
ONYX = Mozaic(rules="onyx", rows=4, cols=4)
START = "4/4/4/4 y y 1 7,8,1,1,1,1 0-0"
TWO_GEMS = "4/4/1b2/y3 b {hand} {plays} 7,7,{bag} 0-0"


def at(game, text):
    return game.parse_position(text)[0]


@pytest.mark.parametrize(
    ("hand", "bag", "notation", "words"),
    [
        ("y", "1,1,1,1", "d4", "blue places a yellow gem on d4"),
        ("e", "0,1,1,1", "b2-c3", "blue slides the gem on b2 to c3"),
        ("d", "1,0,1,1", "xa1", "blue removes the gem on a1"),
    ],
)
def test_actions(hand, bag, notation, words) -> None:
    board = TWO_GEMS.format(hand=hand, plays=1, bag=bag)
    row = at(GAME, board if hand != "y" else board.replace("7,7", "6,7"))
    assert GAME.tell_action(row, GAME.parse_action(notation)) == words


@pytest.mark.parametrize(
    ("gem", "empty", "words"),
    [
        (Gem.YELLOW, False, "blue draws a yellow gem"),
        (Gem.BLUE, False, "blue draws a blue gem"),
        (Gem.EMERALD, False, "blue draws the emerald"),
        (Gem.EMERALD, True, "yellow draws the emerald: no gem can slide"),
        (Gem.DIAMOND, False, "blue draws the diamond"),
        (Gem.DIAMOND, True, "yellow draws the diamond: there is no gem to remove"),
        (Gem.RUBY, False, "blue draws the ruby: the turn is missed"),
        (Gem.DOUBLE, False, "blue draws the double-turn gem: two gems to play"),
    ],
)
def test_draws(gem, empty, words) -> None:
    row = at(GAME, START if empty else TWO_GEMS.format(hand="y", plays=1, bag="1,1,1,1").replace("7,7", "6,7"))
    row["hand"] = 6
    assert GAME.tell_outcome(row, gem) == words


@pytest.mark.parametrize(("game", "words"), [(GAME, "both turns are missed"), (ONYX, "the turn is missed")])
def test_a_ruby_as_the_first_of_two(game, words) -> None:
    row = at(game, TWO_GEMS.format(hand="y", plays=2, bag="1,1,1,0").replace("7,7", "6,7"))
    row["hand"] = 6
    assert game.tell_outcome(row, Gem.RUBY) == f"blue draws the ruby: {words}"


def test_places_are_the_tiles_that_are_drawn() -> None:
    for game in (GAME, Mozaic(), Mozaic(rows=2, cols=7)):
        row = game.rows(1)[0]
        row["plays"], row["hand"] = 1, 6
        middles, size = tiles_of(game.draw(row))
        places = game.places(row)
        assert [(place.x + place.w / 2, place.y + place.h / 2) for place in places] == middles
        assert {(place.w, place.h) for place in places} == {(size, size)}
    row = at(GAME, TWO_GEMS.format(hand="e", plays=1, bag="0,1,1,1"))
    holds = {place.name: place.holds for place in GAME.places(row)}
    assert {name for name in holds if holds[name]} == {"a1", "b2"}
    assert (holds["a1"], holds["b2"]) == ("yellow gem", "blue gem")


def test_clicks() -> None:
    row = at(GAME, START)
    assert GAME.clicks(row, GAME.parse_action("c2")) == ("c2",)
    assert GAME.clicks(row, GAME.parse_action("c2-d1")) == ("c2", "d1")
    assert GAME.clicks(row, GAME.parse_action("xd4")) == ("d4",)
