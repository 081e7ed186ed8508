"""What holds in every game: no gem is lost, colours are alike, draws are fair."""

from __future__ import annotations

import numpy as np
import pytest

from mozaic_env.core.stream import keys_from_seeds
from mozaic_env.games.mozaic.actions import NO_GEM
from mozaic_env.games.mozaic.game import Mozaic
from tests.oracles.random_games import (
    VARIANTS,
    apply_each,
    bit_counts,
    choose_each,
    deal_each,
    look,
    random_positions,
    random_step,
    running,
    sample_each,
    seeded_rows,
    setup_each,
    swap_colours,
)

EDITIONS = ("amethyst", "onyx")
both_editions = pytest.mark.parametrize("edition", EDITIONS)


# --- invariants of random games -----------------------------------------------------------------


def assert_conserved(rows: np.ndarray, half: int) -> None:
    """68 gems in all, by kind; what is out of the bag fits the turn."""
    on_board, bag, hand = bit_counts(rows["gems"]), rows["bag"].astype(int), rows["hand"]
    assert not (rows["gems"][:, 0] & rows["gems"][:, 1]).any()
    for colour in range(2):
        assert (on_board[:, colour] + bag[:, colour] + (hand == colour) == half).all()
    out = np.stack([1 - bag[:, gem] - (hand == gem) for gem in range(2, 6)], axis=1)
    assert ((out == 0) | (out == 1)).all()
    emerald, diamond, ruby, double = out.T.astype(bool)
    second, onyx = rows["plays"] < 2, rows["edition"] == 1
    assert not ruby.any()
    assert (double | (second & ~emerald & ~diamond)).all()
    assert not ((emerald | diamond) & (~second | onyx | (emerald & diamond))).any()


def assert_observed(game: Mozaic, frames: np.ndarray) -> None:
    """Every number within the bounds that its field declares."""
    entries = frames.view(game.frame)[:, 0]
    for field in game.fields:
        numbers = entries[field.key].reshape(len(frames), -1)
        assert (numbers >= 0).all()
        assert (numbers <= np.array(field.high if field.high is not None else 1)).all()


@both_editions
def test_a_million_decisions(edition: str) -> None:
    """Each has a legal action and all gems; games end exactly when the board is full."""
    game, decisions = Mozaic(edition), 0
    rows = seeded_rows(game, 6_700, seed=1)
    deal_each(rows)
    while running(rows).any():
        rows = rows[running(rows)]
        decisions += len(rows)
        masks, frames = look(game, rows)
        assert masks.any(axis=1).all()
        assert masks.max() == 1
        assert masks.min() == 0
        assert_observed(game, frames)
        assert_conserved(rows, half=32)
        before = rows.copy()
        actions = random_step(rows)
        assert (masks[np.arange(len(rows)), actions] == 1).all()
        assert (rows["decisions"] == before["decisions"] + 1).all()
        gain = rows["score"] - before["score"]
        assert np.isin(gain, [0, 4, 8, 12, 16]).all()
        assert not gain.all(axis=1).any()  # one colour at most
        assert (gain[before["hand"] == 3] == 0).all()
        full = bit_counts(rows["gems"]).sum(axis=1) == 64
        np.testing.assert_array_equal(full, ~running(rows))
        assert (rows["hand"][full] == NO_GEM).all()
        assert (rows["hand"][~full] <= 3).all()
        assert_conserved(rows[full], half=32)
        assert rows["decisions"].max() < game.max_decisions
    assert decisions > 500_000


@pytest.mark.parametrize(("edition", "ranks", "files"), VARIANTS)
def test_ten_thousand_positions_of_every_board(edition: str, ranks: int, files: int) -> None:
    game = Mozaic(edition, ranks, files)
    rows = random_positions(game, 12_000 // (ranks * files), seed=2)
    assert_conserved(rows, half=ranks * files // 2)
    over = ~running(rows)
    full = bit_counts(rows["gems"]).sum(axis=1) == ranks * files
    np.testing.assert_array_equal(full, over)
    masks, frames = look(game, rows[~over])
    assert masks.any(axis=1).all()
    assert_observed(game, frames)
    assert len(rows) >= 10_000


@pytest.mark.parametrize(("edition", "ranks", "files"), VARIANTS)
def test_exchanging_the_players(edition: str, ranks: int, files: int) -> None:
    """The same decision with the same choices, and the same after each."""
    game = Mozaic(edition, ranks, files)
    rows = random_positions(game, 60, seed=3, over=False)
    swapped = swap_colours(rows)
    for one, other in zip(look(game, rows), look(game, swapped), strict=True):
        np.testing.assert_array_equal(one, other)
    actions = np.empty(len(rows), np.int64)
    choose_each(rows, actions)
    before = rows["score"].copy()
    apply_each(rows, actions)
    apply_each(swapped, actions)
    np.testing.assert_array_equal(swap_colours(swapped), rows)
    if ranks > 3:
        assert (rows["score"] != before).any()  # so points were compared


# --- chance -------------------------------------------------------------------------------------


@pytest.mark.parametrize("bag", [(31, 32, 1, 1, 1, 1), (3, 9, 1, 1, 1, 0), (0, 5, 0, 1, 1, 0)])
@pytest.mark.parametrize("vary", ["key", "draws"])
def test_draws_are_uniform_over_gems(bag: tuple[int, ...], vary: str) -> None:
    """Chi-square at the 0.1 % level: over games, and along the stream of one game."""
    size = 100_000
    rows = Mozaic().rows(size)
    rows["bag"] = bag
    rows["key"] = keys_from_seeds(range(size) if vary == "key" else [7])
    rows["draws"] = 3 if vary == "key" else np.arange(size)
    codes = np.empty(size, np.int64)
    sample_each(rows, codes)
    counts = np.bincount(codes, minlength=6)
    expected = np.array(bag) / sum(bag) * size
    possible = expected > 0
    assert counts[~possible].sum() == 0
    deviation = ((counts - expected)[possible] ** 2 / expected[possible]).sum()
    critical = {2: 13.8, 4: 18.5, 5: 20.5}[possible.sum() - 1]
    assert deviation < critical


def test_onyx_starter_is_fair_and_tells_nothing_of_the_first_draw() -> None:
    rows = Mozaic("onyx").rows(100_000)
    rows["key"] = keys_from_seeds(range(100_000))
    setup_each(rows)
    blue = rows["mover"] == 1
    assert abs(blue.mean() - 0.5) < 3.3 * 0.5 / 100_000**0.5
    codes = np.empty(len(rows), np.int64)
    sample_each(rows, codes)
    own = codes[codes < 2] == rows["mover"][codes < 2]
    assert abs(own.mean() - 0.5) < 3.3 * 0.5 / len(own) ** 0.5


def test_set_up_again_is_a_new_game() -> None:
    """Nothing of the game before is left in a row, the stream starts over."""
    for edition in EDITIONS:
        rows = seeded_rows(Mozaic(edition), 20)
        fresh = rows.copy()
        deal_each(rows)
        for _ in range(30):
            random_step(rows)
        assert (rows != fresh).all()
        setup_each(rows)
        np.testing.assert_array_equal(rows, fresh)


@pytest.mark.parametrize(
    "position",
    [
        "4/2b1/1y2/yb2 b e 1 6,6,0,1,1,1 0-0",
        "4/2b1/1y2/yb2 y d 1 6,6,1,0,1,1 0-0",
        "4/2b1/1y2/yb2 y b 1 6,5,1,1,1,1 0-0",
        "byby/ybyb/byby/yby1 y b 1 0,0,1,1,1,1 0-0",
    ],
)
def test_random_actions_are_uniform_over_the_legal_ones(position: str) -> None:
    size, game = 50_000, Mozaic(rows=4, cols=4)
    row = game.parse_position(position)
    legal = np.flatnonzero(look(game, row)[0][0])
    rows = np.repeat(row, size)
    rows["key"] = keys_from_seeds(range(size))
    actions = np.empty(size, np.int64)
    choose_each(rows, actions)
    found, counts = np.unique(actions, return_counts=True)
    assert found.tolist() == legal.tolist()
    deviation = ((counts - size / len(legal)) ** 2 / (size / len(legal))).sum()
    free = len(legal) - 1
    assert deviation <= free + 4 * (2 * free) ** 0.5  # mean + 4 standard deviations
