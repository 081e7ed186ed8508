"""Observation and pictures of Mosaic Chess."""

from __future__ import annotations

import numpy as np

from mozaic_env.drawing.picture import to_svg
from mozaic_env.drawing.raster import to_rgb
from mozaic_env.games.mosaic_chess import rules
from mozaic_env.games.mosaic_chess.pieces import LETTERS
from mozaic_env.games.mosaic_chess.tables import FLIPPED
from mozaic_env.testing import rows as on
from tests.oracles.chess_games import GAME, at, decisions_before_a_move, play, square


def see(row: np.void, seat: int) -> dict[str, np.ndarray]:
    frames = np.full((1, GAME.frame.itemsize), 9, np.uint8)
    on.observe(row, seat, frames, 0)
    entries = frames.view(GAME.frame)[0, 0]
    return {field.key: entries[field.key].copy() for field in GAME.fields}


def test_each_piece_is_on_its_plane() -> None:
    row = on.seeded(GAME, 1)[0]
    for seat in (0, 1):
        seen = see(row, seat)["board"]
        assert seen.sum() == 96
        for kind, letter in enumerate(LETTERS):
            own = {i for i in range(48) if "DLUZOQKOZULDRMNBAYYABNMRXIEGSCCSGEIXPPPPPPPPPPPP"[i] == letter}
            assert set(np.flatnonzero(seen[kind])) == own  # the own first rank first
            assert seen[20 + kind].sum() == len(own)
        assert see(row, seat)["black"] == [seat]


def test_exchanging_the_colours_changes_the_flag_alone() -> None:
    for row in decisions_before_a_move(2, 21)[::40]:
        twin = row.copy()
        codes = row["board"].astype(np.int64)
        twin["board"] = np.where(codes == 0, 0, (codes + 19) % 40 + 1)[FLIPPED]
        twin["passed"] = FLIPPED[row["passed"]] if row["passed"] < 144 else 144
        rules.count_up(twin)
        ours, theirs = see(row, 0), see(twin, 1)
        assert (ours.pop("black"), theirs.pop("black")) == ([0], [1])
        for key, entry in ours.items():
            assert np.array_equal(entry, theirs[key]), key


def test_the_chosen_piece_the_passed_square_and_the_counts() -> None:
    row = play(on.seeded(GAME, 1)[0], "c4-c6")
    assert np.flatnonzero(see(row, 1)["board"][41]).tolist() == [FLIPPED[square("c5")]]
    on.apply(row, square("j9"))
    assert np.flatnonzero(see(row, 1)["board"][40]).tolist() == [FLIPPED[square("j9")]]
    assert see(row, 0)["board"][40].sum() == 1
    quiet = at("kr10/12/12/12/12/12/12/12/12/12/12/KR10 w - 200 150")
    assert see(quiet, 0)["quiet"] == [200]


def test_pictures_show_pieces_marks_and_targets() -> None:
    row = on.seeded(GAME, 1)[0]
    before = row.copy()
    on.apply(row, square("c4"))
    chosen = GAME.draw(row, before, square("c4"))
    assert to_rgb(chosen).shape == (512, 512, 3)
    svg = to_svg(chosen)
    assert svg.count(">P</text>") == 24
    assert svg.count('"#target"') == 2
    assert "white to move the piece on c4" in svg
    text = GAME.draw_text(row)
    assert "d l u z o q k o z u l d" in text
    over = at("2R3k5/1R10/12/l11/12/12/12/12/12/12/12/K11 b - 0 1")
    assert "white wins: checkmate" in GAME.draw_text(over)
    assert '"#check"' in to_svg(GAME.draw(over))


def test_every_kind_looks_different() -> None:
    """By its letter at least, and own and enemy by the fill."""
    pictures = set()
    for letter in LETTERS.replace("K", ""):
        for shown in (letter, letter.lower()):
            row = at("k11/12/12/p11/12/12/12/4?7/P11/12/12/11K w - 0 1".replace("?", shown))
            pictures.add(to_rgb(GAME.draw(row)).tobytes())
    assert len(pictures) == 38
