"""Every example runs, as a user starts it but with a tiny budget, and says what it needs."""

from __future__ import annotations

import ast
import importlib.util
import os
import shlex
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.cli.processes import ROOT

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
SMALL = ["--rows", "4", "--cols", "4"]


def load(name: str) -> ModuleType:
    """An example as a module."""
    spec = importlib.util.spec_from_file_location(f"examples.{name}", ROOT / "examples" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def python(*words: str) -> str:
    """What Python prints in a process of its own, where libraries may warn about themselves."""
    result = subprocess.run(
        [sys.executable, *words],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_says_what_it_needs_and_is_tested(file: Path) -> None:
    extras = ("extra `", "extras `")
    assert any(words in (ast.get_docstring(ast.parse(file.read_text("utf-8"))) or "") for words in extras)
    tests = [test.read_text("utf-8") for test in (ROOT / "tests").rglob("test_*.py")]
    assert any(file.stem in test for test in tests)


# --- those that need no more than the extra `train` ----------------------------------------------

pytest.importorskip("stable_baselines3")


@pytest.mark.parametrize("name", ["cleanrl_style_ppo", "sb3_without_masks"])
def test_help_and_errors(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    main = load(name).main
    with pytest.raises(SystemExit) as done:
        main(["--help"])
    assert done.value.code == 0
    assert "--opponent" in capsys.readouterr().out
    for words, message in ((["--opponent", "nobody"], "unknown agent 'nobody'"), (["--rows", "9"], "2 to 8")):
        with pytest.raises(SystemExit) as done:
            main(words)
        assert done.value.code == 2
        assert message in capsys.readouterr().err


@pytest.mark.parametrize("options", [["--rules", "onyx"], ["--max-decisions", "7"]], ids=["", "truncated games"])
def test_cleanrl_style_ppo(options: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = shlex.split("--steps 512 --num-envs 16 --rollout 16 --minibatch 128 --games 20 --opponent greedy")
    load("cleanrl_style_ppo").main([*words, *SMALL, *options, "--log-dir", str(tmp_path)])
    out = capsys.readouterr().out
    assert "      512 decisions" in out
    assert "against random: " in out
    assert "against greedy: " in out
    assert "nan" not in out
    assert list(tmp_path.glob("events*"))


def test_cleanrl_style_ppo_repeats_with_its_seed(capsys: pytest.CaptureFixture[str]) -> None:
    words = shlex.split("--steps 256 --num-envs 16 --rollout 16 --minibatch 128 --games 0 --learning-rate 0.01")
    example = load("cleanrl_style_ppo")
    ends = []
    for seed in ("1", "1", "2"):
        # The rate falls with the share of steps or minutes that are used up: of steps alone if minutes abound.
        example.main([*words, *SMALL, "--seed", seed, "--minutes", "1e9"])
        ends.append(capsys.readouterr().out.rpartition("mean margin")[2])
    assert ends[0] == ends[1] != ends[2]


@pytest.mark.parametrize("algorithm", ["PPO", "DQN"])
def test_sb3_without_masks(algorithm: str, capsys: pytest.CaptureFixture[str]) -> None:
    steps = {"PPO": "1024", "DQN": "6000"}[algorithm]  # DQN begins to learn after 5,000
    words = ["--steps", steps, "--num-envs", "16", "--games", "10", "--algorithm", algorithm]
    load("sb3_without_masks").main([*words, *SMALL])
    out = capsys.readouterr().out
    assert "illegal and replaced" in out
    assert "the arena, with masks, against random: " in out


def test_an_illegal_action_becomes_a_random_legal_one() -> None:
    import numpy as np

    from mozaic_env.envs.sb3 import GameVecEnv

    env = load("sb3_without_masks").RandomLegal(GameVecEnv(200, rows=4, cols=4, opponent=None, illegal="raise"), seed=0)
    env.seed(0)
    env.reset()
    position = "yb2/1y2/4/4 y d 1 6,7,1,0,1,1 0-0"  # a diamond in hand, three gems to remove
    env.set_options({"position": position})
    env.reset()
    before, legal = env.venv.states, env.venv.action_masks()[0]
    assert legal.sum() == 3
    actions = np.where(np.arange(200) < 100, 0, np.flatnonzero(legal)[0])  # placing is illegal, removing is not
    env.step(actions)
    assert (env.replaced, env.decisions) == (100, 200)
    removed = [env.game.format_position(row).split()[0] for row in env.venv.states]
    assert len(set(removed[:100])) == 3  # each legal action came up
    assert len(set(removed[100:])) == 1
    assert len(before) == 200


# --- those with a library of their own: make test-examples ----------------------------------------


@pytest.mark.examples
def test_torchrl_ppo(tmp_path: Path) -> None:
    pytest.importorskip("torchrl")
    words = shlex.split("--steps 512 --num-envs 16 --rollout 16 --games 20")
    out = python("examples/torchrl_ppo.py", *words, *SMALL, "--save", str(tmp_path / "saved"))
    assert "      512 decisions" in out
    assert "against random: " in out
    assert (tmp_path / "saved" / "card.json").is_file()
    assert "--num-envs" in python("examples/torchrl_ppo.py", "--help")


@pytest.mark.examples
def test_torchrl_gym_env_with_its_mask_transform() -> None:
    pytest.importorskip("torchrl")
    script = """
import sys
sys.path.insert(0, "examples")
from torchrl.envs.utils import check_env_specs
from torchrl_ppo import single_env, vector_env
for env in (single_env(opponent="greedy", rows=4, cols=4), vector_env(3, opponent="greedy", rows=4, cols=4)):
    check_env_specs(env)
    env.set_seed(3)
    games = env.rollout(100, break_when_any_done=False)  # random legal actions, or the games would raise
    print("decisions:", games.numel(), "ends:", bool(games["next", "done"].sum() > 3))
"""
    lines = [line for line in python("-c", script).splitlines() if line.startswith("decisions:")]  # TorchRL logs too
    assert lines == ["decisions: 100 ends: True", "decisions: 300 ends: True"]


@pytest.mark.examples
def test_tianshou_ppo(tmp_path: Path) -> None:
    pytest.importorskip("tianshou")
    words = shlex.split("--steps 512 --num-envs 4 --rollout 64 --games 20")
    out = python("examples/tianshou_ppo.py", *words, *SMALL, "--save", str(tmp_path / "saved"))
    assert "512 decisions" in out
    assert "against random: " in out
    assert (tmp_path / "saved" / "card.json").is_file()
    assert "--num-envs" in python("examples/tianshou_ppo.py", "--help")
