from __future__ import annotations

import json

import pytest

from mozaic_env.arena.match import play_match
from mozaic_env.arena.results_file import append_result, merge, pairing_seed, read_results
from mozaic_env.arena.tournament import play_tournament
from mozaic_env.games import make_game
from tests.arena.arena_agents import agents, small_game


def match(first, second, games=4, seed=0, game=None):
    return play_match(*agents(game or small_game(), first, second), games, seed)


def test_results_come_back_in_order(tmp_path):
    path = tmp_path / "ladder.jsonl"
    assert read_results(path) == ([], [])
    results = [match("greedy", "random", seed=seed) for seed in range(3)]
    for result in results:
        append_result(path, result)
    assert read_results(path) == (results, [])
    assert len(path.read_text().splitlines()) == 3


def test_a_partly_written_last_line_is_reported_and_does_not_spoil_the_next(tmp_path):
    path = tmp_path / "ladder.jsonl"
    first, second = match("greedy", "random"), match("pattern", "random")
    append_result(path, first)
    whole = path.read_bytes()
    append_result(path, second)
    path.write_bytes(path.read_bytes()[:-40])
    results, complaints = read_results(path)
    assert results == [first]
    (complaint,) = complaints
    assert f"{path} line 2 is no whole result" in complaint
    append_result(path, second)
    assert path.read_bytes().startswith(whole)
    results, complaints = read_results(path)
    assert results == [first, second]
    assert len(complaints) == 1


@pytest.mark.parametrize("line", ["[]", "{}", "nonsense", '{"games": 3}', "\xff", "NaN"])
def test_lines_that_are_no_results_are_reported_wherever_they_are(tmp_path, line):
    path = tmp_path / "ladder.jsonl"
    result = match("greedy", "random")
    good = json.dumps(result.to_json())
    path.write_bytes(f"{good}\n\n{line}\n{good}\n".encode("latin-1"))
    results, complaints = read_results(path)
    assert results == [result, result]
    assert ["line 3" in complaint for complaint in complaints] == [True]


def test_a_file_that_cannot_be_read_is_an_error(tmp_path):
    with pytest.raises(ValueError, match="cannot read"):
        read_results(tmp_path)


def test_the_same_games_count_once_and_the_longest_match_counts():
    short, long = match("greedy", "random"), match("greedy", "random", games=8)
    mirrored, other_seed = match("random", "greedy"), match("greedy", "random", seed=1)
    assert merge([short, short, mirrored], small_game()) == [mirrored]
    assert merge([short, long, mirrored, other_seed], small_game()) == [long, other_seed]


def test_other_variants_are_left_out():
    game = make_game("mozaic", rules="amethyst", rows=4, cols=4)
    other = match("greedy", "random", game=game)
    ours = match("greedy", "random")
    assert merge([other, ours], small_game()) == [ours]


def test_pairings_have_luck_of_their_own_whoever_is_named_first():
    assert pairing_seed(0, "a", "b") == pairing_seed(0, "b", "a")
    seeds = {pairing_seed(seed, "a", name) for seed in range(3) for name in ("b", "c", "bc", "")}
    assert len(seeds) == 12


def test_a_tournament_plays_every_pairing_once():
    game = small_game()
    told, seen = [], []
    results = play_tournament(
        agents(game, "random", "greedy", "pattern"), 4, progress=told.append, on_result=seen.append
    )
    assert [result.players for result in results] == [
        ("random", "greedy"),
        ("random", "pattern"),
        ("greedy", "pattern"),
    ]
    assert seen == results
    assert told == sorted(told)
    assert told[-1] == 12
    assert len({result.seed for result in results}) == 3


def test_a_tournament_goes_on_where_it_was_interrupted():
    game = small_game()
    three = agents(game, "random", "greedy", "pattern")
    whole = play_tournament(three, 4)
    assert play_tournament(three, 4, known=whole[:2]) == whole[2:]
    assert play_tournament(three, 4, known=whole) == []
    assert len(play_tournament(three, 8, known=whole)) == 3  # more games were asked for
    assert len(play_tournament(three, 4, seed=1, known=whole)) == 3
    assert len(play_tournament(three, 4, known=whole, max_decisions=50)) == 3
    swapped = agents(game, "greedy", "random", "pattern")
    assert play_tournament(swapped, 4, known=whole) == []


@pytest.mark.parametrize("names", [[], ["greedy"], ["greedy", "random", "greedy"]])
def test_a_tournament_needs_different_agents(names):
    with pytest.raises(ValueError, match="at least two agents, all different"):
        play_tournament(agents(small_game(), *names), 4)
