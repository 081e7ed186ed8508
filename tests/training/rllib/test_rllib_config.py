from pathlib import Path

import pytest

from training.config import as_yaml, load_config
from training.rllib.config import RLlibConfig
from training.rllib_train import main

FILE = Path(__file__).parents[3] / "configs" / "rllib.yaml"


@pytest.fixture
def write(tmp_path):
    def write(text):
        (tmp_path / "run.yaml").write_text(text)
        return tmp_path / "run.yaml"

    return write


def test_the_config_that_comes_along_is_valid():
    config = load_config(FILE, (), RLlibConfig)
    assert config.make_game().name == "mozaic"
    assert config.batch == config.runners.number * config.ppo.games * config.ppo.rollout


def test_a_config_survives_being_written(write):
    config = load_config(write("{steps: 7, runners: {number: 5, cpus: 0.5}}"), ["ppo.epochs=9"], RLlibConfig)
    assert config.runners.number == 5
    assert load_config(write(as_yaml(config)), (), RLlibConfig) == config


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("runnerz: {}", ["runnerz: unknown key; accepted:", "runners"]),
        ("runners: {count: 2}", ["runners.count: unknown key; accepted: number, cpus, patience"]),
        ("runners: {number: -1}", ["runners.number:", "got -1"]),
        ("runners: {cpus: 0}", ["runners.cpus:", "greater than 0"]),
        ("learners: 2", ["learners is a section"]),
        ("opponents: {prioritized: 1}", ["opponents.prioritized: unknown key; accepted: mirror, past, prioritised"]),
        ("opponents: {mirror: 0, past: 0, fixed: {}}", ["opponents:", "all shares are 0"]),
        ("reward: {margin: 0, outcome: 0}", ["are both 0"]),
        ("{runners: {number: 2}, ppo: {games: 4, rollout: 4, minibatch: 64}}", ["ppo.minibatch=64", "32 decisions"]),
        ("{runners: {number: 9}, ppo: {games: 1, rollout: 9, minibatch: 64}}", ["ppo.games=1 leaves no game"]),
        ("evaluation: {share: 0.1}", ["evaluation.share: unknown key; accepted: against, games"]),
        ("warm_start: {}", ["warm_start: unknown key"]),
    ],
)
def test_what_is_wrong_is_one_line_that_names_the_key(write, tmp_path, capsys, text, words):
    path = write(text)
    assert main(["--config", str(path), "--run-dir", str(tmp_path / "run")]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert error.count("\n") == 1
    for word in words:
        assert word in error
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("game: {name: chess}", "unknown game 'chess'"),
        ("game: {options: {rules: sapphire}}", "rules='sapphire'"),
        ("opponents: {fixed: {deep-blue: 1}}", "deep-blue"),
        ("evaluation: {against: [kasparov]}", "kasparov"),
    ],
)
def test_what_no_single_key_can_tell(write, tmp_path, capsys, text, word):
    assert main(["--config", str(write(text)), "--run-dir", str(tmp_path / "run")]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert word in error
    assert not (tmp_path / "run").exists()


def test_a_run_that_is_none(tmp_path, capsys):
    assert main(["--resume", str(tmp_path)]) == 2
    assert "is no run" in capsys.readouterr().err


@pytest.mark.parametrize("words", [[], ["--config", "x.yaml"], ["--resume", "x", "--overwrite"]])
def test_words_that_do_not_go_together(words, capsys):
    with pytest.raises(SystemExit) as caught:
        main(words)
    assert caught.value.code == 2
    assert "--resume" in capsys.readouterr().err


def test_without_ray_there_is_a_sentence(write, tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    assert main(["--config", str(write("")), "--run-dir", str(tmp_path / "run")]) == 2
    error = capsys.readouterr().err
    assert "needs ray" in error
    assert "pip install 'mozaic_env[rllib]'" in error
    assert not (tmp_path / "run").exists()
