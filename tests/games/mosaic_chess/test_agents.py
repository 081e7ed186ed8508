"""What plays Mosaic Chess: its heuristics, and alpha-beta search."""

from __future__ import annotations

import numpy as np
import pytest

from mozaic_env import make_agent, make_game
from mozaic_env.agents.search.alphabeta_search import FORCED_WIN, NODES, begin, deepen, make_search
from mozaic_env.arena.match import play_match
from mozaic_env.games.mosaic_chess import board, heuristics, notation, whole_moves
from mozaic_env.testing import rows as on
from tests.oracles.chess_games import GAME, at, decisions_before_a_move, moves_of

SPARSE = "11k/3n8/12/12/12/12/12/12/12/12/8N3/K11 w - 0 1"


def values_of(row: np.void, heuristic: str) -> dict[str, float]:
    actions, values = np.zeros(GAME.num_actions, np.int64), np.zeros(GAME.num_actions)
    size = on.action_values(row, on.mover(row), np.array(heuristics.HEURISTICS[heuristic]), actions, values)
    return {GAME.format_action(int(a)): float(v) for a, v in zip(actions[:size], values[:size], strict=True)}


def test_greedy_counts_the_reply() -> None:
    """A rook can take a protected gold general, or a silver general that nothing protects."""
    row = at("11k/12/12/12/3g8/3g8/12/12/12/12/K11/3R3s4 w - 0 1")
    assert values_of(row, "material")["d1"] == values_of(row, "greedy")["d1"] == 2.5
    on.apply(row, GAME.parse_action("d1"))
    assert values_of(row, "material")["-d7"] == values_of(row, "material")["-h1"] == 2.5
    assert values_of(row, "greedy")["-d7"] == 2.5 - 6
    assert values_of(row, "greedy")["-h1"] == 2.5
    assert values_of(row, "greedy")["-d4"] == -5  # the silver general promotes


def test_heuristics_see_the_end() -> None:
    row = at("6k5/1R10/2R9/l11/12/12/12/12/12/12/12/K11 w - 0 1")
    assert values_of(row, "greedy")["c10"] > 100
    lost_if_not = at("11k/12/12/12/12/12/12/12/12/12/4r7/K3R7 w - 0 1")
    on.apply(lost_if_not, GAME.parse_action("e1"))
    assert values_of(lost_if_not, "material")["-e2"] > 100  # a bare king


def test_values_leave_the_row_alone() -> None:
    rows = on.states(GAME, 2, 31)
    rows = rows[on.where(rows) >= 0][::50]
    before = rows.copy()
    for row in rows:
        values_of(row, "greedy")
    assert np.array_equal(rows, before)


def plain(row: np.void, depth: int) -> int:
    """The value by going through everything."""
    stands = whole_moves.terminal_status(row)
    if stands:
        return -1_000_000 if stands == 1 else 0
    if depth == 0:
        return int(whole_moves.static_value(row))
    moves = moves_of(row)
    best = -1_000_000
    for move in moves:
        token = board.make_move(row, move)
        best = max(best, -plain(row, depth - 1))
        board.unmake_move(row, move, token)
    return best


@pytest.mark.parametrize("depth", [1, 2])
def test_alphabeta_is_minimax(depth: int) -> None:
    """Where nothing can be taken within reach, so that the search beyond the depth adds nothing."""
    row = at(SPARSE)
    search = make_search(GAME)
    begin(row, np.uint64(1), search)
    assert deepen(row, depth, 10**9, search) == plain(row, depth)
    assert row == at(SPARSE)


def best_words(position: str, spec: str) -> str:
    """The whole move that an agent makes."""
    row, agent = at(position), make_agent(spec, GAME)
    for _ in range(2):
        chosen = row["chosen"]
        action = agent.act(row.reshape(1))[0]
        on.apply(row, action) if chosen == board.NOWHERE else None
    return notation.format_move(at(position), notation.move_of_actions(int(chosen), int(action)))


@pytest.mark.parametrize(
    ("position", "word"),
    [
        ("6k5/1R10/2R9/l11/12/12/12/12/12/12/12/K11 w - 0 1", "c10-c12"),  # mate
        ("6k5/12/1R10/2R9/12/12/11p/12/12/12/12/K11 w - 0 1", ""),  # mate in two
        ("11k/12/12/12/3g8/3g8/12/12/12/12/K11/3R3s4 w - 0 1", "d1xh1"),
        ("k11/12/12/12/12/12/12/4n7/12/12/12/K3Q7 w - 0 1", "e1xe5"),
    ],
)
def test_alphabeta_finds_what_there_is(position: str, word: str) -> None:
    if word:
        assert best_words(position, "alphabeta:depth=2").rstrip("+") == word  # promoting on the way is as good
        return
    search = make_search(GAME)
    begin(at(position), np.uint64(1), search)
    assert deepen(at(position), 3, 10**9, search) > FORCED_WIN


def test_alphabeta_takes_a_draw_by_repetition_when_it_is_losing() -> None:
    """A position that was there before counts as a draw, and is no better than being far ahead."""
    text = "kr10/12/12/12/12/12/12/12/12/12/12/KR10 w - 4 3 - b1-c1,b12-c12,c1-b1,c12-b12"
    search = make_search(GAME)
    row = at(text)
    begin(row, np.uint64(1), search)
    assert search.counters[2] == 4
    assert search.hashes[0] == row["hash"]


def test_alphabeta_depends_on_nothing_but_the_state() -> None:
    rows = on.states(GAME, 6, 33, most=600)
    rows = rows[on.where(rows) >= 0][::97]
    before = rows.copy()
    agent = make_agent("alphabeta:depth=2", GAME)
    chosen = agent.act(rows)
    assert np.array_equal(rows, before)
    for index in reversed(range(len(rows))):
        assert agent.act(rows[index : index + 1])[0] == chosen[index]
    masks = np.zeros((len(rows), GAME.num_actions), np.int8)
    on.look(rows, on.where(rows), masks, np.zeros((len(rows), GAME.frame.itemsize), np.uint8))
    assert masks[np.arange(len(rows)), chosen].all()


def test_alphabeta_varies_with_the_game() -> None:
    """At the start many moves are equal: which one is made is a function of the game's key."""
    rows = on.seeded(GAME, 20)
    assert len(set(make_agent("alphabeta:depth=1", GAME).act(rows).tolist())) > 1


def test_budgets() -> None:
    row = decisions_before_a_move(1, 34)[40:41]
    search = make_search(GAME)
    begin(row[0], np.uint64(1), search)
    deepen(row[0], 8, 3000, search)
    assert search.counters[NODES] == 3000
    for spec in ("alphabeta:nodes=500", "alphabeta:seconds=0.01", "alphabeta:depth=9,nodes=500"):
        assert on.mover(row[0]) >= 0
        action = make_agent(spec, GAME).act(row)[0]
        mask = np.zeros((1, GAME.num_actions), np.int8)
        on.legal(row[0], mask, 0)
        assert mask[0, action]


@pytest.mark.parametrize(
    "spec",
    ["alphabeta:depth=0", "alphabeta:depth=33", "alphabeta:nodes=0", "alphabeta:seconds=0", "alphabeta:seconds=x"],
)
def test_bad_specs(spec: str) -> None:
    with pytest.raises(ValueError, match="alphabeta"):
        make_agent(spec, GAME)


def test_games_with_chance_have_no_alphabeta() -> None:
    with pytest.raises(ValueError, match="expectimax"):
        make_agent("alphabeta", make_game("mozaic"))


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["expectimax:depth=2", "mcts:simulations=4,heuristic=material"])
def test_other_searches_play(spec: str) -> None:
    game = make_game("mosaic_chess", max_plies=4)
    result = play_match(make_agent(spec, game), make_agent("random", game), 2, seed=1)
    assert result.games == 2


@pytest.mark.slow
def test_alphabeta_beats_greedy() -> None:
    result = play_match(make_agent("alphabeta:depth=3", GAME), make_agent("greedy", GAME), 200, seed=1)
    assert result.details is not None
    assert (result.details.results[:, 0].mean() + 1) / 2 >= 0.9
