"""What a page shows, as JSON: positions, and what can be done in them."""

from typing import Any

import numpy as np

from mozaic_env.core import contract as on
from mozaic_env.core.contract import CHANCE, OVER
from mozaic_env.core.game import Game
from mozaic_env.drawing.picture import to_svg
from mozaic_env.web.play.odds import odds
from mozaic_env.web.play.play import Play, legal_mask
from mozaic_env.web.play.replay import Replay

Json = dict[str, Any]


def of_play(play: Play, at: int) -> Json:
    """The game after so many decisions; the last one is marked in the picture."""
    before, action, told = None, None, list(play.drawn[at])
    if at:
        before, step = play.positions[at - 1], play.steps[at - 1]
        action, told = step.action, [step.told, *told]
    shown = _position(play.game, play.positions[at], before, action, "")
    if play.stopped and at == len(play.steps):
        shown |= {"mover": None, "legal": []}
    return shown | {"at": at, "last": len(play.steps), "told": told}


def of_replay(replay: Replay, at: int) -> Json:
    """The game after a word of its record."""
    before = replay.positions[at - 1] if at else None
    caption = f"{at + 1} of {len(replay.words)}:  {replay.words[at]}"
    shown = _position(replay.game, replay.positions[at], before, None, caption)
    return shown | {"at": at, "last": len(replay.words) - 1, "told": [replay.words[at]]}


def _position(game: Game, row: np.void, before: np.void | None, action: int | None, caption: str) -> Json:
    picture = game.draw(row, before, action, caption)
    mover = int(on.mover(row))
    mask = legal_mask(game, row) if mover >= 0 else np.zeros(0, np.int8)
    legal = np.flatnonzero(mask).tolist()
    return {
        "svg": to_svg(picture),
        "title": picture.title,
        "size": [picture.width, picture.height],
        "places": [[place.name, place.x, place.y, place.w, place.h, place.holds] for place in game.places(row)],
        "mover": mover if mover >= 0 else None,
        "chance": mover == CHANCE,
        "results": [float(on.outcome(row, seat)) for seat in range(game.num_players)] if mover == OVER else None,
        "legal": [(action, game.format_action(action), game.clicks(row, action)) for action in legal],
        "odds": odds(game, row, mask),
    }


def log_of_play(play: Play) -> list[Json]:
    """All decisions; `drawn` is what chance did before each, `leads` how far each seat leads after it."""
    return [
        {
            "seat": step.seat,
            "by": step.by,
            "move": step.notation,
            "told": step.told,
            "drawn": play.drawn[number],
            "leads": play.leads[number + 1],
        }
        for number, step in enumerate(play.steps)
    ]


def log_of_replay(replay: Replay) -> list[Json]:
    """All words, in the same form as far as it goes."""
    return [{"move": word, "leads": leads} for word, leads in zip(replay.words, replay.leads, strict=True)]
