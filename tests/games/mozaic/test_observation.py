"""The observation: laid out as declared, from the mover's side, and enough to decide on."""

from __future__ import annotations

import numpy as np
import pytest

from mozaic_env.games.mozaic import observation, rules
from mozaic_env.games.mozaic.game import Mozaic
from tests.oracles.random_games import VARIANTS, look, random_positions, swap_colours
from tests.oracles.reference import KINDS, ReferenceGame

SENTINEL = 77


def expected(game: Mozaic, position: str, seat: int) -> dict[str, list[int]]:
    """The observation of a position string in plain Python, flattened, entries by name."""
    reference = ReferenceGame.from_position(position, game.rules)
    own, other = ("y", "b") if seat == 0 else ("b", "y")
    tiles = [(file, rank) for rank in range(game.board[0]) for file in range(game.board[1])]
    bag = [own, other, *KINDS[2:]]
    return {
        "board": [int(reference.board.get(tile) == gem) for gem in (own, other, None) for tile in tiles],
        "bag": [reference.bag[kind] for kind in bag],
        "hand": [int(reference.hand == kind) for kind in (own, other, "e", "d")],
        "plays": [reference.plays],
        "score": [reference.score[own], reference.score[other]],
    }


@pytest.mark.parametrize(("edition", "ranks", "files"), VARIANTS)
def test_frames_are_laid_out_as_declared(edition: str, ranks: int, files: int) -> None:
    game = Mozaic(edition, ranks, files)
    assert game.frame.names == tuple(field.key for field in game.fields)
    assert game.frame.itemsize % 8 == 0
    used = sum(field.size * np.dtype(field.dtype).itemsize for field in game.fields)
    positions = random_positions(game, 20, seed=6)
    positions = positions[np.random.default_rng(6).permutation(len(positions))[:40]]
    for row in positions:
        for seat in (0, 1):
            frames = np.full((3, game.frame.itemsize), SENTINEL, np.int8)
            observation.observe(row, seat, frames, 1)
            assert (frames[[0, 2]] == SENTINEL).all()  # the neighbours are left alone
            assert (frames[1, used:] == SENTINEL).all()
            found = frames.view(game.frame)[1, 0]
            numbers = expected(game, game.format_position(row), seat)
            assert {key: found[key].ravel().tolist() for key in game.frame.names} == numbers


def test_shapes_of_the_8x8_board() -> None:
    shapes = {field.key: (field.shape, field.dtype) for field in Mozaic().fields}
    assert shapes == {
        "score": ((2,), np.int32),
        "board": ((3, 8, 8), np.int8),
        "bag": ((6,), np.int8),
        "hand": ((4,), np.int8),
        "plays": ((1,), np.int8),
    }


def test_a_row_of_the_board_is_a_rank() -> None:
    game = Mozaic(rows=3, cols=4)
    row = game.parse_position("4/b3/1y2 b e 1 5,5,0,1,1,1 4-16")[0]
    frames = np.zeros((1, game.frame.itemsize), np.int8)
    observation.observe(row, 1, frames, 0)
    entries = frames.view(game.frame)[0, 0]
    assert np.argwhere(entries["board"][0]).tolist() == [[1, 0]]  # a2, blue's own
    assert np.argwhere(entries["board"][1]).tolist() == [[0, 1]]  # b1
    assert entries["board"][2].sum() == 10
    assert entries["score"].tolist() == [16, 4]


def as_bytes(array: np.ndarray) -> np.ndarray:
    """One hashable item for each row of numbers."""
    array = np.ascontiguousarray(array)
    return array.view(np.dtype((np.void, array.dtype.itemsize * array.shape[1])))[:, 0]


def canonical(rows: np.ndarray) -> np.ndarray:
    """All that what follows can depend on, with the mover as player 0."""
    blue = rows["mover"] == 1
    rows = np.where(blue, swap_colours(rows), rows)
    parts = [rows["gems"].view(np.int64), rows["score"], rows["bag"]]
    single = [rows[name][:, None] for name in ("hand", "plays")]
    return np.concatenate([part.astype(np.int64) for part in (*parts, *single)], axis=1)


@pytest.mark.parametrize("edition", ["amethyst", "onyx"])
@pytest.mark.parametrize(("ranks", "files", "games"), [(2, 2, 5_000), (2, 3, 4_000), (4, 4, 2_000), (8, 8, 700)])
def test_different_positions_look_different(edition: str, ranks: int, files: int, games: int) -> None:
    """And equal ones alike: as many observations as positions, and as pairs of the two.

    On the small boards the same positions come up again and again, so this looks at more than
    10^5 pairs that share an observation.
    """
    game = Mozaic(edition, ranks, files)
    rows = random_positions(game, games, seed=7, over=False)
    seen, meant = as_bytes(look(game, rows)[1]), as_bytes(canonical(rows))
    _, seen_index, seen_counts = np.unique(seen, return_inverse=True, return_counts=True)
    _, meant_index = np.unique(meant, return_inverse=True)
    pairs = np.unique(np.stack([seen_index.ravel(), meant_index.ravel()], axis=1), axis=0)
    assert len(pairs) == seen_index.max() + 1  # one position for each observation
    assert len(pairs) == meant_index.max() + 1  # one observation for each position
    if ranks == 2:
        assert (seen_counts * (seen_counts - 1) // 2).sum() > 100_000
    else:
        assert len(pairs) > 10_000


@pytest.mark.parametrize(("edition", "ranks", "files"), VARIANTS)
def test_exchanging_the_players_changes_nothing_for_the_mover(edition: str, ranks: int, files: int) -> None:
    game = Mozaic(edition, ranks, files)
    rows = random_positions(game, 80, seed=8, over=False)
    swapped = swap_colours(rows)
    assert (swapped["mover"] != rows["mover"]).all()
    np.testing.assert_array_equal(look(game, rows)[1], look(game, swapped)[1])


@pytest.mark.parametrize(("edition", "ranks", "files"), VARIANTS)
def test_the_mask_is_what_can_be_done(edition: str, ranks: int, files: int) -> None:
    """Brute force over the observation alone: which tiles are taken, and what is in hand."""
    game = Mozaic(edition, ranks, files)
    rows = random_positions(game, 12, seed=9, over=False)
    masks, frames = look(game, rows)
    entries = frames.view(game.frame)[:, 0]
    for mask, entry in zip(masks, entries, strict=True):
        empty = entry["board"][2]
        for action in range(game.num_actions):
            try:
                notation = game.format_action(action)
            except ValueError:
                assert mask[action] == 0
                continue
            names = notation.removeprefix("x").split("-")
            free = [empty[int(name[1]) - 1, "abcdefgh".index(name[0])] for name in names]
            if "-" in notation:
                possible = entry["hand"][2] and free == [0, 1]
            elif notation[0] == "x":
                possible = entry["hand"][3] and free == [0]
            else:
                possible = entry["hand"][:2].any() and free == [1]
            assert mask[action] == bool(possible)


@pytest.mark.parametrize(("edition", "ranks", "files"), VARIANTS)
def test_a_mask_fills_its_own_row_and_no_other(edition: str, ranks: int, files: int) -> None:
    game = Mozaic(edition, ranks, files)
    rows = random_positions(game, 8, seed=10, over=False)
    assert {0, 1, 2} <= set(rows["hand"].tolist()) or ranks * files < 8
    for row in rows:
        masks = np.full((3, game.num_actions), SENTINEL, np.int8)
        rules.legal(row, masks, 1)
        assert (masks[[0, 2]] == SENTINEL).all()
        assert set(masks[1].tolist()) <= {0, 1}
