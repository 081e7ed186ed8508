"""What happens in a game of Crystal Mosaic, in plain words."""

import numpy as np

from mozaic_env.games.crystal_mosaic.actions import (
    CENTRE,
    COLOUR_NAMES,
    PER_FACTORY,
    PER_SOURCE,
    SEATS,
    TARGETS,
    TILING,
    TO_FLOOR,
)
from mozaic_env.games.crystal_mosaic.position import counts


def outcome_name(code: int) -> str:
    """The colour of the tile that is drawn."""
    return COLOUR_NAMES[code]


def tell_action(row: np.void, action: int) -> str:
    """Such as "p1 takes 2 red from factory 3 to line 2" or "p2 puts blue on column 4 of row 2"."""
    who = SEATS[row["mover"]]
    if action >= TILING:
        tiled = COLOUR_NAMES[row["colour"][row["mover"], row["line"]]]
        return f"{who} puts {tiled} on column {action - TILING + 1} of row {row['line'] + 1}"
    source, rest = divmod(action, PER_SOURCE)
    colour, target = divmod(rest, TARGETS)
    number = counts(row["sources"][source])[colour]
    where = "the centre" if source == CENTRE else f"factory {source + 1}"
    goal = "the floor" if target == TO_FLOOR else f"line {target + 1}"
    return f"{who} takes {number} {COLOUR_NAMES[colour]} from {where} to {goal}"


def tell_outcome(row: np.void, code: int) -> str:
    """Such as "a red tile comes to factory 2"."""
    return f"a {COLOUR_NAMES[code]} tile comes to factory {row['dealt'] // PER_FACTORY + 1}"
