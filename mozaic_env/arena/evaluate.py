"""Matches of one agent against others, and the evaluations that a run folder keeps."""

import json
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from mozaic_env import __version__
from mozaic_env.agents.base import Agent
from mozaic_env.arena.exact.regret import RegretResult
from mozaic_env.arena.match import Progress, further, play_match, whole_rotations
from mozaic_env.arena.results import MatchResult
from mozaic_env.core.storage.outputs import write_json
from mozaic_env.core.text.files import read_text, user_path

EVALUATION_FILE = "evaluation.json"  # in a run folder


def evaluate(
    agent: Agent,
    opponents: Sequence[Agent],
    games: int,
    seed: int = 0,
    *,
    progress: Progress | None = None,
    **options: Any,
) -> list[MatchResult]:
    """A match of an agent against each opponent, all with the same luck.

    Args:
        agent: who is evaluated.
        opponents: against whom.
        games: of each match, an even number; for n players rounded up to a multiple of n.
        seed: of each match.
        progress: called with the number of games done, all matches together.
        **options: more arguments of `mozaic_env.arena.match.play_match`.
    """
    results, games = [], whole_rotations(games, agent.game.num_players)
    for number, opponent in enumerate(opponents):
        report = further(progress, number * games)
        results.append(play_match(agent, opponent, games, seed, progress=report, **options))
    return results


def results_json(results: Sequence[MatchResult], regret: RegretResult | None = None) -> dict[str, Any]:
    """What results files hold; with a regret also that, the match against perfect play within it."""
    values = {
        "time": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "version": __version__,
        "results": [result.to_json() for result in results],
    }
    return values if regret is None else {**values, "regret": regret.to_json()}


def is_run_folder(path: str | Path) -> bool:
    """Whether the path is a folder that a training run left."""
    path = user_path(path)
    return any((path / name).is_file() for name in ("run.json", "config.yaml"))


def read_evaluations(run: str | Path) -> list[Any]:
    """What evaluations a run folder holds so far.

    Raises:
        ValueError: its evaluation file is damaged.
    """
    path = user_path(run) / EVALUATION_FILE
    if not path.exists():
        return []
    try:
        evaluations = json.loads(read_text(path))
    except ValueError as error:  # also json.JSONDecodeError
        raise ValueError(f"cannot read {path}: {error}; move it away to begin a new one") from None
    if not isinstance(evaluations, list):
        raise ValueError(f"{path} is not a JSON list of evaluations; move it away to begin a new one")
    return evaluations


def append_evaluation(run: str | Path, results: Sequence[MatchResult], regret: RegretResult | None = None) -> None:
    """Adds results to those in a run folder, atomically."""
    write_json(user_path(run) / EVALUATION_FILE, [*read_evaluations(run), results_json(results, regret)])
