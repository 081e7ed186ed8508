"""Agents by name: a short string that evaluate, tournament, play and the environments all take.

A spec is a name, then a colon and options: ``expectimax:depth=3``. A policy names its folder first:
``policy:runs/quick,sample=1``; a folder's path alone means the same.
"""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mozaic_env.agents.base import Agent
from mozaic_env.core.exact import MARGIN
from mozaic_env.core.game import Game

Options = dict[str, str]
CHAMPION = "champion"
FORMS = (
    "random",
    "greedy, pattern or another heuristic of the game",
    "expectimax[:depth=1..4,heuristic=NAME,nodes=N]",
    "alphabeta[:depth=N,nodes=N,seconds=S], in games without chance that offer whole moves",
    "paranoid or maxn[:depth=1..8,width=N,heuristic=NAME], which look no further than the next chance",
    "champion[:sample=0|1,search=0|1,candidates=N], trained and shipped with the package",
    "mcts[:simulations=N,heuristic=NAME,policy=FOLDER|champion]",
    "perfect[:objective=margin|outcome,values=FILE], on boards small enough to be solved",
    "policy:FOLDER[,sample=0|1,search=0|1,candidates=N] or just FOLDER, of a run or a checkpoint",
)


def make_agent(spec: str | Agent, game: Game) -> Agent:
    """An agent from its spec, or an agent as it is.

    Args:
        spec: what `FORMS` lists, or an `Agent`.
        game: what it is to play.

    Raises:
        ValueError: no such agent or option, or the agent is for another game or variant.
    """
    if isinstance(spec, Agent):
        if spec.game != game:
            raise ValueError(f"agent {spec.name!r} plays {spec.game!r}; this is {game!r}")
        return spec
    if not isinstance(spec, str) or not spec.strip():
        raise ValueError(f"agent {spec!r}; accepted: an Agent, or a string: {'; '.join(FORMS)}")
    name, _, rest = spec.strip().partition(":")
    words = [word for word in rest.split(",") if word]
    if name in game.heuristics:
        name, words = "greedy", [*words, f"heuristic={name}"]
    elif name not in _MAKERS and is_folder(spec):
        name, words = "policy", [*spec.strip().split(",")]
    if name not in _MAKERS:
        raise ValueError(f"unknown agent {spec!r}; accepted: {'; '.join(FORMS)}")
    agent = _MAKERS[name](game, spec, words)
    agent.name = re.sub(r"[\s|]+", "_", spec.strip())  # one word, as records have it
    return agent


def is_folder(spec: str) -> bool:
    """Whether a spec is a path and not a name."""
    path = spec.strip().split(",")[0]
    if path.partition(":")[0] in _MAKERS:
        return False
    return os.sep in path or path.startswith(".") or os.path.isdir(path)


def _read(spec: str, words: list[str], accepted: dict[str, Callable[[str], Any]]) -> dict[str, Any]:
    """Options from ``key=value`` words; ValueError names the one that is wrong."""
    options: dict[str, Any] = {}
    for word in words:
        key, equals, text = word.partition("=")
        if not equals or key not in accepted or key in options:
            raise ValueError(
                f"agent {spec!r}: {word!r}; accepted options, each once: "
                + (", ".join(f"{name}=..." for name in accepted) or "none")
            )
        try:
            options[key] = accepted[key](text)
        except ValueError as error:
            raise ValueError(f"agent {spec!r}: {key}={text!r}: {error}") from None
    return options


def _number(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,18}", text):
        raise ValueError("expected a whole number of at most 18 digits")
    return int(text)


def _seconds(text: str) -> float:
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", text):
        raise ValueError("expected a number above 0, such as 0.5")
    return float(text)


def _flag(text: str) -> bool:
    if text not in ("0", "1"):
        raise ValueError("expected 0 or 1")
    return text == "1"


def _random(game: Game, spec: str, words: list[str]) -> Agent:
    from mozaic_env.agents.builtin import random_agent

    _read(spec, words, {})
    return random_agent(game)


def _greedy(game: Game, spec: str, words: list[str]) -> Agent:
    from mozaic_env.agents.builtin import greedy_agent

    return greedy_agent(game, _read(spec, words, {"heuristic": str})["heuristic"])


def _expectimax(game: Game, spec: str, words: list[str]) -> Agent:
    from mozaic_env.agents.search import ExpectimaxAgent

    options = _read(spec, words, {"depth": _number, "heuristic": str, "nodes": _number})
    try:
        return ExpectimaxAgent(game, **options)
    except ValueError as error:
        raise ValueError(f"agent {spec!r}: {error}") from None


def _alphabeta(game: Game, spec: str, words: list[str]) -> Agent:
    from mozaic_env.agents.alphabeta import AlphaBetaAgent

    options = _read(spec, words, {"depth": _number, "nodes": _number, "seconds": _seconds})
    try:
        return AlphaBetaAgent(game, **options)
    except ValueError as error:
        raise ValueError(f"agent {spec!r}: {error}") from None


def _lookahead(game: Game, spec: str, words: list[str]) -> Agent:
    from mozaic_env.agents.search import LookaheadAgent

    options = _read(spec, words, {"depth": _number, "width": _number, "heuristic": str})
    try:
        return LookaheadAgent(game, spec.strip().partition(":")[0], **options)
    except ValueError as error:
        raise ValueError(f"agent {spec!r}: {error}") from None


def _perfect(game: Game, spec: str, words: list[str]) -> Agent:
    from mozaic_env.agents.exact.perfect import PerfectAgent

    options = _read(spec, words, {"objective": str, "values": str})
    try:
        return PerfectAgent(game, objective=options.get("objective", MARGIN), file=options.get("values"))
    except ValueError as error:
        raise ValueError(f"agent {spec!r}: {error}") from None


def _mcts(game: Game, spec: str, words: list[str]) -> Agent:
    from mozaic_env.agents.mcts import MctsAgent

    options = _read(spec, words, {"simulations": _number, "heuristic": str, "policy": str})
    if "policy" in options:
        from mozaic_env.agents.checkpoint import load, resolve
        from mozaic_env.agents.policy import PolicyAgent
        from mozaic_env.agents.policy_search import OutcomeEstimator, RewardWeights

        name = options["policy"]
        checkpoint = load(champion_folder(spec, game) if name == CHAMPION else resolve(name), game)
        weights = RewardWeights(checkpoint.card.get("training") or {})
        options["policy"] = OutcomeEstimator(PolicyAgent(game, checkpoint.network), weights)
    try:
        return MctsAgent(game, **options)
    except ValueError as error:
        raise ValueError(f"agent {spec!r}: {error}") from None


def champion_folder(spec: str, game: Game) -> Path:
    """The checkpoint that the package brings for a game.

    Raises:
        ValueError: it brings none for this game or variant.
    """
    from mozaic_env.agents.checkpoint import read_card

    folder = game.champion
    if folder is None:
        raise ValueError(f"agent {spec!r}: none is shipped for {game!r}; train one: python -m training.train --help")
    options = read_card(folder)["game"]["options"]
    if options != game.options:
        trained_for = type(game)(**options)
        raise ValueError(f"agent {spec!r} plays {trained_for!r}; this is {game!r}, for which one has yet to be trained")
    return folder


def _champion(game: Game, spec: str, words: list[str]) -> Agent:
    return _of_checkpoint(game, spec, champion_folder(spec, game), words)


def _policy(game: Game, spec: str, words: list[str]) -> Agent:
    if not words or "=" in words[0]:
        raise ValueError(f"agent {spec!r}: name the folder first, as in policy:runs/quick,sample=1")
    return _of_checkpoint(game, spec, words[0], words[1:])


def _of_checkpoint(game: Game, spec: str, folder: str | Path, words: list[str]) -> Agent:
    from mozaic_env.agents.policy import PolicyAgent

    options = _read(spec, words, {"sample": _flag, "search": _flag, "candidates": _number})
    sample, search = options.pop("sample", False), options.pop("search", False)
    if sample and search:
        raise ValueError(f"agent {spec!r}: search=1 takes the best action, so it does not go with sample=1")
    if search:
        from mozaic_env.agents.policy_search import PolicySearchAgent

        return PolicySearchAgent.load(folder, game, **options)
    if options:
        raise ValueError(f"agent {spec!r}: candidates goes with search=1")
    return PolicyAgent.load(folder, game, sample=sample)


_MAKERS: dict[str, Callable[[Game, str, list[str]], Agent]] = {
    "random": _random,
    "greedy": _greedy,
    "expectimax": _expectimax,
    "alphabeta": _alphabeta,
    "paranoid": _lookahead,
    "maxn": _lookahead,
    CHAMPION: _champion,
    "mcts": _mcts,
    "perfect": _perfect,
    "policy": _policy,
}
