"""Checks of the symmetries that a game declares: they are a group, and the rules commute with each of them."""

import numpy as np

from mozaic_env.core.game import Game
from mozaic_env.core.symmetry import Symmetry
from mozaic_env.testing import rows as on

GAMES = 20


def _key(symmetry: Symmetry) -> tuple[bytes, ...]:
    """Its tables, for comparison; entries that stay are the same as entries that are not named."""
    moved = {key: to for key, to in symmetry.entries.items() if (to != np.arange(len(to))).any()}
    return symmetry.actions.tobytes(), *(part for key in sorted(moved) for part in (key.encode(), moved[key].tobytes()))


def _after(game: Game, first: Symmetry, second: Symmetry) -> Symmetry:
    """One symmetry and then the other."""
    sizes = {field.key: field.size for field in game.fields}
    stay = {key: np.arange(sizes[key]) for key in {*first.entries, *second.entries}}
    entries = {key: second.entries.get(key, same)[first.entries.get(key, same)] for key, same in stay.items()}
    return Symmetry(f"{first.name}, {second.name}", second.actions[first.actions], entries)


def check_symmetries_are_a_group(game: Game) -> None:
    """The identity first, permutations all, no two alike, and one after the other is one of them."""
    sizes = {field.key: field.size for field in game.fields}
    known = {_key(symmetry): symmetry.name for symmetry in game.symmetries}
    assert len(known) == len(game.symmetries), f"{game!r}: of its symmetries some are alike: {list(known.values())}"
    identity = _key(Symmetry("identity", np.arange(game.num_actions)))
    assert _key(game.symmetries[0]) == identity, f"{game!r}: the first symmetry is {game.symmetries[0].name}"
    for symmetry in game.symmetries:
        where = f"{game!r}, {symmetry.name}"
        tables = {"actions": (symmetry.actions, game.num_actions)}
        for key, to in symmetry.entries.items():
            assert key in sizes, f"{where}: there is no entry {key!r}"
            tables[key] = (to, sizes[key])
        for name, (to, size) in tables.items():
            assert np.array_equal(np.sort(to), np.arange(size)), f"{where}: {name} is no permutation of {size}"
        for second in game.symmetries:
            both = _after(game, symmetry, second)
            assert _key(both) in known, f"{where}: then {second.name} is none of its symmetries"


def check_rules_commute_with_symmetries(game: Game) -> None:
    """The images of all actions, with the same luck, give the images of all masks and of every seat's views."""
    for symmetry in game.symmetries[1:]:
        rows, images = on.seeded(game, GAMES), on.seeded(game, GAMES)
        actions = np.empty(GAMES, np.int64)
        for step in range(4 * game.max_decisions):
            for batch in (rows, images):
                on.resolve_each(batch)
            found, where = on.where(rows), f"{game!r}, {symmetry.name}, step {step}"
            assert np.array_equal(found, on.where(images)), f"{where}: {found} move, {on.where(images)} in the image"
            _compare(game, symmetry, rows, images, where)
            if (found < -1).all():
                break
            on.random_actions(rows, 0, actions)
            on.apply_each(rows, actions)
            on.apply_each(images, np.where(actions < 0, actions, symmetry.actions[actions]))


def _compare(game: Game, symmetry: Symmetry, rows: np.ndarray, images: np.ndarray, where: str) -> None:
    for seat in range(game.num_players):
        seen = []
        for batch in (rows, images):
            masks = np.zeros((len(batch), game.num_actions), np.int8)
            frames = np.zeros((len(batch), game.frame.itemsize), np.uint8)
            on.look(batch, np.full(len(batch), seat), masks, frames)
            entries = frames.view(game.frame)[:, 0]
            seen.append((masks, {field.key: entries[field.key] for field in game.fields}))
        (masks, views), (image_masks, image_views) = seen
        assert np.array_equal(symmetry.masks(masks), image_masks), f"{where}: other masks"
        for key, expected in symmetry.observation(views).items():
            assert np.array_equal(expected, image_views[key]), f"{where}: seat {seat} sees another {key}"
