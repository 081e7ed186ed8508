"""Masked PPO used to die after 100,000 steps and more (sb3-contrib 81, stable-baselines3 1596, 1553)."""

import json
from pathlib import Path

import pytest

from training.train import main

ROOT = Path(__file__).parents[3]


@pytest.mark.slow
def test_300_000_steps(tmp_path: Path) -> None:
    run = tmp_path / "run"
    words = ["steps=300000", "minutes=null", "evaluation.games=0", "threads=1"]
    assert main(["--config", str(ROOT / "configs" / "quick.yaml"), "--run-dir", str(run), *words]) == 0
    assert json.loads((run / "final" / "card.json").read_text("utf-8"))["steps"] >= 300_000
