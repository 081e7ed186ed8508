"""Checkpoints: a folder with the weights as safetensors and a JSON card that says what they fit.

Nothing here unpickles: reading a checkpoint from a stranger runs none of their code. Needs torch
and safetensors, not stable-baselines3.

    card.json             format, game, layout and its hash, network, training, steps, seed,
    versions, results policy.safetensors    the network's parameters by name
"""

import hashlib
import json
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from mozaic_env import __version__
from mozaic_env.agents.policy.folders import BEST, CARD, CHECKPOINTS, FINAL, WEIGHTS
from mozaic_env.agents.policy.network import NetworkConfig
from mozaic_env.agents.policy.networks import Network, config_of, describe, make_network
from mozaic_env.core.extras import importing
from mozaic_env.core.game import Game
from mozaic_env.core.storage.folders import aside, whole_folder, write_folder
from mozaic_env.core.text.files import read_text, user_path
from mozaic_env.games import make_game

with importing("a policy"):
    import safetensors
    import safetensors.torch
    import torch


FORMAT = 1  # raised when an older reader could not make sense of a new card
PACKAGES = (
    "torch",
    "numpy",
    "numba",
    "gymnasium",
    "safetensors",
    "stable-baselines3",
    "sb3-contrib",
    "ray",
)

Card = dict[str, Any]


@dataclass(frozen=True)
class Checkpoint:
    """What a folder held.

    Attributes:
        folder: where it was read from.
        card: its card.
        game: what it plays.
        network: with its weights, in evaluation mode.
    """

    folder: Path
    card: Card
    game: Game
    network: Network


def versions() -> dict[str, str]:
    """The versions of Python and of the packages that decide what a run gives, as far as they are installed."""
    found = {"python": platform.python_version(), "mozaic_env": __version__}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def describe_layout(game: Game) -> dict[str, Any]:
    """The observation and action layout as plain data, with a hash over it.

    The hash covers each entry's key, shape, dtype and bounds, and each action's notation and
    place. It does not cover what an entry means: whoever changes that renames the entry.
    """
    entries = [
        {
            "key": f.key,
            "shape": list(f.shape),
            "dtype": f.dtype.__name__,
            "high": None if f.high is None else list(f.high),
        }
        for f in game.fields
    ]
    places = None if game.board_layout is None else game.board_layout.planes.tolist()
    actions = [_notation(game, action) for action in range(game.num_actions)]
    text = json.dumps([entries, places, actions], separators=(",", ":"))
    return {
        "observation": entries,
        "actions": game.num_actions,
        "hash": hashlib.sha256(text.encode()).hexdigest(),
    }


def _notation(game: Game, action: int) -> str | None:
    try:
        return game.format_action(action)
    except ValueError:
        return None  # an id that exists for regularity and is never legal


def save(
    folder: str | Path,
    network: Network,
    game: Game,
    *,
    steps: int,
    seed: int,
    training: Mapping[str, Any] | None = None,
    results: Mapping[str, Any] | None = None,
) -> Card:
    """Writes a checkpoint, whole or not at all; one that is there already is replaced.

    Args:
        folder: where to; its parent exists.
        network: the weights.
        game: what it plays.
        steps: decisions that it was trained on.
        seed: of the training run.
        training: the run's configuration, plain data.
        results: what is known of its strength, plain data.

    Returns:
        The card.

    Raises:
        ValueError: the folder exists and is no checkpoint.
        OSError: it can't be written; a checkpoint that was there still is.
    """
    folder = user_path(folder)
    if folder.exists() and not (folder / CARD).is_file() and (not folder.is_dir() or any(folder.iterdir())):
        raise ValueError(f"{folder} exists and is no checkpoint; choose another path or move it away")
    tensors = {key: tensor.detach().cpu().contiguous() for key, tensor in network.state_dict().items()}
    weights = safetensors.torch.save(tensors)
    card = {
        "format": FORMAT,
        "game": {"name": game.name, "options": game.options},
        "layout": describe_layout(game),
        "network": describe(network),
        "weights": {"sha256": hashlib.sha256(weights).hexdigest(), "bytes": len(weights)},
        "steps": int(steps),
        "seed": int(seed),
        "training": dict(training or {}),
        "results": dict(results or {}),
        "versions": versions(),
        "written": datetime.now(timezone.utc).isoformat(timespec="seconds"),
    }
    text = json.dumps(card, indent=1, allow_nan=False) + "\n"
    write_folder(folder, {WEIGHTS: weights, CARD: text.encode()})
    return card


def resolve(path: str | Path) -> Path:
    """The checkpoint folder that a path stands for.

    A run folder stands for its best checkpoint, else its final one, else the one with the most
    steps in ``checkpoints/``.

    Raises:
        ValueError: there is none.
    """
    path = user_path(path)
    if not path.is_dir() and not aside(path).is_dir():
        what = "is a file" if path.exists() else "does not exist"
        raise ValueError(f"{path} {what}; accepted: the folder of a run or of a checkpoint ({CARD} and {WEIGHTS})")
    for folder in (path, path / BEST, path / FINAL):
        whole = whole_folder(folder, CARD)
        if whole is not None:
            return whole
    kept = [card.parent for card in (path / CHECKPOINTS).glob(f"[!.]*/{CARD}")]
    if kept:
        return max(kept, key=lambda folder: int(read_card(folder)["steps"]))
    if (path / WEIGHTS).exists():
        raise ValueError(f"{path} holds {WEIGHTS} but no {CARD}; a checkpoint needs both")
    raise ValueError(
        f"{path} holds no checkpoint: neither {CARD} and {WEIGHTS} "
        f"nor a folder {BEST}/, {FINAL}/ or {CHECKPOINTS}/ with them"
    )


def read_card(folder: str | Path) -> Card:
    """A checkpoint's card.

    Raises:
        ValueError: there is none, it is damaged, or a newer version wrote it.
    """
    file = user_path(folder) / CARD
    try:
        text = read_text(file)
    except ValueError as error:
        raise ValueError(f"{file} can't be read: {error}; a checkpoint is a folder with {CARD} and {WEIGHTS}") from None
    try:
        card = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError(f"{file} is damaged: it is not JSON; restore it or train again") from None
    number = card.get("format") if isinstance(card, dict) else None
    if type(number) is not int:
        raise ValueError(f"{file} is no checkpoint card: it has no format number")
    if number < 1:
        raise ValueError(f"{file} has format {number}; formats are numbered from 1")
    if number > FORMAT:
        raise ValueError(
            f"{file} has format {number}, and this mozaic_env reads up to {FORMAT}; "
            "install a newer mozaic_env to read it"
        )
    for key, kind in (
        ("game", dict),
        ("layout", dict),
        ("network", dict),
        ("weights", dict),
        ("steps", int),
    ):
        if not isinstance(card.get(key), kind) or isinstance(card[key], bool):
            raise ValueError(f"{file} is damaged: {key} is missing or not of its kind; restore it or train again")
    reward = (card["training"] or {}).get("reward") if isinstance(card.get("training"), dict) else None
    weights = list(reward.values()) if isinstance(reward, dict) else []
    for key, fine in (
        ("game.options", isinstance(card["game"].get("options", {}), dict)),
        ("training", isinstance(card.get("training") or {}, dict)),
        ("training.reward", isinstance(reward or {}, dict) and all(type(w) in (int, float) for w in weights)),
    ):
        if not fine:
            raise ValueError(f"{file} is damaged: {key} is not of its kind; restore it or train again")
    return card


def load(folder: str | Path, game: Game | None = None, device: str = "cpu") -> Checkpoint:
    """Reads a checkpoint, without running anything that it contains.

    Args:
        folder: of the checkpoint; see `resolve` for run folders.
        game: what it has to play; None: whatever its card says.
        device: where to put the network.

    Raises:
        ValueError: it is missing, damaged, or for another game, variant or layout than this
            package's.
    """
    folder = user_path(folder)
    card = read_card(folder)
    try:
        own = make_game(str(card["game"].get("name")), **card["game"].get("options", {}))
    except (TypeError, ValueError) as error:
        raise ValueError(f"{folder / CARD} names a game that is not here: {error}") from None
    if game is not None and own != game:
        raise ValueError(f"checkpoint {folder} plays {own!r}; asked for was {game!r}")
    _check_layout(folder, card, own)
    try:
        config = config_of(card["network"], own)
    except ValueError as error:
        raise ValueError(f"{folder / CARD}: {error}") from None
    tensors = _read_weights(folder / WEIGHTS, card)
    network = _fill(folder / WEIGHTS, tensors, own, config)
    return Checkpoint(folder, card, own, network.to(device).eval())


def _check_layout(folder: Path, card: Card, game: Game) -> None:
    here, there = describe_layout(game), card["layout"]
    if there.get("hash") == here["hash"]:
        return
    entries = there.get("observation")
    ours = {entry["key"]: entry for entry in here["observation"]}
    theirs = {
        str(entry.get("key")): entry
        for entry in (entries if isinstance(entries, list) else [])
        if isinstance(entry, dict)
    }
    differing = sorted(str(key) for key in ours.keys() | theirs.keys() if ours.get(key) != theirs.get(key))
    what = (
        f"observation entries {', '.join(differing)} differ"
        if differing
        else "the order of entries or the actions differ"
    )
    raise ValueError(
        f"checkpoint {folder} was made for another layout of observations and actions: {what}; "
        "use the version of mozaic_env that wrote it (see versions in its card) or train again"
    )


def _read_weights(file: Path, card: Card) -> dict[str, torch.Tensor]:
    """The tensors of a safetensors file; a pickle is refused by its first bytes."""
    try:
        content = file.read_bytes()
    except OSError as error:
        raise ValueError(
            f"{file} can't be read: {error.strerror}; a checkpoint is a folder with {CARD} and {WEIGHTS}"
        ) from None
    if content[:2] == b"PK" or content[:1] == b"\x80":
        raise ValueError(f"{file} is a pickle, not safetensors; it was not read, because a pickle can run any program")
    damaged = f"{file} is damaged or cut short; restore it or train again"
    if hashlib.sha256(content).hexdigest() != card["weights"].get("sha256"):
        raise ValueError(
            f"{damaged} ({len(content)} bytes, {card['weights'].get('bytes')} expected; its hash is not the card's)"
        )
    try:
        return safetensors.torch.load(content)
    except (safetensors.SafetensorError, ValueError, KeyError) as error:
        raise ValueError(f"{damaged} ({error})") from None


def _fill(file: Path, tensors: dict[str, torch.Tensor], game: Game, config: NetworkConfig) -> Network:
    """A network with these tensors; ValueError names the first that does not fit."""
    generator = torch.get_rng_state()
    network = make_network(game, config)
    torch.set_rng_state(generator)  # the random weights it was born with cost nobody's stream
    wanted = network.state_dict()
    for key in sorted(wanted.keys() | tensors.keys()):
        if key not in tensors:
            raise ValueError(f"{file} lacks the tensor {key!r} that the card's network has; restore it or train again")
        if key not in wanted:
            raise ValueError(f"{file} has a tensor {key!r} that the card's network has not; restore it or train again")
        if tensors[key].shape != wanted[key].shape or not tensors[key].is_floating_point():
            raise ValueError(
                f"{file}: tensor {key!r} is {tensors[key].dtype} of shape {tuple(tensors[key].shape)}, "
                f"and the card's network needs {tuple(wanted[key].shape)}; restore it or train again"
            )
        if not torch.isfinite(tensors[key]).all():
            raise ValueError(f"{file}: tensor {key!r} holds numbers that are not finite; take an earlier checkpoint")
    network.load_state_dict(tensors)
    return network
