import itertools
import json

import pytest

from mozaic_env.agents.policy import checkpoint
from mozaic_env.agents.policy.agent import PolicyAgent
from mozaic_env.agents.policy.network import NetworkConfig
from mozaic_env.agents.policy.networks import make_network
from mozaic_env.agents.specs import make_agent
from mozaic_env.arena.exact.regret import measure_regret
from mozaic_env.arena.match import play_match
from mozaic_env.games import make_game
from training import evaluation
from training.curves import main as draw
from training.curves import read_curves, read_regret
from training.runs import state
from training.train import main

TINY = """
game: {options: {rows: 4, cols: 4}}
steps: 4096
threads: 1
precision: float32
network: {channels: 8, blocks: 1, value_hidden: 8}
ppo: {games: 64, rollout: 16, minibatch: 256, epochs: 2}
opponents: {mirror: 1, past: 0, fixed: {}}
evaluation: {games: 0, share: 1, share_games: 40, against: [random, greedy]}
"""


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "tiny.yaml"
    path.write_text(TINY)
    return str(path)


def measured(folder, key="evaluation/greedy/points"):
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [line[key] for line in lines if key in line]


def test_the_best_by_points_against_the_last_opponent_is_kept_and_stands_for_the_run(config, tmp_path):
    folder = tmp_path / "run"
    assert main(["--config", config, "--run-dir", str(folder)]) == 0
    points = measured(folder)
    assert len(points) >= 2
    assert len(measured(folder, "evaluation/random/low")) == len(points)
    read = checkpoint.load(checkpoint.resolve(folder))
    assert read.folder == folder / "best"
    known = read.card["results"]
    assert known["points"] == max(points)
    assert (known["against"], known["games"]) == ("greedy", 40)
    game = make_game("mozaic", rows=4, cols=4)
    again = play_match(PolicyAgent(game, read.network), make_agent("greedy", game), 40, known["seed"])
    assert again.points == known["points"]  # the weights are those that were measured
    assert known["seed"] != read.card["seed"]
    curves = read_curves(folder)
    assert list(curves) == ["random", "greedy"]
    assert [measurement.points for measurement in curves["greedy"]] == points
    decisions = [measurement.decisions for measurement in curves["greedy"]]
    assert decisions == sorted(decisions)
    assert decisions[-1] == 4096
    assert all(measurement.low <= measurement.points <= measurement.high for measurement in curves["random"])
    picture = (folder / "curves.svg").read_text()
    assert "<svg" in picture


def test_measuring_changes_nothing_that_is_learnt(config, tmp_path):
    warm = 'warm_start={teacher: "expectimax:depth=2", decisions: 2048, games: 32, minibatch: 128}'
    for name, share in (("with", 1), ("without", 0)):
        words = [warm, f"evaluation.share={share}", "evaluation.share_games=2", "opponents.fixed={greedy: 1}"]
        assert main(["--config", config, "--run-dir", str(tmp_path / name), *words]) == 0
    assert len(measured(tmp_path / "with")) > 2
    assert not measured(tmp_path / "without")
    one, two = (tmp_path / name / "final" / "policy.safetensors" for name in ("with", "without"))
    assert one.read_bytes() == two.read_bytes()


def test_curves_of_a_run_without_matches_on_the_way_are_an_error(config, tmp_path, capsys):
    folder = tmp_path / "run"
    assert main(["--config", config, "--run-dir", str(folder), "steps=1024", "evaluation.share=0"]) == 0
    assert not (folder / "curves.svg").exists()
    assert draw([str(folder)]) == 2
    assert draw([str(tmp_path)]) == 2
    first, second = capsys.readouterr().err.splitlines()
    assert "evaluation.share" in first
    assert "can't be read" in second


@pytest.mark.parametrize("against", ["[random]", "[]"])
def test_the_regret_on_the_way(config, tmp_path, capsys, against):
    folder = tmp_path / "run"
    words = ["game.options.rows=2", "evaluation.regret=true", "evaluation.games=20", f"evaluation.against={against}"]
    assert main(["--config", config, "--run-dir", str(folder), *words]) == 0
    regrets = measured(folder, "evaluation/regret/mean")
    assert len(regrets) >= 2
    assert len(measured(folder, "evaluation/random/points")) == (len(regrets) if against == "[random]" else 0)
    assert all(0 <= mistakes <= 1 for mistakes in measured(folder, "evaluation/regret/mistakes"))
    assert [one.points for one in read_regret(folder)] == regrets
    known = checkpoint.read_card(folder / "best")["results"]
    assert known["regret"] == min(regrets)
    game = make_game("mozaic", rows=2, cols=4)
    agent = PolicyAgent(game, checkpoint.load(folder / "best").network)
    assert (
        measure_regret(agent, 40, known["seed"]).regret == known["regret"]
    )  # the weights are those that were measured
    at_the_end = json.loads((folder / "evaluation.json").read_text())[-1]["regret"]
    assert at_the_end["regret"] == measure_regret(agent, 20, 0).regret
    assert at_the_end["match"]["players"][1] == "perfect"
    assert "against perfect play, 20 games" in capsys.readouterr().out
    assert draw([str(folder)]) == 0


def test_regret_on_a_board_that_is_not_solved_is_an_error_before_any_work(config, tmp_path, capsys):
    words = ["--config", config, "--run-dir", str(tmp_path / "run"), "evaluation.regret=true", "game.options={}"]
    assert main(words) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_a_resumed_run_knows_the_best_score_and_how_long_it_has_taken(config, tmp_path):
    folder = tmp_path / "run"
    assert main(["--config", config, "--run-dir", str(folder), "steps=2048"]) == 0
    before, minutes = state.read(folder)["best"], measured(folder, "evaluation/minutes")
    assert before == checkpoint.read_card(folder / "best")["results"]
    weights = (folder / "best" / "policy.safetensors").read_bytes()
    # What is learnt now changes nothing, so the best stays.
    assert main(["--resume", str(folder), "steps=4096", "ppo.learning_rate=1e-15", "ppo.learning_rate_end=0"]) == 0
    assert state.read(folder)["best"] == before
    later = measured(folder, "evaluation/minutes")
    assert later[: len(minutes)] == minutes  # the clock goes on where it was
    assert 0 < minutes[0] < minutes[-1] < later[len(minutes)] < later[-1] < 10
    assert (folder / "best" / "policy.safetensors").read_bytes() == weights


def test_no_more_than_a_share_of_the_time_goes_into_it(monkeypatch):
    now, calls = [0.0], []
    monkeypatch.setattr(evaluation.time, "monotonic", lambda: now[0])

    class Slow(evaluation.Evaluator):
        def measure(self, logger, decisions):
            calls.append(now[0])
            now[0] += 10
            self._spent += 10

    config = evaluation.Config(evaluation={"share": 0.1})
    game = make_game("mozaic", rows=4, cols=4)
    network = make_network(game, NetworkConfig(channels=2, blocks=0, value_hidden=2))
    slow = Slow(config, game, network, None, False)
    while now[0] < 1000:
        now[0] += 1
        if slow.is_due():
            slow.measure(None, 0)
    assert 9 <= len(calls) <= 11
    assert all(later - earlier >= 90 for earlier, later in itertools.pairwise(calls))
