from __future__ import annotations

import numpy as np
import pytest

from mozaic_env.arena.match import play_match
from mozaic_env.arena.records import (
    match_records,
    read_records,
    write_records,
)
from mozaic_env.core.record import Record, parse_record
from mozaic_env.envs.gymnasium.single import GameEnv
from mozaic_env.games import game_of_record, make_game
from tests.arena.arena_agents import Wrong, agents, small_game


def match(game, games=20, **options):
    return play_match(*agents(game, "pattern", "random"), games, 4, keep_actions=True, **options)


@pytest.mark.parametrize("game", [small_game(), make_game("mozaic")], ids=repr)
def test_records_replay_to_the_same_results(game):
    result = match(game)
    records = list(match_records(game, result))
    assert len(records) == 20
    for index, record in enumerate(records):
        rows = [row for _, row in game.replay(parse_record(str(record)))]
        yellow, blue = rows[-1]["score"]
        player = result.details.seating[index, 0]
        assert (yellow - blue) / 4 == result.details.margins[index, player]
        assert np.sign(int(yellow) - int(blue)) == result.details.results[index, player]
        assert sum(":" in word for word in record.words) == result.details.lengths[index]
        assert record.header["yellow"] == ("pattern", "random")[player]
        assert record.header["blue"] == ("random", "pattern")[player]


def test_the_seed_of_a_record_gives_the_same_luck_in_the_environment():
    game = small_game()
    result = match(game, 2)
    env = GameEnv(game, opponent=None)
    record = next(match_records(game, result))
    env.reset(seed=int(record.header["seed"]))
    for word in record.words:
        if ":" in word:
            env.step(game.parse_action(word.split(":")[1]))
    assert parse_record(env.record).words == record.words


def test_truncated_and_forfeited_games_say_so():
    game = small_game()
    record = next(match_records(game, match(game, 2, max_decisions=3)))
    assert record.truncated
    assert sum(":" in word for word in record.words) == 3
    (random,) = agents(game, "random")
    result = play_match(Wrong(game, -1), random, 2, keep_actions=True)
    first, second = match_records(game, result)
    assert (first.header["yellow"], first.header["forfeit"]) == ("wrong", "yellow")
    assert (second.header["blue"], second.header["forfeit"]) == ("wrong", "blue")
    for record in (first, second):
        assert record.truncated
        assert len(list(game.replay(record))) == len(record.words)


def test_records_without_actions_are_refused():
    game = small_game()
    with pytest.raises(ValueError, match="keep_actions=True"):
        next(match_records(game, play_match(*agents(game, "greedy", "random"), 2)))


def test_a_file_of_records_reads_back_with_line_numbers(tmp_path):
    game, path, told = small_game(), tmp_path / "games.txt", []
    results = [match(game, 4), match(game, 6)]
    write_records(path, game, results, told.append)
    assert told == list(range(1, 11))
    assert [number for number, _ in read_records(path)] == list(range(1, 11))
    path.write_text("\n" + path.read_text() + "\nnonsense\n")
    lines = list(read_records(path))
    assert [number for number, _ in lines] == [*range(2, 12), 13]
    assert all(isinstance(record, Record) for _, record in lines[:-1])
    assert isinstance(lines[-1][1], ValueError)
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path):
    game, path = small_game(), tmp_path / "games.txt"
    path.write_text("precious")
    broken = play_match(*agents(game, "greedy", "random"), 2)  # no actions were kept
    with pytest.raises(ValueError, match="keep_actions"):
        write_records(path, game, [match(game, 2), broken])
    assert path.read_text() == "precious"
    assert list(tmp_path.iterdir()) == [path]


def test_files_that_are_no_records_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"cannot read .*missing"):
        list(read_records(tmp_path / "missing"))
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match="not UTF-8"):
        list(read_records(tmp_path / "binary"))


def test_the_game_of_a_record_is_in_its_header():
    assert game_of_record(next(match_records(small_game(), match(small_game(), 2)))) == small_game()
    for header in ({}, {"rules": "onyx"}, {"rules": "onyx", "board": "4"}, {"board": "4x4"}):
        with pytest.raises(ValueError, match=r"rules=\.\.\. and board="):
            game_of_record(Record(header))
    with pytest.raises(ValueError, match="rules='ruby'; accepted"):
        game_of_record(Record({"rules": "ruby", "board": "4x4"}))
