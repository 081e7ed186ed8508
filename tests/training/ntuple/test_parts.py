"""Batches in parts: what is learnt does not depend on who plays them."""

import json
import subprocess
import sys

import numpy as np
import pytest

from mozaic_env.agents.ntuple import tables
from mozaic_env.agents.specs import make_agent
from mozaic_env.arena.match import play_match
from mozaic_env.core.afterstates import features_of
from mozaic_env.games import make_game
from tests.rllib.ray_nodes import patiently
from tests.training.ntuple.test_ntuple import CONFIG, QUIET, SMALL
from training.ntuple.__main__ import main
from training.ntuple.learner import TOTALS
from training.ntuple.parts import Part, merge, split

GAME = make_game("mozaic", rows=4, cols=4)
GIVEN = [*SMALL, *QUIET, "later=[]", "parts=4", "decisions=4000"]


def train(folder, *words):
    return main(["--config", CONFIG, "--run-dir", str(folder), *words, *GIVEN])


def weights_of(folder):
    return tables.load(tables.resolve(folder), GAME).weights


@pytest.fixture(scope="module")
def one_by_one(tmp_path_factory):
    folder = tmp_path_factory.mktemp("parts") / "run"
    assert train(folder) == 0
    return folder


def test_parts_cover_a_batch_once():
    assert split(10, 20, 3) == [(10, 13), (13, 16), (16, 20)]
    assert split(0, 2, 3) == [(0, 1), (1, 2)]


def test_gradients_are_summed_and_a_feature_takes_the_mean_of_the_parts_that_changed_it():
    weights = features_of(GAME).start()
    weights["value"] = 0
    changes = np.zeros((2, len(weights)), np.float32)
    changes[0, :2], changes[1, :1] = 1, 3
    parts = [Part(change + 1, change, np.zeros(1, TOTALS)) for change in changes]
    gradient = np.zeros(len(weights), np.float32)
    merge(parts, weights, gradient)
    assert weights["value"][:3].tolist() == [2, 1, 0]
    assert gradient[:3].tolist() == [6, 3, 2]


def test_threads_learn_the_same(one_by_one, tmp_path):
    assert train(tmp_path / "run", "--threads", "3") == 0
    np.testing.assert_array_equal(weights_of(tmp_path / "run"), weights_of(one_by_one))


def test_learning_in_parts_learns(tmp_path):
    given = [word for word in GIVEN if not word.startswith("decisions")]
    words = ["--config", CONFIG, "--run-dir", str(tmp_path / "run"), *given, "decisions=400_000"]
    assert main(words) == 0
    last = json.loads((tmp_path / "run" / "metrics.jsonl").read_text().splitlines()[-1])
    assert last["train/critic_error"] < 0.95 * last["train/return_size"]
    assert play_match(make_agent(str(tmp_path / "run"), GAME), make_agent("pattern", GAME), 2000).points > 0.52


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--threads", "2", "parts=1"], "nothing to share"),
        (["--threads", "0"], "at least 1"),
        (["--threads", "2", "--ray", "local"], "leave it out with --ray"),
        (["parts=21"], "at most one for each game"),
        (["--ray", "nowhere", "parts=2"], "ray"),
    ],
)
def test_what_can_not_be_is_said(tmp_path, capsys, words, said):
    given = [word for word in GIVEN if not word.startswith("parts") or "parts" not in "".join(words)]
    try:
        code = main(["--config", CONFIG, "--run-dir", str(tmp_path / "run"), *words, *given])
    except SystemExit as end:
        code = end.code
    assert code == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


@pytest.mark.ray
@pytest.mark.filterwarnings("ignore")  # Ray warns of itself
class TestOnRay:
    @pytest.fixture
    def cluster(self):
        pytest.importorskip("ray", reason="needs ray, of the extra ray: make test-ray")
        from ray.cluster_utils import Cluster

        cluster = Cluster()
        patiently(lambda: cluster.add_node(num_cpus=1, include_dashboard=False))
        yield cluster
        cluster.shutdown()

    def test_one_node_and_two_learn_the_same(self, cluster, one_by_one, tmp_path):
        assert train(tmp_path / "one", "--ray", cluster.address) == 0
        patiently(lambda: cluster.add_node(num_cpus=1))
        assert train(tmp_path / "two", "--ray", cluster.address) == 0
        for name in ("one", "two"):
            np.testing.assert_array_equal(weights_of(tmp_path / name), weights_of(one_by_one))

    def test_a_lost_node_costs_nothing_but_time(self, cluster, tmp_path):
        second = patiently(lambda: cluster.add_node(num_cpus=1))
        words = ["--config", CONFIG, "--run-dir", str(tmp_path / "lost"), "--ray", cluster.address, *GIVEN]
        words = [*words[:-1], "decisions=60_000"]
        run = subprocess.Popen([sys.executable, "-m", "training.ntuple", *words])
        states = tmp_path / "lost" / "checkpoints"
        while not (states.is_dir() and len(list(states.iterdir())) >= 3):
            assert run.poll() is None
        cluster.remove_node(second, allow_graceful=False)
        assert run.wait(timeout=600) == 0
        words = ["--config", CONFIG, "--run-dir", str(tmp_path / "whole"), *GIVEN[:-1], "decisions=60_000"]
        assert main(words) == 0
        np.testing.assert_array_equal(weights_of(tmp_path / "lost"), weights_of(tmp_path / "whole"))
