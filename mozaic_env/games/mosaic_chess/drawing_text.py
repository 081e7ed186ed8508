"""Pictures of Mosaic Chess in text."""

import numpy as np

from mozaic_env.games.mosaic_chess import rules
from mozaic_env.games.mosaic_chess.actions import FILES, PLAYERS, square_name
from mozaic_env.games.mosaic_chess.board import NOWHERE
from mozaic_env.games.mosaic_chess.pieces import symbol
from mozaic_env.games.mosaic_chess.tables import SIZE, TENTHS


def draw_text(row: np.void) -> str:
    """The board with its coordinates, and whose decision it is."""
    lines = []
    for rank in reversed(range(SIZE)):
        codes = row["board"][SIZE * rank : SIZE * (rank + 1)]
        lines.append(f"{rank + 1:2}  " + " ".join(symbol(int(code)) if code else "." for code in codes))
    lines.append("    " + " ".join(FILES))
    lines.append(headline(row))
    lines.append(f"material: {material(row)}; plies without a capture or pawn move: {row['quiet']}")
    return "\n".join(lines)


def headline(row: np.void) -> str:
    """Whose decision it is, or how the game has ended."""
    side = int(row["mover"])
    if row["ending"] != rules.RUNNING:
        won = "a draw" if rules.outcome(row, 0) == 0 else f"{PLAYERS[1 - side]} wins"
        return f"{won}: {rules.ENDINGS[row['ending']]}"
    if row["chosen"] != NOWHERE:
        return f"{PLAYERS[side]} to move the piece on {square_name(int(row['chosen']))}"
    return f"{PLAYERS[side]} to choose a piece"


def material(row: np.void) -> str:
    """Both sides' pieces, in pawns."""
    return ", ".join(f"{name} {row['material'][side] / TENTHS:g}" for side, name in enumerate(PLAYERS))
