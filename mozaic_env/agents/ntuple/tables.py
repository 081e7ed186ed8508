"""Tables on disk: a folder with the weights as safetensors and a JSON card that says what they are for.

    card.json              format, kind, game, features, temperature, training, decisions, seed, results
    tables.safetensors     policy and value, float32, one weight for each feature

Tables fit every variant of their game; the card names the one that they were trained on. Needs safetensors, not torch.
"""

import hashlib
import json
from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mozaic_env import __version__
from mozaic_env.agents.policy.folders import BEST, CARD, CHECKPOINTS, FINAL
from mozaic_env.core.afterstates import WEIGHT, Weights, features_of
from mozaic_env.core.extras import need
from mozaic_env.core.game import Game
from mozaic_env.core.storage.folders import aside, whole_folder, write_folder
from mozaic_env.core.text.files import read_text, user_path

FORMAT, KIND, TABLES = 1, "ntuple", "tables.safetensors"

Card = dict[str, Any]


class Tables(NamedTuple):
    """What a folder held."""

    card: Card
    weights: Weights

    @property
    def temperature(self) -> float:
        """At which training ended, in points."""
        return float(self.card["temperature"])


def save(
    folder: str | Path,
    weights: Weights,
    game: Game,
    *,
    temperature: float,
    decisions: int,
    seed: int,
    training: Mapping[str, Any] | None = None,
    results: Mapping[str, Any] | None = None,
) -> Card:
    """Writes tables, whole or not at all; ones that are there already are replaced.

    Args:
        folder: where to; its parent exists.
        weights: of type `mozaic_env.core.afterstates.WEIGHT`.
        game: that they were trained on.
        temperature: of the policy, in points.
        decisions: that they were trained on.
        seed: of the run.
        training: the run's configuration, plain data.
        results: what is known of their strength, plain data.

    Returns:
        The card.

    Raises:
        ValueError: the folder exists and holds no tables.
        OSError: it can't be written; what was there still is.
    """
    need("saving tables", "safetensors")
    import safetensors.numpy

    folder = user_path(folder)
    if folder.exists() and not holds_tables(folder) and (not folder.is_dir() or any(folder.iterdir())):
        raise ValueError(f"{folder} exists and holds no tables; choose another path or move it away")
    content = safetensors.numpy.save({name: np.ascontiguousarray(weights[name]) for name in WEIGHT.names or ()})
    card = {
        "format": FORMAT,
        "kind": KIND,
        "game": {"name": game.name, "options": game.options},
        "features": len(weights),
        "temperature": float(temperature),
        "weights": {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)},
        "decisions": int(decisions),
        "seed": int(seed),
        "training": dict(training or {}),
        "results": dict(results or {}),
        "versions": {"mozaic_env": __version__, "numpy": np.__version__},
        "written": datetime.now(timezone.utc).isoformat(timespec="seconds"),
    }
    text = json.dumps(card, indent=1, allow_nan=False) + "\n"
    write_folder(folder, {TABLES: content, CARD: text.encode()})
    return card


def holds_tables(path: str | Path) -> bool:
    """Whether a path is a checkpoint of tables, or a run that keeps such; looks at names alone."""
    return _find(user_path(path)) is not None


def _find(path: Path) -> Path | None:
    for folder in (path, path / BEST, path / FINAL):
        if whole_folder(folder, TABLES) is not None:
            return whole_folder(folder, TABLES)
    kept = sorted(file.parent for file in (path / CHECKPOINTS).glob(f"[!.]*/{TABLES}"))  # named by their decisions
    return kept[-1] if kept else None


def resolve(path: str | Path) -> Path:
    """The folder of the tables that a path stands for: of a run its best, else its final, else its latest ones.

    Raises:
        ValueError: there are none.
    """
    path = user_path(path)
    found = _find(path)
    if found is None:
        what = "holds no tables" if path.is_dir() or aside(path).is_dir() else "is no folder"
        raise ValueError(f"{path} {what}; accepted: the folder of an n-tuple run or of its tables ({CARD}, {TABLES})")
    return found


def read_card(folder: str | Path) -> Card:
    """The card of tables.

    Raises:
        ValueError: it is missing, damaged, or of a newer format.
    """
    file = user_path(folder) / CARD
    try:
        card: Card = json.loads(read_text(file))
        known = card["format"] <= FORMAT and card["kind"] == KIND
        parts = card["game"]["name"], card["weights"]["sha256"], float(card["temperature"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"{file} is damaged ({error}); restore it or train again") from None
    if not known or not all(isinstance(part, str) for part in parts[:2]):
        raise ValueError(f"{file} has a format that this mozaic_env does not read; install a newer one")
    return card


def load(folder: str | Path, game: Game) -> Tables:
    """Reads tables, without running anything that they contain.

    Args:
        folder: from `resolve`.
        game: what they have to play, any variant.

    Raises:
        ValueError: they are missing, damaged, of a newer format, for another game, or made of other features.
        MissingExtra: safetensors is not installed.
    """
    need("an agent of tables", "safetensors")
    import safetensors.numpy
    from safetensors import SafetensorError

    folder, card = user_path(folder), read_card(folder)
    damaged = f"{folder} is damaged; restore it or train again"
    name = card["game"]["name"]
    if name != game.name or game.afterstate_features is None:
        raise ValueError(f"tables {folder} play {name}; asked for was {game!r}")
    try:
        content = (folder / TABLES).read_bytes()
    except OSError as error:
        raise ValueError(f"{damaged} ({error})") from None
    if hashlib.sha256(content).hexdigest() != card["weights"]["sha256"]:
        raise ValueError(f"{damaged} ({TABLES} is not what the card says)")
    try:
        columns = safetensors.numpy.load(content)
        weights = np.zeros(len(features_of(game).start()), WEIGHT)
        for column in WEIGHT.names or ():
            if columns[column].shape != weights.shape:
                raise ValueError(
                    f"tables {folder} have {len(columns[column])} features; this mozaic_env has {len(weights)}: "
                    "use the version that wrote them (see their card) or train again"
                )
            weights[column] = columns[column]
    except (SafetensorError, KeyError) as error:
        raise ValueError(f"{damaged} ({error})") from None
    return Tables(card, weights)
