"""Game records of Mosaic Chess: a word for each move, and for a piece that was chosen last and not moved its square."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from mozaic_env.core.record import Record
from mozaic_env.games.mosaic_chess import notation, rules
from mozaic_env.games.mosaic_chess.actions import parse_square, square_name
from mozaic_env.games.mosaic_chess.board import NOWHERE

GAME = "mosaic_chess"
LIMIT = "max_plies"
UNKNOWN = "*"  # the result of a game that was not played to its end


class Variant(Protocol):
    """What a record needs to know of a game; `mozaic_env.games.mosaic_chess.game.MosaicChess` is one."""

    max_plies: int

    def rows(self, size: int) -> Any: ...
    def format_position(self, row: np.void) -> str: ...
    def parse_position(self, text: str) -> Any: ...


def write(game: Variant, start: np.void, actions: Sequence[int], header: Mapping[str, Any], ending: str) -> Record:
    """See `mozaic_env.core.game.Game.write_record`."""
    row, words = start.copy(), []
    for action in actions:
        if row["chosen"] != NOWHERE:
            words.append(notation.format_move(row, notation.move_of_actions(int(row["chosen"]), int(action))))
        rules.apply(row, action)
    if row["chosen"] != NOWHERE:
        words.append(square_name(int(row["chosen"])))
    facts = {"game": GAME, LIMIT: str(game.max_plies), **{key: str(value) for key, value in header.items()}}
    position = game.format_position(start)
    if position != game.format_position(_first(game)):
        facts["position"] = position.replace(" ", "_")
    if ending != "running":
        facts["result"] = result_of(row)
    return Record(facts, tuple(words), ending == "truncated")


def _first(game: Variant) -> np.void:
    row: np.void = game.rows(1)[0]
    rules.setup(row)
    return row


def result_of(row: np.void) -> str:
    """``1-0``, ``0-1`` or ``1/2-1/2``; ``*`` while nobody has won or drawn."""
    if row["ending"] == rules.RUNNING:
        return UNKNOWN
    return {1.0: "1-0", -1.0: "0-1"}.get(float(rules.outcome(row, 0)), "1/2-1/2")


def replay(game: Variant, record: Record) -> Iterator[tuple[str, np.void]]:
    """See `mozaic_env.core.game.Game.replay`."""
    record.require("game", [GAME])
    record.require(LIMIT, [str(game.max_plies)])
    if "position" in record.header:
        row: np.void = game.parse_position(record.header["position"].replace("_", " "))[0]
    else:
        row = _first(game)
    last = len(record.words)
    for number, word in enumerate(record.words, 1):
        try:
            _play_word(row, word, number == last)
        except ValueError as error:
            raise ValueError(f"record word {number}, {word!r}: {error}") from None
        yield word, row.copy()
    _check_ending(record, row)


def _play_word(row: np.void, word: str, is_last: bool) -> None:
    if row["ending"] != rules.RUNNING:
        raise ValueError("the game is already over")
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
            raise ValueError(f"not legal at {_where(row)}")
        rules.apply(row, piece)
    elif row["chosen"] != piece or not rules.is_legal(row, action):
        raise ValueError(f"not legal with {square_name(int(row['chosen']))} chosen at {_where(row)}")
    rules.apply(row, action)


def _where(row: np.void) -> str:
    from mozaic_env.games.mosaic_chess.position import format_position

    return repr(format_position(row))


def _check_ending(record: Record, row: np.void) -> None:
    over, given = row["ending"] != rules.RUNNING, record.header.get("result")
    if over and record.truncated:
        raise ValueError("the record ends in '...' (truncated), but the game is over")
    if not over and not record.truncated and given is not None:
        raise ValueError(
            "the record has a result, but its words end before the game is over; a truncated one ends in '...'"
        )
    if given is not None and given != result_of(row):
        raise ValueError(f"the record says result={given}, its words give {result_of(row)}")
