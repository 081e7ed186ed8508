"""The kernels against the slow reference, in positions of random games."""

from __future__ import annotations

import random

import numpy as np
import pytest

from mozaic_env.games.mosaic_chess import rules
from mozaic_env.games.mosaic_chess.notation import actions_of_move, format_move
from mozaic_env.games.mosaic_chess.tables import FLIPPED, SQUARES
from mozaic_env.testing import rows as on
from tests.oracles.chess_games import GAME, as_reference, decisions_before_a_move, moves_of, reference_of
from tests.oracles.chess_reference import ReferenceChess

ENDINGS = {rules.BARE_DRAW: "bare king", rules.QUIET: "200 plies", **dict(enumerate(rules.ENDINGS[:4]))}


def mask(row: np.void) -> set[int]:
    found = np.full((1, GAME.num_actions), 7, np.int8)
    on.legal(row, found, 0)
    return set(np.flatnonzero(found[0]).tolist())


def same_moves(row: np.void) -> None:
    """Moves, both masks and the end are those of the reference."""
    reference = reference_of(row)
    at = GAME.format_position(row)
    moves, meant = moves_of(row), reference.moves()
    assert sorted(map(as_reference, moves)) == meant, at
    assert {format_move(row, move) for move in moves} == {reference.notation(move) for move in meant}, at
    ending = reference.ending()
    if row["ending"] != rules.REPETITION:  # a position alone does not tell
        assert (ending[0] if ending else "") == ENDINGS[int(row["ending"])], at
        assert on.outcome(row, 0) == (ending[1] if ending else 0), at
    if row["ending"] != rules.RUNNING:
        return
    pairs = [actions_of_move(move) for move in moves]
    assert mask(row) == {piece for piece, _ in pairs}, at
    for piece in mask(row):
        twin = row.copy()
        on.apply(twin, piece)
        assert mask(twin) == {action for chosen, action in pairs if chosen == piece}, f"{at}, {piece}"


def check(games: int, sample: int, seed: int) -> None:
    rows = decisions_before_a_move(games, seed)
    chosen = np.random.default_rng(seed).choice(len(rows), sample, replace=False)
    for index in chosen:
        same_moves(rows[index])


def test_moves_masks_and_ends() -> None:
    check(4, 30, 1)


@pytest.mark.slow
def test_moves_masks_and_ends_of_many() -> None:
    check(100, 10_000, 2)


def test_every_end_of_random_games() -> None:
    rows = decisions_before_a_move(20, 3)
    ends = rows[rows["ending"] != rules.RUNNING]
    assert len(set(ends["ending"].tolist())) >= 2
    for row in ends:
        same_moves(row)


def crowded(rng: random.Random) -> str | None:
    """A position of random pieces close together, far from what games bring."""
    reference = ReferenceChess("12/12/12/12/12/12/12/12/12/12/12/12 w - 0 1")
    squares = [(x, y) for x in range(1, 13) for y in range(1, 13)]
    rng.shuffle(squares)
    letters = ["K", "k"] + [rng.choice("EIGSXCRBMANZLYDOUQP") for _ in range(rng.randrange(2, 60))]
    for number, letter in enumerate(letters):
        x, y = squares[number]
        if letter == "P" and not 5 <= y <= 8:
            letter = "Q"
        reference.board[(x, y)] = letter if number < 2 or number % 2 else letter.lower()
    reference.white = rng.random() < 0.5
    return None if reference.attacked(not reference.white) else reference.fen()


def test_crowded_positions() -> None:
    rng, looked = random.Random(4), 0
    while looked < 25:
        position = crowded(rng)
        if position is not None:
            same_moves(GAME.parse_position(position)[0])
            looked += 1


def test_a_whole_game_with_its_repetitions() -> None:
    """The reference plays the kernels' moves, so that it knows what came before."""
    for seed in range(2):
        rows = decisions_before_a_move(1, 50 + seed)
        reference = ReferenceChess()
        for now, after in zip(rows[:-1][:300], rows[1:][:300], strict=True):
            assert reference.fen() == " ".join(GAME.format_position(now).split(" ")[:5])
            assert reference.seen.count(reference.seen[-1]) == now["repeats"] + 1
            reference.play(as_reference(_move_between(now, after)))


def _move_between(now: np.void, after: np.void) -> int:
    for move in moves_of(now):
        twin = now.copy()
        rules.play(twin, move)
        if np.array_equal(twin["board"], after["board"]):
            return move
    raise AssertionError(GAME.format_position(now))


def turned(row: np.void) -> np.void:
    """The same position with the colours exchanged."""
    twin = row.copy()
    codes = row["board"].astype(np.int64)
    twin["board"] = np.where(codes == 0, 0, (codes + 19) % 40 + 1)[FLIPPED]
    twin["mover"] = 1 - row["mover"]
    twin["passed"] = FLIPPED[row["passed"]] if row["passed"] < SQUARES else row["passed"]
    twin["past"] = twin["repeats"] = twin["moves"] = 0
    rules.count_up(twin)
    return twin


def test_colours_are_alike() -> None:
    """Exchanging the colours and turning the board turns the moves, the ends and nothing else."""
    rows = decisions_before_a_move(3, 5)[::9]
    for row in rows:
        twin = turned(row)
        moves = [FLIPPED[m & 255] | int(FLIPPED[m >> 8 & 255]) << 8 | m >> 16 << 16 for m in moves_of(row)]
        assert sorted(moves) == sorted(moves_of(twin))
        assert (twin["material"] == row["material"][::-1]).all()
        if row["ending"] != rules.REPETITION:
            assert rules.ending_of(twin) == row["ending"]
