"""Records: how all games replay theirs, and the records of a game that has no notation of its own.

Such a record has the game's options in its header, then each action in its notation and each chance outcome as
``#code``.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mozaic_env.core import contract
from mozaic_env.core.contract import CHANCE, OVER
from mozaic_env.core.record import Record

if TYPE_CHECKING:
    from mozaic_env.core.game import Game

POSITION, RESULT = "position", "result"


def begin(game: "Game", start: np.void, header: Mapping[str, Any]) -> tuple[np.void, dict[str, str]]:
    """The row from which a record goes on, a copy, and the record's header.

    Args:
        game: what was played.
        start: the row before the first action. Where a game does not start like this, chance is dealt, since only a
            decision has a position string.
        header: more words for the header, behind the game's name and options.
    """
    row = start.copy()
    facts = {"game": game.name, **{key: str(value) for key, value in {**game.options, **header}.items()}}
    fresh = first_row(game, Record())
    if not all(np.array_equal(fresh[name], row[name]) for name in game.dtype.names or () if name != "key"):
        contract.deal(row)
        facts[POSITION] = game.format_position(row).replace(" ", "_")
    return row, facts


def first_row(game: "Game", record: Record) -> np.void:
    """The row before a record's first word: its position, else the game's start."""
    if POSITION in record.header:
        row: np.void = game.parse_position(record.header[POSITION].replace("_", " "))[0]
        return row
    row = game.rows(1)[0]
    contract.setup(row)
    return row


def replay_words(
    record: Record, row: np.void, play: Callable[[np.void, str, bool], None], result: Callable[[np.void], str]
) -> Iterator[tuple[str, np.void]]:
    """The words of a record, each with a copy of the row after it.

    Args:
        record: what is replayed.
        row: before the first word; changed.
        play: makes what a word says happen to a row; told whether it is the last word. ValueError if it can't happen.
        result: what the header of a record that ends at a row says as its result.

    Raises:
        ValueError: at the first word that can't be, or if the game ends otherwise than the record says.
    """
    for number, word in enumerate(record.words, 1):
        try:
            if contract.mover(row) == OVER:
                raise ValueError("the game is already over")
            play(row, word, number == len(record.words))
        except ValueError as error:
            raise ValueError(f"record word {number}, {word!r}: {error}") from None
        yield word, row.copy()
    over, given = contract.mover(row) == OVER, record.header.get(RESULT)
    if over and record.truncated and not contract.cut_off(row):
        raise ValueError("the record ends in '...' (truncated), but the game is over")
    if not over and not record.truncated and given is not None:
        raise ValueError(
            "the record has a result, but its words end before the game is over; a truncated one ends in '...'"
        )
    if given not in (None, result(row)):
        raise ValueError(f"the record says result={given}, its words give {result(row)}")


def write(game: "Game", start: np.void, actions: Sequence[int], header: Mapping[str, Any], ending: str) -> Record:
    """See `mozaic_env.core.game.Game.write_record`."""
    row, facts = begin(game, start, header)
    words: list[str] = []
    for action in (*actions, None):
        while contract.mover(row) == CHANCE:
            words.append(f"#{contract.sample(row)}")
            contract.resolve(row, contract.sample(row))
        if action is not None:
            words.append(game.format_action(int(action)))
            contract.apply(row, action)
    if ending != "running":
        facts[RESULT] = _result(game, row)
    return Record(facts, tuple(words), ending == "truncated")


def replay(game: "Game", record: Record) -> Iterator[tuple[str, np.void]]:
    """See `mozaic_env.core.game.Game.replay`."""

    def play(row: np.void, word: str, _is_last: bool) -> None:
        if contract.mover(row) == CHANCE:
            codes = np.zeros(game.max_outcomes, np.int64)
            possible = codes[: contract.outcomes(row, codes, np.zeros(len(codes)))].tolist()
            accepted = {f"#{code}": code for code in possible}
            if word not in accepted:
                raise ValueError(f"a chance outcome comes here; accepted: {', '.join(accepted)}")
            contract.resolve(row, accepted[word])
            return
        action = game.parse_action(word)
        if not contract.is_legal(row, action):
            raise ValueError(f"not legal at {game.format_position(row)!r}")
        contract.apply(row, action)

    require(game, record)
    yield from replay_words(record, first_row(game, record), play, lambda row: _result(game, row))


def require(game: "Game", record: Record) -> None:
    """ValueError unless the record's header names the game and its options."""
    for key, value in {"game": game.name, **game.options}.items():
        record.require(key, [str(value)])


def _result(game: "Game", row: np.void) -> str:
    """The outcome of each seat; ``*`` of a game that is not over."""
    if contract.mover(row) != OVER:
        return "*"
    return ",".join(f"{contract.outcome(row, seat):.3g}" for seat in range(game.num_players))
