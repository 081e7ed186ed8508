"""Game records of Crystal Mosaic: written from a row and its actions, and replayed without any random stream.

The words are refills, such as ``BYRK/BBWW/KRRY/WWYB/RRKK`` (the factories in order, their tiles as they were drawn;
those that get nothing are left out), and actions in their notation.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Protocol

import numpy as np

from mozaic_env.core import contract
from mozaic_env.core.contract import CHANCE, OVER
from mozaic_env.core.record import Record
from mozaic_env.games.crystal_mosaic import rules
from mozaic_env.games.crystal_mosaic.actions import COLOURS, PER_FACTORY
from mozaic_env.games.crystal_mosaic.position import counts


class Variant(Protocol):
    """What a record needs to know of a game; `mozaic_env.games.crystal_mosaic.game.CrystalMosaic` is one."""

    name: ClassVar[Any]

    @property
    def options(self) -> dict[str, Any]: ...
    def rows(self, size: int) -> Any: ...
    def format_action(self, action: int) -> str: ...
    def parse_action(self, text: str) -> int: ...
    def format_position(self, row: np.void) -> str: ...
    def parse_position(self, text: str) -> Any: ...


def write(game: Variant, start: np.void, actions: Sequence[int], header: Mapping[str, Any], ending: str) -> Record:
    """See `mozaic_env.core.game.Game.write_record`."""
    row = start.copy()
    words: list[str] = []
    position = None
    if not _is_first(game, start):
        contract.deal(row)  # only a decision has a position string
        position = game.format_position(row).replace(" ", "_")
    for action in actions:
        _deal(row, words)
        words.append(game.format_action(action))
        rules.apply(row, action)
    _deal(row, words)
    facts = {"game": game.name, **{key: str(value) for key, value in game.options.items()}}
    facts |= {key: str(value) for key, value in header.items()}
    if position is not None:
        facts["position"] = position
    if ending != "running":
        facts["result"] = _result(row)
    return Record(facts, tuple(words), ending == "truncated")


def _deal(row: np.void, words: list[str]) -> None:
    """Deals a refill that is due and notes it."""
    drawn = ""
    while rules.mover(row) == CHANCE:
        colour = rules.sample(row)
        rules.resolve(row, colour)
        drawn += COLOURS[colour]
    if drawn:
        words.append(_factories(drawn))


def _factories(letters: str) -> str:
    return "/".join(letters[k : k + PER_FACTORY] for k in range(0, len(letters), PER_FACTORY))


def _result(row: np.void) -> str:
    return "-".join(str(score) for score in row["score"][: row["players"]])


def _is_first(game: Variant, row: np.void) -> bool:
    """Whether a game starts like this, so needs no position to replay."""
    fresh = game.rows(1)[0]
    rules.setup(fresh)
    return all(np.array_equal(fresh[name], row[name]) for name in rules.ROW.names or () if name != "key")


def replay(game: Variant, record: Record) -> Iterator[tuple[str, np.void]]:
    """See `mozaic_env.core.game.Game.replay`."""
    record.require("game", [game.name])
    for key, value in game.options.items():
        record.require(key, [str(value)])
    row = game.rows(1)[0]
    rules.setup(row)
    if "position" in record.header:
        row = game.parse_position(record.header["position"].replace("_", " "))[0]
    for number, word in enumerate(record.words, 1):
        try:
            _play_word(game, row, word)
        except ValueError as error:
            raise ValueError(f"record word {number}, {word!r}: {error}") from None
        yield word, row.copy()
    _check_ending(record, row)


def _play_word(game: Variant, row: np.void, word: str) -> None:
    if rules.mover(row) == OVER:
        raise ValueError("the game is already over")
    if rules.mover(row) == CHANCE:
        _refill(row, word)
        return
    action = game.parse_action(word)
    if not rules.is_legal(row, action):
        raise ValueError(f"not legal at {game.format_position(row)!r}")
    rules.apply(row, action)


def _refill(row: np.void, word: str) -> None:
    letters = word.replace("/", "")
    if not re.fullmatch(f"[{COLOURS}]+", letters) or word != _factories(letters):
        raise ValueError("a refill comes here, such as BYRK/BBWW/KRRY/WWYB/RRKK")
    for number, letter in enumerate(letters):
        if rules.mover(row) != CHANCE:
            raise ValueError(f"the refill has {number} tiles")
        if not counts(row["bag"])[COLOURS.index(letter)]:
            raise ValueError(f"no {letter} is in the bag: {','.join(map(str, counts(row['bag'])))}")
        rules.resolve(row, COLOURS.index(letter))
    if rules.mover(row) == CHANCE:
        raise ValueError(f"the refill has more than {len(letters)} tiles")


def _check_ending(record: Record, row: np.void) -> None:
    over, result = rules.mover(row) == OVER, record.header.get("result")
    if over and record.truncated and not rules.cut_off(row):
        raise ValueError("the record ends in '...' (truncated), but the game is over")
    if not over and not record.truncated and result is not None:
        raise ValueError(
            "the record has a result, but its words end before the game is over; a truncated one ends in '...'"
        )
    if result is not None and result != _result(row):
        raise ValueError(f"the record says result={result}, its words give {_result(row)}")
