"""A file of match results that grows over months: one JSON object a line."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mozaic_env.arena.results import MatchResult
from mozaic_env.core.game import Game
from mozaic_env.core.storage.files import append_lines
from mozaic_env.core.text.files import read_text, user_path


def read_results(path: str | Path) -> tuple[list[MatchResult], list[str]]:
    """The results in a file, and for each line that holds none a sentence with its number.

    A file that does not exist holds nothing.

    Raises:
        ValueError: the file cannot be read.
    """
    path = user_path(path)
    if not path.exists():
        return [], []
    try:
        text = read_text(path, errors="replace")
    except ValueError as error:
        raise ValueError(f"cannot read {path}: {error}") from None
    results, complaints = [], []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            results.append(MatchResult.from_json(json.loads(line)))
        except ValueError as error:  # also json.JSONDecodeError
            complaints.append(f"{path} line {number} is no whole result and was left out: {error}")
    return results, complaints


def append_result(path: str | Path, result: MatchResult) -> None:
    """Adds a result to the file, as `append_lines` does."""
    append_lines(path, [json.dumps(result.to_json(), ensure_ascii=False, allow_nan=False)])


def identity(
    players: Sequence[str], seed: int, max_decisions: int, game: str, options: Mapping[str, Any], seats: int = 2
) -> tuple[Any, ...]:
    """Equal for matches of which one begins with the other, at two seats the players exchanged or not."""
    return (*(sorted(players) if seats == 2 else players), seed, max_decisions, game, *sorted(options.items()))


def merge(results: Sequence[MatchResult], game: Game) -> list[MatchResult]:
    """The results that count for a game's ladder.

    Those of another game or variant are left out. Matches with the same players and seed consist
    of the same games, so of these only the longest counts, and of equally long ones the last.
    """
    kept: dict[tuple[Any, ...], MatchResult] = {}
    for result in results:
        if (result.game, result.options) == (game.name, game.options):
            seats = len(result.seats)
            key = identity(result.players, result.seed, result.max_decisions, game.name, game.options, seats)
            if key not in kept or result.games >= kept[key].games:
                kept[key] = result
    return list(kept.values())


def pairing_seed(seed: int, first: str, second: str) -> int:
    """The seed of a match in a tournament, a function of the tournament's seed and of who plays.

    Different pairings have different luck, so that their results are independent, and who else
    takes part changes nothing.
    """
    names = np.frombuffer("\n".join(sorted((first, second))).encode(), np.uint8)
    sequence = np.random.SeedSequence([seed, *map(int, names)])
    return int(sequence.generate_state(1, np.uint64)[0] >> np.uint64(1))
