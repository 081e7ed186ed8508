"""The files in configs/: each is read, makes sense, and can be run when it is made small."""

import json
from pathlib import Path

import pytest

from mozaic_env.cli import main as mozaic
from training import curves, train
from training.config import load_config

FOLDER = Path(__file__).parents[2] / "configs"
OTHERS = {"sweep", "rllib", "mozaic-ntuple"}  # for other commands, with tests of their own
NAMES = sorted(file.stem for file in FOLDER.glob("*.yaml") if file.stem not in OTHERS)
SMALL = [
    "steps=128",
    "minutes=2",
    "threads=1",
    "ppo.games=8",
    "ppo.rollout=8",
    "ppo.minibatch=32",
    "warm_start.games=8",
    "warm_start.segment=4",
    "warm_start.decisions=64",
    "warm_start.minibatch=16",
    "evaluation.games=2",
    "evaluation.share_games=2",
    "evaluation.against=[random]",
]


@pytest.mark.parametrize("name", NAMES)
def test_it_is_a_run_that_can_begin(name):
    # Whether its board is solved on this machine is no matter of the file.
    train.check(load_config(FOLDER / f"{name}.yaml", ["evaluation.regret=false"]))


@pytest.mark.parametrize("name", [name for name in NAMES if "quick" in name])
def test_a_quick_run_shows_a_curve(name):
    evaluation = load_config(FOLDER / f"{name}.yaml").evaluation
    assert 0 < evaluation.share <= 0.1
    assert evaluation.share_games < evaluation.games


@pytest.mark.parametrize("name", ["chess-quick", "gpu", "onyx", "quick", "small-4x4"])
def test_it_runs_on_any_machine_when_it_is_small(name, tmp_path):
    words = [*SMALL, "network={channels: 8, blocks: 1, value_hidden: 8}"]
    assert train.main(["--config", str(FOLDER / f"{name}.yaml"), "--run-dir", str(tmp_path / "run"), *words]) == 0
    assert json.loads((tmp_path / "run" / "run.json").read_text())["status"] == "finished"
    assert json.loads((tmp_path / "run" / "evaluation.json").read_text())
    if load_config(FOLDER / f"{name}.yaml").evaluation.share:
        assert curves.main([str(tmp_path / "run")]) == 0
        page = tmp_path / "page.html"
        assert mozaic(["watch", str(tmp_path / "run"), "--once", str(page)]) == 0
        assert "Ladder, at the last measure" in page.read_text("utf-8")
