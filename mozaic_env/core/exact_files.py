"""Exact values on disk: one safetensors file whose header holds a card; needs safetensors, of the `train` extra.

A file is replaced whole or not at all. One that is not yet solved has the same form; its card says how far it is.
"""

import hashlib
import json
import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mozaic_env.core.cache import CACHE_VARIABLE, user_cache
from mozaic_env.core.exact import TOLERANCE, ExactSolver, Tensors
from mozaic_env.core.files import write_bytes
from mozaic_env.core.game import Game

FORMAT = 1  # raised when an older reader could not make sense of a new file
_CARD = "card"

Card = dict[str, Any]


def default_file(game: Game, objective: str) -> Path | None:
    """Where the values of a variant are kept if nobody says where; None: this user has no folder for it."""
    chosen = os.environ.get(CACHE_VARIABLE)
    folder = Path(os.path.expanduser(chosen)) if chosen else user_cache()
    if folder is None:
        return None
    name = "-".join([game.name, *(f"{key}={value}" for key, value in game.options.items()), objective])
    return folder / "exact" / f"{name}.safetensors"


def can_read() -> bool:
    """Whether what reads the files is installed."""
    return find_spec("safetensors") is not None


def write(file: Path, solver: ExactSolver, sweeps: int, seconds: float) -> Card:
    """Writes what a solver has found so far.

    Args:
        file: takes the place of what is there.
        solver: whose values.
        sweeps: how many it has made.
        seconds: how long that has taken.

    Returns:
        The card.

    Raises:
        ValueError: the file can't be written; what was there is still there.
    """
    import safetensors.numpy

    tensors, error = solver.tensors(), solver.error
    card = {
        "format": FORMAT,
        "game": {"name": solver.game.name, "options": solver.game.options},
        "objective": solver.objective,
        "boards": solver.boards,
        "solved": error <= TOLERANCE,
        "error": error,
        "sweeps": sweeps,
        "seconds": round(seconds, 1),
        "start_value": solver.values(tensors, error).start_value,
        "sha256": _digest(tensors),
    }
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(file, safetensors.numpy.save(dict(tensors), {_CARD: json.dumps(card)}))
    except OSError as problem:
        raise ValueError(f"cannot write {file}: {problem.strerror}; what was there before is unharmed") from None
    return card


def read_card(file: Path, game: Game, objective: str) -> Card:
    """What a file says of itself.

    Raises:
        ValueError: there is no such file, it is damaged or something else, or it is about something else.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(file, framework="numpy") as content:
            card = json.loads((content.metadata() or {}).get(_CARD, "null"))
    except OSError as problem:
        raise ValueError(f"cannot read {file}: {problem.strerror or problem}") from None
    except (SafetensorError, json.JSONDecodeError, UnicodeDecodeError) as problem:
        raise ValueError(f"{file} is damaged, or no file of exact values: {problem}; move it away") from None
    if not isinstance(card, dict) or "sha256" not in card:
        raise ValueError(f"{file} is no file of exact values; name another, or move it away")
    if card.get("format") != FORMAT:
        raise ValueError(
            f"{file} has format {card.get('format')!r}; this package reads {FORMAT}: solve the board again"
        )
    told, asked = (card.get("game"), card.get("objective")), ({"name": game.name, "options": game.options}, objective)
    if told != asked:
        options = dict(told[0] or {}).get("options")
        raise ValueError(f"{file} has values of {options} for {told[1]}; asked for were {game!r} for {objective}")
    return card


def read(file: Path, card: Card) -> Tensors:
    """The values in a file whose card has been read; ValueError if they are damaged."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        tensors: dict[str, npt.NDArray[np.float64]] = load_file(file)
    except (OSError, SafetensorError) as problem:
        raise ValueError(f"cannot read {file}: {problem}; move it away and solve the board again") from None
    if _digest(tensors) != card["sha256"]:
        raise ValueError(
            f"{file} is damaged: its values are not those of its card; delete it and solve the board again"
        )
    return tensors


def _digest(tensors: Tensors) -> str:
    digest = hashlib.sha256()
    for name, tensor in sorted(tensors.items()):
        digest.update(f"{name} {tensor.dtype} {tensor.shape}".encode())
        digest.update(np.ascontiguousarray(tensor).data)
    return digest.hexdigest()
