"""Paths of any kind wherever one is taken: `pathlib.Path`, ``~``, commas, `=`, spaces; and commands to copy."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from mozaic_env.agents.policy.checkpoint import read_card, resolve, save
from mozaic_env.agents.policy.network import BoardNetwork, NetworkConfig, layout_of
from mozaic_env.agents.specs import make_agent
from mozaic_env.arena.evaluate import append_evaluation, is_run_folder, read_evaluations
from mozaic_env.arena.match import play_match
from mozaic_env.arena.records import append_records, read_records, write_records
from mozaic_env.arena.results_file import append_result, read_results
from mozaic_env.cli import main
from mozaic_env.core.storage.files import atomic_write, write_bytes
from mozaic_env.core.storage.outputs import check_output_file, make_output_folder, write_json
from mozaic_env.core.text.files import user_path
from mozaic_env.envs.wrappers import RecordGames
from mozaic_env.games import make_game
from mozaic_env.web.watch.run_data import RunFolder
from training.config import load_config
from training.runs.report import report
from training.sweeps.space import read_space

GAME = make_game("mozaic", rows=2, cols=3)
NAMES = ("plain", "a,b", "lr=0.1,steps=5", "two words", "~", "ünïcode")


def match() -> Any:
    return play_match(*(make_agent(name, GAME) for name in ("greedy", "random")), 2, 0, keep_actions=True)


def text_file(path: Any) -> None:
    with atomic_write(path) as file:
        file.write("x")


def checkpoint(path: Any) -> None:
    network = BoardNetwork(layout_of(GAME), NetworkConfig(channels=2, blocks=1, value_hidden=2))
    save(path, network, GAME, steps=0, seed=0)
    assert read_card(path)["steps"] == 0
    assert resolve(path) == user_path(path)


def records(path: Any) -> None:
    result = match()
    write_records(path, GAME, [result])
    append_records(path, GAME, [result])
    assert len(list(read_records(path))) == 4
    assert main(["replay", str(path), "--quiet"]) == 0


def results(path: Any) -> None:
    append_result(path, match())
    assert len(read_results(path)[0]) == 1


def run(path: Any) -> None:
    make_output_folder(path)
    write_json(user_path(path) / "run.json", {})
    assert is_run_folder(path)
    append_evaluation(path, [match()])
    assert len(read_evaluations(path)) == 1
    assert RunFolder(path).facts() == {}


def recorded(path: Any) -> None:
    env = RecordGames(gym.make("mozaic_env:Mozaic-v0", rows=2, cols=3), path)
    _, info = env.reset(seed=0)
    over = False
    while not over:
        _, _, over, _, info = env.step(np.flatnonzero(info["action_mask"])[0])
    assert list(user_path(path).iterdir())


def settings(path: Any) -> None:
    user_path(path).write_text("ppo.epochs: [1, 2]\n")
    assert read_space(path)["ppo.epochs"].choices == ("1", "2")
    user_path(path).write_text("seed: 3\n")
    assert load_config(path).seed == 3


def command(path: Any) -> None:
    words = ["evaluate", "greedy", "--against", "random", "--games", "2", "--rows", "2", "--cols", "3"]
    assert main([*words, f"--json={path}"]) == 0


TAKERS: dict[str, Callable[[Any], None]] = {
    "atomic_write": text_file,
    "write_bytes": lambda path: write_bytes(path, b"x"),
    "write_json": lambda path: write_json(path, [1]),
    "check_output_file": lambda path: (check_output_file(path), write_bytes(path, b"x"))[0],
    "checkpoint": checkpoint,
    "records": records,
    "results": results,
    "run": run,
    "RecordGames": recorded,
    "settings": settings,
    "command": command,
}


@pytest.mark.parametrize("taker", TAKERS)
@pytest.mark.parametrize("name", NAMES)
def test_every_path_is_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, taker: str, name: str) -> None:
    home, elsewhere = tmp_path / "home", tmp_path / "elsewhere"
    home.mkdir()
    elsewhere.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(elsewhere)
    TAKERS[taker](f"~/{name}")
    assert (home / name).exists()
    assert not list(elsewhere.iterdir())
    TAKERS[taker](f"./{name}" if name == "~" else Path(name))
    assert (elsewhere / name).exists()


@pytest.mark.parametrize("name", NAMES)
def test_a_command_that_is_printed_can_be_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / name
    checkpoint(folder)
    config = load_config(
        Path(__file__).parents[2] / "configs" / "quick.yaml",
        ["evaluation.games=2", "evaluation.against=[random]"],
    )

    class Budget:
        def check_signal(self) -> None:
            pass

    class Folder:
        path = folder

    report(config, GAME, Folder(), Budget())  # type: ignore[arg-type]
    out = capsys.readouterr().out
    (line,) = [line for line in out.splitlines() if "Next: " in line]
    assert shlex.split(line.partition("Next: ")[2]) == ["mozaic", "play", "--agents", str(folder)]
    assert make_agent(shlex.split(line)[-1], GAME).name
    (line,) = [line for line in out.splitlines() if "Curves: " in line]
    assert shlex.split(line.partition("Curves: ")[2]) == ["tensorboard", "--logdir", f"{folder}/tensorboard"]


def test_runs_to_compare_may_be_called_anything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from training.curves import main as curves

    monkeypatch.setenv("HOME", str(tmp_path))
    numbers = {f"evaluation/greedy/{name}": 0.5 for name in ("points", "low", "high")} | {"evaluation/decisions": 5}
    for name in ("a,b", "lr=0.1", "one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "metrics.jsonl").write_text(json.dumps(numbers) + "\n")
    compared = ["~/a,b", f"{tmp_path}/lr=0.1", "third=~/a,b", "both=~/one,~/two"]
    assert curves(["--compare", *compared, "--out", str(tmp_path / "all.svg")]) == 0
    labels = [line.partition(":")[0] for line in capsys.readouterr().out.splitlines()]
    assert labels[:-1] == ["a,b", "lr=0.1", "third", "both"]


@pytest.mark.parametrize("path", [None, 3, b"x", "", " ", "a\0b"])
def test_what_is_no_path_is_refused(path: Any) -> None:
    with pytest.raises(ValueError, match="accepted: "):
        user_path(path)
