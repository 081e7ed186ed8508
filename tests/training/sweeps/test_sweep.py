import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

pytest.importorskip("optuna", reason="Optuna is not installed")

import optuna
from optuna.trial import TrialState

from training.config import load_config
from training.sweep import main
from training.sweeps import study
from training.sweeps.space import as_words, read_space
from training.sweeps.study import Sweep, split_minutes

ROOT = Path(__file__).parents[3]
TINY = """
game: {options: {rows: 4, cols: 4}}
steps: 1000
threads: 1
precision: float32
network: {channels: 4, blocks: 0, value_hidden: 4}
ppo: {games: 50, rollout: 10, minibatch: 250, epochs: 1}
evaluation: {games: 0, share: 1, share_games: 20, against: [random, greedy]}
"""
STAND_IN = (str(Path(__file__).with_name("sweep_trial.py")),)


@pytest.fixture
def command(tmp_path):
    (tmp_path / "tiny.yaml").write_text(TINY)

    def words(space, *more, trials=3):
        (tmp_path / "space.yaml").write_text(space)
        files = ["--config", str(tmp_path / "tiny.yaml"), "--space", str(tmp_path / "space.yaml")]
        return [*files, "--study", str(tmp_path / "study"), "--trials", str(trials), *more]

    return words


@pytest.fixture
def stand_in(monkeypatch):
    monkeypatch.setattr(study, "TRIAL", STAND_IN)
    monkeypatch.setattr(study, "LOOK", 0.05)


def load(folder):
    storage = f"sqlite:///{folder / 'study.db'}"
    trials = optuna.load_study(study_name="sweep", storage=storage).trials
    return {state: [trial for trial in trials if trial.state == state] for state in TrialState}


def sweep(tmp_path):
    return Sweep(tmp_path / "study", str(tmp_path / "tiny.yaml"), str(tmp_path / "space.yaml"))


@pytest.mark.slow
def test_a_sweep_of_real_runs_goes_on_where_it_was(command, tmp_path, capsys):
    space = "ppo.learning_rate: {low: 1e-4, high: 1e-2, log: true}\nnetwork.channels: [2, 4]\n"
    folder = tmp_path / "study"
    assert main(command(space, trials=1)) == 0
    assert main(command(space, trials=2)) == 0
    done = load(folder)[TrialState.COMPLETE]
    assert [trial.number for trial in done] == [0, 1]
    assert done[0].params != done[1].params
    best = max(done, key=lambda trial: trial.value)
    config = load_config(folder / "best.yaml")
    assert config.ppo.learning_rate == best.params["ppo.learning_rate"]
    assert str(config.network.channels) == best.params["network.channels"]
    assert config.model_copy(update={"ppo": None, "network": None}) == load_config(tmp_path / "tiny.yaml").model_copy(
        update={"ppo": None, "network": None}
    )
    text = (folder / "sweep.txt").read_text()
    assert "2 trials, points in % against greedy" in text
    assert text in capsys.readouterr().out
    assert "<svg" in (folder / "sweep.svg").read_text()
    assert (folder / "trials" / "1" / "final" / "card.json").exists()
    assert not (folder / "trials" / "1" / "resume").exists()


def test_a_trial_that_fails_does_not_end_the_study(command, stand_in, tmp_path, capsys):
    space = "ppo.clip: {low: 0.1, high: 0.9}\nppo.epochs: [1, 3]\n"
    assert main(command(space, trials=6)) == 0
    trials = load(tmp_path / "study")
    failed, complete = trials[TrialState.FAIL], trials[TrialState.COMPLETE]
    assert len(failed) + len(complete) == 6
    assert {trial.params["ppo.epochs"] for trial in failed} == {"3"}
    assert {trial.user_attrs["error"] for trial in failed} == {"the run failed: out of luck"}
    assert [trial.value for trial in complete] == pytest.approx([trial.params["ppo.clip"] for trial in complete])
    assert complete[0].intermediate_values[5] == pytest.approx(complete[0].value / 2)
    best = max(complete, key=lambda trial: trial.value)
    assert load_config(tmp_path / "study" / "best.yaml").ppo.clip == best.params["ppo.clip"]
    ranked = (tmp_path / "study" / "sweep.txt").read_text()
    assert ranked.index(f"{100 * best.value:.1f}") < ranked.index("failed")
    assert "failed: the run failed: out of luck" in capsys.readouterr().err


def test_if_all_trials_fail_so_does_the_command(command, stand_in, tmp_path):
    assert main(command("ppo.clip: {low: 0.1, high: 0.9}\nppo.epochs: [3]\n", trials=2)) == 1
    assert len(load(tmp_path / "study")[TrialState.FAIL]) == 2
    assert not (tmp_path / "study" / "best.yaml").exists()


def test_a_trial_behind_the_others_is_ended_early(command, stand_in, tmp_path, capsys):
    words = command("ppo.clip: {low: 0.1, high: 0.9}\nppo.epochs: [1, 4]\n", trials=6)
    with sweep(tmp_path) as prepared:
        for clip in (0.5, 0.6, 0.7, 0.8, 0.9):
            prepared.study.enqueue_trial({"ppo.clip": clip, "ppo.epochs": "1"})
        prepared.study.enqueue_trial({"ppo.clip": 0.2, "ppo.epochs": "4"})
    assert main(words) == 0
    (pruned,) = load(tmp_path / "study")[TrialState.PRUNED]
    assert pruned.params["ppo.clip"] == 0.2
    assert "pruned at" in capsys.readouterr().err
    assert "pruned" in (tmp_path / "study" / "sweep.txt").read_text()


def test_a_trial_whose_sweep_was_killed_is_tried_once_more(command, stand_in, tmp_path):
    words = command("ppo.clip: {low: 0.1, high: 0.9}\n", trials=1)
    for _ in range(2):
        with sweep(tmp_path) as killed:
            trial = killed.study.ask(killed.space)
    assert trial.params == load(tmp_path / "study")[TrialState.FAIL][0].params
    assert main(words) == 1  # that was its second try
    assert main([*words[:-1], "2"]) == 0
    assert len(load(tmp_path / "study")[TrialState.COMPLETE]) == 1


def test_a_signal_ends_the_trial_and_the_same_command_goes_on(command, stand_in, tmp_path, capsys):
    words = command("ppo.clip: {low: 0.1, high: 0.9}\nppo.epochs: [4]\n", trials=1)
    log = tmp_path / "study" / "trials" / "0" / "metrics.jsonl"

    def ask():
        while not log.exists():
            time.sleep(0.02)
        os.kill(os.getpid(), signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    thread = threading.Thread(target=ask)
    thread.start()
    assert main(words) == 0
    thread.join()
    assert signal.getsignal(signal.SIGINT) is before
    error = capsys.readouterr().err
    assert error.count("stopped by") == 1
    again = error.partition("stopped by SIGINT; what was tried is kept. To go on: ")[2]
    assert shlex.split(again)[-len(words) :] == words
    trials = load(tmp_path / "study")
    assert len(trials[TrialState.FAIL]) == len(trials[TrialState.WAITING]) == 1


@pytest.mark.slow
def test_a_trial_ends_when_its_sweep_is_gone(command, tmp_path):
    command("{}")
    folder = tmp_path / "run"
    words = ["--config", str(tmp_path / "tiny.yaml"), "--run-dir", str(folder), "steps=1_000_000_000"]
    process = subprocess.Popen(
        [sys.executable, "-m", "training.sweeps.trial", *words],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 200
    while not (folder / "metrics.jsonl").exists():
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.stdin.close()
    assert "stopped by SIGTERM" in process.stderr.read()
    assert process.wait(60) == 0
    process.stderr.close()


def test_one_sweep_at_a_time(command, tmp_path):
    command("ppo.clip: {low: 0.1, high: 0.9}")
    with sweep(tmp_path), pytest.raises(ValueError, match="in use by another sweep"), sweep(tmp_path):
        pass
    with sweep(tmp_path):
        pass


def test_a_study_keeps_to_its_configuration(command, stand_in, tmp_path, capsys):
    assert main(command("ppo.clip: {low: 0.1, high: 0.9}", trials=1)) == 0
    for space, more in (("ppo.clip: {low: 0.1, high: 0.8}", []), ("ppo.clip: {low: 0.1, high: 0.9}", ["seed=7"])):
        capsys.readouterr()
        assert main(command(space, *more, trials=1)) == 2
        assert "has another configuration, space or pruner" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("space", "more", "message"),
    [
        ("ppo.clap: [1, 2]", [], "ppo.clap: unknown key"),
        ("ppo.epochs: [1, none]", [], "ppo.epochs"),
        ("ppo.clip: {low: 2, high: 1}", [], "`low <= high`"),
        ("ppo.clip: {low: 0, high: 1, log: true}", [], "`low >= 1`"),
        ("ppo.clip: {low: 0.1, high: 1, step: 0}", [], "`step > 0`"),
        ("ppo.clip: {low: 0.1, high: 1, steps: 2}", [], "'steps'; accepted: low, high, log and step"),
        ("ppo.clip: {low: 0.1}", [], "'high'; accepted: low, high, log and step"),
        ("ppo.clip: 0.2", [], "0.2; accepted: {low: 1, high: 4}"),
        ("ppo.clip: [0.2, 0.2]", [], "given twice"),
        ("", [], "names no keys"),
        ("[", [], "is not YAML"),
        ("minutes: [1, 2]", ["--minutes-each", "1"], "minutes is the same in all trials"),
        ("ppo.clip: [0.1, 0.2]", ["--minutes-each", "0"], "--minutes-each 0.0; accepted"),
        ("ppo.clip: [0.1, 0.2]", ["evaluation.against=[]"], "needs an opponent"),
        ("ppo.clip: [0.1, 0.2]", ["evaluation.against=[kasparov]"], "kasparov"),
    ],
)
def test_bad_input_is_one_line_and_leaves_no_study(command, tmp_path, capsys, space, more, message):
    assert main(command(space, *more)) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert error.count("\n") == 1
    assert message in error
    assert not (tmp_path / "study").exists()


def test_a_study_has_trials(command, capsys):
    assert main(command("ppo.clip: [0.1, 0.2]", trials=0)) == 2
    assert capsys.readouterr().err.startswith("error: --trials 0; accepted")


def test_a_folder_that_is_no_study_stays_as_it_is(command, tmp_path, capsys):
    folder = tmp_path / "study"
    folder.mkdir()
    (folder / "cat.jpg").write_bytes(b"cat")
    assert main(command("ppo.clip: [0.1, 0.2]")) == 2
    assert "is no study" in capsys.readouterr().err
    assert [path.name for path in folder.iterdir()] == ["cat.jpg"]


def test_a_damaged_study_is_an_error(command, stand_in, tmp_path, capsys):
    words = command("ppo.clip: {low: 0.1, high: 0.9}", trials=1)
    assert main(words) == 0
    (tmp_path / "study" / "study.db").write_bytes(b"no database")
    assert main(words) == 2
    assert "study.db can't be read" in capsys.readouterr().err


def test_a_space_offers_what_it_says(tmp_path):
    (tmp_path / "space.yaml").write_text(
        "a: {low: 1, high: 4}\nb: {low: 1.0e-4, high: 1e-1, log: true}\nc: {low: 0.5, high: 1.0, step: 0.25}\n"
        "d: [{pattern: 0.1}, {}, 3e-4, 'yes', null]\n"
    )
    space, found = read_space(tmp_path / "space.yaml"), {key: set() for key in "abcd"}
    sampled = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    for _ in range(60):
        trial = sampled.ask(space)
        for key, value in trial.params.items():
            found[key].add(value)
    assert found["a"] == {1, 2, 3, 4}
    assert min(found["b"]) < 1e-3 < 1e-2 < max(found["b"])
    assert found["c"] == {0.5, 0.75, 1.0}
    assert found["d"] == {"{pattern: 0.1}", "{}", "0.0003", "'yes'", "null"}
    assert as_words({"a": 2, "b": 1e-05, "d": "{pattern: 0.1}"}) == ["a=2", "b=1e-05", "d={pattern: 0.1}"]


def test_minutes_are_shared_as_in_the_configuration(tmp_path):
    def words(text):
        (tmp_path / "config.yaml").write_text(text)
        return split_minutes(load_config(tmp_path / "config.yaml"), 3)

    teacher = "warm_start: {teacher: 'expectimax:depth=2', minutes: 2}"
    assert words(f"{teacher}\nminutes: 1") == ["warm_start.minutes=2.0", "minutes=1.0"]
    assert words("minutes: 60") == ["minutes=3"]
    with pytest.raises(ValueError, match="self-play has none"):
        words(teacher)


def test_the_space_that_comes_along_fits_the_quick_configuration(tmp_path):
    configs = ROOT / "configs"
    found = Sweep(tmp_path / "study", str(configs / "quick.yaml"), str(configs / "sweep.yaml"), minutes=2.0)
    assert len(found.space) >= 5
    assert not (tmp_path / "study").exists()
