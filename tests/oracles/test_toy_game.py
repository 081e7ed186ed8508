"""A game of a few lines goes through every floor: nothing above games counts on a board, two players, few outcomes.

`tests/oracles/dice.py` has 21 outcomes of each draw, three players and no board; it says no more than a game has to.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mozaic_env import make_agent, make_game
from mozaic_env.arena.match import play_match
from mozaic_env.cli import main
from mozaic_env.core import contract
from mozaic_env.core.record import parse_record
from mozaic_env.envs.gymnasium.single import GameEnv
from mozaic_env.envs.gymnasium.vector import GameVectorEnv
from mozaic_env.games import GAMES, game_of_record
from mozaic_env.testing import checks_for_env, checks_for_game, checks_for_vector_env
from mozaic_env.web.play.game_server import GameServer
from tests.oracles import dice

GAME = dice.Dice()
SEARCHERS = ["expectimax:depth=2", "paranoid:depth=2", "mcts:simulations=20", "rollout:policy=greedy,samples=2"]
TINY = """
game: {name: dice}
steps: 128
threads: 1
network: {channels: 8, blocks: 1, value_hidden: 8}
ppo: {games: 8, rollout: 16, minibatch: 64, epochs: 1}
opponents: {mirror: 1, past: 0, fixed: {greedy: 1}}
evaluation: {games: 6, against: [random]}
"""


@pytest.fixture(autouse=True)
def _listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """All that a game needs to be known by name is its line in the list."""
    monkeypatch.setitem(GAMES, "dice", "tests.oracles.dice:Dice")


def each(checks: list[Callable[..., None]]) -> Any:
    return pytest.mark.parametrize("check", checks, ids=lambda check: check.__name__)


def test_it_is_short() -> None:
    assert len(Path(dice.__file__).read_text(encoding="utf-8").splitlines()) <= 150


@each(checks_for_game())
def test_the_game(check: Callable[..., None]) -> None:
    check(GAME)


@each([check for check in checks_for_env() if check.__module__.endswith("single_rules")])
def test_the_environment(check: Callable[..., None]) -> None:
    check(partial(GameEnv, GAME))


@each([check for check in checks_for_vector_env() if check.__module__.endswith("vector_equal")])
def test_the_vector_environment(check: Callable[..., None]) -> None:
    check(lambda num_envs, **options: GameVectorEnv(num_envs, GAME, **options), partial(GameEnv, GAME))


def test_pettingzoo() -> None:
    pytest.importorskip("pettingzoo")
    from mozaic_env.envs.pettingzoo import env

    game = env("dice")
    game.reset(seed=1)
    results = dict.fromkeys(game.agents, 0.0)
    for agent in game.agent_iter():
        observation, reward, terminated, truncated, _ = game.last()
        results[agent] += reward
        game.step(None if terminated or truncated else int(observation["action_mask"].argmax()))
    assert sorted(results.values()) == [-0.5, -0.5, 1.0]


def test_openspiel() -> None:
    pyspiel = pytest.importorskip("pyspiel")
    from mozaic_env.envs.openspiel import register

    register(make_game("dice"))
    game = pyspiel.load_game("python_dice")
    assert (game.num_players(), game.max_chance_outcomes()) == (3, 21)
    pyspiel.random_sim_test(game, num_sims=2, serialize=True, verbose=False, mask_test=True)


@pytest.mark.parametrize("name", SEARCHERS)
def test_searching_agents_play_matches(name: str) -> None:
    played = play_match(make_agent(name, GAME), make_agent("random", GAME), 6, seed=1, keep_actions=True)
    assert played.games == 6
    assert played.details is not None
    assert np.isfinite(played.details.margins).all()


def test_a_tournament_and_its_records(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records = tmp_path / "records.txt"
    assert main(["tournament", "greedy", "random", "--game", "dice", "--games", "6", "--records", str(records)]) == 0
    assert "greedy" in capsys.readouterr().out
    lines = records.read_text(encoding="utf-8").splitlines()
    assert len(lines) >= 6
    for line in lines:
        record = parse_record(line)
        assert game_of_record(record) == GAME
        *_, (_, last) = GAME.replay(record)
        assert contract.mover(last) == contract.OVER


def test_a_chance_outcome_of_a_record_is_checked() -> None:
    record = parse_record("game=dice rolls=1 | #21 sum")
    with pytest.raises(ValueError, match="accepted: #0, #1"):
        list(GAME.replay(record))


def test_the_page() -> None:
    table = GameServer(GAME, {"greedy": make_agent("greedy", GAME)})
    state = asyncio.run(table.answer(None, {"do": "hello"}))
    token = state["token"]
    assert state["seat_names"] == ("p1", "p2", "p3")
    assert "<text" in state["view"]["svg"]
    while (mover := state["view"]["mover"]) is not None:
        said: dict[str, Any] = {"do": "agent"}
        if state["seats"][mover] == "human":
            said = {"do": "play", "action": state["view"]["legal"][0][0]}
        state = asyncio.run(table.answer(token, {**said, "version": state["version"]}))
    assert sum(state["view"]["results"]) == pytest.approx(0)


def test_training_and_its_checkpoint(tmp_path: Path) -> None:
    pytest.importorskip("sb3_contrib")
    from training.train import main as train

    config = tmp_path / "dice.yaml"
    config.write_text(TINY)
    assert train(["--config", str(config), "--run-dir", str(tmp_path / "run")]) == 0
    agent = make_agent(f"{tmp_path / 'run'}", GAME)
    assert play_match(agent, make_agent("random", GAME), 6, seed=1).games == 6
