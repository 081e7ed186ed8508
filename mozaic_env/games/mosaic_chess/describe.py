"""What happens in a game of Mosaic Chess, in plain words."""

import numpy as np

from mozaic_env.games.mosaic_chess import board
from mozaic_env.games.mosaic_chess.actions import PLAYERS, square_name
from mozaic_env.games.mosaic_chess.board import NOWHERE
from mozaic_env.games.mosaic_chess.notation import move_of_actions
from mozaic_env.games.mosaic_chess.pieces import KINDS, PIECES
from mozaic_env.games.mosaic_chess.tables import PROMOTIONS


def piece_name(code: int) -> str:
    """What a piece is called, in words."""
    return PIECES[(code - 1) % KINDS].name.lower()


def tell_action(row: np.void, action: int) -> str:
    """A legal action in plain words, such as "white moves the knight from e4 to d6, takes the pawn"."""
    who = PLAYERS[row["mover"]]
    if row["chosen"] == NOWHERE:
        return f"{who} chooses the {piece_name(int(row['board'][action]))} on {square_name(action)}"
    origin = int(row["chosen"])
    move = move_of_actions(origin, action)
    target = move >> 8 & 255
    victim = int(row["board"][board.victim_of(row, origin, target)])
    told = (
        f"{who} moves the {piece_name(int(row['board'][origin]))} from {square_name(origin)} to {square_name(target)}"
    )
    if victim:
        told += f", takes the {piece_name(victim)}"
    if move >> 16:
        told += f", promotes to {piece_name(int(PROMOTIONS[row['board'][origin]]))}"
    return told
