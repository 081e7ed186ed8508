"""Pictures of Mozaic."""

import numpy as np

from mozaic_env.mozaic.actions import FILES, NO_GEM, PLAYERS, Gem

_GEMS = ("Y", "b")  # told apart without colour


def draw_text(row: np.void) -> str:
    """The board with its coordinates, whose decision it is, the gem in hand, the bag and the score."""
    rows, cols = int(row["rows"]), int(row["cols"])
    lines = []
    for rank in reversed(range(rows)):
        tiles = (rank * cols + file for file in range(cols))
        lines.append(f"{rank + 1}  " + " ".join(_tile(row, tile) for tile in tiles))
    lines.append("   " + " ".join(FILES[:cols]))
    bag = " ".join(f"{gem.name.lower()} {row['bag'][gem]}" for gem in Gem)
    lines.append(f"score: yellow (Y) {row['score'][0]}, blue (b) {row['score'][1]}")
    lines.append(f"bag: {bag}")
    if row["plays"] == 0:
        lines.append("the game is over")
    else:
        hand = "nothing" if row["hand"] == NO_GEM else Gem(row["hand"]).name.lower()
        lines.append(f"{PLAYERS[row['mover']]} to play, in hand: {hand}, draws owed: {row['plays']}")
    return "\n".join(lines)


def _tile(row: np.void, tile: int) -> str:
    for colour, gem in enumerate(_GEMS):
        if int(row["gems"][colour]) >> tile & 1:
            return gem
    return "."
