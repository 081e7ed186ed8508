"""The package as a whole: who may import whom, what an import costs, what is public."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest

import mozaic_env
from mozaic_env.games import DEFAULT_GAME, GAMES, gym_id, make_game
from tests.cli.processes import ROOT, run

PACKAGE = ROOT / "mozaic_env"
STANDARD = set(sys.stdlib_module_names)

# For each folder: what of the package it may import, and what else that is no standard library.
BELOW_AGENTS = {"core", "drawing", "games", "simulation"}
ALLOWED: dict[str, tuple[set[str], set[str]]] = {
    "core": ({"core", "drawing"}, {"numpy", "numba", "llvmlite", "safetensors"}),
    "drawing": ({"core", "drawing"}, {"numpy", "PIL"}),
    "games": ({"core", "drawing", "games"}, {"numpy", "numba"}),
    "simulation": ({"core", "games", "agents", "simulation"}, {"numpy", "numba"}),
    "agents": (
        {*BELOW_AGENTS, "agents"},
        {"numpy", "numba", "gymnasium", "torch", "safetensors", "stable_baselines3", "sb3_contrib"},
    ),
    "envs": (
        {*BELOW_AGENTS, "agents", "envs"},
        {"numpy", "numba", "gymnasium", "stable_baselines3", "pettingzoo", "pyspiel", "open_spiel", "pygame", "ray"},
    ),
    "rllib": ({*BELOW_AGENTS, "agents", "envs", "rllib"}, {"numpy", "gymnasium", "torch", "ray"}),
    "testing": ({*BELOW_AGENTS, "agents", "envs", "testing"}, {"numpy", "gymnasium", "stable_baselines3"}),
}


def sources(part: str) -> list[Path]:
    """The files of a folder."""
    files = sorted((PACKAGE / part).rglob("*.py"))
    assert files, part
    return files


def game_of(module: str) -> str | None:
    """The game that a module of the package belongs to."""
    parts = module.split(".")
    return parts[2] if parts[:2] == ["mozaic_env", "games"] and parts[2:] and parts[2] in GAMES else None


def imports(file: Path) -> Iterator[tuple[int, str]]:
    """Every module that a file imports, anywhere in it, with its line."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}:{node.lineno}: relative import"
            assert node.module is not None
            if node.module == "mozaic_env":
                for alias in node.names:
                    yield node.lineno, f"mozaic_env.{alias.name}"
            else:
                yield node.lineno, node.module


@pytest.mark.parametrize("part", ALLOWED)
def test_imports_go_downwards(part: str) -> None:
    ours, theirs = ALLOWED[part]
    wrong = []
    for file in sources(part):
        for line, module in imports(file):
            top, _, rest = module.partition(".")
            fine = rest.split(".")[0] in ours | {"__version__"} if top == "mozaic_env" else top in theirs | STANDARD
            if not fine:
                wrong.append(f"{file.relative_to(ROOT)}:{line} imports {module}")
    assert not wrong


def test_every_part_has_its_rule() -> None:
    """A new folder joins `ALLOWED`, or is one of those above, which may import anything below."""
    above = {"arena", "web", "cli", "bench", "__pycache__", "__main__"}
    parts = {path.stem for path in PACKAGE.iterdir() if path.is_dir() or path.suffix == ".py"}
    assert parts - set(ALLOWED) - above <= {"__init__"}


def test_a_game_knows_no_other_game_and_nothing_above_knows_one() -> None:
    """The list of games, `games/__init__.py`, names them all."""
    wrong = [
        f"{file.relative_to(ROOT)}:{line} imports {module}"
        for file in sorted(PACKAGE.rglob("*.py"))
        for line, module in imports(file)
        if (game := game_of(module)) and file != PACKAGE / "games" / "__init__.py"
        if PACKAGE / "games" / game not in file.parents
    ]
    assert not wrong


# What a game's own code is about. `bench/peers.py` says which games of other packages are like which of ours.
FACTS = {
    "amethyst",
    "onyx",
    "gem",
    "gems",
    "ruby",
    "emerald",
    "diamond",
    "factory",
    "factories",
    "pawn",
    "pawns",
    "azul",
}
FACTS |= set(GAMES) - {DEFAULT_GAME} | {gym_id(name) for name in GAMES}
EXEMPT = {"bench/peers.py"}


def words_of_code(file: Path) -> Iterator[tuple[int, str]]:
    """Names and texts of a file, docstrings and examples of the `mozaic` command left out, and the words in them."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        text = ""
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
            text = "" if node.value.startswith("mozaic ") else node.value
            yield node.lineno, text
        elif isinstance(node, (ast.Name, ast.arg, ast.Attribute, ast.FunctionDef, ast.ClassDef)):
            text = next(str(getattr(node, key)) for key in ("id", "arg", "attr", "name") if hasattr(node, key))
        for word in re.findall(r"[a-zA-Z]+", text.replace("_", " ")):
            yield getattr(node, "lineno", 0), word.lower()


def test_nothing_above_the_games_names_a_fact_of_one() -> None:
    wrong = [
        f"{file.relative_to(PACKAGE)}:{line} says {word}"
        for file in sorted(PACKAGE.rglob("*.py"))
        if PACKAGE / "games" not in file.parents and file.relative_to(PACKAGE).as_posix() not in EXEMPT
        for line, word in words_of_code(file)
        if word in FACTS
    ]
    assert not wrong


def test_such_a_fact_is_found(tmp_path: Path) -> None:
    file = tmp_path / "file.py"
    for code in (
        "gem_in_hand = 3",
        "x = row.gems",
        "play('amethyst')",
        "game = 'mosaic_chess'",
        "def rubyless(ruby): 0",
    ):
        file.write_text(code)
        assert FACTS & {word for _, word in words_of_code(file)}, code
    file.write_text('"""A gem."""\nwords = "mozaic play --rules onyx"\n')
    assert not FACTS & {word for _, word in words_of_code(file)}


@pytest.mark.parametrize("part", ["arena"])
def test_the_arena_knows_no_page(part: str) -> None:
    wrong = [
        f"{file.relative_to(ROOT)}:{line} imports {module}"
        for file in sources(part)
        for line, module in imports(file)
        if module.startswith("mozaic_env.") and module.split(".")[1] in {"web", "cli", "testing"}
    ]
    assert not wrong


def test_the_page_knows_no_game() -> None:
    above = {"cli", "testing"}
    for file in sources("web"):
        for line, module in imports(file):
            assert not (module.startswith("mozaic_env.") and module.split(".")[1] in above), f"{file}:{line}"
    for file in (PACKAGE / "web" / "static").iterdir():
        assert not re.search("amethyst|onyx|emerald|ruby", file.read_text(encoding="utf-8"), re.IGNORECASE), file


def test_nothing_in_the_package_imports_what_is_outside_it() -> None:
    """`training` and `tests` are not installed."""
    for file in PACKAGE.rglob("*.py"):
        for line, module in imports(file):
            assert module.split(".")[0] not in {"training", "tests", "pytest"}, f"{file}:{line}"


def test_the_public_names_exist() -> None:
    assert mozaic_env.__version__
    for name in mozaic_env.__all__:
        assert getattr(mozaic_env, name)
    with pytest.raises(AttributeError, match="nonsense"):
        _ = mozaic_env.nonsense


def test_every_game_is_registered_and_says_what_it_is() -> None:
    ids = [spec for spec in gym.registry.values() if "mozaic_env" in str(spec.entry_point)]
    assert {spec.kwargs["game"] for spec in ids} == set(GAMES)
    for spec in ids:
        assert spec.vector_entry_point is not None
        assert spec.max_episode_steps is None  # the environment truncates by itself
    for name in GAMES:
        assert make_game(name).name == name
        assert make_game(make_game(name)) == make_game(name)


def test_bad_games() -> None:
    for name in ("chess", None, 5, ["mozaic"], {}):
        with pytest.raises(ValueError, match="accepted: mozaic"):
            make_game(name)
    with pytest.raises(ValueError, match="colour"):
        make_game("mozaic", colour="red")
    with pytest.raises(TypeError, match="unexpected keyword argument 'frameskip'"):
        gym.make("mozaic_env:Mozaic-v0", frameskip=4)  # TorchRL's GymEnv tries it on every environment
    with pytest.raises(ValueError, match="rows"):
        make_game(make_game("mozaic"), rows=4)
    for rows, cols in ((1, 8), (9, 8), (3, 3), (8.0, 8), ("8", 8), (True, 8), (None, 8)):
        with pytest.raises(ValueError, match=r"rows|tiles"):
            make_game("mozaic", rows=rows, cols=cols)
    for rules in ("ruby", None, 0, "Onyx", ["onyx"], np.array(["onyx"])):
        with pytest.raises(ValueError, match="rules"):
            make_game("mozaic", rules=rules)


def test_importing_compiles_and_draws_nothing(tmp_path: Path) -> None:
    script = """
import sys
import gymnasium
import mozaic_env
heavy = {"numba", "llvmlite", "torch", "stable_baselines3", "sb3_contrib", "pygame", "pettingzoo",
         "pyspiel", "matplotlib", "starlette", "scipy", "pandas", "PIL"}
print(sorted(heavy & set(sys.modules)))
print(sorted(name for name in sys.modules if name.startswith("mozaic_env.")))
mozaic_env.make_game("mozaic")
print(sorted((heavy & set(sys.modules)) - {"numba", "llvmlite", "scipy"}))
"""
    assert run(script, tmp_path).splitlines() == ["[]", "['mozaic_env.games']", "[]"]


def test_types_are_shipped() -> None:
    assert (PACKAGE / "py.typed").exists()
