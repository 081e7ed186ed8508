from __future__ import annotations

import dataclasses

from mozaic_env.arena.match import play_match
from mozaic_env.arena.report import console
from mozaic_env.arena.statistics.ratings import merge_pairs
from tests.arena.arena_agents import Wrong, agents, small_game


def test_the_cross_table_says_who_beat_whom():
    game = small_game()
    result = play_match(*agents(game, "pattern", "random"), 20)
    pairs = merge_pairs([result])
    points = console.percent(result.points)
    assert console.cross_cells(["random", "pattern", "absent"], pairs) == [
        ["random", "–", console.percent(1 - result.points), "–"],
        ["pattern", points, "–", "–"],
        ["absent", "–", "–", "–"],
    ]


def test_notes_name_what_a_reader_should_doubt():
    game = small_game()
    greedy, random = agents(game, "greedy", "random")
    result = dataclasses.replace(play_match(greedy, greedy, 40), distinct=2)
    undecided, copies = console.match_notes([result])
    assert "undecided" in undecided
    assert "copies" in copies
    notes = console.match_notes([play_match(greedy, random, 2, max_decisions=3)])
    assert "games that reached the limit of 3 decisions and count as draws: 2." in notes[1]
    notes = console.match_notes([play_match(greedy, Wrong(game, -1), 40)])
    assert "wrong lost 40 games by an illegal action." in notes
