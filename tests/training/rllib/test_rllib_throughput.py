"""How throughput with RLlib's runners is measured: what adds up to the figures, and once on a real Ray."""

import sys
from types import SimpleNamespace

import pytest

from benchmarks import rllib_throughput
from benchmarks.rllib_throughput import Turn, main, make_table, measure

TINY = """
game: {options: {rows: 4, cols: 4}}
network: {channels: 4, blocks: 0, value_hidden: 4}
ppo: {games: 16, rollout: 8, minibatch: 64, epochs: 1}
opponents: {mirror: 1, past: 0, fixed: {}}
"""


@pytest.fixture
def config(tmp_path):
    (tmp_path / "tiny.yaml").write_text(TINY)
    return ["--config", str(tmp_path / "tiny.yaml")]


class Algorithm:
    """As much of one as is measured: an update takes 5 seconds, 1 of them for playing and 3 for learning."""

    def __init__(self, number, clock, log):
        self.number, self.clock, self.log, self.decisions = number, clock, log, 0
        self.env_runner_group = SimpleNamespace(
            foreach_env_runner=lambda ask, local_env_runner: [2.0 * self.decisions] * self.number
        )

    def train(self):
        self.log.append(self.number)
        self.decisions += 10 * self.number
        self.clock.now += 5
        return {"timers": {"env_runner_sampling_timer": 1.0, "learner_update_timer": 3.0}}


def test_turns_alternate_and_add_up_their_updates(monkeypatch):
    clock, log = SimpleNamespace(now=0.0), []
    monkeypatch.setattr(rllib_throughput.time, "perf_counter", lambda: clock.now)
    turns = measure({number: Algorithm(number, clock, log) for number in (1, 2)}, rounds=2, updates=2)
    assert log == [1, 2, *(1, 1, 2, 2), *(2, 2, 1, 1)]
    assert turns[1] == [Turn(decisions=20, playing=2, learning=6, whole=10, processor=40)] * 2
    assert turns[2] == [Turn(decisions=40, playing=2, learning=6, whole=10, processor=160)] * 2
    table = make_table(turns, "title")
    assert table.lines[0] == ("1", "10", "10", "10", "1.00", "0", "2", "1.00", "60%")
    assert table.lines[1] == ("2", "20", "20", "20", "2.00", "0", "4", "2.00", "60%")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--rounds", "0"], "--rounds 0; accepted: a whole number of at least 1"),
        (["--updates", "-1"], "--updates -1"),
        (["--runners", "0,2"], "--runners 0,2; accepted: different whole numbers of at least 1, as in 1,2,4"),
        (["--runners", "2,2"], "--runners 2,2"),
        (["--runners", "two"], "--runners two"),
        (["ppo.epoch=1"], "ppo.epoch: unknown key"),
        (["ppo.minibatch=1024"], "ppo.minibatch=1024 is more than the 128 decisions"),
        (["game.name=chess"], "unknown game 'chess'"),
    ],
)
def test_bad_input_is_one_line(config, capsys, words, said):
    assert main([*config, *words]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert said in error


def test_without_ray_there_is_a_sentence(config, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    assert main(config) == 2
    assert "pip install 'mozaic_env[rllib]'" in capsys.readouterr().err


@pytest.mark.ray
@pytest.mark.filterwarnings("ignore")  # Ray warns of itself
def test_it_prints_how_fast_runners_are(config, capsys):
    pytest.importorskip("ray.rllib", reason="needs ray[rllib], of the extra rllib: make test-ray")
    assert main([*config, "--runners", "1,2", "--rounds", "1", "--updates", "1"]) == 0
    out = capsys.readouterr().out
    assert "1 rounds of 1 updates, 16 games each" in out
    assert [line.split()[0] for line in out.splitlines() if line[:8].strip().isdecimal()] == ["1", "2"]
    assert main([*config, "--address", "127.0.0.1:1"]) == 2
    assert "no Ray cluster at '127.0.0.1:1'" in capsys.readouterr().err
