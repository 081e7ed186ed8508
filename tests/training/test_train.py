import importlib
import itertools
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from mozaic_env.agents.policy import checkpoint
from mozaic_env.agents.policy.agent import PolicyAgent
from mozaic_env.agents.policy.network import BoardNetwork
from training.config import load_config
from training.ppo.run import Run
from training.runs import command, metrics, progress
from training.runs.folder import LATEST, OLDER, RunFolder
from training.train import main

ROOT = Path(__file__).parents[2]
BAD = "r\udce4n"  # as a name comes that is no UTF-8, or UTF-8 where names are read as ASCII
TINY = """
game: {options: {rows: 4, cols: 4}}
steps: 4096
threads: 1
network: {channels: 8, blocks: 1, value_hidden: 8}
ppo: {games: 64, rollout: 16, minibatch: 256, epochs: 2}
opponents: {mirror: 1, past: 1, past_every: 1, fixed: {greedy: 1, random: 1}}
evaluation: {games: 20, against: [random, greedy]}
"""


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "tiny.yaml"
    path.write_text(TINY)
    return str(path)


def run(config, folder, *more):
    return main(["--config", config, "--run-dir", str(folder), *more])


def facts(folder):
    return json.loads((folder / "run.json").read_text())


def test_4096_steps_twice_give_identical_weights_and_another_seed_others(config, tmp_path):
    for name, seed in (("one", 3), ("two", 3), ("three", 4)):
        assert run(config, tmp_path / name, f"seed={seed}", "evaluation.games=0") == 0
        assert checkpoint.read_card(tmp_path / name / "final")["steps"] == 4096
    weights = {
        name: (tmp_path / name / "final" / "policy.safetensors").read_bytes() for name in ("one", "two", "three")
    }
    assert weights["one"] == weights["two"]
    assert weights["one"] != weights["three"]


def test_a_run_leaves_everything_in_its_folder(config, tmp_path, capsys):
    folder = tmp_path / "run"
    assert run(config, folder, "checkpoint_minutes=1e-6", "seed=11") == 0
    noted = facts(folder)
    assert noted["status"] == "finished"
    assert (noted["seed"], noted["steps"]) == (11, 4096)
    assert noted["versions"]["torch"] == checkpoint.version("torch")
    read = checkpoint.load(checkpoint.resolve(folder))
    assert read.folder == folder / "final"
    assert read.card["training"]["seed"] == 11
    assert len(list((folder / "checkpoints").iterdir())) == 3  # after each update but the last
    assert list((folder / "tensorboard").iterdir())
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    assert len(lines) == 4
    assert {"games/finished", "opponents/mirror/score", "opponents/greedy/margin", "time/steps_per_second"} <= set(
        lines[0]
    )
    assert {"train/value_loss", "train/approx_kl", "train/learning_rate", "train/entropy"} <= set(lines[-1])
    assert 0 < lines[-1]["train/entropy"] < 5
    rates = [line["train/learning_rate"] for line in lines[1:]]
    assert rates == sorted(rates, reverse=True)
    assert rates[0] > rates[-1]
    out = capsys.readouterr().out
    for name in ("random", "greedy", "points %"):
        assert name in out
    assert [r["players"][1] for r in json.loads((folder / "evaluation.json").read_text())[0]["results"]] == [
        "random",
        "greedy",
    ]
    again = tmp_path / "again.yaml"
    again.write_text((folder / "config.yaml").read_text())
    assert load_config(again) == load_config(config, ["checkpoint_minutes=1e-6", "seed=11"])


def test_a_run_says_where_its_time_went(config, tmp_path, capsys):
    folder = tmp_path / "run"
    warm = 'warm_start={teacher: "expectimax:depth=2", decisions: 2048, games: 32, minibatch: 128}'
    assert run(config, folder, warm, "steps=2048", "evaluation.share=1", "evaluation.share_games=20") == 0
    noted = facts(folder)
    for phase, torch_parts in (("warm_start", {"update"}), ("self_play", {"update", "policy", "opponents"})):
        assert torch_parts <= set(noted["seconds"][phase])
    assert {"teacher", "buffers"} <= set(noted["seconds"]["warm_start"])
    assert {"environment", "league", "evaluation"} <= set(noted["seconds"]["self_play"])
    assert 0 < noted["share_outside_torch"] < 1
    out = capsys.readouterr().out
    for text in ("where the time went", "warm start", "self play", "everything else", "besides: evaluation"):
        assert text in out


def test_tensorboard_has_one_axis_and_no_name_twice(config, tmp_path):
    folder = tmp_path / "run"
    warm = 'warm_start={teacher: "expectimax:depth=2", decisions: 2048, games: 32, minibatch: 128, kl_coefficient: 0.1}'
    words = ["evaluation.share=1", "evaluation.share_games=20", "evaluation.games=0", "steps=3072"]
    assert run(config, folder, warm, *words) == 0
    written = EventAccumulator(str(folder / "tensorboard"), {"scalars": 0}).Reload()
    steps = {tag: [event.step for event in written.Scalars(tag)] for tag in written.Tags()["scalars"]}
    assert {tag: some for tag, some in steps.items() if some != sorted(set(some))} == {}
    assert steps["warm_start/decisions"] == [2048]
    assert steps["time/steps"] == [2048 + 1024, 2048 + 2048, 2048 + 3072]
    assert steps["evaluation/decisions"][0] <= 2048
    assert steps["evaluation/decisions"][-1] == 2048 + 3072
    assert {tag for tag in steps if tag.startswith(("time/", "rollout/"))} == {
        "time/elapsed",
        "time/steps",
        "time/steps_per_second",
    }
    assert {"train/entropy", "train/divergence"} <= set(steps)
    assert "train/entropy_loss" not in steps


def test_minutes_end_a_run(config, tmp_path, capsys):
    assert run(config, tmp_path / "run", "steps=1_000_000_000", "minutes=0.05") == 0
    assert facts(tmp_path / "run")["status"] == "finished"
    assert checkpoint.load(tmp_path / "run" / "final").card["steps"] > 0
    assert "the minutes are used up" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["ppo.epochs=none"], "ppo.epochs"),
        (["steps=0"], "steps"),
        (["game.name=chess"], "unknown game 'chess'"),
        (["game.options={rules: sapphire}"], "rules='sapphire'"),
        (["opponents.fixed={deep-blue: 1}"], "deep-blue"),
        (["evaluation.against=[kasparov]"], "kasparov"),
        (["stepz=3"], "stepz: unknown key"),
    ],
)
def test_bad_input_is_one_line_and_leaves_no_folder(config, tmp_path, capsys, words, message):
    assert run(config, tmp_path / "run", *words) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert error.count("\n") == 1
    assert message in error
    assert not (tmp_path / "run").exists()


def test_an_existing_run_is_not_overwritten_unless_told(config, tmp_path, capsys):
    folder = tmp_path / "run"
    assert run(config, folder, "steps=1", "evaluation.games=0") == 0
    (folder / "note.txt").write_text("mine")
    assert run(config, folder) == 2
    assert "exists; choose another --run-dir, or --overwrite" in capsys.readouterr().err
    assert (folder / "note.txt").exists()
    assert run(config, folder, "--overwrite", "steps=1", "evaluation.games=0") == 0
    assert not (folder / "note.txt").exists()


def test_a_folder_that_is_no_run_is_never_overwritten(config, tmp_path, capsys):
    folder = tmp_path / "photos"
    folder.mkdir()
    (folder / "cat.jpg").write_bytes(b"cat")
    assert run(config, folder, "--overwrite") == 2
    assert "is no run" in capsys.readouterr().err
    assert (folder / "cat.jpg").exists()


def test_an_empty_folder_is_used(config, tmp_path):
    (tmp_path / "run").mkdir()
    assert run(config, tmp_path / "run", "steps=1", "evaluation.games=0") == 0


def test_a_folder_that_cannot_be_made(config, tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert run(config, tmp_path / "file" / "run") == 2
    assert "can't be made" in capsys.readouterr().err


def test_a_failure_is_noted_and_what_was_learnt_is_kept(config, tmp_path, capsys, monkeypatch):
    folder, calls = tmp_path / "run", []

    def failing(self, states, masks=None):
        calls.append(1)
        if len(calls) > 40:
            raise RuntimeError("the opponent left the table")
        return act(self, states, masks)

    act = PolicyAgent.act
    monkeypatch.setattr(PolicyAgent, "act", failing)
    assert run(config, folder) == 1
    assert "the opponent left the table" in capsys.readouterr().err
    noted = facts(folder)
    assert noted["status"] == "failed"
    assert "the opponent left the table" in noted["error"]
    assert any("in failing" in line for line in noted["traceback"])
    assert checkpoint.load(checkpoint.resolve(folder)).card["steps"] > 0


def test_weights_that_are_not_finite_end_the_run_and_are_not_kept(config, tmp_path, capsys, monkeypatch):
    finite = iter([True, True])
    monkeypatch.setattr(BoardNetwork, "is_finite", lambda self: next(finite, False))
    folder = tmp_path / "run"
    assert run(config, folder, "checkpoint_minutes=1e-6") == 1
    assert "weights are not finite" in capsys.readouterr().err
    assert facts(folder)["status"] == "failed"
    assert checkpoint.resolve(folder).parent.name == "checkpoints"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_keeps_what_was_learnt_and_the_command_that_goes_on_is_named_once(config, tmp_path, number):
    folder = tmp_path / "Großmutters läufe, 日本's"  # in the C locale; to be quoted for the shell
    command = [sys.executable, "-m", "training.train", "--config", config, "--run-dir", str(folder)]
    process = subprocess.Popen(
        [*command, "steps=1_000_000_000", "evaluation.share=0.1", "evaluation.share_games=2"],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env={**os.environ, "LC_ALL": "C"},
    )
    metrics = folder / "metrics.jsonl"
    deadline = time.monotonic() + 120
    while not (metrics.exists() and metrics.read_text().count("\n") >= 2):
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(number)
    _, error = process.communicate(timeout=60)
    assert process.returncode == 0
    assert list((folder / "tensorboard").iterdir())
    assert error.count("stopped by") == 1
    said, _, again = error.splitlines()[-1].partition(". To go on: ")
    assert said == f"stopped by {number.name}; what was learnt is kept"
    python, *words = shlex.split(again)
    assert shutil.which(python)
    assert words == ["-m", "training.train", "--resume", str(folder)]
    assert facts(folder)["status"] == "interrupted"
    read = checkpoint.load(checkpoint.resolve(folder))
    assert read.card["steps"] >= 1024
    assert read.network.is_finite()


def test_threads_and_precision_as_configured(config, tmp_path):
    assert run(config, tmp_path / "run", "steps=1", "evaluation.games=0", "precision=float32") == 0
    noted = facts(tmp_path / "run")
    assert (noted["threads"], noted["precision"]) == (1, "float32")
    assert torch.get_num_threads() == 1


def test_a_full_disk_on_the_way_does_not_end_the_run(config, tmp_path, capsys, monkeypatch):
    save = checkpoint.save

    def failing(folder, *arguments, **options):
        if folder.name.startswith("step-"):
            raise OSError(28, "No space left on device")
        return save(folder, *arguments, **options)

    monkeypatch.setattr(checkpoint, "save", failing)
    assert run(config, tmp_path / "run", "checkpoint_minutes=1e-6", "evaluation.games=0") == 0
    assert "No space left on device; training goes on" in capsys.readouterr().err
    assert checkpoint.resolve(tmp_path / "run").name == "final"


def test_a_loss_that_is_no_number_stops_the_run_with_the_last_good_checkpoint_kept(config, tmp_path, capsys):
    folder = tmp_path / "run"
    assert run(config, folder, "steps=1024", "evaluation.games=0", "checkpoint_minutes=1e-6") == 0
    weights = (folder / "final" / "policy.safetensors").read_bytes()
    assert main(["--resume", str(folder), "steps=8192", "ppo.learning_rate=1e30", "ppo.learning_rate_end=1e30"]) == 1
    assert "weights are not finite" in capsys.readouterr().err
    assert facts(folder)["status"] == "failed"
    assert (folder / "final" / "policy.safetensors").read_bytes() == weights
    assert checkpoint.load(checkpoint.resolve(folder)).network.is_finite()
    for kept in (folder / "checkpoints").iterdir():
        assert checkpoint.load(kept).network.is_finite()
    lower = ["ppo.learning_rate=1e-3", "ppo.learning_rate_end=1e-4"]
    assert main(["--resume", str(folder), "steps=2048", "evaluation.games=0", *lower]) == 0  # from the last good state


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full, which is a full disk")
def test_metrics_that_can_not_be_written_are_reported_once_and_training_goes_on(config, tmp_path, capsys, monkeypatch):
    open_file = metrics._JSONLines.__init__

    def full(self, file):
        open_file(self, Path("/dev/full"))

    monkeypatch.setattr(metrics._JSONLines, "__init__", full)
    assert run(config, tmp_path / "run", "evaluation.games=0") == 0
    assert capsys.readouterr().err.count("No space left on device; training goes on") == 1
    assert checkpoint.resolve(tmp_path / "run").name == "final"


def test_old_checkpoints_thin_out_evenly(config, tmp_path):
    folder = RunFolder(tmp_path / "run", load_config(config))
    for number in range(1, 201):
        (folder.path / "checkpoints" / f"step-{1000 * number:012d}").mkdir()
        folder.thin()
    kept = [int(path.name[5:]) // 1000 for path in sorted((folder.path / "checkpoints").iterdir())]
    assert len(kept) == LATEST + OLDER
    assert kept[-LATEST:] == list(range(201 - LATEST, 201))
    assert kept[0] == 1
    assert max(later - earlier for earlier, later in itertools.pairwise(kept)) <= 2.5 * 200 / OLDER


def test_a_signal_before_the_first_step_leaves_a_loadable_checkpoint_too(config, tmp_path, monkeypatch, capsys):
    class Asked(command.Budget):
        def __enter__(self):
            self.signal = signal.SIGTERM
            return super().__enter__()

    monkeypatch.setattr(command, "Budget", Asked)
    assert run(config, tmp_path / "run") == 0
    assert facts(tmp_path / "run")["status"] == "interrupted"
    assert checkpoint.load(checkpoint.resolve(tmp_path / "run")).network.is_finite()
    assert capsys.readouterr().err.count("stopped by SIGTERM") == 1


def test_a_second_ctrl_c_names_the_command_that_goes_on_too(config, tmp_path, capsys, monkeypatch):
    def interrupt(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(Run, "play", interrupt)
    assert run(config, tmp_path / "run") == 130
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert error.startswith("interrupted at once. To go on: ")
    assert shlex.split(error)[-2:] == ["--resume", str(tmp_path / "run")]


def test_progress_says_how_the_moves_were_chosen(config, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(progress, "LINE_SECONDS", 0)
    warm = 'warm_start={teacher: "expectimax:depth=2", decisions: 2048, games: 32, minibatch: 128}'
    words = ["evaluation.share=1", "evaluation.share_games=20", "evaluation.games=0"]
    assert run(config, tmp_path / "run", warm, *words) == 0
    lines = capsys.readouterr().err.splitlines()
    imitating = [line for line in lines if line.startswith("imitating")]
    assert re.search(r"; argmax: greedy \d+%, random \d+%; teacher: agreement \d+%$", imitating[-1])
    training = [line for line in lines if line.startswith("training")]
    assert re.search(r"; argmax: greedy \d+%, random \d+%; sampled: greedy \d+%, mirror \d+%", training[-1])


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("train", ["--config", "x", "--run-dir", BAD]),
        ("train", ["--resume", BAD]),
        ("train", ["--config", "x", "--run-dir", "x", f"evaluation.against=[{BAD}]"]),
        ("rllib_train", ["--config", "x", "--run-dir", BAD]),
        ("sweep", ["--config", "x", "--space", "x", "--trials", "1", "--study", BAD]),
        ("curves", [BAD]),
        ("curves", ["--compare", "x", "--out", BAD]),
    ],
)
def test_names_that_no_file_could_hold_are_refused_at_the_start(tmp_path, monkeypatch, capsys, name, words):
    monkeypatch.chdir(tmp_path)
    assert importlib.import_module(f"training.{name}").main(words) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "is no UTF-8 as this process reads it" in error
    assert not list(tmp_path.iterdir())


def test_signals_are_given_back(config, tmp_path):
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    assert run(config, tmp_path / "run", "steps=1", "evaluation.games=0") == 0
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before
