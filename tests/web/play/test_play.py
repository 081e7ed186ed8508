"""A game at the table: luck, undo, records, beginnings from elsewhere; and records to look at."""

from __future__ import annotations

import pytest

from mozaic_env.core.record import parse_record
from mozaic_env.games import make_game
from mozaic_env.web.play.play import HUMAN, IllegalMove, Play, legal_mask
from mozaic_env.web.play.replay import MOST_WORDS, Replay
from tests.web.play.web_games import GAME

PEOPLE = (HUMAN, HUMAN)


def first_legal(play: Play) -> int:
    return int(legal_mask(play.game, play.now).argmax())


def played(seed: int, decisions: int = 10_000, by: str = HUMAN, game=GAME) -> Play:
    play = Play(game, seed, PEOPLE)
    while play.mover is not None and len(play.steps) < decisions:
        play.play(first_legal(play), by)
    return play


@pytest.mark.parametrize("rules", ["amethyst", "onyx"])
def test_the_record_tells_the_game_and_who_played(rules) -> None:
    game = make_game("mozaic", rules=rules, rows=4, cols=4)
    play = played(3, game=game)
    assert play.over
    record = play.record()
    assert {key: record.header[key] for key in ("seed", "yellow", "blue")} == {
        "seed": "3",
        "yellow": HUMAN,
        "blue": HUMAN,
    }
    film = Replay(f"{record}\n", "mozaic")
    assert film.is_over(len(film.positions) - 1)
    assert game.format_position(film.positions[-1]) == game.format_position(play.now)
    assert film.leads[-1] == play.leads[-1]


def test_an_unfinished_game_has_a_record_too() -> None:
    record = played(3, decisions=5).record()
    assert "result" not in record.header
    assert len([word for word in record.words if ":" in word]) == 5
    Replay(str(record), "mozaic")


def test_the_luck_is_the_seeds_and_undo_does_not_change_it() -> None:
    play = played(5, decisions=8)
    drawn = list(play.drawn)
    assert played(5, decisions=8).drawn == drawn
    assert any(played(seed, decisions=8).drawn != drawn for seed in range(6, 10))
    for _ in range(4):
        play.undo()
    assert len(play.positions) == len(play.drawn) == len(play.leads) == 5
    for _ in range(4):
        play.play(first_legal(play), HUMAN)
    assert play.drawn == drawn


def test_undo_takes_back_to_the_last_human_decision() -> None:
    play = Play(GAME, 1, PEOPLE)
    for by in (HUMAN, HUMAN, "pattern", "pattern"):
        play.play(first_legal(play), by)
    play.undo()
    assert [step.by for step in play.steps] == [HUMAN]
    play.undo()
    assert play.steps == []
    with pytest.raises(IllegalMove, match="nothing"):
        play.undo()
    agents = played(1, decisions=3, by="pattern")
    agents.undo()
    assert len(agents.steps) == 2


def test_what_is_illegal_leaves_the_game_as_it_was() -> None:
    play = played(2, decisions=3)
    taken = next(step.action for step in play.steps)
    for action, words in ((taken, "not possible here"), (-1, "action -1"), (10**30, "not possible"), (96, "action 96")):
        with pytest.raises(IllegalMove, match=words):
            play.play(action, HUMAN)
    assert len(play.steps) == 3
    assert len(play.positions) == 4
    over = played(2)
    with pytest.raises(IllegalMove, match="over"):
        over.play(0, HUMAN)


def test_a_game_at_its_limit_stops_and_its_record_says_so(monkeypatch) -> None:
    monkeypatch.setattr(type(GAME), "max_decisions", 4)
    play = played(2)
    assert (len(play.steps), play.stopped, play.mover) == (4, True, None)
    assert str(play.record()).endswith("...")
    with pytest.raises(IllegalMove, match="limit"):
        play.play(first_legal(play), HUMAN)
    play.undo()
    assert play.mover is not None


def test_a_game_can_begin_anywhere_with_the_luck_of_its_seed() -> None:
    middle = played(4, decisions=6)
    courses = []
    for seed in (0, 0, 1):
        play = Play(GAME, seed, PEOPLE, middle.now)
        assert GAME.format_position(play.now) == GAME.format_position(middle.now)
        while play.mover is not None:
            play.play(first_legal(play), HUMAN)
        courses.append(play.record().words)
        assert Replay(str(play.record()), "mozaic").is_over(-1)
    assert courses[0] == courses[1] != courses[2]


def test_every_seat_that_changed_hands_is_named_so() -> None:
    play = Play(GAME, 1, PEOPLE)
    for by in (HUMAN, "pattern") * 4:
        play.play(first_legal(play), by)
    assert {play.record().header["yellow"], play.record().header["blue"]} <= {
        "human",
        "pattern",
        "human+pattern",
        "pattern+human",
    }
    assert parse_record(str(play.record())) == play.record()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "holds no record"),
        ("nonsense", "one '|'"),
        ("rules=amethyst board=4x4 first=y |", "0 words"),
        ("rules=amethyst board=4x4 first=y | y:a1 " + "r " * MOST_WORDS, f"accepted: 1 to {MOST_WORDS}"),
        ("rules=amethyst board=4x4 first=y | y:z9", "word 1"),
        ("rules=ruby board=4x4 first=y | y:a1", "rules"),
        ("game=chess | y:a1", "unknown game"),
        ("rules=amethyst board=9x9 first=y | y:a1", "rows"),
    ],
)
def test_what_is_no_record_is_refused(text, words) -> None:
    with pytest.raises(ValueError, match=words.replace("|", r"\|")):
        Replay(text, "mozaic")


def test_a_record_of_another_game_is_refused() -> None:
    with pytest.raises(ValueError, match="of mozaic; this page plays chess"):
        Replay(str(played(1).record()), "chess")
