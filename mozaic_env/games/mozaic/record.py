"""Game records of Mozaic: written from a row and its actions, and replayed without any random stream."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from mozaic_env.core import contract
from mozaic_env.core.contract import CHANCE, OVER
from mozaic_env.core.record import Record
from mozaic_env.games.mozaic import rules
from mozaic_env.games.mozaic.actions import EDITIONS, LETTERS, NO_GEM, ONYX


class Variant(Protocol):
    """What a record needs to know of a game; `mozaic_env.games.mozaic.game.Mozaic` is one."""

    rules: str
    board: tuple[int, int]

    def rows(self, size: int) -> Any: ...
    def format_action(self, action: int) -> str: ...
    def parse_action(self, text: str) -> int: ...
    def format_position(self, row: np.void) -> str: ...
    def parse_position(self, text: str) -> Any: ...


def write(game: Variant, start: np.void, actions: Sequence[int], header: Mapping[str, Any], ending: str) -> Record:
    """See `mozaic_env.core.game.Game.write_record`."""
    row = start.copy()
    words = []
    position = None
    if not _is_first(game, start):
        contract.deal(row)  # only a decision has a position string
        position = game.format_position(row).replace(" ", "_")
    first = int(row["mover"])

    def deal() -> None:
        while rules.mover(row) == CHANCE:
            gem = rules.sample(row)
            rules.resolve(row, gem)
            if row["hand"] == NO_GEM:
                words.append(LETTERS[gem])

    for action in actions:
        deal()
        words.append(f"{LETTERS[row['hand']]}:{game.format_action(action)}")
        rules.apply(row, action)
    deal()
    facts = {
        "rules": game.rules,
        "board": "{}x{}".format(*game.board),
        "first": LETTERS[first],
        **{key: str(value) for key, value in header.items()},
    }
    if position is not None:
        facts["position"] = position
    if ending != "running":
        facts["result"] = f"{row['score'][0]}-{row['score'][1]}"
    return Record(facts, tuple(words), ending == "truncated")


def _is_first(game: Variant, row: np.void) -> bool:
    """Whether a game starts like this, with either starter where a coin decides, so needs no position to replay."""
    fresh = game.rows(1)[0]
    rules.setup(fresh)
    if game.rules == EDITIONS[ONYX]:
        fresh["mover"] = row["mover"]
    names = ("gems", "bag", "hand", "plays", "score", "mover")
    return all(np.array_equal(fresh[name], row[name]) for name in names)


def replay(game: Variant, record: Record) -> Iterator[tuple[str, np.void]]:
    """See `mozaic_env.core.game.Game.replay`."""
    record.require("rules", [game.rules])
    record.require("board", ["{}x{}".format(*game.board)])
    row = _first_row(game, record)
    for number, word in enumerate(record.words, 1):
        try:
            _play_word(game, row, word)
        except ValueError as error:
            raise ValueError(f"record word {number}, {word!r}: {error}") from None
        yield word, row.copy()
    _check_ending(record, row)


def _first_row(game: Variant, record: Record) -> np.void:
    if "position" in record.header:
        row: np.void = game.parse_position(record.header["position"].replace("_", " "))[0]
        if rules.mover(row) == OVER:
            return row
        record.require("first", [LETTERS[row["mover"]]])
        return row
    row = game.rows(1)[0]
    rules.setup(row)
    accepted = "y" if game.rules == EDITIONS[0] else "yb"
    row["mover"] = LETTERS.index(record.require("first", accepted))
    return row


def _play_word(game: Variant, row: np.void, word: str) -> None:
    letter, colon, notation = word.partition(":")
    if len(letter) != 1 or letter not in LETTERS:
        raise ValueError("accepted words are y:d4, b:e5, e:d4-e5, d:xd4, e, d, r and x, and ... at the end")
    gem = LETTERS.index(letter)
    if rules.mover(row) == OVER:
        raise ValueError("the game is already over")
    if rules.mover(row) == CHANCE:
        if row["bag"][gem] == 0:
            raise ValueError(f"no {letter} is in the bag: {game_bag(row)}")
        rules.resolve(row, gem)
    elif row["hand"] != gem:
        raise ValueError(f"{LETTERS[row['hand']]} is in hand")
    if row["hand"] == NO_GEM:
        if colon:
            raise ValueError(f"{letter} asks for no decision here")
        return
    if not colon:
        raise ValueError(f"{letter} asks for a decision here, such as {letter}:{game.format_action(_some_action(row))}")
    action = game.parse_action(notation)
    if not rules.is_legal(row, action):
        raise ValueError(f"{notation} is not legal with {letter} in hand at {game.format_position(row)!r}")
    rules.apply(row, action)


def game_bag(row: np.void) -> str:
    """The bag's counts as in a position string."""
    return ",".join(str(number) for number in row["bag"])


def _some_action(row: np.void) -> int:
    return int(rules.random_action(row, np.uint64(0)))


def _check_ending(record: Record, row: np.void) -> None:
    over, result = rules.mover(row) == OVER, record.header.get("result")
    if over and record.truncated:
        raise ValueError("the record ends in '...' (truncated), but the game is over")
    if not over and not record.truncated and result is not None:
        raise ValueError(
            "the record has a result, but its words end before the game is over; a truncated one ends in '...'"
        )
    score = f"{row['score'][0]}-{row['score'][1]}"
    if result is not None and result != score:
        raise ValueError(f"the record says result={result}, its words give {score}")
