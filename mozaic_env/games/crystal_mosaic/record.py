"""Game records of Crystal Mosaic: written from a row and its actions, and replayed without any random stream.

The words are refills, such as ``BYRK/BBWW/KRRY/WWYB/RRKK`` (the factories in order, their tiles as they were drawn;
those that get nothing are left out), and actions in their notation.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from mozaic_env.core.contract import CHANCE
from mozaic_env.core.game import Game
from mozaic_env.core.record import Record
from mozaic_env.core.replay import RESULT, begin, first_row, replay_words, require
from mozaic_env.games.crystal_mosaic import rules
from mozaic_env.games.crystal_mosaic.actions import COLOURS, PER_FACTORY
from mozaic_env.games.crystal_mosaic.position import counts


def write(game: Game, start: np.void, actions: Sequence[int], header: Mapping[str, Any], ending: str) -> Record:
    """See `mozaic_env.core.game.Game.write_record`."""
    row, facts = begin(game, start, header)
    words: list[str] = []
    for action in actions:
        _deal(row, words)
        words.append(game.format_action(action))
        rules.apply(row, action)
    _deal(row, words)
    if ending != "running":
        facts[RESULT] = _result(row)
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


def replay(game: Game, record: Record) -> Iterator[tuple[str, np.void]]:
    """See `mozaic_env.core.game.Game.replay`."""
    require(game, record)
    yield from replay_words(record, first_row(game, record), partial(_play_word, game), _result)


def _play_word(game: Game, row: np.void, word: str, _is_last: bool) -> None:
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
