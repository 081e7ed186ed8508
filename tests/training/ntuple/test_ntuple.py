"""Training of n-tuple tables: repeats to the bit, goes on after a kill, learns; the agents that play what it wrote."""

import json
from pathlib import Path

import numpy as np
import pytest

from mozaic_env.agents.ntuple import tables
from mozaic_env.agents.specs import make_agent
from mozaic_env.arena.match import play_match
from mozaic_env.games import make_game
from mozaic_env.testing import rows
from training.config import load_config
from training.ntuple import run as run_module
from training.ntuple.__main__ import check, main
from training.ntuple.config import NTupleConfig

SECOND = "later=[{decisions: 2000, policy: {batch: 10, temperature: 0.05, temperature_end: 0.05}}]"
SMALL = ["game.options={rows: 4, cols: 4}", "policy.batch=20", "save_every=1000"]
QUIET = ["evaluation.times=0", "evaluation.final_games=0"]
CONFIG = str(Path(__file__).parents[3] / "configs" / "mozaic-ntuple.yaml")


def train(folder, *overrides, decisions=4000, later=SECOND):
    given = [*SMALL, later, f"decisions={decisions}", *overrides]
    return main(["--config", CONFIG, "--run-dir", str(folder), *given])


def weights_of(folder, **options):
    return tables.load(tables.resolve(folder), make_game("mozaic", **options)).weights


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "first"
    matches = ["evaluation.times=2", "evaluation.games=20", "evaluation.final_games=20", "evaluation.against=[pattern]"]
    assert train(folder, *matches) == 0
    return folder


def test_a_run_leaves_what_others_read(trained):
    lines = [json.loads(line) for line in (trained / "metrics.jsonl").read_text().splitlines()]
    measured = [line["evaluation/decisions"] for line in lines if "evaluation/pattern/points" in line]
    assert len(measured) == 2
    assert measured == sorted(measured)
    assert {"final", "best", "curves.svg", "evaluation.json"} <= {path.name for path in trained.iterdir()}
    assert json.loads((trained / "run.json").read_text())["status"] == "finished"
    last = [line for line in lines if "train/temperature" in line][-1]
    assert last["time/steps"] >= 6000  # of both stages
    assert last["train/temperature"] == pytest.approx(0.05)


def test_equal_seeds_learn_the_same_and_others_do_not(trained, tmp_path):
    final = weights_of(trained / "final")
    assert train(tmp_path / "again", *QUIET) == 0
    assert train(tmp_path / "other", *QUIET, "seed=1") == 0
    np.testing.assert_array_equal(weights_of(tmp_path / "again"), final)
    assert (weights_of(tmp_path / "other")["policy"] != final["policy"]).any()


@pytest.mark.parametrize("batches_before", [4, 7], ids=["first-stage", "second-stage"])
def test_a_killed_run_learns_what_it_would_have_learnt(trained, tmp_path, monkeypatch, batches_before):
    class Killed(BaseException):
        """As by the system."""

    batches = iter(range(batches_before))
    learn = run_module.Run._learn_batch

    def dies(run):
        if next(batches, None) is None:
            raise Killed
        learn(run)

    folder = tmp_path / "killed"
    with monkeypatch.context() as patch:
        patch.setattr(run_module.Run, "_learn_batch", dies)
        assert train(folder, *QUIET) == 1
    assert not (folder / "final").exists()
    assert main(["--resume", str(folder)]) == 0
    np.testing.assert_array_equal(weights_of(folder / "final"), weights_of(trained / "final"))


def test_both_functions_learn(tmp_path):
    assert train(tmp_path / "long", *QUIET, decisions=400_000, later="later=[]") == 0
    last = json.loads((tmp_path / "long" / "metrics.jsonl").read_text().splitlines()[-1])
    assert last["train/critic_error"] < 0.95 * last["train/return_size"]  # equal as long as all values are 0
    game = make_game("mozaic", rows=4, cols=4)
    agent = make_agent(str(tmp_path / "long"), game)
    assert play_match(agent, make_agent("pattern", game), 2000).points > 0.53  # at the start they are equal
    state = game.rows(1)
    rows.setup_rows(state)
    rows.deal(state[0])
    chances, _ = agent.evaluate(state)
    assert chances.sum() == pytest.approx(1)


def test_specs_name_tables_and_runs(trained):
    small, large = make_game("mozaic", rows=4, cols=4), make_game("mozaic", rules="onyx")
    for spec in (str(trained), f"ntuple:{trained}", f"ntuple:{trained},sample=1"):
        assert make_agent(spec, small).game == small
    result = play_match(make_agent(str(trained), large), make_agent("random", large), 20)  # tables fit every board
    assert result.points > 0.5
    with pytest.raises(ValueError, match="play mozaic"):
        make_agent(f"ntuple:{trained}", make_game("crystal_mosaic"))


def test_a_game_without_features_is_refused():
    config = load_config(CONFIG, ["game.name=crystal_mosaic", "game.options={}"], NTupleConfig)
    with pytest.raises(ValueError, match="crystal_mosaic offers no sparse features"):
        check(config)


def test_damaged_tables_are_refused(trained, tmp_path):
    game = make_game("mozaic", rows=4, cols=4)
    folder = tmp_path / "damaged"
    folder.mkdir()
    for file in (trained / "final").iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    content = bytearray((folder / tables.TABLES).read_bytes())
    content[-1] ^= 1
    (folder / tables.TABLES).write_bytes(content)
    with pytest.raises(ValueError, match="not what the card says"):
        make_agent(str(folder), game)


def test_choices_are_what_act_picks_from(trained):
    game = make_game("mozaic", rows=4, cols=4)
    agent = make_agent(str(trained), game)
    state = game.rows(50)
    state["key"] = np.arange(50)
    rows.setup_rows(state)
    for row in state:
        rows.deal(row)
    chosen, choices = agent.act(state), agent.choices(state)
    assert (choices[np.arange(50), chosen] == 1).all()
    np.testing.assert_array_equal(agent.act(state[::-1]), chosen[::-1])
