"""Hand-made positions of Mosaic Chess, by the kernels."""

from __future__ import annotations

import numpy as np
import pytest

from mozaic_env.games.mosaic_chess import board, rules
from mozaic_env.games.mosaic_chess.pieces import KINDS, PIECES, code_of
from mozaic_env.testing import rows as on
from tests.oracles.chess_games import GAME, at, moves_of, play, square, words_of

COUNTS = {  # from a1, d9, f6 on the empty board, as the rules page has them
    "Y": (21, 40, 40),
    "D": (19, 32, 32),
    "O": (20, 26, 32),
    "U": (20, 28, 36),
    "L": (4, 12, 12),
    "Z": (2, 8, 8),
    "N": (4, 12, 12),
}


def place(pieces: str, side: str = "w", quiet: int = 0, number: int = 1) -> np.void:
    """The position with pieces named like ``Kg1 ra12``."""
    ranks = [["."] * 12 for _ in range(12)]
    for word in pieces.split():
        rank, file = divmod(square(word[1:]), 12)
        ranks[rank][file] = word[0]
    text = "/".join("".join(rank) for rank in reversed(ranks))
    for run in range(12, 0, -1):
        text = text.replace("." * run, str(run))
    return at(f"{text} {side} - {quiet} {number}")


def test_the_start() -> None:
    row = on.seeded(GAME, 1)[0]
    assert GAME.format_position(row).endswith("/PPPPPPPPPPPP/XIEGSCCSGEIX/RMNBAYYABNMR/DLUZOQKOZULD w - 0 1")
    assert len(moves_of(row)) == 28
    assert on.margin(row, 0) == 0


@pytest.mark.parametrize("letter", COUNTS)
def test_destinations_on_the_empty_board(letter: str) -> None:
    """Kings stand where they are in nobody's way, and their own moves are not counted."""
    for name, meant in zip(("a1", "d9", "f6"), COUNTS[letter], strict=True):
        row = np.zeros(1, board.ROW)[0]
        row["chosen"] = row["passed"] = board.NOWHERE
        row["board"][square(name)] = code_of(letter)
        rules.count_up(row)
        found = board.destinations(row, square(name), (0, *[np.uint64(0)] * 6), False)
        assert sum(int(word).bit_count() for word in found) == meant, name


def test_a_bent_slide_stops_on_its_first_square() -> None:
    for letter, first, behind in (("Y", "f6", "f7"), ("D", "g7", "g8"), ("O", "e7", "f8"), ("U", "f7", "g8")):
        free = words_of(place(f"Ka1 kl12 pl9 {letter}e5"))
        assert {f"e5-{first}", f"e5-{behind}"} <= free
        own = words_of(place(f"Ka1 kl12 pl9 {letter}e5 P{first}"))
        assert not {f"e5-{first}", f"e5-{behind}"} & own
        enemy = words_of(place(f"Ka1 kl12 pl9 {letter}e5 p{first}"))
        assert f"e5x{first}" in enemy
        assert f"e5-{behind}" not in enemy


def test_a_promotion_that_has_to_be() -> None:
    words = words_of(place("Ka1 kl1 pa9 Pf11"))
    assert "f11-f12+" in words
    assert "f11-f12" not in words
    row = play(place("Ka1 kl1 rl12 Pf11"), "f11-f12+")
    assert row["board"][square("f12")] == code_of("L")


def test_a_promotion_that_is_declined_comes_again() -> None:
    row = place("Ka1 kl1 rl12 Nc8")
    assert {"c8-c10", "c8-c10+", "c8-c6"} <= words_of(row)
    assert "c8-c6+" not in words_of(row)
    play(row, "c8-c10", "l1-l2")
    assert "c10-b12+" in words_of(row)
    assert "c10-c8+" not in words_of(row)
    play(row, "c10-d12+", "l2-l1")
    assert row["board"][square("d12")] == code_of("Y")
    assert not any(word.endswith("+") for word in words_of(row))


def test_every_promotion() -> None:
    for kind, piece in enumerate(PIECES):
        for black in (False, True):
            code = 1 + kind + KINDS * black
            row = place("Ka1 kl12 Pa4 pl9", "b" if black else "w")
            row["board"][square("f8" if not black else "f5")] = code
            rules.count_up(row)
            target = square("f9") if not black else square("f4")
            assert bool(board.may_promote(row, square("f8" if not black else "f5"), target)) == bool(piece.promotion)


def test_en_passant_and_its_loss_a_move_later() -> None:
    row = play(place("Kg1 kg12 Pd4 pe6 Ra1"), "d4-d6")
    assert GAME.format_position(row).split()[2] == "d5"
    assert "e6xd5ep" in words_of(row)
    taken = play(row.copy(), "e6xd5ep")
    assert taken["board"][square("d6")] == 0
    assert taken["board"][square("d5")] == code_of("p")
    assert on.margin(taken, 0) == on.margin(row, 0) - 1
    later = play(row, "g12-g11", "a1-a2")
    assert "e6-e5" in words_of(later)
    assert not any("d5" in word for word in words_of(later))


def test_en_passant_that_opens_a_line_to_the_king_is_illegal() -> None:
    row = play(place("Kg1 ka6 Pd4 pe6 Rl6"), "d4-d6")
    assert "e6xd5ep" not in words_of(row)  # both pawns would leave the rank
    assert "e6xd5ep" in words_of(play(place("Kg1 ka7 Pd4 pe6 Rl6"), "d4-d6"))


def test_a_piece_that_steps_between_gives_check_with_the_bombard() -> None:
    row = play(place("Ka1 Nc3 Nc5 Re8 rl6 ma12 kl12", "b"), "l6-a6")
    assert int(board.guard(row)[0]) == 2
    assert {"c3-a3", "a1-b1"} <= words_of(row)
    assert not {"c5xa6", "e8-a8"} & words_of(row)


def test_checkmate_and_stalemate() -> None:
    mate = play(place("Ka1 Rb11 Rc10 kg12 pl9"), "c10-c12")
    assert mate["ending"] == rules.CHECKMATE
    assert (on.outcome(mate, 0), on.outcome(mate, 1)) == (1, -1)
    stuck = play(place("Ka1 Pl8 pl9 kl12 Rk2 Rj11 Rj2"), "j2-j3")
    assert stuck["ending"] == rules.STALEMATE
    assert on.outcome(stuck, 0) == 0


def test_a_bare_king() -> None:
    two = play(place("Kg1 Ra1 Nb1 kg12 ra12"), "a1xa12")
    assert (two["ending"], on.outcome(two, 0)) == (rules.BARE_KING, 1)
    one = play(place("Ka1 Ra2 kg12 ra12"), "a2xa12")
    assert (one["ending"], on.outcome(one, 0)) == (rules.BARE_KING, 1)
    falls = play(place("Ka1 Rf1 kg12 rf12"), "f1xf12")
    assert (falls["ending"], on.outcome(falls, 0)) == (rules.BARE_DRAW, 0)
    guarded = play(place("Ke11 Re12 kg11 rf12"), "e12xf12")
    assert (guarded["ending"], on.outcome(guarded, 0)) == (rules.BARE_KING, 1)
    stuck = play(place("Ka3 Rb4 ka1 pb2"), "b4xb2")
    assert (stuck["ending"], on.outcome(stuck, 0)) == (rules.BARE_KING, 1)


def test_third_repetition() -> None:
    row = place("Kg1 Ra1 kg12 ra12")
    around = ("a1-b1", "a12-b12", "b1-a1", "b12-a12")
    play(row, *around)
    assert (row["repeats"], row["ending"]) == (1, rules.RUNNING)
    play(row, *around)
    assert (row["repeats"], row["ending"]) == (2, rules.REPETITION)
    assert on.outcome(row, 0) == 0


def test_a_double_step_is_no_earlier_position() -> None:
    """The position right after it has an en passant square, so it can't come again."""
    row = play(place("Kg1 Ra1 kg12 ra12 Pd4"), "d4-d6")
    play(row, *("a12-b12", "a1-b1", "b12-a12", "b1-a1") * 2)
    assert (row["repeats"], row["ending"]) == (1, rules.RUNNING)
    play(row, "a12-b12", "a1-b1", "b12-a12", "b1-a1")
    assert row["ending"] == rules.REPETITION


def test_200_plies() -> None:
    row = play(place("Kg1 Ra1 kg12 ra12 Pb4", quiet=198), "a1-b1")
    assert row["ending"] == rules.RUNNING
    assert play(row.copy(), "a12-b12")["ending"] == rules.QUIET
    pawn = play(place("Kg1 Ra1 kg12 ra12 Pb4", quiet=199), "b4-b5")
    assert (pawn["quiet"], pawn["ending"]) == (0, rules.RUNNING)
    assert play(place("Ka1 Rb11 Rc10 kg12 pl9", quiet=199), "c10-c12")["ending"] == rules.CHECKMATE
    assert play(place("Kg1 Re11 kg12 re12 Pb4", quiet=199), "e11xe12")["ending"] != rules.QUIET
