import functools
import json
import os
import pickle
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch

from mozaic_env.agents.policy import checkpoint
from training.ppo.run import Run
from training.runs import state
from training.train import main

ROOT = Path(__file__).parents[3]
TINY = """
game: {options: {rows: 4, cols: 4}}
steps: 8192
threads: 1
network: {channels: 8, blocks: 1, value_hidden: 8}
warm_start: {teacher: "expectimax:depth=2", decisions: 2048, games: 32, minibatch: 128, kl_coefficient: 0.1}
ppo: {games: 64, rollout: 16, minibatch: 256, epochs: 2}
opponents: {mirror: 1, past: 1, past_every: 1, fixed: {greedy: 1}}
evaluation: {games: 0}
"""


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "tiny.yaml"
    path.write_text(TINY)
    return str(path)


def run(config, folder, *more):
    return main(["--config", config, "--run-dir", str(folder), *more])


def resume(folder, *more):
    return main(["--resume", str(folder), *more])


def facts(folder):
    return json.loads((folder / "run.json").read_text())


def metrics(folder, key):
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [line[key] for line in lines if key in line]


def write(folder, number, **more):
    state.write(folder, f"{number:012d}.pt", functools.partial(state.save_tensors, {"steps": number, **more}))


def same(one, other):
    if isinstance(one, torch.Tensor):
        return torch.equal(one, other)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other


def start(config, folder, *more):
    """A run in a process of its own that saves at every chance."""
    command = [sys.executable, "-m", "training.train", "--config", config, "--run-dir", str(folder)]
    return subprocess.Popen(
        [*command, "checkpoint_minutes=1e-6", *more], cwd=ROOT, stderr=subprocess.PIPE, text=True, env={**os.environ}
    )


def kill_when(process, ready):
    deadline = time.monotonic() + 300
    while not ready():
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.communicate()


def test_twice_n_steps_are_2n_steps(config, tmp_path):
    halves, whole = tmp_path / "halves", tmp_path / "whole"
    assert run(config, whole) == 0
    assert run(config, halves, "steps=4096") == 0
    assert resume(halves, "steps=8192") == 0
    one, two = state.read(whole), state.read(halves)
    assert one["steps"] == two["steps"] == 8192
    assert (one["updates"], one["epochs"]) == (two["updates"], two["epochs"])
    assert one["warm_start"]["decisions"] == two["warm_start"]["decisions"] == 2048
    for key in ("lr", "eps", "betas"):
        assert one["optimizer"]["param_groups"][0][key] == two["optimizer"]["param_groups"][0][key]
    assert one["optimizer"]["state"][0]["step"] == two["optimizer"]["state"][0]["step"]
    assert same(one["reference"], two["reference"])  # there was one warm start, and it was the same
    assert list(one["past"]) == list(two["past"])
    assert one["league"]["random"] == two["league"]["random"]
    assert metrics(halves, "time/steps") == metrics(whole, "time/steps") == list(range(1024, 8193, 1024))
    assert metrics(halves, "train/learning_rate")[-1] == metrics(whole, "train/learning_rate")[-1]
    assert checkpoint.read_card(halves / "final")["steps"] == 8192 + 2048
    assert len(facts(halves)["resumed"]) == 1
    assert len(list((halves / "tensorboard").iterdir())) == 2


def test_going_on_with_nothing_left_to_do_changes_nothing(config, tmp_path):
    folder = tmp_path / "run"
    assert run(config, folder, "steps=2048") == 0
    before = state.read(folder)
    weights = (folder / "final" / "policy.safetensors").read_bytes()
    assert resume(folder) == 0
    after = state.read(folder)
    assert (folder / "final" / "policy.safetensors").read_bytes() == weights
    for key in ("network", "reference", "optimizer", "steps", "updates", "past", "league", "random"):
        assert same(before[key], after[key]), key


def test_a_killed_run_loses_at_most_the_last_interval(config, tmp_path):
    folder = tmp_path / "run"
    process = start(config, folder, "steps=1_000_000_000")
    kill_when(process, lambda: _steps(folder) >= 4096)
    assert facts(folder)["status"] == "running"
    saved = state.read(folder)
    assert saved["steps"] >= max(metrics(folder, "time/steps")) - 2048  # one update, and what was under way
    target = saved["steps"] + 2048
    assert resume(folder, f"steps={target}", "checkpoint_minutes=10") == 0
    assert state.read(folder)["steps"] == target
    assert facts(folder)["status"] == "finished"
    steps = metrics(folder, "time/steps")
    assert steps == list(range(1024, target + 1, 1024))  # each update once
    assert checkpoint.load(checkpoint.resolve(folder)).card["steps"] == target + 2048


def _steps(folder):
    try:
        return max(metrics(folder, "time/steps"), default=0)
    except (OSError, ValueError):
        return 0


def test_a_run_killed_in_its_warm_start_goes_on_there(config, tmp_path):
    folder = tmp_path / "run"
    process = start(config, folder, "warm_start.decisions=1_000_000_000", "steps=1024")
    kill_when(process, lambda: len(list(folder.glob("resume/state-*.pt"))) >= 2)
    saved = state.read(folder)["warm_start"]
    assert saved["decisions"] > 0
    assert not saved["is_over"]
    more = saved["decisions"] + 1024
    assert resume(folder, f"warm_start.decisions={more}", "checkpoint_minutes=10") == 0
    after = state.read(folder)
    assert after["steps"] == 1024
    assert after["warm_start"]["is_over"]
    assert after["warm_start"]["decisions"] == more
    steps = [group["step"] for group in after["warm_start"]["optimizer"]["state"].values()]
    assert set(map(float, steps)) == {more / 128}


@pytest.mark.parametrize("warm", ["1_000_000_000", "512"])
def test_a_signal_in_either_phase_can_be_followed_by_more(config, tmp_path, monkeypatch, warm):
    folder, seen = tmp_path / "run", []

    def ask(self, logger, now=False):
        seen.append(self.decisions)
        if len(seen) == 3:
            self.budget.signal = signal.SIGINT

    with monkeypatch.context() as patch:
        patch.setattr(Run, "measure_and_save", ask)
        assert run(config, folder, "steps=1_000_000", f"warm_start.decisions={warm}") == 0
    assert facts(folder)["status"] == "interrupted"
    assert checkpoint.load(folder / "final").card["steps"] >= seen[-1] > 0
    assert resume(folder, "steps=2048", "warm_start.decisions=4096") == 0
    assert state.read(folder)["steps"] >= 2048
    assert facts(folder)["status"] == "finished"


def test_a_run_that_was_killed_before_it_saved_begins_anew(config, tmp_path):
    folder = tmp_path / "run"
    assert run(config, folder, "steps=1024") == 0
    for name in ("resume", "final", "checkpoints"):
        shutil.rmtree(folder / name)
    assert resume(folder, "steps=2048") == 0
    assert state.read(folder)["steps"] == 2048
    assert metrics(folder, "time/steps") == [1024, 2048]


def test_a_run_without_its_state_keeps_what_it_has(config, tmp_path, capsys):
    folder = tmp_path / "run"
    assert run(config, folder, "steps=1024") == 0
    shutil.rmtree(folder / "resume")
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert resume(folder, "steps=2048") == 2
    assert "no resume/ to go on from" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in before} == before


def test_two_processes_do_not_train_in_one_folder(config, tmp_path, capsys):
    folder = tmp_path / "run"
    process = start(config, folder, "steps=1_000_000_000")
    try:
        while not list(folder.glob("resume/state-*.pt")):
            assert process.poll() is None
            time.sleep(0.05)
        for again in (lambda: resume(folder), lambda: run(config, folder, "--overwrite")):
            assert again() == 2
            assert "another process trains in it" in capsys.readouterr().err
        assert (folder / "run.json").is_file()
    finally:
        process.kill()
        process.communicate()
    assert resume(folder, "steps=1024") == 0


@pytest.mark.parametrize("line", [b"\xff\xfe\n", b"null\n", b'{"time/steps": "x"}\n', b'{"time/st'])
def test_damaged_lines_of_numbers_go(config, tmp_path, line):
    folder = tmp_path / "run"
    assert run(config, folder, "steps=1024") == 0
    with (folder / "metrics.jsonl").open("ab") as file:
        file.write(line)
    assert resume(folder, "steps=2048") == 0
    assert metrics(folder, "time/steps") == [1024, 2048]


def test_a_budget_that_is_used_up_is_said(config, tmp_path, capsys):
    folder = tmp_path / "run"
    assert run(config, folder, "steps=1024") == 0
    capsys.readouterr()
    assert resume(folder) == 0
    assert "steps=1024, is used up" in capsys.readouterr().err


def test_a_damaged_state_is_passed_over_and_a_pickle_is_not_run(config, tmp_path, capsys):
    folder, marker = tmp_path / "run", tmp_path / "marker"
    assert run(config, folder, "steps=2048", "checkpoint_minutes=1e-6") == 0
    *_, earlier, latest = sorted((folder / "resume").iterdir())

    class Bomb:
        def __reduce__(self):
            return (os.mkdir, (str(marker),))

    torch.save({"format": state.FORMAT, "steps": Bomb()}, latest)
    assert state.read(folder)["steps"] < 2048
    earlier.write_bytes(pickle.dumps(Bomb()))
    assert resume(folder) == 2
    assert "damaged" in capsys.readouterr().err
    assert not marker.exists()
    latest.write_bytes(latest.read_bytes()[:100])
    assert resume(folder) == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["network.channels=4"], "network can't change"),
        (["game.options={rows: 6, cols: 6}"], "game can't change"),
        (["stepz=3"], "stepz: unknown key"),
        (["warm_start.teacher=random"], "no action values"),
    ],
)
def test_what_can_not_change_is_one_line_and_the_run_is_as_it_was(config, tmp_path, capsys, words, message):
    folder = tmp_path / "run"
    assert run(config, folder, "steps=1024", "warm_start.decisions=512") == 0
    before = (folder / "run.json").read_bytes(), (folder / "config.yaml").read_bytes()
    capsys.readouterr()
    assert resume(folder, *words) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert ((folder / "run.json").read_bytes(), (folder / "config.yaml").read_bytes()) == before


def test_only_a_run_can_go_on(tmp_path, capsys):
    assert resume(tmp_path) == 2
    assert "is no run" in capsys.readouterr().err
    for words in (["--resume", "a", "--config", "b"], ["--config", "b"], ["--resume", "a", "--overwrite"]):
        with pytest.raises(SystemExit) as caught:
            main(words)
        assert caught.value.code == 2


def test_a_disk_that_is_full_harms_no_earlier_state(config, tmp_path, capsys, monkeypatch):
    write(tmp_path, 1)

    def full(obj, stream):
        stream.write(b"half of it")
        raise RuntimeError("[enforce fail at inline_container.cc] . PytorchStreamWriter failed writing file")

    with monkeypatch.context() as patch:
        patch.setattr(torch, "save", full)
        with pytest.raises(OSError, match="failed writing"):
            write(tmp_path, 2)
        assert run(config, tmp_path / "run", "steps=2048", "checkpoint_minutes=1e-6") == 0
    assert state.read(tmp_path)["steps"] == 1
    assert [file.name for file in (tmp_path / "resume").iterdir()] == ["state-000000000001.pt"]
    assert "training goes on" in capsys.readouterr().err
    assert checkpoint.resolve(tmp_path / "run").name == "final"


def test_old_states_go_and_the_newest_counts(tmp_path):
    for number in (1, 2, 10):
        write(tmp_path, number)
    assert len(list((tmp_path / "resume").iterdir())) == 2
    assert state.read(tmp_path)["steps"] == 10
    assert state.read(tmp_path / "elsewhere") is None


def test_random_states_come_back(tmp_path):
    write(tmp_path, 1, random=state.random_states())
    draws = [(random.random(), np.random.random(), float(torch.rand(1)))]  # noqa: NPY002
    state.set_random_states(state.read(tmp_path)["random"])
    draws.append((random.random(), np.random.random(), float(torch.rand(1))))  # noqa: NPY002
    assert draws[0] == draws[1]
