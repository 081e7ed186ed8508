"""The board's symmetries: that they are the right ones, and all of them."""

from __future__ import annotations

import numpy as np
import pytest

from mozaic_env.core.symmetry import Symmetry
from mozaic_env.games.mozaic.game import Mozaic
from tests.oracles.random_games import VARIANTS, apply_each, look, random_positions


def turned(position: str, name: str) -> str:
    """A position string under a symmetry, by turning the written board: nothing of the tables."""
    tiles, rest = position.split(" ", 1)
    written = "".join("-" * int(letter) if letter.isdecimal() else letter for letter in tiles)
    board = np.array([list(rank) for rank in written.split("/")])  # rank 8 on top, as it is seen
    seen = {
        "identity": lambda: board,
        "rotate 90": lambda: np.rot90(board, 1),
        "rotate 180": lambda: np.rot90(board, 2),
        "rotate 270": lambda: np.rot90(board, 3),
        "mirror files": lambda: board[:, ::-1],
        "mirror ranks": lambda: board[::-1],
        "transpose": lambda: np.rot90(board, 2).T,  # along the diagonal from a1
        "antitranspose": lambda: board.T,
    }[name]()
    ranks = ["".join(rank) for rank in seen]
    for run in range(8, 0, -1):
        ranks = [rank.replace("-" * run, str(run)) for rank in ranks]
    return "/".join(ranks) + " " + rest


def image_of(game: Mozaic, row: np.void, symmetry: Symmetry) -> np.void:
    image = game.parse_position(turned(game.format_position(row), symmetry.name))[0]
    for name in ("key", "draws", "decisions"):
        image[name] = row[name]
    return image


@pytest.mark.parametrize(("edition", "ranks", "files"), VARIANTS)
def test_square_boards_have_eight_and_others_four(edition: str, ranks: int, files: int) -> None:
    names = [symmetry.name for symmetry in Mozaic(edition, ranks, files).symmetries]
    assert len(set(names)) == len(names) == (8 if ranks == files else 4)
    assert names[0] == "identity"


@pytest.mark.parametrize(("edition", "ranks", "files"), VARIANTS)
def test_every_decision_and_what_follows_it_turn_with_the_board(edition: str, ranks: int, files: int) -> None:
    """Every legal action of random positions: the image of the position after it follows from the image."""
    game = Mozaic(edition, ranks, files)
    found = random_positions(game, 40, seed=11, over=False)
    rows = found[np.linspace(0, len(found) - 1, 12).astype(int)]
    by_hand = {hand: found[found["hand"] == hand][:3] for hand in (2, 3)}  # emeralds and diamonds are rare
    rows = np.concatenate([rows, *by_hand.values()])
    masks, frames = look(game, rows)
    for symmetry in game.symmetries:
        images = np.array([image_of(game, row, symmetry) for row in rows])
        image_masks, image_frames = look(game, images)
        np.testing.assert_array_equal(symmetry.masks(masks), image_masks)
        views, image_views = (part.view(game.frame)[:, 0] for part in (frames, image_frames))
        for key, entry in symmetry.observation({name: views[name] for name in game.frame.names or ()}).items():
            np.testing.assert_array_equal(entry, image_views[key])
        for row, image, mask in zip(rows, images, masks, strict=True):
            actions = np.flatnonzero(mask)
            after, image_after = np.repeat(row, len(actions)), np.repeat(image, len(actions))
            apply_each(after, actions)
            apply_each(image_after, symmetry.actions[actions])
            for name in game.dtype.names or ():
                if name != "gems":
                    np.testing.assert_array_equal(after[name], image_after[name])
            for one, other in zip(after, image_after, strict=True):
                assert turned(game.format_position(one), symmetry.name) == game.format_position(other)


@pytest.mark.parametrize(
    ("name", "actions"),
    [
        ("rotate 90", {"a1": "h1", "b1": "h2", "a1-b2": "h1-g2", "xa8": "xa1"}),
        ("rotate 270", {"a1": "a8", "b1": "a7", "a1-b2": "a8-b7", "xh1": "xa1"}),
        ("rotate 180", {"a1": "h8", "b1": "g8", "a1-b2": "h8-g7", "xc3": "xf6"}),
        ("mirror files", {"a1": "h1", "b1": "g1", "a1-b2": "h1-g2", "b2-c1": "g2-f1"}),
        ("mirror ranks", {"a1": "a8", "b1": "b8", "a1-b2": "a8-b7", "b2-c1": "b7-c8"}),
        ("transpose", {"a1": "a1", "b1": "a2", "a1-b2": "a1-b2", "b2-c1": "b2-a3"}),
        ("antitranspose", {"a1": "h8", "b1": "h7", "a1-b2": "h8-g7", "xa8": "xa8"}),
    ],
)
def test_by_hand(name: str, actions: dict[str, str]) -> None:
    game = Mozaic()
    (symmetry,) = (one for one in game.symmetries if one.name == name)
    for before, after in actions.items():
        assert game.format_action(int(symmetry.actions[game.parse_action(before)])) == after


def test_batches_and_single_observations_and_what_is_left_alone() -> None:
    game = Mozaic(rows=4, cols=4)
    rng = np.random.default_rng(0)
    batch = {"board": rng.integers(0, 2, (5, 2, 3, 4, 4), np.int8), "bag": rng.integers(0, 9, (5, 2, 6), np.int8)}
    kept = {key: entry.copy() for key, entry in batch.items()}
    symmetry = game.symmetries[5]
    image = symmetry.observation(batch)
    assert image["board"].shape == batch["board"].shape
    assert image["board"].dtype == np.int8
    assert image["bag"] is batch["bag"]
    single = symmetry.observation({"board": batch["board"][3, 1]})["board"]
    np.testing.assert_array_equal(single, image["board"][3, 1])
    np.testing.assert_array_equal(single, np.rot90(batch["board"][3, 1], 1, axes=(1, 2)))
    for key, entry in batch.items():
        np.testing.assert_array_equal(entry, kept[key])


def test_tables_cannot_be_changed() -> None:
    symmetry = Mozaic().symmetries[1]
    for table in (symmetry.actions, *symmetry.entries.values()):
        with pytest.raises(ValueError, match="read-only"):
            table[0] = 0
