"""A Ray runtime of two nodes on this machine, one of which is killed in the middle of training or of a tournament."""

from __future__ import annotations

import itertools
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("torch")

from mozaic_env.agents.policy import checkpoint

pytestmark = [pytest.mark.ray, pytest.mark.filterwarnings("ignore")]  # Ray warns of itself

ROOT = Path(__file__).parents[2]
BATCH = 2 * 32 * 16
CONFIG = """
game: {options: {rows: 4, cols: 4}}
steps: 1_000_000_000
runners: {number: 2, cpus: 1}
network: {channels: 8, blocks: 1, value_hidden: 8}
ppo: {games: 32, rollout: 16, minibatch: 256, epochs: 2}
opponents: {mirror: 0.5, past: 0.25, fixed: {greedy: 0.25}, past_every: 1}
evaluation: {games: 0}
"""


class Run:
    """A training run under way in a process of its own."""

    def __init__(self, folder: Path, address: str) -> None:
        (folder / "config.yaml").write_text(CONFIG)
        self.folder, self.errors = folder / "run", folder / "stderr.txt"
        command = [sys.executable, "-m", "training.rllib_train", "--config", str(folder / "config.yaml")]
        words = ["--run-dir", str(self.folder), "--address", address]
        self.process = subprocess.Popen([*command, *words], cwd=ROOT, stderr=self.errors.open("w"))

    def lines(self) -> list[dict[str, float]]:
        file = self.folder / "metrics.jsonl"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    def wait(self, enough: Callable[[list[dict[str, float]]], bool]) -> list[dict[str, float]]:
        """The metrics once there is enough of them."""
        deadline = time.monotonic() + 900
        while not enough(self.lines()):
            assert self.process.poll() is None, self.errors.read_text()
            assert time.monotonic() < deadline, self.errors.read_text()
            time.sleep(0.2)
        return self.lines()


def test_a_node_is_killed_and_training_goes_on_and_another_node_joins(nodes, tmp_path):
    second = nodes.add()
    run = Run(tmp_path, nodes.address)
    try:
        before = run.wait(lambda lines: len(lines) >= 3)
        nodes.remove_node(second, allow_graceful=False)
        alone = run.wait(lambda lines: sum(line["ray/runners"] == 1 for line in lines) >= 3)
        nodes.add()
        run.wait(lambda lines: lines[-1]["ray/runners"] == 2)
        again = run.wait(lambda lines: [line["ray/runners"] for line in lines[-2:]] == [2, 2])
        run.process.send_signal(signal.SIGTERM)
        assert run.process.wait(timeout=300) == 0, run.errors.read_text()
    finally:
        run.process.kill()
        run.process.wait()
    assert {line["ray/runners"] for line in before} == {2}
    assert alone[: len(before)] == before
    lines = run.lines()
    assert lines[: len(again)] == again
    # No step is lost or counted twice: each update has a whole batch or nearly so, whoever plays it.
    steps = [0, *(line["time/steps"] for line in lines)]
    gains = [later - earlier for earlier, later in itertools.pairwise(steps)]
    assert all(0.75 * BATCH <= gain <= 1.5 * BATCH for gain in gains)
    # The earlier selves did not go with the node: games against them go on, at the runner that came anew as well.
    assert all(line.get("opponents/past/games", 0) > 0 for line in lines[2:])
    noted = json.loads((run.folder / "run.json").read_text())
    assert (noted["status"], noted["runners_lost"], noted["runners_back"]) == ("interrupted", 1, 1)
    assert noted["steps"] == lines[-1]["time/steps"]
    said = run.errors.read_text()
    assert "a runner is gone, 1 of 2 play on" in said
    assert "a runner is back, 2 of 2 play" in said
    read = checkpoint.load(checkpoint.resolve(run.folder))
    assert read.card["steps"] == noted["steps"]
    assert read.network.is_finite()


def test_a_node_is_killed_and_the_tournament_has_the_same_results(nodes, tmp_path):
    from mozaic_env.agents.specs import make_agent
    from mozaic_env.arena.tournament import play_tournament
    from mozaic_env.games import make_game

    game = make_game("mozaic", rows=4, cols=4)
    agents = [make_agent(spec, game) for spec in ("random", "greedy", "pattern", "mcts:simulations=20")]
    expected = play_tournament(agents, 40, seed=5)
    second, seen = nodes.add(), []

    def kill_one(result):
        if not seen:
            nodes.remove_node(second, allow_graceful=False)
        seen.append(result)

    assert play_tournament(agents, 40, seed=5, ray=nodes.address, on_result=kill_one) == expected
    assert sorted(seen, key=lambda result: result.players) == sorted(expected, key=lambda result: result.players)
