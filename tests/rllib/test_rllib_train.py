"""`training.rllib_train` on one machine: it learns, what it leaves enters the arena, and it goes on where it was."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mozaic_env.cli import main as mozaic

pytest.importorskip("torch")

from mozaic_env.agents.policy import checkpoint

pytestmark = [pytest.mark.ray, pytest.mark.filterwarnings("ignore")]  # Ray warns of itself

ROOT = Path(__file__).parents[2]
CONFIG = """
game: {options: {rows: 4, cols: 4}}
steps: 60_000
network: {channels: 16, blocks: 1, value_hidden: 16}
ppo: {games: 128, rollout: 16, minibatch: 512, epochs: 3, learning_rate: 5e-3, learning_rate_end: 1e-3}
opponents: {mirror: 0.6, past: 0.2, fixed: {greedy: 0.2}, past_every: 2, past_size: 3}
evaluation: {games: 200, against: [random]}
"""


def train(*words: object) -> subprocess.CompletedProcess[str]:
    """The command, as a user starts it."""
    pytest.importorskip("ray.rllib", reason="needs ray[rllib], of the extra rllib: make test-ray")
    command = [sys.executable, "-m", "training.rllib_train", *map(str, words)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=900)


def metrics(folder: Path) -> list[dict[str, float]]:
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


def facts(folder: Path) -> dict[str, object]:
    return json.loads((folder / "run.json").read_text())


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rllib")
    (folder / "config.yaml").write_text(CONFIG)
    words = ["checkpoint_minutes=0.2", "seed=1"]
    done = train("--config", folder / "config.yaml", "--run-dir", folder / "run", *words)
    assert done.returncode == 0, done.stderr
    return folder / "run", done


def test_it_learns(run):
    """After 60,000 decisions random is beaten clearly, by what the network learnt and by nothing else."""
    folder, done = run
    (result,) = json.loads((folder / "evaluation.json").read_text())[0]["results"]
    assert result["interval"][0] > 0.6
    assert "random" in done.stdout


def test_a_run_leaves_everything_in_its_folder(run):
    folder, done = run
    assert "Traceback" not in done.stderr
    noted = facts(folder)
    assert (noted["status"], noted["seed"]) == ("finished", 1)
    assert (noted["runners_lost"], noted["runners_back"]) == (0, 0)
    assert noted["command"][:3] == [Path(sys.executable).name, "-m", "training.rllib_train"]
    assert noted["versions"]["ray"]
    assert list((folder / "tensorboard").iterdir())
    lines = metrics(folder)
    steps = [line["time/steps"] for line in lines]
    assert steps == sorted(set(steps))
    assert steps[-1] == noted["steps"] >= 60_000
    assert {line["ray/runners"] for line in lines} == {2}
    assert {"opponents/greedy/score", "opponents/past/margin", "games/finished", "train/approx_kl"} <= set(lines[-1])
    rates = [line["train/learning_rate"] for line in lines]
    assert rates == sorted(rates, reverse=True)
    assert rates[-1] < 0.5 * rates[0]
    assert lines[-1]["train/entropy"] < lines[0]["train/entropy"]  # the policy has made up its mind
    for kept in (folder / "final", *(folder / "checkpoints").iterdir()):
        assert not [file for file in kept.iterdir() if file.suffix in (".pkl", ".pt")]
        assert checkpoint.load(kept).network.is_finite()


def test_its_checkpoint_enters_the_arena(run, tmp_path, capsys):
    results = tmp_path / "ladder.jsonl"
    words = ["tournament", "random", str(run[0]), "--games", "20", "--results", str(results)]
    assert mozaic(words) == 0
    card = checkpoint.read_card(run[0] / "final")
    (line,) = results.read_text().splitlines()
    assert json.loads(line)["players"] == ["random", f"{run[0]}@{card['weights']['sha256'][:6]}"]
    assert str(run[0]) in capsys.readouterr().out


def test_it_goes_on_where_it_was(run):
    folder, _ = run
    before = metrics(folder)
    done = train("--resume", folder, "steps=75_000", "runners.number=1", "evaluation.games=0", "ppo.games=256")
    assert done.returncode == 0, done.stderr
    lines = metrics(folder)
    assert lines[: len(before)] == before
    later = lines[len(before) :]
    assert before[-1]["time/steps"] < later[0]["time/steps"] < before[-1]["time/steps"] + 6000
    assert later[-1]["time/steps"] >= 75_000
    assert later[0]["time/elapsed"] > before[-1]["time/elapsed"]
    # What it had learnt is there, and so are the earlier selves that it still beats.
    assert later[0]["train/entropy"] < before[0]["train/entropy"]
    assert later[-1]["opponents/greedy/score"] > before[0]["opponents/greedy/score"]
    assert facts(folder)["steps"] == later[-1]["time/steps"]
    assert len(facts(folder)["resumed"]) == 1
    states = sorted((folder / "resume").iterdir())
    assert 1 <= len(states) <= 2
    assert all(state.name.startswith("state-") for state in states)


def test_what_cannot_change_when_a_run_goes_on(run):
    for word in ("game.options={rows: 4, cols: 6}", "network.channels=8"):
        done = train("--resume", run[0], word)
        assert done.returncode == 2
        assert done.stderr.splitlines()[-1].endswith("can't change when a run goes on; start another run")


def test_an_existing_run_and_an_address_where_nobody_is(run, tmp_path):
    done = train("--config", run[0] / "config.yaml", "--run-dir", run[0])
    assert done.returncode == 2
    assert "exists; choose another --run-dir, or --overwrite" in done.stderr
    done = train("--config", run[0] / "config.yaml", "--run-dir", tmp_path / "new", "--address", "127.0.0.1:1")
    assert done.returncode == 2
    assert "no Ray cluster at '127.0.0.1:1'" in done.stderr
    assert not (tmp_path / "new").exists()


def test_a_signal_keeps_what_was_learnt_in_the_drivers_own_process_too(tmp_path):
    """runners.number=0: no other process plays."""
    pytest.importorskip("ray.rllib", reason="needs ray[rllib], of the extra rllib: make test-ray")
    (tmp_path / "config.yaml").write_text(CONFIG)
    command = [sys.executable, "-m", "training.rllib_train", "--config", str(tmp_path / "config.yaml")]
    words = ["--run-dir", str(tmp_path / "run"), "runners.number=0", "steps=1_000_000_000", "ppo.games=64"]
    process = subprocess.Popen([*command, *words], cwd=ROOT, stderr=subprocess.PIPE, text=True, env={**os.environ})
    numbers = tmp_path / "run" / "metrics.jsonl"
    deadline = time.monotonic() + 900
    while not (numbers.exists() and numbers.read_text().count("\n") >= 2):
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < deadline
        time.sleep(0.2)
    process.send_signal(signal.SIGTERM)
    _, error = process.communicate(timeout=300)
    assert process.returncode == 0, error
    assert "stopped by SIGTERM" in error
    assert facts(tmp_path / "run")["status"] == "interrupted"
    assert checkpoint.load(checkpoint.resolve(tmp_path / "run")).card["steps"] > 0
