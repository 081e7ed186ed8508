"""Pictures of Mozaic in text: plain, and for a terminal with colours and marks."""

from collections.abc import Callable

import numpy as np

from mozaic_env.games.mozaic.actions import FILES, NO_GEM, PLAYERS, Gem

_LETTERS = ("Y", "b")  # of the gems, told apart without colour
_COLOURS = ("30;48;5;214", "1;97;48;5;25")  # of a terminal: black on amber, bold white on cobalt
_PLAIN = "0"


def draw_text(row: np.void) -> str:
    """The board with its coordinates, whose decision it is, the gem in hand, the bag and the score."""
    return _draw(row, row, lambda tile: _letter(row, tile) + " ", "{} ")


def draw_ansi(row: np.void, before: np.void | None = None) -> str:
    """The same with colours; brackets around what has changed since `before`, and what was scored since then."""
    before = row if before is None else before

    def cell(tile: int) -> str:
        letter = _letter(row, tile)
        text = f"[{letter}]" if letter != _letter(before, tile) else f" {letter} "
        return f"\x1b[{_COLOURS[_LETTERS.index(letter)]}m{text}\x1b[{_PLAIN}m" if letter in _LETTERS else text

    return _draw(row, before, cell, " {} ")


def _draw(row: np.void, before: np.void, cell: Callable[[int], str], label: str) -> str:
    rows, cols = int(row["rows"]), int(row["cols"])
    lines = []
    for rank in reversed(range(rows)):
        lines.append(f"{rank + 1}  {''.join(cell(rank * cols + file) for file in range(cols))}".rstrip())
    lines.append(f"   {''.join(label.format(file) for file in FILES[:cols])}".rstrip())
    points = [f"{name} ({_LETTERS[seat]}) {_points(row, before, seat)}" for seat, name in enumerate(PLAYERS)]
    lines.append(f"score: {', '.join(points)}")
    lines.append("bag: " + " ".join(f"{gem.name.lower()} {row['bag'][gem]}" for gem in Gem))
    if row["plays"] == 0:
        lines.append("the game is over")
    else:
        hand = "nothing" if row["hand"] == NO_GEM else Gem(row["hand"]).name.lower()
        lines.append(f"{PLAYERS[row['mover']]} to play, in hand: {hand}, draws owed: {row['plays']}")
    return "\n".join(lines)


def _points(row: np.void, before: np.void, seat: int) -> str:
    points = int(row["score"][seat])
    gained = points - int(before["score"][seat])
    return f"{points} (+{gained})" if gained > 0 else str(points)


def _letter(row: np.void, tile: int) -> str:
    for colour, letter in enumerate(_LETTERS):
        if int(row["gems"][colour]) >> tile & 1:
            return letter
    return "."
