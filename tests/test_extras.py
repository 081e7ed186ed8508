"""Without the extras: the core works, and what needs one says which, before any work is done.

A start-up file hides every library from Python that is neither its own nor the core's.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib.metadata import packages_distributions, requires
from pathlib import Path

import pytest

from mozaic_env.core.extras import EXTRAS, MissingExtra, extras_for, importing, need
from tests.cli.processes import ROOT

CORE = ("numpy", "numba", "llvmlite", "PIL", "gymnasium", "cloudpickle", "farama_notifications", "typing_extensions")
HIDING = f"""
import sys
SEEN = {{"mozaic_env", "training", *{CORE!r}}} | set(sys.stdlib_module_names)


class Hide:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in SEEN:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)


sys.meta_path.insert(0, Hide())
"""
NOTHING_PLAYED = """
import contextlib, io, json, pkgutil, sys, tempfile
from importlib import import_module
import gymnasium as gym
import mozaic_env.arena.evaluate, mozaic_env.arena.tournament
from mozaic_env.cli import main
from mozaic_env.games import make_game
import numpy as np

def played(*arguments, **options):
    raise AssertionError("work was done")

for module in ("evaluate", "tournament"):
    sys.modules[f"mozaic_env.arena.{module}"].play_match = played
game = make_game("mozaic")
RECORD = "rules=amethyst board=8x8 first=y | y:d4 ..."
"""
# What is tried, what is missing, and the extras to install.
MOZAIC = {
    "evaluate greedy --against random": ("rich", "play"),
    "evaluate greedy --against random --report REPORT": ("rich and matplotlib", "train"),
    "evaluate greedy --against champion": ("rich and torch and safetensors", "train"),
    "evaluate runs/quick --against random": ("rich and torch and safetensors", "train"),
    "tournament greedy random": ("rich and choix", "train"),
    "tournament greedy random --ray auto": ("rich and choix and ray", "train,ray"),
    "tournament": ("rich and choix", "train"),
    "play": ("starlette and uvicorn", "play"),
    "play --agents champion": ("starlette and uvicorn and torch and safetensors", "play,train"),
    "play --terminal": ("rich", "play"),
    "watch runs/quick": ("rich", "play"),
    "solve --rows 2 --cols 4": ("rich and safetensors", "train"),
    "bench": ("rich", "play"),
    "bench --plot plot.svg": ("rich and matplotlib", "train"),
}
PYTHON = {
    'mozaic_env.make_agent("champion", game)': ("torch and safetensors", "train"),
    'mozaic_env.make_agent("./somewhere", game)': ("torch and safetensors", "train"),
    'mozaic_env.make_agent("mcts:policy=champion", game)': ("torch and safetensors", "train"),
    'gym.make("mozaic_env:Mozaic-v0", opponent="champion")': ("torch and safetensors", "train"),
    'gym.make_vec("mozaic_env:Mozaic-v0", num_envs=2, opponent="champion")': ("torch and safetensors", "train"),
    'gym.make("mozaic_env:Mozaic-v0", render_mode="human")': ("pygame", "play"),
    'import_module("mozaic_env.agents.policy.agent").PolicyAgent.load("x", game)': ("torch", "train"),
    'import_module("mozaic_env.envs.sb3")': ("stable_baselines3.*", "train"),
    'import_module("mozaic_env.envs.pettingzoo")': ("pettingzoo.*", "pettingzoo"),
    'import_module("mozaic_env.envs.openspiel")': ("pyspiel", "openspiel"),
    'import_module("mozaic_env.envs.rllib")': ("ray.*", "rllib"),
    'import_module("mozaic_env.rllib.runner")': ("ray", "rllib"),
    'import_module("mozaic_env.arena.statistics.ratings").rate({("a", "b"): np.ones((1, 3))})': ("choix", "train"),
    'import_module("mozaic_env.arena.cluster").connect("auto").__enter__()': ("ray", "ray"),
    'import_module("training.train")': (".*torch.*", "train"),
}
WORKS = {
    'gym.make("mozaic_env:Mozaic-v0", opponent="expectimax:depth=1", render_mode="rgb_array").reset(seed=0)',
    'mozaic_env.make_game("mozaic", rows=2, cols=3).exact_values().start_value',
    'main(["replay", "game.txt"])',
    'main(["replay", "game.txt", "--quiet"])',
    'main(["replay", "game.txt", "--gif", "game.gif", "--png", "pictures", "--svg", "pictures"])',
    'main(["--help"])',
    'main(["evaluate", "--help"])',
    'import_module("mozaic_env.__main__")',
}


def python(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    (folder / "sitecustomize.py").write_text(HIDING)
    environment = os.environ | {"PYTHONPATH": f"{folder}{os.pathsep}{ROOT}"}
    return subprocess.run([sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True)


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What came of each of them, all in one process."""
    folder = tmp_path_factory.mktemp("core")
    (folder / "game.txt").write_text("rules=amethyst board=8x8 first=y | y:d4 ...\n")
    calls = {f"main({words.split()!r})": words for words in MOZAIC} | {code: code for code in (*PYTHON, *WORKS)}
    script = f"""{NOTHING_PLAYED}
told = {{}}
for code, name in {calls!r}.items():
    text = io.StringIO()
    with contextlib.redirect_stdout(text), contextlib.redirect_stderr(text):
        try:
            told[name] = str(eval(code))
        except BaseException as error:
            told[name] = f"{{type(error).__name__}}: {{error}}"
    if code.startswith("main"):
        told[name] += " " + text.getvalue()
for module in pkgutil.walk_packages(mozaic_env.__path__, "mozaic_env.", onerror=lambda name: None):
    try:
        import_module(module.name)
        told[module.name] = ""
    except Exception as error:
        told[module.name] = f"{{type(error).__name__}}: {{error}}"
print(json.dumps(told))
"""
    done = python(folder, "-c", script)
    assert done.returncode == 0, done.stderr
    told: dict[str, str] = json.loads(done.stdout)
    return told


@pytest.mark.parametrize("what", [*MOZAIC, *PYTHON])
def test_a_missing_extra_is_said_by_name_before_any_work_is_done(tried: dict[str, str], what: str) -> None:
    missing, extras = (MOZAIC | PYTHON)[what]
    command = f"2 mozaic {what.split()[0]}: " if what in MOZAIC else r"(MissingExtra|NoWindow): "
    bring = "brings" if "," not in extras else "bring"
    said = rf"{command}.* needs {missing}, which the extras? .* {bring}: pip install 'mozaic_env\[{extras}\]'\n?"
    assert re.fullmatch(said, tried[what])


@pytest.mark.parametrize("what", sorted(WORKS))
def test_what_needs_no_extra_works_without(tried: dict[str, str], what: str) -> None:
    assert "Error" not in tried[what]
    assert "needs" not in tried[what]
    if what.startswith("main"):
        assert tried[what].startswith("0 ")


def test_every_module_can_be_imported_or_says_which_extra_it_needs(tried: dict[str, str]) -> None:
    modules = {name: said for name, said in tried.items() if re.fullmatch(r"mozaic_env(\.\w+)+", name)}
    assert len(modules) > 100
    assert not {name: said for name, said in modules.items() if said and not said.startswith("MissingExtra: ")}


def test_a_script_of_the_training_says_it_in_one_line(tmp_path: Path) -> None:
    done = python(tmp_path, "-m", "training.train", "--help")
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(r"error: training needs .*torch.*: pip install 'mozaic_env\[train\]'\n", done.stderr)


def test_the_modules_of_an_extra_are_those_that_it_installs() -> None:
    listed = [re.match(r"([\w.-]+).*extra == ['\"](\w+)['\"]", line) for line in requires("mozaic_env") or ()]
    brings = {(match[2], match[1].lower().replace("_", "-")) for match in listed if match}
    others = {"dm-tree": "ray"}  # come with a library that is listed
    found = packages_distributions()
    for extra, modules in EXTRAS.items():
        for module in modules:
            for distribution in found.get(module, ()):  # of those that are installed here
                name = distribution.lower().replace("_", "-")
                assert (extra, others.get(name, name)) in brings, (extra, module)
    assert {extra for extra, _ in brings} >= set(EXTRAS)


def test_as_few_extras_as_possible_are_named() -> None:
    assert extras_for(["rich"]) == ("play",)
    assert extras_for(["rich", "choix"]) == ("train",)
    assert extras_for(["torch", "ray"]) == ("rllib",)
    assert extras_for(["starlette", "choix", "optuna"]) == ("play", "train", "sweep")
    with pytest.raises(ValueError, match="no extra brings"):
        extras_for(["antigravity"])
    need("this", "numpy")
    with pytest.raises(ModuleNotFoundError, match="no_such_module") as error, importing("this"):
        import no_such_module  # noqa: F401
    assert not isinstance(error.value, MissingExtra)  # no extra would bring it


@pytest.mark.slow
def test_a_wheel_alone(tmp_path: Path) -> None:
    """Built, installed with the core's libraries alone, and asked for more; needs the network."""
    pip = ["-m", "pip", "--quiet", "--disable-pip-version-check", "--no-input"]
    subprocess.run([sys.executable, *pip, "wheel", "--no-deps", "-w", str(tmp_path), str(ROOT)], check=True)
    (wheel,) = tmp_path.glob("*.whl")
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "venv")], check=True)
    own = str(tmp_path / "venv" / "bin" / "python")
    subprocess.run([own, *pip, "install", "-c", str(ROOT / "constraints.txt"), str(wheel)], check=True)

    def said(*words: str) -> tuple[int, str]:
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        done = subprocess.run([own, *words], cwd=tmp_path, env=environment, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    for words, message in (
        ("-m mozaic_env evaluate greedy --against random", "needs rich, which the extra 'play' brings"),
        ("-m mozaic_env tournament greedy random", "needs rich and choix, which the extra 'train' brings"),
        ("-m mozaic_env play --terminal", "needs rich, which the extra 'play' brings"),
    ):
        status, text = said(*words.split())
        assert (status, text.count("\n")) == (2, 1)
        assert message in text
    script = "import gymnasium as g, mozaic_env; print(g.make('Mozaic-v0', opponent='greedy').reset(seed=0)[1]['seat'])"
    assert said("-c", script) in ((0, "0\n"), (0, "1\n"))
    install = [own, *pip, "install", "--dry-run", "--no-index", "mozaic_env[play]"]
    done = subprocess.run(install, capture_output=True, text=True)
    assert 'extra == "play"' in done.stderr  # what the message says to type asks for the extra of what is installed
