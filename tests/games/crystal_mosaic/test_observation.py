"""The observation tells everything: the position can be written from it, and it does not know who sits where."""

from __future__ import annotations

import numpy as np
import pytest

from mozaic_env.core.contract import CHANCE
from mozaic_env.games.crystal_mosaic.actions import BOARDS, COLOURS, PRINTS, Board
from mozaic_env.games.crystal_mosaic.game import CrystalMosaic
from mozaic_env.testing import rows as on


def look(game: CrystalMosaic, row: np.void, seat: int) -> dict[str, np.ndarray]:
    frames = np.full((1, game.frame.itemsize), 77, np.uint8)
    on.observe(row, seat, frames, 0)
    return {field.key: frames.view(game.frame)[0, 0][field.key] for field in game.fields}


def letters(counts: np.ndarray) -> str:
    return "".join(letter * int(number) for letter, number in zip(COLOURS, counts, strict=True))


def position_from(seen: dict[str, np.ndarray]) -> str:
    """The position string with the viewer in seat 1, from the observation alone."""
    players = len(seen["score"])
    turn = "-" if seen["phase"][2] else str(seen["turn"].argmax() + 1)
    if seen["phase"][1]:
        turn += f"@{seen['tiling'].argmax() + 1}"
    *factories, centre = seen["table"].reshape(-1, 5)
    words = [str(seen["round"][0]), str(seen["starter"].argmax() + 1), turn]
    words += ["/".join(letters(factory) or "-" for factory in factories)]
    words += [("*" if seen["marker"][-1] else "") + letters(centre) or "-"]
    words += [",".join(map(str, seen[name])) for name in ("bag", "lid")]
    for player in range(players):
        lines = "/".join(letters(line) or "-" for line in seen["lines"].reshape(players, 5, 5)[player])
        tiles = seen["wall"][player]
        wall = [["".join(COLOURS[c] for c in range(5) if tiles[c, r, k]) or "." for k in range(5)] for r in range(5)]
        floor = letters(seen["floor"].reshape(-1, 5)[player]) + ("*" if seen["marker"][player] else "")
        words.append(f"{seen['score'][player]}:{lines}:{'/'.join(map(''.join, wall))}:{floor or '-'}")
    return " ".join(words)


def turned(game: CrystalMosaic, text: str, seat: int) -> str:
    """The position string with every player so many seats further on, so that `seat` becomes seat 1."""
    words, players = text.split(" "), game.num_players

    def place(number: str) -> str:
        return str((int(number) - 1 - seat) % players + 1)

    mover, at, line = words[2].partition("@")
    words[1] = place(words[1])
    words[2] = words[2] if mover == "-" else place(mover) + at + line
    return " ".join([*words[:7], *words[7 + seat :], *words[7 : 7 + seat]])


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("board", BOARDS)
def test_the_position_can_be_read_off_the_observation(board: str, players: int) -> None:
    game = CrystalMosaic(players, board)
    rows = on.states(game, 6)
    rows = rows[on.where(rows) != CHANCE]
    assert len(rows) > 200
    for row in rows[:: max(1, len(rows) // 150)]:
        for seat in range(players):
            assert position_from(look(game, row, seat)) == turned(game, game.format_position(row), seat)


@pytest.mark.parametrize("players", [2, 4])
def test_who_sits_where_makes_no_difference(players: int) -> None:
    game = CrystalMosaic(players)
    rows = on.states(game, 4)
    for row in rows[on.where(rows) >= 0][::17]:
        seat = on.mover(row)
        twin = game.parse_position(turned(game, game.format_position(row), seat))[0]
        mine, theirs = look(game, row, seat), look(game, twin, 0)
        for key in mine:
            np.testing.assert_array_equal(mine[key], theirs[key])


@pytest.mark.parametrize("board", BOARDS)
def test_what_is_printed_is_seen(board: str) -> None:
    game = CrystalMosaic(board=board)
    seen = look(game, on.states(game, 1)[-1], 0)
    prints = PRINTS[Board(BOARDS.index(board))]
    for line in range(5):
        for column in range(5):
            letter = prints[line][column]
            assert seen["printed"][:, line, column].tolist() == [letter == colour for colour in COLOURS]
            assert seen["doubled"][line, column] == (board == "side1" and letter != ".")
