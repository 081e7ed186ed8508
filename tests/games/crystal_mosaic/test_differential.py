"""The fast kernels against the slow reading of the rules, decision by decision, tile by tile."""

from __future__ import annotations

import random

import numpy as np
import pytest

from mozaic_env.core.contract import CHANCE, OVER
from mozaic_env.games.crystal_mosaic import heuristics, rules
from mozaic_env.games.crystal_mosaic.game import CrystalMosaic
from mozaic_env.testing import rows as on
from tests.oracles.crystal_reference import BOARDS, COLOURS, MARKER, ReferenceCrystal

GAMES = 2_000  # over all boards and numbers of players together; in the fast tests a few of them
VARIANTS = [(board, players) for board in BOARDS for players in (2, 3, 4)]
WEIGHTS = np.array([*heuristics.HEURISTICS["planner"], 0.0, 0.0])
STATUS = {CHANCE: "chance", OVER: "over"}


def assert_same_table(row: np.void, reference: ReferenceCrystal) -> None:
    """Everything that both sides know at any moment, chance included, without the position string."""
    piles = [*row["sources"], row["bag"], row["lid"]]
    counted = [[int(pile) >> 8 * colour & 255 for colour in range(5)] for pile in piles]
    sources = reference.factories + [[]] * (9 - len(reference.factories)) + [reference.centre]
    assert counted == [
        [place.count(letter) for letter in COLOURS] for place in (*sources, reference.bag, reference.lid)
    ]
    status = STATUS.get(on.mover(row), "decision")
    if status == "over" and rules.cut_off(row):
        status = "truncated"
    assert status == ("decision" if reference.status in ("draft", "tiling") else reference.status)
    assert row["round"] == reference.round
    assert row["starter"] == reference.starter


def assert_same_players(row: np.void, reference: ReferenceCrystal) -> None:
    for seat, player in enumerate(reference.players):
        assert row["score"][seat] == player.score
        assert rules.floor_spaces(row, seat) == len(player.floor)
        assert (row["marker"] == seat) == (reference.has_marker == seat)
        assert (MARKER in player.floor) <= (reference.has_marker == seat)
        assert rules.complete_rows(rules.occupied(row, seat)) == player.complete_rows()


def assert_same_decision(game: CrystalMosaic, row: np.void, reference: ReferenceCrystal) -> list[int]:
    """Mask, `is_legal` and the heuristic's list of actions; who decides; the position string."""
    legal = reference.legal_actions()
    expected = np.zeros(game.num_actions, np.int8)
    expected[legal] = 1
    masks = np.full((1, game.num_actions), 77, np.int8)
    on.legal(row, masks, 0)
    np.testing.assert_array_equal(masks[0], expected)
    on.is_legal(row, masks)
    np.testing.assert_array_equal(masks[0], expected)
    actions, values = np.empty(game.num_actions, np.int64), np.empty(game.num_actions)
    size = on.action_values(row, 0, WEIGHTS, actions, values)
    assert actions[:size].tolist() == legal
    assert on.mover(row) == reference.mover
    assert game.format_position(row) == reference.position()
    return legal


@pytest.mark.parametrize(("board", "players"), VARIANTS)
def test_kernels_equal_the_reference(board: str, players: int) -> None:
    assert compare(board, players, 4) > 1


@pytest.mark.slow
@pytest.mark.parametrize(("board", "players"), VARIANTS)
def test_kernels_equal_the_reference_in_many_games(board: str, players: int) -> None:
    games = -(-GAMES // len(VARIANTS))
    assert compare(board, players, games) > games // 4


def compare(board: str, players: int, games: int) -> int:
    """Plays games on both sides; returns how many ended with a complete row."""
    rng = random.Random(f"{board} {players}")
    finished = 0
    for number in range(games):
        # Every tenth game with other options, and with refills that make the bag lopsided.
        floor = None if number % 10 != 3 else tuple(rng.randint(-10, 0) for _ in range(7))
        rounds = 30 if number % 10 != 3 else rng.randint(1, 6)
        by_colour = number % 5 == 3
        game = CrystalMosaic(players, board, floor, rounds)
        reference = ReferenceCrystal(players, board, floor, rounds)
        row = game.rows(1)[0]
        row["key"] = rng.getrandbits(64)
        rules.setup(row)
        while reference.status not in ("over", "truncated"):
            assert_same_table(row, reference)
            if reference.status == "chance":
                draws = reference.possible_draws()
                codes, shares = np.empty(5, np.int64), np.empty(5)
                size = rules.outcomes(row, codes, shares)
                found = {COLOURS[code]: share for code, share in zip(codes[:size], shares[:size], strict=True)}
                assert found == {colour: float(share) for colour, share in draws.items()}
                assert COLOURS[rules.sample(row)] in draws
                colour = rng.choice(list(draws) if by_colour else reference.bag)
                reference.draw(colour)
                rules.resolve(row, COLOURS.index(colour))
            else:
                action = rng.choice(assert_same_decision(game, row, reference))
                reference.apply(action)
                rules.apply(row, action)
                assert_same_players(row, reference)
        assert_same_table(row, reference)
        assert_same_players(row, reference)
        assert game.format_position(row) == reference.position()
        found_results = [rules.outcome(row, seat) for seat in range(players)]
        if reference.status == "over":
            finished += 1
            assert found_results == [float(result) for result in reference.outcomes()]
            scores = [player.score for player in reference.players]
            leads = [(score - max(scores[:seat] + scores[seat + 1 :])) / 10 for seat, score in enumerate(scores)]
            assert [rules.margin(row, seat) for seat in range(players)] == leads
        else:
            assert found_results == [0.0] * players
    return finished
