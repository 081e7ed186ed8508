"""Exact values on disk: one safetensors file whose header holds a card; needs safetensors, of the `train` extra.

A file is replaced whole or not at all. One that is not yet solved has the same form; its card says how far it is.
"""

import hashlib
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mozaic_env.core.exact import TOLERANCE, ExactSolver, ExactValues, Tensors
from mozaic_env.core.extras import need
from mozaic_env.core.game import Game
from mozaic_env.core.storage.cache import CACHE_VARIABLE, chosen_folder, user_cache
from mozaic_env.core.storage.files import write_bytes

FORMAT = 1  # raised when an older reader could not make sense of a new file
_CARD = "card"
_TYPES = {  # of what a card says
    "game": dict,
    "objective": str,
    "boards": int,
    "solved": bool,
    "error": float,
    "sweeps": int,
    "seconds": float,
    "start_value": float,
    "sha256": str,
}

Card = dict[str, Any]


def default_file(game: Game, objective: str) -> Path | None:
    """Where the values of a variant are kept if nobody says where; None: this user has no folder for it."""
    chosen = chosen_folder(CACHE_VARIABLE)
    folder = user_cache() if chosen is None else chosen[1]
    if folder is None:
        return None
    name = "-".join([game.name, *(f"{key}={value}" for key, value in game.options.items()), objective])
    return folder / "exact" / f"{name}.safetensors"


def need_safetensors() -> None:
    """MissingExtra if what reads and writes the files is not installed."""
    need("a file of exact values", "safetensors")


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
        MissingExtra: safetensors is not installed.
    """
    need_safetensors()
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
        MissingExtra: safetensors is not installed.
    """
    need_safetensors()
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(file, framework="numpy") as content:
            card = json.loads((content.metadata() or {}).get(_CARD, "null"))
    except OSError as problem:
        raise ValueError(f"cannot read {file}: {problem.strerror or problem}") from None
    except (SafetensorError, ValueError) as problem:  # the latter of the card
        raise ValueError(f"{file} is damaged, or no file of exact values: {problem}; move it away") from None
    if not isinstance(card, dict) or type(card.get("format")) is not int:
        raise ValueError(f"{file} is no file of exact values; name another, or move it away")
    if card["format"] != FORMAT:
        raise ValueError(f"{file} has format {card['format']}; this package reads {FORMAT}: solve the board again")
    for key, kind in _TYPES.items():
        if type(card.get(key)) is not kind or (kind is float and not math.isfinite(card[key])):
            found = f"{key} {str(card[key])[:40]!r}" if key in card else f"no {key}"
            raise ValueError(f"{file} is no file of exact values: its card has {found}; name another, or move it away")
    told, asked = (card["game"], card["objective"]), ({"name": game.name, "options": game.options}, objective)
    if told != asked:
        options = card["game"].get("options")
        raise ValueError(f"{file} has values of {options} for {told[1]}; asked for were {game!r} for {objective}")
    return card


def read(file: Path, card: Card, solver: ExactSolver) -> tuple[Tensors, ExactValues]:
    """The values in a file whose card has been read, as they are kept and as the solver of the variant reads them.

    Raises:
        ValueError: they are damaged, or not those of the variant.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        tensors: dict[str, npt.NDArray[np.float64]] = load_file(file)
    except (OSError, SafetensorError) as problem:
        raise _damaged(file, str(problem)) from None
    if _digest(tensors) != card["sha256"]:
        raise _damaged(file, "its values are not those of its card")
    for name, tensor in tensors.items():
        if tensor.dtype != np.float64 or not np.isfinite(tensor).all():
            raise _damaged(file, f"{name!r} has {tensor.dtype} or values that are not finite; accepted: finite float64")
    try:
        return tensors, solver.values(tensors, card["error"])
    except ValueError as problem:
        raise _damaged(file, str(problem)) from None


def _damaged(file: Path, why: str) -> ValueError:
    return ValueError(f"{file} is damaged: {why}; move it away and solve the board again")


def _digest(tensors: Tensors) -> str:
    digest = hashlib.sha256()
    for name, tensor in sorted(tensors.items()):
        digest.update(f"{name} {tensor.dtype} {tensor.shape}".encode())
        digest.update(np.ascontiguousarray(tensor).data)
    return digest.hexdigest()
