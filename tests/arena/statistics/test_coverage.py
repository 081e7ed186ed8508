from __future__ import annotations

from benchmarks.coverage import measure, table
from mozaic_env.games import make_game
from tests.arena.arena_agents import agents, small_game


def test_intervals_of_small_matches_contain_the_long_run_value_about_as_often_as_they_say():
    greedy, random = agents(make_game("mozaic"), "greedy", "random")
    found = measure(greedy, random, games=40, matches=200, long=20_000)
    assert 0.85 < found.points < 0.95
    assert 0.90 <= found.points_covered <= 0.99
    assert 0.90 <= found.margin_covered <= 0.99


def test_the_report_has_a_line_for_each_pairing_and_size():
    greedy, random = agents(small_game(), "greedy", "random")
    line = measure(greedy, random, games=4, matches=5, long=100, pairing="greedy – random")
    text = table([line, line], matches=5, long=100)
    assert text.count("| greedy – random | 4 |") == 2
    assert "5 matches" in text
