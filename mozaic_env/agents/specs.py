"""Agents by name: a short string that evaluate, tournament, play and the environments all take.

A spec is a name, then a colon and options: ``expectimax:depth=3``. A policy is the path of its folder, then a comma and
options: ``runs/quick,sample=1``. `mozaic_env.agents.names` says which is which.
"""

import inspect
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mozaic_env.agents.base import Agent
from mozaic_env.agents.names import (
    CHAMPION,
    MODULES,
    NTUPLE,
    PERFECT,
    POLICY,
    ROLLOUT,
    Spec,
    is_agent,
    policy_folder,
    read_spec,
)
from mozaic_env.agents.ntuple.tables import holds_tables
from mozaic_env.core.exact import MARGIN
from mozaic_env.core.extras import need
from mozaic_env.core.game import Game
from mozaic_env.core.text.files import user_path
from mozaic_env.core.text.suggest import did_you_mean

AgentSpec = str | os.PathLike[str] | Agent


def make_agent(spec: AgentSpec, game: Game) -> Agent:
    """An agent from its spec, or an agent as it is.

    Args:
        spec: what `mozaic_env.agents.names.FORMS` lists, the path of a folder, or an `Agent`.
        game: what it is to play.

    Raises:
        ValueError: no such agent or option, or the agent is for another game or variant.
        MissingExtra: it is a policy, and torch or safetensors is not installed; or it plays by a file of exact
            values, and safetensors is not.
    """
    if isinstance(spec, Agent):
        if spec.game != game:
            raise ValueError(f"agent {spec.name!r} plays {spec.game!r}; this is {game!r}")
        return spec
    read = read_spec(spec, game)
    text = read.text if isinstance(spec, os.PathLike) else spec
    if read.is_network:
        need(f"agent {text!r}", *MODULES)
    maker = _greedy if read.name in game.heuristics else _MAKERS[read.name]
    agent = maker(game, text, read)
    agent.name = re.sub(r"[\s|]+", "_", read.text)  # one word, as records have it
    return agent


def _read(spec: str, words: Sequence[str], accepted: dict[str, Callable[[str], Any]]) -> dict[str, Any]:
    """Options from ``key=value`` words; ValueError names the one that is wrong."""
    options: dict[str, Any] = {}
    for word in words:
        key, equals, text = word.partition("=")
        if not equals or key not in accepted or key in options:
            raise ValueError(
                f"agent {spec!r}: {word!r}; accepted options, each once: "
                + (", ".join(f"{name}=..." for name in accepted) or "none")
                + ("" if key in accepted else did_you_mean(key, accepted))
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


def _weight(text: str) -> float:
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", text):
        raise ValueError("expected a number of at least 0, such as 0.5")
    return float(text)


def _search(text: str) -> str:
    if text not in ("0", "1", "draws"):
        raise ValueError("expected 0, 1 or draws")
    return text


def _flag(text: str) -> bool:
    if text not in ("0", "1"):
        raise ValueError("expected 0 or 1")
    return text == "1"


def _heuristic(game: Game) -> Callable[[str], str]:
    """Reads the name of one of a game's heuristics."""

    def read(text: str) -> str:
        if text not in game.heuristics:
            raise ValueError(f"accepted: {', '.join(game.heuristics)}{did_you_mean(text, game.heuristics)}")
        return text

    return read


def _random(game: Game, spec: str, read: Spec) -> Agent:
    from mozaic_env.agents.baselines import random_agent

    _read(spec, read.words, {})
    return random_agent(game)


def _greedy(game: Game, spec: str, read: Spec) -> Agent:
    from mozaic_env.agents.baselines import greedy_agent

    if read.name in game.heuristics:
        _read(spec, read.words, {})
        return greedy_agent(game, read.name)
    options = _read(spec, read.words, {"heuristic": _heuristic(game)})
    if not options:
        raise ValueError(f"agent {spec!r}: {game.name} needs a heuristic=; accepted: {', '.join(game.heuristics)}")
    return greedy_agent(game, **options)


def _expectimax(game: Game, spec: str, read: Spec) -> Agent:
    from mozaic_env.agents.search.agents import ExpectimaxAgent
    from mozaic_env.agents.search.value_expectimax import ValueExpectimaxAgent

    accepted: dict[str, Callable[[str], Any]] = {"depth": _number, "heuristic": _heuristic(game), "nodes": _number}
    options = _read(spec, read.words, {**accepted, "values": str, "prior": _weight})
    try:
        if "values" not in options:
            if "prior" in options:
                raise ValueError("prior goes with values=ntuple or values=FOLDER")
            return ExpectimaxAgent(game, **options)
        if options.pop("depth", 2) != 2 or not options.keys() <= {"values", "prior"}:
            raise ValueError("values=... goes with depth=2 and prior=...")
        return ValueExpectimaxAgent(game, _tables(game, spec, options.pop("values")), **options)
    except ValueError as error:
        raise ValueError(f"agent {spec!r}: {error}") from None


def _alphabeta(game: Game, spec: str, read: Spec) -> Agent:
    from mozaic_env.agents.search.alphabeta import AlphaBetaAgent

    options = _read(spec, read.words, {"depth": _number, "nodes": _number, "seconds": _seconds})
    try:
        return AlphaBetaAgent(game, **options)
    except ValueError as error:
        raise ValueError(f"agent {spec!r}: {error}") from None


def _lookahead(game: Game, spec: str, read: Spec) -> Agent:
    from mozaic_env.agents.search.agents import LookaheadAgent

    options = _read(spec, read.words, {"depth": _number, "width": _number, "heuristic": _heuristic(game)})
    try:
        return LookaheadAgent(game, read.name, **options)
    except ValueError as error:
        raise ValueError(f"agent {spec!r}: {error}") from None


def _perfect(game: Game, spec: str, read: Spec) -> Agent:
    from mozaic_env.agents.exact.perfect import PerfectAgent

    options = _read(spec, read.words, {"objective": str, "values": user_path})
    try:
        return PerfectAgent(game, objective=options.get("objective", MARGIN), file=options.get("values"))
    except ValueError as error:
        raise ValueError(f"agent {spec!r}: {error}") from None


def _mcts(game: Game, spec: str, read: Spec) -> Agent:
    from mozaic_env.agents.search.mcts import MctsAgent

    options = _read(spec, read.words, {"simulations": _number, "heuristic": _heuristic(game), "policy": str})
    if "policy" in options:
        from mozaic_env.agents.policy.agent import PolicyAgent
        from mozaic_env.agents.policy.checkpoint import load, resolve
        from mozaic_env.agents.policy.search import OutcomeEstimator, RewardWeights

        folder = policy_folder(options["policy"], spec)
        checkpoint = load(champion_folder(spec, game) if folder is None else resolve(folder), game)
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
    from mozaic_env.agents.policy.checkpoint import read_card

    folder = game.champion
    if folder is None:
        raise ValueError(f"agent {spec!r}: none is shipped for {game!r}; train one: python -m training.train --help")
    options = read_card(folder)["game"]["options"]
    if options != game.options:
        trained_for = type(game)(**options)
        raise ValueError(f"agent {spec!r} plays {trained_for!r}; this is {game!r}, for which one has yet to be trained")
    return folder


def _champion(game: Game, spec: str, read: Spec) -> Agent:
    return _of_checkpoint(game, spec, champion_folder(spec, game), read.words)


def _policy(game: Game, spec: str, read: Spec) -> Agent:
    if read.folder is not None and holds_tables(read.folder):
        return _of_tables(game, spec, read.folder, read.words)
    return _of_checkpoint(game, spec, read.folder or Path(), read.words)


def _ntuple(game: Game, spec: str, read: Spec) -> Agent:
    return _of_tables(game, spec, tables_folder(spec, game), read.words)


def tables_folder(spec: str, game: Game) -> Path:
    """The tables that the package brings for a game, whatever the variant.

    Raises:
        ValueError: it brings none.
    """
    folder = Path(inspect.getfile(type(game))).with_name(NTUPLE)
    if not folder.is_dir():
        raise ValueError(f"agent {spec!r}: no tables are shipped for {game.name}; see python -m training.ntuple --help")
    return folder


def _of_tables(game: Game, spec: str, folder: Path, words: Sequence[str]) -> Agent:
    from mozaic_env.agents.ntuple.agent import NTupleAgent

    return NTupleAgent.load(folder, game, **_read(spec, words, {"sample": _flag}))


def _rollout(game: Game, spec: str, read: Spec) -> Agent:
    from mozaic_env.agents.search.rollout_agent import RolloutAgent

    accepted: dict[str, Callable[[str], Any]] = {"policy": str, **_ROLLOUTS, "width": _number}
    options = _read(spec, read.words, accepted)
    weights = _rollout_weights(game, spec, "policy", options.pop("policy", NTUPLE))
    try:
        return RolloutAgent(game, weights, **options)
    except ValueError as error:
        raise ValueError(f"agent {spec!r}: {error}") from None


def _rollout_weights(game: Game, spec: str, option: str, policy: str) -> Any:
    """Weights of the compiled policy that an option names: tables, or a heuristic.

    Raises:
        ValueError: it names neither.
    """
    if policy == NTUPLE or not is_agent(policy):
        return _tables(game, spec, policy)
    if policy in game.heuristics:
        return np.array(game.heuristics[policy])
    raise ValueError(
        f"agent {spec!r}: {option}={policy!r}; accepted: {NTUPLE}, the folder of n-tuple tables, "
        + ", ".join(game.heuristics)
    )


def _tables(game: Game, spec: str, name: str) -> Any:
    """Weights of the shipped tables (`NTUPLE`) or of those in a folder."""
    from mozaic_env.agents.ntuple.tables import load, resolve

    return load(resolve(tables_folder(spec, game) if name == NTUPLE else user_path(name)), game).weights


def _of_checkpoint(game: Game, spec: str, folder: Path, words: Sequence[str]) -> Agent:
    from mozaic_env.agents.policy.agent import PolicyAgent

    accepted: dict[str, Callable[[str], Any]] = {"sample": _flag, "search": _search, "candidates": _number}
    accepted |= {"rollouts": str, **_ROLLOUTS}
    options = _read(spec, words, accepted)
    sample, search = options.pop("sample", False), options.pop("search", "0")
    if sample and search != "0":
        raise ValueError(f"agent {spec!r}: search={search} takes the best action, so it does not go with sample=1")
    if search == "0":
        if options:
            raise ValueError(f"agent {spec!r}: {next(iter(options))} goes with search=1")
        return PolicyAgent.load(folder, game, sample=sample)
    if search == "1" and (game.afterstate_features is not None or "rollouts" in options):
        from mozaic_env.agents.policy.rollout_search import PolicyRolloutAgent

        weights = _rollout_weights(game, spec, "rollouts", options.pop("rollouts", NTUPLE))
        return PolicyRolloutAgent(PolicyAgent.load(folder, game), weights, **options)
    from mozaic_env.agents.policy.search import PolicySearchAgent

    wrong = next((name for name in options if name != "candidates"), None)
    if wrong is not None:
        raise ValueError(f"agent {spec!r}: {wrong} goes with search=1 and rollouts=HEURISTIC")
    return PolicySearchAgent.load(folder, game, **options)


_ROLLOUTS: dict[str, Callable[[str], Any]] = {"samples": _number, "depth": _number, "prior": _weight}
_MAKERS: dict[str, Callable[[Game, str, Spec], Agent]] = {
    "random": _random,
    "greedy": _greedy,
    "expectimax": _expectimax,
    "alphabeta": _alphabeta,
    "paranoid": _lookahead,
    "maxn": _lookahead,
    CHAMPION: _champion,
    "mcts": _mcts,
    PERFECT: _perfect,
    NTUPLE: _ntuple,
    ROLLOUT: _rollout,
    POLICY: _policy,
}
