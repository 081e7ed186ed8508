"""A bare name is an agent, a path a folder: wherever a spec is taken, and in what is recorded of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch

from mozaic_env.agents.names import AGENTS, POLICY, read_spec
from mozaic_env.agents.policy.agent import PolicyAgent
from mozaic_env.agents.policy.checkpoint import save
from mozaic_env.agents.policy.network import BoardNetwork, NetworkConfig, layout_of
from mozaic_env.agents.specs import _MAKERS, make_agent
from mozaic_env.arena.evaluate import read_evaluations
from mozaic_env.cli import main
from mozaic_env.envs.sb3 import GameVecEnv
from mozaic_env.games import make_game

GAME = make_game("mozaic", rows=2, cols=3)
SMALL = ["--rows", "2", "--cols", "3"]
# As a folder is typed, and what results call it.
FOLDERS = {
    "./champion": "./champion",
    "champion/": "./champion",
    "policy:./champion": "./champion",
    "policy:champion/": "./champion",
    "./greedy": "./greedy",
    "policy:./pattern": "./pattern",
    "./mcts,sample=1": "./mcts,sample=1",
    "quick": "quick",  # which no agent is called
    "policy:quick": "quick",
    "./quick/": "quick",
    "runs/../quick": "quick",
    "runs/a,b": "runs/a,b",
    "runs/a,b,sample=1": "runs/a,b,sample=1",
    "policy:runs/a,b,search=1": "runs/a,b,search=1",
    "runs/lr=0.1": "runs/lr=0.1",
    "policy:runs/lr=0.1,sample=1": "runs/lr=0.1,sample=1",
}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.manual_seed(0)
    network = BoardNetwork(layout_of(GAME), NetworkConfig(channels=2, blocks=1, value_hidden=2))
    folder: Path = tmp_path_factory.mktemp("runs") / "checkpoint"
    save(folder, network, GAME, steps=0, seed=0)
    return folder


@pytest.fixture
def runs(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory, also the home, with runs that are called as agents are, and worse."""
    for name in ("champion", "pattern", "greedy", "mcts", "quick", "runs/a,b", "runs/lr=0.1"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "final").symlink_to(template)
        (tmp_path / name / "run.json").write_text("{}")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def single(spec: Any) -> str:
    env = gym.make("mozaic_env:Mozaic-v0", opponent=spec, rows=2, cols=3)
    _, info = env.reset(seed=0)
    over = False
    while not over:
        _, _, terminated, truncated, info = env.step(np.flatnonzero(info["action_mask"])[0])
        over = terminated or truncated
    return str(info["opponent"])


def vector(spec: Any) -> str:
    envs = gym.make_vec("mozaic_env:Mozaic-v0", num_envs=2, opponent=spec, rows=2, cols=3)
    return str(envs.unwrapped._batch.opponents[0].name)


def several(spec: Any) -> str:
    envs = GameVecEnv(2, GAME)
    envs.set_opponents(["random", spec])
    return str(envs._batch.opponents[1].name)


def bot(spec: Any) -> str:
    import pyspiel

    from mozaic_env.envs.openspiel import AgentBot

    return AgentBot(spec, pyspiel.load_game("python_mozaic(rows=2,cols=3)"))._agent.name


def teacher(spec: Any) -> str:
    from training.imitation.demonstrations import make_teacher

    return make_teacher(spec, GAME).name


PLACES: dict[str, Callable[[Any], str]] = {
    "make_agent": lambda spec: make_agent(spec, GAME).name,
    "gym.make": single,
    "gym.make_vec": vector,
    "set_opponents": several,
    "AgentBot": bot,
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("spec", FOLDERS)
def test_a_path_is_the_folder(runs: Path, place: str, spec: str) -> None:
    assert PLACES[place](spec) == FOLDERS[spec]


@pytest.mark.parametrize("place", PLACES)
def test_a_path_object_is_the_folder_even_where_it_is_bare(runs: Path, place: str) -> None:
    assert PLACES[place](Path("champion")) == "./champion"
    assert PLACES[place](Path("runs/a,b")) == "runs/a,b"
    assert PLACES[place]("~/runs/lr=0.1") == str(runs / "runs" / "lr=0.1")


@pytest.mark.parametrize("place", PLACES)
def test_a_bare_name_is_the_agent(runs: Path, place: str) -> None:
    for name in ("pattern", "greedy", "mcts:simulations=2"):
        assert PLACES[place](name) == name
    for spec in ("champion", "policy:champion"):
        with pytest.raises(ValueError, match="yet to be trained"):  # the shipped one, which plays the whole board
            PLACES[place](spec)
    with pytest.raises(ValueError, match=r"pattern is an agent and no policy; a folder of that name is \./pattern"):
        PLACES[place]("policy:pattern")


def test_what_is_typed_says_it_where_a_name_is_not_of_this_game(runs: Path) -> None:
    (runs / "planner").mkdir()  # an agent of another game
    with pytest.raises(ValueError, match=r"unknown agent 'planner'.*the folder of that name is \./planner$"):
        make_agent("planner", GAME)


def test_the_policy_of_a_search_and_the_teacher_follow_the_rule(runs: Path) -> None:
    assert read_spec("mcts:policy=./champion").checkpoint == Path("champion")
    assert read_spec("mcts:policy=champion").checkpoint is None
    for folder in ("./champion", "quick", "runs/a,b", "runs/lr=0.1", "~/quick"):
        spec = f"mcts:policy={folder},simulations=2"
        assert make_agent(spec, GAME).name == spec
    with pytest.raises(ValueError, match="pattern is an agent and no policy"):
        make_agent("mcts:policy=pattern", GAME)
    with pytest.raises(ValueError, match="yet to be trained"):
        make_agent("mcts:policy=champion", GAME)
    assert teacher("pattern") == "pattern"
    with pytest.raises(ValueError, match=r"'\./pattern' has no action values"):
        teacher("./pattern")
    assert PolicyAgent.load("champion", GAME).name == "policy:./champion"  # which takes paths alone


def test_results_say_which_and_only_the_run_that_was_evaluated_is_told(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    games = ["--games", "2", "--json", "all.json", "--records", "games.txt"]
    for spec, name, told in (
        ("./pattern", "./pattern", 1),
        ("policy:./pattern", "./pattern", 2),
        (f"{runs}/pattern", f"{runs}/pattern", 3),
        ("./pattern,sample=1", "./pattern,sample=1", 3),
        ("pattern", "pattern", 3),
    ):
        assert main(["evaluate", spec, "--against", "random", "./greedy", *games, *SMALL]) == 0
        assert f"{name} on Mozaic" in capsys.readouterr().out
        results = json.loads(Path("all.json").read_text())["results"]
        assert [result["players"] for result in results] == [[name, "random"], [name, "./greedy"]]
        assert f"={name} " in Path("games.txt").read_text()
        assert len(read_evaluations("pattern")) == told
    assert not read_evaluations("greedy")
    assert main(["tournament", "greedy", "./greedy", "--games", "2", "--results", "r.jsonl", *SMALL]) == 0
    (result,) = map(json.loads, Path("r.jsonl").read_text().splitlines())
    assert result["players"][0] == "greedy"
    assert result["players"][1].startswith("./greedy@")


def test_the_page_tells_a_folder_from_the_agent_of_its_name(runs: Path) -> None:
    from mozaic_env.cli.play import name_agents

    agents = [make_agent(spec, GAME) for spec in ("pattern", "./pattern", "runs/a,b", "runs/../quick")]
    assert list(name_agents(agents)) == ["pattern", "./pattern", "a,b", "quick"]


@pytest.mark.parametrize(
    ("spec", "hint"),
    [
        ("gredy", "did you mean 'greedy'?"),
        ("Expectimax:depth=2", "did you mean 'expectimax'?"),
        ("chanpion,sample=1", "did you mean 'champion'?"),
        ("expectimax:dept=2", "did you mean 'depth'?"),
        ("mcts:heuristic=patern", "did you mean 'pattern'?"),
        ("./quick,serch=1", "did you mean 'search'?"),
        ("expectimax,depth=2", "options follow a colon, as in 'expectimax:depth=2'"),
    ],
)
def test_a_misspelt_name_is_told_what_is_close(runs: Path, spec: str, hint: str) -> None:
    with pytest.raises(ValueError, match="agent") as error:
        make_agent(spec, GAME)
    assert str(error.value).endswith(hint)
    assert len(str(error.value)) < 300


def test_every_agent_has_its_maker() -> None:
    assert set(_MAKERS) == {*AGENTS, POLICY}
