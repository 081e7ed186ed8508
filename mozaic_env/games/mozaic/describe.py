"""What happens in a game of Mozaic, and what its decisions are like, in plain words."""

import numpy as np

from mozaic_env.core.capabilities import Grouping
from mozaic_env.core.game import Game, Rows
from mozaic_env.games.mozaic.actions import AMETHYST, PLAYERS, Gem, tile_name, tiles_of_action
from mozaic_env.games.mozaic.rules import any_slide


def outcome_name(code: int) -> str:
    """What a gem is called."""
    return "double turn" if code == Gem.DOUBLE else Gem(code).name.lower()


def tell_action(row: np.void, action: int) -> str:
    """Such as "yellow places a blue gem on d4"."""
    rows, cols = int(row["rows"]), int(row["cols"])
    who = PLAYERS[row["mover"]]
    first, *rest = (tile_name(tile, cols) for tile in tiles_of_action(action, rows, cols))
    if rest:
        return f"{who} slides the gem on {first} to {rest[0]}"
    if action < rows * cols:
        return f"{who} places a {outcome_name(row['hand'])} gem on {first}"
    return f"{who} removes the gem on {first}"


def tell_outcome(row: np.void, code: int) -> str:
    """Such as "blue draws the ruby: the turn is missed"."""
    who, first_of_two = PLAYERS[row["mover"]], row["plays"] == 2
    if code <= Gem.BLUE:
        return f"{who} draws a {outcome_name(code)} gem"
    if code == Gem.DOUBLE:
        return f"{who} draws the double-turn gem: two gems to play"
    effect = ""
    if code == Gem.RUBY:
        both = first_of_two and row["edition"] == AMETHYST
        effect = ": both turns are missed" if both else ": the turn is missed"
    elif code == Gem.EMERALD and not any_slide(row):
        effect = ": no gem can slide"
    elif code == Gem.DIAMOND and not (row["gems"][0] | row["gems"][1]):
        effect = ": there is no gem to remove"
    return f"{who} draws the {outcome_name(code)}{effect}"


def group_decisions(game: Game, states: Rows) -> tuple[Grouping, ...]:
    """By the gem in hand, and by how full the board is."""
    return _by_gem(states), _by_phase(states)


def _by_gem(states: Rows) -> Grouping:
    """Decisions by the gem in hand, from the view of the seat that decides."""
    own = states["hand"] == states["mover"]
    groups = np.where(own, 0, np.where(states["hand"] <= Gem.BLUE, 1, states["hand"]))
    return Grouping("gem in hand", ("own", "opponent's", "emerald", "diamond"), groups.astype(np.int64))


def _by_phase(states: Rows) -> Grouping:
    """Decisions by how full the board is, in quarters."""
    gems = np.ascontiguousarray(states["gems"][:, 0] | states["gems"][:, 1])
    covered = np.unpackbits(gems.view(np.uint8).reshape(len(states), 8), axis=1).sum(axis=1, dtype=np.int64)
    tiles = states["rows"].astype(np.int64) * states["cols"]
    return Grouping("board covered", ("0 to 25%", "25 to 50%", "50 to 75%", "75 to 100%"), covered * 4 // tiles)
