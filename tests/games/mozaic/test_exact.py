"""Solved boards: against value iteration in plain NumPy over the contract, and against games played."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from mozaic_env.agents.exact.perfect import PerfectAgent, best_actions
from mozaic_env.agents.specs import make_agent
from mozaic_env.arena.exact.exploit import ERROR, ask, exploit
from mozaic_env.core.contract import CHANCE, OVER
from mozaic_env.core.exact import MARGIN, OUTCOME
from mozaic_env.games import make_game
from mozaic_env.games.mozaic.exact import iteration
from mozaic_env.games.mozaic.exact.index import find, make_index, number_of_boards
from mozaic_env.games.mozaic.exact.response import MozaicResponse
from mozaic_env.games.mozaic.exact.solver import MozaicSolver
from mozaic_env.testing import rows as on
from tests.oracles.literal import explore, iterate

EDITIONS = ("amethyst", "onyx")
AGREE = 1e-6


def board(rules, rows, cols):
    return make_game("mozaic", rules=rules, rows=rows, cols=cols)


def starts(game):
    """How games begin: one row for each colour that a coin can let draw first."""
    made = on.seeded(game, 8)
    return made[np.unique(made["mover"], return_index=True)[1]]


@pytest.mark.slow
@pytest.mark.parametrize("rules", EDITIONS)
def test_values_are_those_of_a_literal_value_iteration(rules):
    game = board(rules, 2, 4)
    graph = explore(game, starts(game))
    values = iterate(graph)
    rows = graph.rows[graph.decisions.states]
    signs = 1 - 2 * graph.movers[graph.decisions.states]
    found = game.exact_values().action_values(rows)
    edges = graph.decisions
    sources = np.repeat(np.arange(len(rows)), np.diff([*edges.first, len(edges.to)]))
    wanted = signs[sources] * (edges.gains + values[edges.to])
    assert np.abs(found[sources, edges.what] - wanted).max() < AGREE
    assert np.isfinite(found).sum() == len(wanted)
    assert abs(game.exact_values().start_value - values[: len(starts(game))].mean()) < AGREE


@pytest.mark.parametrize(
    ("rules", "rows", "cols", "objective"),
    [
        ("amethyst", 2, 4, MARGIN),
        ("onyx", 2, 4, MARGIN),
        ("onyx", 2, 4, OUTCOME),
        pytest.param("amethyst", 2, 4, OUTCOME, marks=pytest.mark.slow),
        pytest.param("amethyst", 2, 6, MARGIN, marks=pytest.mark.slow),
        pytest.param("onyx", 2, 6, MARGIN, marks=pytest.mark.slow),
    ],
)
def test_every_value_follows_from_those_of_the_next_decisions(rules, rows, cols, objective):
    """What is a fixed point of the contract's own transitions is the solution: there is only one."""
    game = board(rules, rows, cols)
    exact = game.exact_values(objective)
    assert exact.residual < AGREE
    states = on.states(game, 12, seed=3)
    states = states[on.where(states) >= 0][::4]
    found = exact.action_values(states)
    for state, values in zip(states, found, strict=True):
        for action in np.flatnonzero(np.isfinite(values))[::3]:
            assert abs(values[action] - one_step(game, exact, state, action)) < AGREE


def one_step(game, exact, state, action):
    """The value of an action from the exact values of the decisions that can follow, chance gone through by hand."""
    seat, after = int(state["mover"]), np.array([state], game.dtype)
    on.apply_each(after, np.array([action]))
    gain = margin(after[0], seat) - margin(state, seat) if exact.objective == MARGIN else 0.0
    weights, total = {after.tobytes(): 1.0}, 0.0
    while weights:
        rows = np.frombuffer(b"".join(weights), game.dtype)
        shares, weights = list(weights.values()), {}
        movers = on.where(rows)
        values = np.zeros((len(rows), game.num_actions))
        values[movers >= 0] = exact.action_values(rows[movers >= 0])
        for row, mover, share, worth in zip(rows, movers, shares, values, strict=True):
            if mover == OVER:
                total += share * (np.sign(margin(row, seat)) if exact.objective == OUTCOME else 0.0)
            elif mover != CHANCE:
                total += share * np.nanmax(worth) * (1 if mover == seat else -1)
            elif share > 1e-12:
                for gem, number in enumerate(row["bag"].tolist()):
                    if number:
                        then = drawn(game, row, gem)
                        weights[then] = weights.get(then, 0.0) + share * number / int(row["bag"].sum())
    return gain + total


def margin(row, seat):
    return (int(row["score"][seat]) - int(row["score"][1 - seat])) / 4


def drawn(game, row, gem):
    from tests.oracles.literal import follow_each

    after = np.array([row], game.dtype)
    follow_each(after, np.array([gem]), True, np.zeros(1))
    after["draws"] = 0
    return after.tobytes()


@pytest.mark.parametrize(
    ("rules", "rows", "cols", "points"),
    [
        ("amethyst", 2, 4, 0.0312),
        pytest.param("amethyst", 3, 4, 0.24699, marks=pytest.mark.slow),
        pytest.param("onyx", 2, 6, 0.0624, marks=pytest.mark.slow),
    ],
)
def test_values_of_the_start_are_those_of_an_earlier_program(rules, rows, cols, points):
    exact = board(rules, rows, cols).exact_values()
    value = exact.start_value if rules == "amethyst" else exact.draw_value
    assert abs(4 * value - points) < 1e-3
    assert exact.residual < 1e-7


@pytest.mark.parametrize("rules", EDITIONS)
def test_perfect_against_perfect_gets_the_value_of_the_start(rules):
    game = board(rules, 2, 4)
    agent = make_agent("perfect", game)
    rows = on.seeded(game, 20_000)
    while True:
        movers = on.where(rows)
        while (movers == CHANCE).any():
            on.resolve_each(rows)
            movers = on.where(rows)
        if (movers == OVER).all():
            break
        actions = np.full(len(rows), -1)
        actions[movers >= 0] = agent.act(rows[movers >= 0])
        on.apply_each(rows, actions)
    margins = (rows["score"][:, 0].astype(float) - rows["score"][:, 1]) / 4
    error = margins.std() / np.sqrt(len(rows))
    assert abs(margins.mean() - game.exact_values().start_value) < 3.5 * error
    assert error < 0.005


@pytest.mark.parametrize("rules", EDITIONS)
def test_best_responses_get_no_less_than_the_value_and_nothing_from_perfect_play(rules):
    game = board(rules, 2, 4)
    found = {who: exploit(make_agent(who, game)) for who in ("perfect", "pattern", "greedy", "random")}
    assert np.abs(found["perfect"].by_seat).max() < 2 * ERROR
    means = [found[who].mean for who in ("perfect", "pattern", "greedy", "random")]
    assert means == sorted(means)
    assert means[1] > 0.1


def test_asking_at_every_decision_gives_what_folded_boards_give():
    game = board("amethyst", 2, 4)
    for who in ("pattern", "random"):
        response = MozaicResponse(game, plain=False)
        ask(make_agent(who, game), response)
        while response.error > ERROR:
            response.sweep()
        assert response.responses() == pytest.approx(exploit(make_agent(who, game)).responses, abs=3 * ERROR)


@pytest.mark.parametrize(("rows", "cols", "boards"), [(2, 4, 1_399), (3, 4, 116_727), (4, 4, 4_856_769)])
def test_number_of_boards_up_to_symmetry(rows, cols, boards):
    assert number_of_boards(rows, cols) == boards


@pytest.mark.parametrize(("rows", "cols"), [(2, 4), (3, 2), (3, 4)])
def test_boards_share_a_slot_just_where_a_symmetry_makes_them_equal(rows, cols):
    index, _ = make_index(rows, cols)
    game, half, classes = board("onyx", rows, cols), rows * cols // 2, {}
    turns = [symmetry.actions[: rows * cols].tolist() for symmetry in game.symmetries]
    draw = np.random.default_rng(0)
    for _ in range(300):
        tiles = draw.permutation(rows * cols)
        own, other = draw.integers(0, half + 1, 2)
        gems = tiles[:own].tolist(), tiles[own : own + other].tolist()
        images = [tuple(sum(1 << turn[tile] for tile in gem) for gem in gems) for turn in turns]
        slots = {find(index, *image) for image in images}
        assert len(slots) == 1
        assert classes.setdefault(slots.pop(), min(images)) == min(images)


def test_threads_and_interruptions_change_nothing_that_counts():
    game = board("amethyst", 2, 4)
    one, three = MozaicSolver(game, MARGIN), MozaicSolver(game, MARGIN)
    for _ in range(4):
        one.sweep()
        three.sweep(threads=3)
    assert (one.tensors()["passes"] == three.tensors()["passes"]).all()
    again = MozaicSolver(game, MARGIN)
    again.restore(one.tensors(), one.error)
    assert one.error <= again.error < 100 * one.error
    while again.error > 1e-7:
        again.sweep()
    solved = game.exact_values().action_values(states := on.states(game, 5)[:50])
    found = again.values(again.tensors(), again.error).action_values(states)
    assert np.nanmax(np.abs(found - solved)) < 2e-7


def test_ties_go_to_the_lowest_action():
    values = np.array([[np.nan, 0.5, 0.5 + 1e-9, 0.2], [1.0, np.nan, 2.0, 2.0]])
    assert best_actions(values).tolist() == [1, 2]
    agent = PerfectAgent(board("amethyst", 2, 4))
    row = agent.game.parse_position("4/4 y y 1 3,4,1,1,1,1 0-0")
    assert agent.act(row).tolist() == [1]  # b1, c1, b2 and c2 are equal by symmetry
    assert agent.choices(row).sum() == 1


def test_no_more_threads_than_cores(monkeypatch):
    """Threads change no bit of the values."""
    made = []

    class Pool(ThreadPoolExecutor):
        def __init__(self, threads):
            made.append(threads)
            super().__init__(threads)

    monkeypatch.setattr(iteration, "ThreadPoolExecutor", Pool)
    monkeypatch.setattr(iteration.os, "cpu_count", lambda: 3)
    solvers = [MozaicSolver(board("onyx", 2, 4), MARGIN) for _ in range(2)]
    for solver, threads in zip(solvers, (1, 1000)):
        solver.sweep(threads)
    assert set(made) == {3}
    assert np.array_equal(*(solver.tensors()["passes"] for solver in solvers))
