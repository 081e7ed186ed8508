"""Pictures of Crystal Mosaic in text."""

import numpy as np

from mozaic_env.games.crystal_mosaic.actions import (
    CENTRE,
    COLOURS,
    FLOOR_SPACES,
    MARKER,
    PRINTS,
    SEATS,
    Board,
    Phase,
)
from mozaic_env.games.crystal_mosaic.position import counts, wall_letters


def draw_text(row: np.void) -> str:
    """The table, every player's lines, wall and floor, and whose decision it is."""
    table = [f"F{source + 1} {tiles_of(row['sources'][source])}" for source in range(row["factories"])]
    centre = (MARKER if row["marker"] >= row["players"] else "") + tiles_of(row["sources"][CENTRE], "")
    lines = [
        f"round {row['round']}, {headline(row)}",
        "   ".join([*table, f"C {centre or '-'}"]),
        f"bag {_numbers(row['bag'])}   lid {_numbers(row['lid'])}",
    ]
    for seat in range(row["players"]):
        lines += ["", *_board_text(row, seat)]
    return "\n".join(lines)


def tiles_of(pile: np.uint64, nothing: str = "-") -> str:
    """The letters of a pile's tiles."""
    return "".join(letter * number for letter, number in zip(COLOURS, counts(pile), strict=True)) or nothing


def _numbers(pile: np.uint64) -> str:
    return " ".join(f"{letter}{number}" for letter, number in zip(COLOURS, counts(pile), strict=True))


def _board_text(row: np.void, seat: int) -> list[str]:
    prints = PRINTS[Board(row["board"])]
    lines = [f"{SEATS[seat]}: {row['score'][seat]} points"]
    for line, letters in enumerate(wall_letters(row, seat)):
        tiles = COLOURS[row["colour"][seat, line]] * int(row["filled"][seat, line])
        wall = [tile if tile != "." else mark.lower() for tile, mark in zip(letters, prints[line], strict=True)]
        lines.append(f"{'.' * (line + 1 - len(tiles)) + tiles:>5}  {' '.join(wall)}")
    return [*lines, f"floor {floor_of(row, seat) or '-'}"]


def floor_of(row: np.void, seat: int) -> str:
    """What occupies floor spaces: the marker, where it has one, then tiles."""
    tiles = tiles_of(row["floor"][seat], "")
    return (MARKER + tiles)[:FLOOR_SPACES] if row["marker"] == seat and len(tiles) < FLOOR_SPACES else tiles


def headline(row: np.void) -> str:
    """Whose decision it is, or how the game has ended."""
    if row["phase"] == Phase.OVER:
        return f"the game is over, {_winners(row)}"
    if row["phase"] == Phase.REFILL:
        return "the factories are filled"
    who = SEATS[row["mover"]]
    return f"{who} drafts" if row["phase"] == Phase.DRAFT else f"{who} tiles line {row['line'] + 1}"


def _complete_rows(row: np.void, seat: int) -> int:
    return sum("." not in letters for letters in wall_letters(row, seat))


def _winners(row: np.void) -> str:
    ranks = [(int(row["score"][seat]), _complete_rows(row, seat)) for seat in range(row["players"])]
    if not any(rows for _, rows in ranks):
        return "cut off without a result"
    best = [SEATS[seat] for seat, rank in enumerate(ranks) if rank == max(ranks)]
    return f"{best[0]} wins" if len(best) == 1 else f"{' and '.join(best)} share the win"
