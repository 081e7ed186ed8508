"""Game records of Mozaic: written from a row and its actions, and replayed without any random stream."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from mozaic_env.core import contract
from mozaic_env.core.contract import CHANCE, OVER
from mozaic_env.core.game import Game
from mozaic_env.core.record import Record
from mozaic_env.core.replay import POSITION, RESULT, first_row, replay_words
from mozaic_env.games.mozaic import rules
from mozaic_env.games.mozaic.actions import EDITIONS, LETTERS, NO_GEM, ONYX


def write(game: Game, start: np.void, actions: Sequence[int], header: Mapping[str, Any], ending: str) -> Record:
    """See `mozaic_env.core.game.Game.write_record`."""
    row = start.copy()
    words: list[str] = []
    facts = {}
    if not _is_first(game, start):
        contract.deal(row)  # only a decision has a position string
        facts[POSITION] = game.format_position(row).replace(" ", "_")
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
    facts = _variant(game) | {"first": LETTERS[first], **{key: str(value) for key, value in header.items()}} | facts
    if ending != "running":
        facts[RESULT] = _result(row)
    return Record(facts, tuple(words), ending == "truncated")


def _variant(game: Game) -> dict[str, str]:
    """The words of a header that say which variant was played."""
    return {"rules": game.options["rules"], "board": "{rows}x{cols}".format(**game.options)}


def _result(row: np.void) -> str:
    return f"{row['score'][0]}-{row['score'][1]}"


def _is_first(game: Game, row: np.void) -> bool:
    """Whether a game starts like this, with either starter where a coin decides, so needs no position to replay."""
    fresh = game.rows(1)[0]
    rules.setup(fresh)
    if game.options["rules"] == EDITIONS[ONYX]:
        fresh["mover"] = row["mover"]
    names = ("gems", "bag", "hand", "plays", "score", "mover")
    return all(np.array_equal(fresh[name], row[name]) for name in names)


def replay(game: Game, record: Record) -> Iterator[tuple[str, np.void]]:
    """See `mozaic_env.core.game.Game.replay`."""
    for key, value in _variant(game).items():
        record.require(key, [value])
    yield from replay_words(record, _first_row(game, record), partial(_play_word, game), _result)


def _first_row(game: Game, record: Record) -> np.void:
    row = first_row(game, record)
    if POSITION not in record.header:
        accepted = "y" if game.options["rules"] == EDITIONS[0] else "yb"
        row["mover"] = LETTERS.index(record.require("first", accepted))
    elif rules.mover(row) != OVER:
        record.require("first", [LETTERS[row["mover"]]])
    return row


def _play_word(game: Game, row: np.void, word: str, _is_last: bool) -> None:
    letter, colon, notation = word.partition(":")
    if len(letter) != 1 or letter not in LETTERS:
        raise ValueError("accepted words are y:d4, b:e5, e:d4-e5, d:xd4, e, d, r and x, and ... at the end")
    gem = LETTERS.index(letter)
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
