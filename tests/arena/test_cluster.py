"""Tournaments on Ray: the same results as here, and sentences where it can't be."""

from __future__ import annotations

import json
import sys

import pytest

from mozaic_env.arena.tournament import play_tournament
from mozaic_env.cli import main
from tests.arena.arena_agents import Wrong, agents, small_game
from tests.rllib.ray_nodes import patiently

TOURNAMENT = ["tournament", "random", "greedy", "pattern", "--games", "20", "--rows", "4", "--cols", "4"]


def without_seconds(file):
    """The lines of a results file, in an order of their own."""
    results = [json.loads(line) for line in file.read_text().splitlines()]
    return sorted(json.dumps({**result, "seconds": 0}) for result in results)


def test_a_missing_ray_gives_the_command_that_installs_it(capsys, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "ray", None)
    assert main([*TOURNAMENT, "--ray", "local", "--results", str(tmp_path / "ladder.jsonl")]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "this needs ray, which the extra 'ray' brings: pip install 'mozaic_env[ray]'" in error
    assert main([*TOURNAMENT]) == 0  # nobody else asks for it


@pytest.mark.ray
@pytest.mark.filterwarnings("ignore")  # Ray warns of itself
class TestOnRay:
    @pytest.fixture(autouse=True)
    def _ray(self):
        pytest.importorskip("ray", reason="needs ray, of the extra ray: make test-ray")

    def test_the_same_results_as_here(self, tmp_path, capsys):
        here, there = tmp_path / "here.jsonl", tmp_path / "there.jsonl"
        words = ["--seed", "3", "--results"]
        assert main([*TOURNAMENT, *words, str(here)]) == 0
        told = capsys.readouterr().out
        assert main([*TOURNAMENT, *words, str(there), "--ray", "local"]) == 0
        assert capsys.readouterr().out == told
        assert without_seconds(here) == without_seconds(there)
        assert here.read_text().count("\n") == 3
        # What is known already is not played again, so nothing is started.
        assert main([*TOURNAMENT, *words, str(there), "--ray", "nowhere:1"]) == 0

    @pytest.mark.parametrize("address", ["127.0.0.1:1", "nowhere", "127.0.0.1:port", "ray://127.0.0.1:1", "auto", ""])
    def test_an_address_where_nobody_is(self, tmp_path, capsys, address):
        results = tmp_path / "ladder.jsonl"
        assert main([*TOURNAMENT, "--ray", address, "--results", str(results)]) == 2
        error = capsys.readouterr().err
        assert error.count("\n") == 1
        assert f"mozaic tournament: no Ray cluster at {address!r}: " in error
        assert "ray start --head" in error
        assert not results.exists()

    def test_more_threads_than_any_node_has_and_an_agent_that_fails(self):
        import arena_agents
        import ray

        ray.cloudpickle.register_pickle_by_value(arena_agents)  # which the workers can't import
        node = {"num_cpus": 1, "object_store_memory": 150 * 2**20, "include_dashboard": False}
        patiently(lambda: ray.init(logging_level="error", **node))
        try:
            game = small_game()
            with pytest.raises(ValueError, match="threads=5, and no node of the Ray cluster has more than 1 CPUs"):
                play_tournament(agents(game, "random", "greedy"), 4, ray="auto", threads=5)
            with pytest.raises(ValueError, match="agent 'wrong' was asked for") as caught:
                play_tournament([*agents(game, "random"), Wrong(game, lambda masks: "?")], 4, ray="auto")
            assert "ray::" not in str(caught.value)
            # Python agents and records of the games go there and back too.
            three = [*agents(game, "greedy", "pattern"), Wrong(game, 0)]
            kept = {"keep_actions": True, "max_decisions": 30}
            here, there = (play_tournament(three, 4, ray=ray_, **kept) for ray_ in (None, "auto"))
            assert here == there
            for one, other in zip(here, there):
                assert (one.details.actions == other.details.actions).all()
        finally:
            ray.shutdown()
