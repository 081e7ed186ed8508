"""The hand-made cases of the rules page once more, with the kernels beside the reference, and what is left."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mozaic_env.games import make_game
from mozaic_env.games.crystal_mosaic import rules
from mozaic_env.games.crystal_mosaic.game import CrystalMosaic
from mozaic_env.testing import rows as on
from tests.oracles.crystal_reference import ReferenceCrystal
from tests.oracles.test_crystal_reference import *  # noqa: F403

apply_alone = ReferenceCrystal.apply
DECISION = ("draft", "tiling")
mirrored = 0


def game_of(reference: ReferenceCrystal) -> CrystalMosaic:
    return CrystalMosaic(len(reference.players), reference.board, reference.floor_values, reference.max_rounds)


def apply_both(reference: ReferenceCrystal, action: int) -> None:
    """The action in the reference and in the kernels, which have to agree before and after."""
    global mirrored
    game = game_of(reference)
    row = game.parse_position(reference.position())[0]
    masks = np.zeros((1, game.num_actions), np.int8)
    on.legal(row, masks, 0)
    assert np.flatnonzero(masks[0]).tolist() == reference.legal_actions()
    rules.apply(row, action)
    apply_alone(reference, action)
    assert row["score"][: row["players"]].tolist() == [player.score for player in reference.players]
    assert row["starter"] == reference.starter
    if reference.status == "chance":
        assert on.mover(row) == rules.CHANCE
    else:
        assert game.format_position(row) == reference.position()
        assert rules.cut_off(row) == (reference.status == "truncated")
    mirrored += 1


@pytest.fixture(autouse=True)
def kernels_beside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ReferenceCrystal, "apply", apply_both)


def test_the_cases_above_have_been_compared() -> None:
    assert mirrored > 60


def test_rounds_without_a_tile_are_passed_over() -> None:
    """In theory four players can hold all tiles on walls and incomplete lines; nothing can happen any more then."""
    row = make_game("crystal_mosaic", players=4, max_rounds=9).rows(1)[0]
    rules.setup(row)
    row["bag"], row["phase"], row["round"] = 0, rules.DRAFT, 3
    row["sources"][rules.CENTRE] = 1  # one blue tile, which goes onto a line
    rules.apply(row, 30 * rules.CENTRE + 4)
    assert on.mover(row) == rules.OVER
    assert row["round"] == 9
    assert rules.cut_off(row)


BAD: list[tuple[dict[str, Any], str]] = [
    ({"players": 1}, "players=1; accepted: 2, 3, 4"),
    ({"players": 5}, "players=5; accepted: 2, 3, 4"),
    ({"players": "2"}, "players='2'"),
    ({"players": True}, "players=True"),
    ({"board": "side3"}, "board='side3'; accepted: 'base', 'grey', 'side1', 'side2'"),
    ({"board": None}, "board=None"),
    ({"floor": (-1, -1)}, "floor=.*accepted: 7 whole numbers from -10 to 0, 'base' or 'expansion'"),
    ({"floor": [-1] * 8}, "floor="),
    ({"floor": [-1] * 6 + [1]}, "floor="),
    ({"floor": [-1] * 6 + [-11]}, "floor="),
    ({"floor": [-1.0] * 7}, "floor="),
    ({"floor": "-1,-1,-1,-1,-1,-1"}, "floor="),
    ({"floor": "-1,-1,-1,-1,-1,-1,x"}, "floor="),
    ({"floor": 7}, "floor=7"),
    ({"floor": np.array(3)}, "floor=.*accepted"),
    ({"floor": np.array([[-1] * 7] * 7)}, "accepted: 7 whole numbers"),
    ({"floor": b"\0" * 7}, "floor=.*accepted"),
    ({"floor": "-1,-1,-1,-1,-1,-1,-\u0663"}, "floor=.*accepted"),
    ({"floor": "-1,-1,-1,-1,-1,-1," + "9" * 5000}, "floor=.*accepted"),
    ({"max_rounds": 0}, "max_rounds=0; accepted: a whole number from 1 to 100"),
    ({"max_rounds": 101}, "max_rounds=101"),
    ({"max_rounds": 2.0}, "max_rounds=2.0"),
    ({"rows": 8}, "unexpected keyword argument 'rows'; accepted: players, board, floor, max_rounds"),
]


@pytest.mark.parametrize(("options", "message"), BAD, ids=str)
def test_bad_options_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_game("crystal_mosaic", **options)


def test_the_floor_is_the_same_however_it_is_given() -> None:
    games = [
        make_game("crystal_mosaic", board="grey", floor=floor)
        for floor in (
            None,
            "base",
            (-1, -1, -2, -2, -2, -3, -3),
            np.array([-1, -1, -2, -2, -2, -3, -3]),
            "-1,-1,-2,-2,-2,-3,-3",
        )
    ]
    assert len(set(games)) == 1
    assert make_game("crystal_mosaic", board="grey", floor="expansion") != games[0]
    assert make_game("crystal_mosaic", floor=None).options["floor"] == "-1,0,-1,-2,-1,-2,-3"
