"""The fast kernels against the slow reading of the rules, decision by decision, draw by draw."""

from __future__ import annotations

import random

import numpy as np
import pytest

from mozaic_env.core.contract import CHANCE, OVER
from mozaic_env.games.mozaic import heuristics, rules
from mozaic_env.games.mozaic.game import Mozaic
from tests.oracles.random_games import VARIANTS, is_legal_each, look_each
from tests.oracles.reference import KINDS, ReferenceGame

POSITIONS = 10_500  # over all variants together
WEIGHTS = np.array(heuristics.HEURISTICS["pattern"])
LETTER = {kind: code for code, kind in enumerate(KINDS)}


def assert_same_state(row: np.void, reference: ReferenceGame) -> None:
    """Everything that both sides know at any moment, chance included."""
    board = {
        (tile % reference.cols, tile // reference.cols): colour
        for seat, colour in enumerate("yb")
        for tile in range(64)
        if int(row["gems"][seat]) >> tile & 1
    }
    assert board == reference.board
    assert row["score"].tolist() == [reference.score["y"], reference.score["b"]]
    assert row["bag"].tolist() == [reference.bag[kind] for kind in KINDS]
    assert row["plays"] == reference.plays
    assert (None if row["hand"] == rules.NO_GEM else KINDS[row["hand"]]) == reference.hand
    status = {CHANCE: "chance", OVER: "over"}.get(rules.mover(row), "decision")
    assert status == reference.status
    if status != "over":
        assert "yb"[row["mover"]] == reference.mover
    present = {kind: int(row["hand"] == LETTER[kind]) + row["bag"][LETTER[kind]] for kind in "edrx"}
    assert {kind: 1 - number for kind, number in present.items()} == {kind: reference.aside[kind] for kind in "edrx"}


def assert_same_decision(game: Mozaic, rows: np.ndarray, reference: ReferenceGame) -> list[int]:
    """Mask, `is_legal` and the heuristic's list of actions; the position string. Returns them."""
    row, legal = rows[0], reference.legal_actions()
    expected = np.zeros(game.num_actions, np.int8)
    expected[legal] = 1
    masks = np.full((1, game.num_actions), 77, np.int8)
    look_each(rows, masks, np.zeros((1, game.frame.itemsize), np.int8))
    np.testing.assert_array_equal(masks[0], expected)
    answers = np.full(game.num_actions, 77, np.int8)
    is_legal_each(row, answers)
    np.testing.assert_array_equal(answers, expected)
    actions, values = np.empty(game.num_actions, np.int64), np.empty(game.num_actions)
    size = heuristics.action_values(row, row["mover"], WEIGHTS, actions, values)
    assert sorted(actions[:size].tolist()) == legal
    assert game.format_position(row) == reference.position()
    return legal


def assert_same_chance(row: np.void, reference: ReferenceGame) -> list[str]:
    """The possible draws with their probabilities; returns the kinds."""
    codes, shares = np.empty(6, np.int64), np.empty(6)
    size = rules.outcomes(row, codes, shares)
    draws = reference.possible_draws()
    found = {KINDS[code]: share for code, share in zip(codes[:size], shares[:size], strict=True)}
    assert found == pytest.approx({kind: float(share) for kind, share in draws.items()})
    assert KINDS[rules.sample(row)] in draws
    return list(draws)


@pytest.mark.parametrize(("edition", "ranks", "files"), VARIANTS)
def test_kernels_equal_the_reference(edition: str, ranks: int, files: int) -> None:
    rng = random.Random(f"{edition} {ranks}x{files}")
    game, positions, ends = Mozaic(edition, ranks, files), 0, 0
    while positions < POSITIONS / len(VARIANTS):
        rows = game.rows(1)
        row = rows[0]
        row["key"] = rng.getrandbits(64)
        rules.setup(row)
        # Exceptions are rare in a full bag and ruled by the most: half of the games draw kinds,
        # not gems, with equal chances. The reference allows any order of draws.
        by_kind = rng.random() < 0.5
        first = "yb"[row["mover"]]
        reference = ReferenceGame(edition, ranks, files, first)
        assert_same_state(row, reference)
        for _ in range(400):
            if reference.status == "over":
                break
            if reference.status == "chance":
                kinds = assert_same_chance(row, reference)
                gems = kinds if by_kind else sorted(reference.bag.elements())
                gem = rng.choice(gems)
                reference.draw(gem)
                rules.resolve(row, LETTER[gem])
            else:
                positions += 1
                action = rng.choice(assert_same_decision(game, rows, reference))
                reference.apply(action)
                rules.apply(row, action)
            assert_same_state(row, reference)
        if reference.status == "over":
            ends += 1
            assert game.format_position(row) == reference.position()
            sign = {"y": 1.0, "b": -1.0, "-": 0.0}[reference.winner() or ""]
            assert (rules.outcome(row, 0), rules.outcome(row, 1)) == (sign, -sign)
            lead = (reference.score["y"] - reference.score["b"]) / 4
            assert (rules.margin(row, 0), rules.margin(row, 1)) == (lead, -lead)
    assert ends > 0
