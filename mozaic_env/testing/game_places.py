"""Checks of how a game is played on its picture, and of how it tells what happens."""

import numpy as np

from mozaic_env.core.game import Game
from mozaic_env.testing import rows as on
from mozaic_env.testing.game_rules import chances, decisions, mask_of


def check_places_are_on_the_picture(game: Game) -> None:
    """Places have names of their own and lie within the picture that is drawn of the row."""
    for row in decisions(game, 60):
        picture, places = game.draw(row), game.places(row)
        names = [place.name for place in places]
        assert len(set(names)) == len(names), f"{game!r}: places share a name: {names}"
        for place in places:
            assert place.name.split() == [place.name], f"{game!r}: {place.name!r} is not one word"
            inside = 0 <= place.x < place.x + place.w <= picture.width
            inside = inside and 0 <= place.y < place.y + place.h <= picture.height
            assert inside, f"{game!r}: {place} is not within {picture.width} x {picture.height}"


def check_clicks_lead_to_every_action(game: Game) -> None:
    """Every legal action can be clicked: on places that exist, and no action's clicks begin another's.

    Or the game has no places and no clicks at all.
    """
    for row in decisions(game, 60):
        names = {place.name for place in game.places(row)}
        paths = {int(action): game.clicks(row, int(action)) for action in np.flatnonzero(mask_of(game, row))}
        at = f"{game!r} at {game.format_position(row)!r}"
        for action, path in paths.items():
            assert bool(path) == bool(names), f"{at}: {game.format_action(action)} has the clicks {path}"
            assert set(path) <= names, f"{at}: {game.format_action(action)} is clicked at {path}; there are {names}"
        beginnings = {path[:size] for path in paths.values() for size in range(len(path))}
        both = beginnings & set(paths.values()) if names else set()
        assert not both, f"{at}: the clicks {both} are an action and the beginning of another"


def check_what_happens_is_told(game: Game) -> None:
    """Actions and chance outcomes have words, in one line, and other outcomes other names."""
    told = [
        game.tell_action(row, int(action))
        for row in decisions(game, 60)
        for action in np.flatnonzero(mask_of(game, row))
    ]
    codes, shares = np.zeros(game.max_outcomes, np.int64), np.zeros(game.max_outcomes)
    names = {}
    for row in chances(game, 60):
        for code in codes[: on.outcomes(row, codes, shares)].tolist():
            names[code] = game.outcome_name(code)
            told.append(game.tell_outcome(row, code))
    assert len(set(names.values())) == len(names), f"{game!r}: outcomes share a name: {names}"
    for text in (*told, *names.values()):
        assert text, f"{game!r}: something has no words"
        assert text.isprintable(), f"{game!r}: {text!r} is not one line"
