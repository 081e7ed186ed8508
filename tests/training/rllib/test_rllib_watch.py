"""What is said of a run on RLlib, with a stand-in for RLlib's algorithm: needs no Ray."""

import json
from types import SimpleNamespace

import pytest

from training.config import as_yaml, load_config
from training.rllib import progress
from training.rllib.config import RLlibConfig
from training.rllib.progress import Watch, write_numbers
from training.runs.budget import Budget
from training.runs.metrics import UpdateMetrics, make_logger

NAN = float("nan")
TRAINED = {"entropy": 1.5, **dict.fromkeys(progress.TRAINED.values(), 0.25)}


class Algorithm:
    """As much of one as is looked at."""

    def __init__(self, runners):
        self.decisions, self.there = 100, runners
        self.env_runner_group = SimpleNamespace(num_healthy_remote_env_runners=lambda: self.there)


@pytest.fixture
def config(tmp_path):
    (tmp_path / "run.yaml").write_text("{}")
    return load_config(tmp_path / "run.yaml", ["runners.number=2", "runners.patience=1e-9"], RLlibConfig)


def test_numbers_of_an_update_in_which_an_opponent_had_no_game(tmp_path):
    logger = make_logger(tmp_path)
    result = {
        "env_runners": {
            "num_episodes": 3,
            "opponents": {
                "past": {"games": NAN, "points": NAN, "margin": NAN},
                "greedy": {"games": 4, "points": 1.0, "margin": -6.0},
            },
        },
        "learners": {"default_policy": TRAINED},
        "timers": {"env_runner_sampling_timer": 2.0, "learner_update_timer": 3.0},
    }
    metrics = UpdateMetrics(logger, Budget(1000, None), 0)
    write_numbers(logger, metrics, result, Algorithm(2))
    assert metrics.scores == {"greedy": 0.25}
    logger.close()
    (line,) = (json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines())
    assert (line["opponents/greedy/score"], line["opponents/greedy/margin"], line["opponents/greedy/games"]) == (
        0.25,
        -1.5,
        4,
    )
    assert not [name for name in line if "past" in name]
    assert (line["time/steps"], line["games/finished"], line["ray/runners"]) == (100, 4, 2)
    assert (line["time/playing"], line["time/learning"], line["train/entropy"]) == (2.0, 3.0, 1.5)


def test_runners_that_go_and_come_are_told_of_and_counted(config, capsys):
    algorithm = Algorithm(2)
    watch = Watch(config, algorithm)
    for there in (2, 1, 1, 2):
        algorithm.there = there
        assert watch.look()
    assert capsys.readouterr().err.splitlines() == [
        "after 100 steps: a runner is gone, 1 of 2 play on",
        "after 100 steps: a runner is back, 2 of 2 play",
    ]
    assert watch.facts() == {"runners_lost": 1, "runners_back": 1}


def test_without_any_runner_it_waits_and_then_gives_up(config, monkeypatch):
    waited = []
    monkeypatch.setattr(progress.time, "sleep", waited.append)
    algorithm = Algorithm(0)
    patient = load_config_with_patience(config, 1000.0)
    assert not Watch(patient, algorithm).look()
    assert waited
    with pytest.raises(RuntimeError, match=r"no runner was there for .* minutes \(runners.patience\)"):
        Watch(config, algorithm).look()


def load_config_with_patience(config, minutes):
    return RLlibConfig.model_validate({**config.model_dump(), "runners": {"number": 2, "patience": minutes}})


def test_the_drivers_own_games_need_no_runner(config):
    alone = RLlibConfig.model_validate({**config.model_dump(), "runners": {"number": 0}})
    assert Watch(alone, Algorithm(0)).look()
    assert "number: 0" in as_yaml(alone)
