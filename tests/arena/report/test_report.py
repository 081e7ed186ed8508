from __future__ import annotations

import json
import re

import numpy as np
import pytest
from matplotlib.image import imread

from mozaic_env.arena.match import play_match
from mozaic_env.arena.records import match_records
from mozaic_env.arena.report.replayed import board_shape, courses, join_courses, openings
from mozaic_env.arena.report.report import write_ladder_report, write_report
from mozaic_env.arena.results import MatchResult
from mozaic_env.arena.statistics.ratings import merge_pairs, rate
from mozaic_env.arena.tournament import play_tournament
from tests.arena.arena_agents import Wrong, agents, small_game


def matches(game, *opponents, games=20):
    first, *others = agents(game, "pattern", *opponents)
    return [play_match(first, other, games, keep_actions=True) for other in others]


def test_courses_end_at_the_final_margins_and_start_at_zero():
    game = small_game()
    (result,) = matches(game, "greedy")
    for player in (0, 1):
        leads = courses(game, result, player)
        np.testing.assert_array_equal(leads[:, 0], 0)
        np.testing.assert_array_equal(leads[:, -1], result.details.margins[:, player])
    np.testing.assert_array_equal(courses(game, result, 0), -courses(game, result, 1))


def test_courses_change_where_a_record_says_that_points_were_made():
    game = small_game()
    (result,) = matches(game, "greedy", games=2)
    leads = courses(game, result, 0)[1]
    record = list(match_records(game, result))[1]  # the first agent plays blue
    blue = [(int(row["score"][1]) - int(row["score"][0])) / 4 for word, row in game.replay(record) if ":" in word]
    np.testing.assert_array_equal(leads[1 : len(blue) + 1], blue)


def test_courses_of_different_lengths_join_with_their_last_leads():
    joined = join_courses([np.array([[0.0, 1.0]]), np.array([[0.0, 2.0, 3.0]])])
    np.testing.assert_array_equal(joined, [[0, 1, 1], [0, 2, 3]])


def test_openings_count_the_first_placements_of_one_agent():
    game = small_game()
    assert board_shape(game) == (4, 4)

    class Corner(Wrong):
        """Places on the lowest empty tile, so begins at the first."""

    corner = Corner(game, lambda masks: np.argmax(masks, axis=1))
    (random,) = agents(game, "random")
    result = play_match(corner, random, 40, keep_actions=True)
    mine, theirs = openings(game, result, 0), openings(game, result, 1)
    assert mine.shape == (4, 4)
    assert mine[0].sum() > 5 * mine[3].sum()  # row 0 is rank 1
    assert theirs[3].sum() > mine[3].sum()
    assert mine.sum() <= 40 * 8


def test_traces_need_the_actions():
    game = small_game()
    result = play_match(*agents(game, "greedy", "random"), 2)
    for trace in (courses, openings):
        with pytest.raises(ValueError, match="keep_actions"):
            trace(game, result, 0)


def check_folder(folder):
    """Everything that the text refers to is there and is a picture that shows something."""
    text = (folder / "report.md").read_text()
    names = re.findall(r"!\[[^]]*\]\(([^)]*)\)", text)
    assert sorted(names) == sorted(path.name for path in folder.glob("*.png"))
    for name in names:
        picture = imread(folder / name)
        assert min(picture.shape[:2]) > 100
        assert picture[..., :3].std() > 0.03
    return text, json.loads((folder / "results.json").read_text())


def test_a_report_on_one_agent(tmp_path):
    game = small_game()
    results = matches(game, "random", "greedy")
    write_report(tmp_path, game, results, "pattern, twenty games")
    text, values = check_folder(tmp_path)
    assert text.startswith("# pattern, twenty games\n")
    assert f"| random | {results[0].wins} | {results[0].draws} | {results[0].losses} |" in text
    assert [MatchResult.from_json(result) for result in values["results"]] == results


def test_a_report_on_a_tournament(tmp_path):
    game = small_game()
    results = play_tournament(agents(game, "random", "greedy", "pattern"), 20, keep_actions=True)
    ratings = rate(merge_pairs(results), samples=20)
    write_ladder_report(tmp_path, game, ratings, results, "ladder", ["A note."])
    text, values = check_folder(tmp_path)
    assert "A note." in text
    assert [rating["name"] for rating in values["ratings"]] == ["pattern", "greedy", "random"]
    assert "| pattern | random |" in text  # the stronger one first
    assert len(values["results"]) == 3


def test_a_report_on_known_results_alone_shows_no_games(tmp_path):
    game = small_game()
    results = play_tournament(agents(game, "random", "greedy"), 20)
    known = [MatchResult.from_json(result.to_json()) for result in results]
    write_ladder_report(tmp_path, game, rate(merge_pairs(known), samples=5), known, "ladder", [])
    check_folder(tmp_path)
    assert not (tmp_path / "course.png").exists()


def test_mirrored_results_are_those_of_the_exchanged_match():
    game = small_game()
    pattern, random = agents(game, "pattern", "random")
    result = play_match(pattern, random, 20, seed=2)
    mirrored, other = result.mirrored(), play_match(random, pattern, 20, seed=2)
    assert mirrored.players == other.players
    for name in ("wins", "draws", "losses", "pairs", "distinct"):
        assert getattr(mirrored, name) == getattr(other, name)
    assert mirrored.interval == pytest.approx(other.interval)
    assert mirrored.margin == pytest.approx(other.margin)
    assert [seat.wins for seat in mirrored.seats] == [seat.wins for seat in other.seats]
    assert mirrored.mirrored() == result
