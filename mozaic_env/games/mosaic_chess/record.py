"""Game records of Mosaic Chess: a word for each move, and for a piece that was chosen last and not moved its square."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from mozaic_env.core.game import Game
from mozaic_env.core.record import Record
from mozaic_env.core.replay import RESULT, begin, first_row, replay_words, require
from mozaic_env.games.mosaic_chess import notation, rules
from mozaic_env.games.mosaic_chess.actions import parse_square, square_name
from mozaic_env.games.mosaic_chess.board import NOWHERE
from mozaic_env.games.mosaic_chess.position import format_position

UNKNOWN = "*"  # the result of a game that was not played to its end


def write(game: Game, start: np.void, actions: Sequence[int], header: Mapping[str, Any], ending: str) -> Record:
    """See `mozaic_env.core.game.Game.write_record`."""
    row, facts = begin(game, start, header)
    words: list[str] = []
    for action in actions:
        if row["chosen"] != NOWHERE:
            words.append(notation.format_move(row, notation.move_of_actions(int(row["chosen"]), int(action))))
        rules.apply(row, action)
    if row["chosen"] != NOWHERE:
        words.append(square_name(int(row["chosen"])))
    if ending != "running":
        facts[RESULT] = result_of(row)
    return Record(facts, tuple(words), ending == "truncated")


def result_of(row: np.void) -> str:
    """``1-0``, ``0-1`` or ``1/2-1/2``; ``*`` while nobody has won or drawn."""
    if row["ending"] == rules.RUNNING:
        return UNKNOWN
    return {1.0: "1-0", -1.0: "0-1"}.get(float(rules.outcome(row, 0)), "1/2-1/2")


def replay(game: Game, record: Record) -> Iterator[tuple[str, np.void]]:
    """See `mozaic_env.core.game.Game.replay`."""
    require(game, record)
    yield from replay_words(record, first_row(game, record), _play_word, result_of)


def _play_word(row: np.void, word: str, is_last: bool) -> None:
    if is_last and not ("-" in word or "x" in word) and row["chosen"] == NOWHERE:
        piece = parse_square(word)
        if not rules.is_legal(row, piece):
            raise ValueError("no piece there can move")
        rules.apply(row, piece)
        return
    move = notation.parse_move(row, word)
    piece, action = notation.actions_of_move(move)
    if row["chosen"] == NOWHERE:
        if not notation.is_legal_move(row, move):
            raise ValueError(f"not legal at {format_position(row)!r}")
        rules.apply(row, piece)
    elif row["chosen"] != piece or not rules.is_legal(row, action):
        raise ValueError(f"not legal with {square_name(int(row['chosen']))} chosen at {format_position(row)!r}")
    rules.apply(row, action)
