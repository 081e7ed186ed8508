"""Which agent a spec means: one rule for the command line, the environments, configurations and files.

A bare name is an agent. A path is the folder of a run or checkpoint; it is known by a separator, by ``~`` or a dot at
its start, or by being a `pathlib.Path`. So with a folder ``champion`` about, ``champion`` is the agent and
``./champion`` the folder. A bare name that no agent of any game has may be a folder's too. Results and records use the
same names.
"""

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from mozaic_env.agents.ntuple.tables import holds_tables
from mozaic_env.core.game import Game
from mozaic_env.core.text.files import user_path
from mozaic_env.core.text.suggest import did_you_mean
from mozaic_env.games import GAMES, game_class

CHAMPION, PERFECT, POLICY, NTUPLE, ROLLOUT = "champion", "perfect", "policy", "ntuple", "rollout"
MODULES = ("torch", "safetensors")  # of an extra, which networks need
AGENTS = (  # of every game
    *("random", "greedy", "expectimax", "alphabeta", "paranoid", "maxn"),
    *(CHAMPION, "mcts", PERFECT, NTUPLE, ROLLOUT),
)
FORMS = (
    "random",
    "greedy, pattern or another heuristic of the game",
    "expectimax[:depth=1..4,heuristic=NAME,nodes=N], or with learnt values [:values=ntuple|FOLDER,prior=X]",
    "alphabeta[:depth=N,nodes=N,seconds=S], in games without chance that offer whole moves",
    "paranoid or maxn[:depth=1..8,width=N,heuristic=NAME], which look no further than the next chance",
    "champion[:sample=0|1,search=0|1|draws,...], trained and shipped with the package",
    "mcts[:simulations=N,heuristic=NAME,policy=FOLDER|champion]",
    "perfect[:objective=margin|outcome,values=FILE], on boards small enough to be solved",
    "ntuple[:FOLDER][,sample=0|1], tables shipped with the package, or those of an n-tuple run",
    "rollout[:policy=ntuple|FOLDER|HEURISTIC,width=N,samples=N,depth=N,prior=X], search by a compiled policy",
    "FOLDER[,sample=0|1,search=0|1|draws,...], of a run or a checkpoint; champion is the agent, ./champion a folder",
    "with search=1: candidates=N,rollouts=ntuple|FOLDER|HEURISTIC,samples=N,depth=N,prior=X; draws: candidates=N",
)
_PATHS = {
    "policy": os.path.isdir,
    "rollouts": os.path.isdir,
    "values": os.path.isfile,
}  # options that are paths, and what is there
_SEPARATORS = tuple(filter(None, (os.sep, os.altsep)))


class Spec(NamedTuple):
    """A spec taken apart.

    Attributes:
        text: what results and records call the agent.
        name: one of `AGENTS`, a heuristic, or `POLICY`.
        folder: of a policy; None of all others.
        words: the options, ``key=value``.
    """

    text: str
    name: str
    folder: Path | None
    words: tuple[str, ...]

    @property
    def is_network(self) -> bool:
        """Whether the agent is a network, or searches with one."""
        if self.name == POLICY:
            return self.folder is None or not holds_tables(self.folder)
        return self.name == CHAMPION or (self.name == "mcts" and any(word.startswith("policy=") for word in self.words))

    @property
    def checkpoint(self) -> Path | None:
        """The folder that the agent reads, also as the policy of a search; None: it reads none that needs naming."""
        named = [word.removeprefix("policy=") for word in self.words if word.startswith("policy=")]
        if self.name == ROLLOUT and named and is_agent(named[0]):
            return None
        return policy_folder(named[0], self.text) if self.folder is None and named else self.folder


def read_spec(spec: str | os.PathLike[str], game: Game | None = None) -> Spec:
    """What a spec means.

    Args:
        spec: a name, a colon and options; or a folder, a comma and options; or a path.
        game: whose heuristics are agents; None: those of all games are.

    Raises:
        ValueError: no such agent; says what is accepted.
    """
    if isinstance(spec, os.PathLike):
        return _policy(os.fspath(spec), ())
    if not isinstance(spec, str) or not spec.strip():
        raise ValueError(
            f"agent {spec!r}; accepted: an Agent, a name such as 'greedy' or 'expectimax:depth=2', or the path of a "
            "run or checkpoint"
        )
    text = spec.strip()
    name, _, rest = text.partition(":")
    if name == POLICY:
        folder, words = split_folder(rest)
        if not folder or ("=" in folder and not is_path(folder) and not os.path.isdir(folder)):
            raise ValueError(f"agent {spec!r}: name the folder first, as in policy:runs/quick,sample=1")
        if policy_folder(folder, spec) is None:
            return Spec(":".join(filter(None, (CHAMPION, ",".join(words)))), CHAMPION, None, words)
        return _policy(folder, words)
    if name == NTUPLE and rest and "=" not in rest.partition(",")[0]:
        return _policy(*split_folder(rest))
    if name in (*AGENTS, *(_heuristics() if game is None else game.heuristics)):
        return Spec(text, name, None, _words(rest))
    folder, words = split_folder(text)
    if is_path(folder) or (os.path.isdir(folder) and not is_agent(folder)):
        return _policy(folder, words)
    raise _unknown(text, game)


def _words(text: str) -> tuple[str, ...]:
    """Options; what follows ``policy=`` is a folder and ``values=`` a file, whose names may have commas."""
    words = []
    while text:
        word, _, rest = text.partition(",")
        key, equals, _ = word.partition("=")
        if equals and key in _PATHS:
            path, others = _split(text.partition("=")[2], _PATHS[key])
            word, rest = f"{key}={path}", ",".join(others)
        words.append(word)
        text = rest
    return tuple(filter(None, words))


def _policy(folder: str, words: Iterable[str]) -> Spec:
    return Spec(",".join([folder_name(folder), *words]), POLICY, user_path(folder), tuple(words))


def split_folder(text: str) -> tuple[str, tuple[str, ...]]:
    """A folder and the options behind it: as much of the text as is a folder's name, else all to the first comma."""
    return _split(text, os.path.isdir)


def _split(text: str, exists: Callable[[str], bool]) -> tuple[str, tuple[str, ...]]:
    """A path and the options behind it, as `split_folder`."""
    words = text.split(",")
    for count in range(len(words), 1, -1):
        path = ",".join(words[:count])
        if exists(os.path.expanduser(path)):
            return path, tuple(filter(None, words[count:]))
    return words[0], tuple(filter(None, words[1:]))


def is_path(text: str) -> bool:
    """Whether a text can only be a path, whatever exists."""
    return text.startswith((".", "~")) or any(separator in text for separator in _SEPARATORS)


def is_agent(name: str) -> bool:
    """Whether an agent of any game has this name."""
    return name in (*AGENTS, POLICY, *_heuristics())


def folder_name(folder: str | os.PathLike[str]) -> str:
    """What results call a folder: ``./runs/x/`` is runs/x, and one that is called as an agent ./champion."""
    name = os.path.normpath(user_path(folder))
    return os.path.join(os.curdir, name) if is_agent(name) or name.startswith("-") else name


def policy_folder(text: str, spec: object) -> Path | None:
    """The folder that is asked for as a policy, None for the champion; ValueError if it is another agent's name."""
    if text == CHAMPION:
        return None
    if is_agent(text):
        raise ValueError(f"agent {spec!r}: {text} is an agent and no policy; a folder of that name is ./{text}")
    return user_path(text)


def _heuristics() -> list[str]:
    """Of all games of the package."""
    return sorted({heuristic for game in GAMES for heuristic in game_class(game).heuristics})


def _unknown(text: str, game: Game | None) -> ValueError:
    names = list(dict.fromkeys((*AGENTS[:2], *(_heuristics() if game is None else game.heuristics), *AGENTS[2:])))
    name, comma, options = text.partition(",")
    if comma and name in names:
        return ValueError(f"agent {text!r}: options follow a colon, as in '{name}:{options}'")
    name = name.partition(":")[0]
    if os.path.isdir(name):
        hint = f"; the folder of that name is ./{name}"
    else:
        hint = did_you_mean(name.lower(), names)
    return ValueError(
        f"unknown agent {text!r}; accepted: {', '.join(names)}, or the path of a run or checkpoint "
        f"(mozaic evaluate --help says more){hint}"
    )
