"""Hand-made cases that pin the chess reference to the rules page, row by row."""

from __future__ import annotations

import pytest

from tests.oracles.chess_reference import AIMS, PROMOTIONS, START, ReferenceChess, name, perft, square_of

EMPTY = ["12"] * 12


def at(pieces: str, side: str = "w", passed: str = "-", quiet: int = 0) -> ReferenceChess:
    """The position with pieces named like ``Kg1 ra12``."""
    game = ReferenceChess(f"{'/'.join(EMPTY)} {side} {passed} {quiet} 1")
    game.board = {square_of(word[1:]): word[0] for word in pieces.split()}
    game.seen = [game._identity()]
    return game


def goes(pieces: str, square: str) -> set[str]:
    return {name(to) for to in at(pieces).destinations(square_of(square))}


def words(game: ReferenceChess) -> set[str]:
    return {game.notation(move) for move in game.moves()}


def test_the_start() -> None:
    game = ReferenceChess()
    assert game.fen() == START
    assert len(game.board) == 96
    assert {piece.upper() for piece in game.board.values()} == set(AIMS)
    assert all(game.board[(x, y)].lower() == game.board[(x, 13 - y)] for x in range(1, 13) for y in range(1, 5))
    assert game.ending() is None


COUNTS = {  # from a1, d9, f6 on the empty board, as the rules page has them
    "Y": (21, 40, 40),
    "D": (19, 32, 32),
    "O": (20, 26, 32),
    "U": (20, 28, 36),
    "L": (4, 12, 12),
    "Z": (2, 8, 8),
    "N": (4, 12, 12),
}


@pytest.mark.parametrize("letter", COUNTS)
def test_destinations_on_the_empty_board(letter: str) -> None:
    found = tuple(len(goes(letter + square, square)) for square in ("a1", "d9", "f6"))
    assert found == COUNTS[letter]


STEPS = {  # from e5
    "E": "d6 e6 f6 d5 f5 d4 f4",
    "I": "d6 f6 d4 f4 e7 e3 c5 g5",
    "G": "d6 e6 f6 d5 f5 e4",
    "S": "d6 e6 f6 d4 f4",
    "X": "e6 e4 d5 f5 c7 g7 c3 g3",
    "C": "d6 e6 f6 e4",
    "N": "d7 f7 g6 g4 f3 d3 c4 c6 e7 e3 c5 g5",
    "Z": "b7 c8 g8 h7 b3 c2 g2 h3",
    "L": "b5 h5 e2 e8 b4 b6 h4 h6 d8 f8 d2 f2",
    "K": "d6 e6 f6 d5 f5 d4 e4 f4",
    "P": "e6",
}


@pytest.mark.parametrize("letter", STEPS)
def test_steps_and_leaps(letter: str) -> None:
    assert goes(f"{letter}e5", "e5") == set(STEPS[letter].split())
    mirrored = goes(f"{letter.lower()}e8", "e8") if letter != "P" else {"e7"}
    flipped = {f"{word[0]}{13 - int(word[1:])}" for word in STEPS[letter].split()}
    assert mirrored == flipped


def test_slides_and_jumps() -> None:
    along = {*(f"e{rank}" for rank in range(1, 5)), *(f"{file}5" for file in "fghijkl")}
    assert goes("Re5 Pe7 pc5", "e5") == {"e6", "d5", "c5", *along}
    assert goes("Me5", "e5") == set()
    assert goes("Me5 Pe7 pe10 pc5 ra5", "e5") == {"e8", "e9", "e10", "b5", "a5"}
    assert goes("Ae5 Pg7 pj10", "e5") == {"h8", "i9", "j10"}
    assert goes("Me5 me7 me9", "e5") == {"e8", "e9"}  # cannons over cannons, and taking them
    assert {"e6", "e7", "e8", "e9"} <= goes("Qe5 pe7 pe9", "e5")
    assert "e10" not in goes("Qe5 pe7 pe9", "e5")


def test_bent_slides_go_outward() -> None:
    assert goes("Ya1 Pb3 Pc2", "a1") == {"b2"}
    assert {"f8", "f9", "h6", "i6"} <= goes("Ye5", "e5")
    assert "e6" not in goes("Ye5", "e5")
    assert {"g7", "g8", "h7"} <= goes("De5 Pf6", "e5")
    assert {"e7", "f8", "g9", "d8", "c9"} <= goes("Oe5 Pe6", "e5")
    assert {"f7", "g8", "h9", "g6", "h7"} <= goes("Ue5 Pe6 Pf6", "e5")
    assert "e8" not in goes("Ue5", "e5")


@pytest.mark.parametrize(("letter", "first", "behind"), [("Y", "f6", "f7"), ("D", "g7", "g8"), ("O", "e7", "f8")])
def test_a_bent_slide_stops_on_its_first_square(letter: str, first: str, behind: str) -> None:
    assert behind in goes(f"{letter}e5", "e5")
    assert not {first, behind} & goes(f"{letter}e5 P{first}", "e5")
    enemy = goes(f"{letter}e5 p{first}", "e5")
    assert first in enemy
    assert behind not in enemy


def test_pawns() -> None:
    assert goes("Pe4", "e4") == {"e5", "e6"}
    assert goes("Pe4 ne6", "e4") == {"e5"}
    assert goes("Pe4 ne5", "e4") == set()
    assert goes("Pe5 nd6 Nf6", "e5") == {"e6", "d6"}
    assert {name(to) for to in at("pe9", "b").destinations((5, 9))} == {"e8", "e7"}


def test_en_passant_and_its_loss_a_move_later() -> None:
    game = at("Kg1 kg12 Pd4 pe6 Ra1").play_text("d4-d6")
    assert game.passed == square_of("d5")
    assert "e6xd5ep" in words(game)
    taken = game.copy().play_text("e6xd5ep")
    assert square_of("d6") not in taken.board
    assert taken.board[square_of("d5")] == "p"
    later = game.play_text("g12-g11", "a1-a2")
    assert "e6xd5ep" not in words(later)
    assert "e6-e5" in words(later)


def test_promotion() -> None:
    game = at("Kg1 kg12 Pa11 Pb9 Nc8 Qd9 ra5 rl5")
    found = words(game)
    assert "a11-a12+" in found
    assert "a11-a12" not in found  # on the last rank a pawn must
    assert {"b9-b10", "b9-b10+", "c8-c10", "c8-c10+"} <= found
    assert "c8-c6+" not in found
    assert not any(word.startswith("d9") and word.endswith("+") for word in found)
    for old, new in PROMOTIONS.items():
        assert at(f"Kg1 kg12 {old}e8")._after((5, 8), (5, 9), True)[(5, 9)] == new
    declined = at("Kg1 kg12 Nc8 ra5").play_text("c8-c10", "g12-h12")
    assert "c10-a9+" in words(declined)  # again possible later, also on the way back inside the zone
    assert "c10-c8+" not in words(declined)
    promoted = at("Kg1 kg12 Nc8 ra5").play_text("c8-c10+", "g12-h12")
    assert promoted.board[(3, 10)] == "Y"
    assert not any(word.startswith("c10") and word.endswith("+") for word in words(promoted))
    assert "b4-b3+" in words(at("Kg1 kg12 pb4", "b"))


def test_own_king_must_not_be_left_attacked() -> None:
    assert not any(word.startswith("g2") for word in words(at("Kg1 Zg2 rg12 ka12")))
    assert "a2-a1" not in words(at("Ka2 rl1 kl12"))
    cannon = at("Ka1 Nb3 ma12 pa6 kl12")
    assert cannon.attacked(True)
    assert "a1-b1" in words(cannon)
    assert "b3-a5" in words(cannon)  # two pieces between are too many to jump over
    assert "b3-d4" not in words(cannon)
    assert not at("Ka1 ma12 kl12").attacked(True)


def test_a_piece_that_steps_between_gives_check_with_the_bombard() -> None:
    """A rook steps between a bombard and the king: both attack it, the bombard over the rook."""
    game = at("Ka1 Nc3 Nc5 Re8 rl6 ma12 kl12", "b").play_text("l6-a6")
    assert game.attacked(True)
    assert {"c3-a3", "a1-b1"} <= words(game)  # in front of the rook, and so a second piece to jump over
    assert "c5xa6" not in words(game)  # what takes the rook is jumped over in its place
    assert "e8-a8" not in words(game)  # behind the rook, which goes on attacking
    quiet = at("Ka1 Nc3 ma12 kl12")
    assert not quiet.attacked(True)
    assert not {"c3-a3", "c3-a4", "c3-a2"} & words(quiet)


def test_bare_king_with_two_pieces_left_wins() -> None:
    game = at("Kg1 Ra1 Nb1 kg12 ra12").play_text("a1xa12")
    assert game.ending() == ("bare king", 1)
    pawn = at("Kg1 Pa8 Pb4 kg12 rb9").play_text("a8xb9")
    assert pawn.ending() == ("bare king", 1)


def test_bare_king_with_one_piece_left() -> None:
    taken = at("Ka1 Rf1 kg12 rf12").play_text("f1xf12")
    assert taken.ending() == ("bare king", 0)  # it can be taken at once
    kept = at("Ka1 Ra2 kg12 ra12").play_text("a2xa12")
    assert kept.ending() == ("bare king", 1)
    protected = at("Kf11 Re12 kg11 rf12".replace("Kf11", "Ke11")).play_text("e12xf12")
    assert protected.ending() == ("bare king", 1)


def test_a_stalemated_bare_king_has_lost() -> None:
    game = at("Ka3 Rb4 ka1 pb2").play_text("b4xb2")
    assert game.moves() == []
    assert not game.attacked(False)
    assert game.ending() == ("bare king", 1)


def test_checkmate_and_stalemate() -> None:
    mate = at("Ka1 Rb11 Rc10 kg12 pl9").play_text("c10-c12")
    assert mate.ending() == ("checkmate", 1)
    stuck = at("Ka1 Pl8 pl9 kl12 Rk2 Rj11 Rj2").play_text("j2-j3")
    assert stuck.moves() == []
    assert stuck.ending() == ("stalemate", 0)


def test_third_repetition() -> None:
    game = at("Kg1 Ra1 kg12 ra12")
    around = ("a1-b1", "a12-b12", "b1-a1", "b12-a12")
    game.play_text(*around)
    assert game.ending() is None
    game.play_text(*around[:3])
    assert game.ending() is None
    assert game.copy().play_text("b12-a12").ending() == ("repetition", 0)


def test_200_plies() -> None:
    game = at("Kg1 Ra1 kg12 ra12 Pb4", quiet=198).play_text("a1-b1")
    assert game.ending() is None
    assert game.copy().play_text("a12-b12").ending() == ("200 plies", 0)
    assert game.copy().play_text("a12-a4").quiet == 200
    fresh = at("Kg1 Ra1 kg12 ra12 Pb4", quiet=199).play_text("b4-b5")
    assert fresh.quiet == 0
    assert fresh.ending() is None
    mate = at("Ka1 Rb11 Rc10 kg12 pl9", quiet=199).play_text("c10-c12")
    assert mate.ending() == ("checkmate", 1)  # the last move counts first


def test_perft_of_the_first_two_moves() -> None:
    game = ReferenceChess()
    assert perft(game, 1) == len(game.moves()) == 28
    twin = game.copy()
    twin.play(game.moves()[0])
    assert game.fen() == START
    assert perft(game, 2) == 784
