"""A network over entities, its checkpoints, and training at tables of two and three."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("sb3_contrib", reason="sb3-contrib is not installed")

from mozaic_env.agents.policy import checkpoint  # noqa: E402
from mozaic_env.agents.policy.agent import PolicyAgent  # noqa: E402
from mozaic_env.agents.policy.entities import EntityNetwork  # noqa: E402
from mozaic_env.agents.policy.network import BoardNetwork, NetworkConfig  # noqa: E402
from mozaic_env.agents.policy.networks import make_network  # noqa: E402
from mozaic_env.core.game import Game  # noqa: E402
from mozaic_env.games import make_game  # noqa: E402
from mozaic_env.testing import rows as on  # noqa: E402

CONFIG = NetworkConfig(channels=16, blocks=1, value_hidden=8)


def observations(game: Game, size: int) -> dict[str, Any]:
    rows = on.states(game, 8)
    rows = rows[on.where(rows) >= 0][:size]
    frames = np.zeros((len(rows), game.frame.itemsize), np.uint8)
    on.look(rows, on.where(rows), np.zeros((len(rows), game.num_actions), np.int8), frames)
    entries = frames.view(game.frame)[:, 0]
    return {field.key: torch.from_numpy(entries[field.key].copy()) for field in game.fields}


def random_network(game: Game) -> Any:
    torch.manual_seed(0)
    network = make_network(game, CONFIG).eval()
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    return network


def test_the_kind_of_network_is_the_games() -> None:
    assert isinstance(make_network(make_game("mozaic", rows=4, cols=4), CONFIG), BoardNetwork)
    assert isinstance(make_network(make_game("crystal_mosaic"), CONFIG), EntityNetwork)
    with pytest.raises(ValueError, match="symmetric is for games with a board"):
        make_network(make_game("crystal_mosaic"), NetworkConfig(symmetric=True))


@pytest.mark.parametrize("players", [2, 3, 4])
def test_what_is_learnt_of_one_factory_holds_for_all(players: int) -> None:
    game = make_game("crystal_mosaic", players=players)
    network, seen = random_network(game), observations(game, 32)
    with torch.no_grad():
        network.places[:-1] = network.places[0]  # factories are told apart by nothing but what is on them
        logits, values = network(seen)
        swapped = dict(seen)
        tables = seen["table"].unflatten(1, (-1, 5))
        swapped["table"] = tables[:, [1, 0, *range(2, tables.shape[1])]].flatten(1)
        other, same = network(swapped)
    torch.testing.assert_close(values, same)
    torch.testing.assert_close(logits[:, :30], other[:, 30:60])
    torch.testing.assert_close(logits[:, 30:60], other[:, :30])
    torch.testing.assert_close(logits[:, 60:], other[:, 60:])
    assert not torch.allclose(logits[:, :30], logits[:, 30:60])


def test_what_is_learnt_of_one_colour_holds_for_all() -> None:
    game = make_game("crystal_mosaic", players=3, board="side2")
    network, seen = random_network(game), observations(game, 32)
    order = [2, 0, 1, 4, 3]
    colours = {"wall": (3, 5, 25), "printed": (1, 5, 25), "lines": (15, 5, 1), "table": (8, 5, 1), "floor": (3, 5, 1)}
    colours |= dict.fromkeys(("bag", "lid"), (1, 5, 1))
    turned = dict(seen)
    for key, shape in colours.items():
        turned[key] = seen[key].reshape(-1, *shape)[:, :, order].reshape(seen[key].shape)
    with torch.no_grad():
        logits, values = network(seen)
        other, same = network(turned)
    torch.testing.assert_close(values, same)
    torch.testing.assert_close(logits[:, :300].reshape(-1, 10, 5, 6)[:, :, order].flatten(1), other[:, :300])
    torch.testing.assert_close(logits[:, 300:], other[:, 300:])
    assert not torch.allclose(logits, other)


def test_checkpoints_come_back_and_others_are_refused(tmp_path: Path) -> None:
    game = make_game("crystal_mosaic", players=3)
    network, seen = random_network(game), observations(game, 16)
    card = checkpoint.save(tmp_path / "one", network, game, steps=1, seed=0)
    assert card["network"]["kind"] == "entities"
    loaded = checkpoint.load(tmp_path / "one", game)
    for mine, theirs in zip(network(seen), loaded.network(seen), strict=True):
        torch.testing.assert_close(mine, theirs, rtol=0, atol=0)
    with pytest.raises(ValueError, match="asked for was"):
        checkpoint.load(tmp_path / "one", make_game("crystal_mosaic", players=2))
    card["network"]["kind"] = "board"
    (tmp_path / "one" / "card.json").write_text(json.dumps(card))
    with pytest.raises(ValueError, match=r"accepted for CrystalMosaic.*kind 'entities'"):
        checkpoint.load(tmp_path / "one")


def test_a_policy_plays_every_seat() -> None:
    game = make_game("crystal_mosaic", players=4)
    agent = PolicyAgent(game, random_network(game), sample=True)
    rows = on.states(game, 4)
    rows = rows[on.where(rows) >= 0][::9]
    chosen = agent.act(rows)
    masks = np.zeros((len(rows), game.num_actions), np.int8)
    on.look(rows, on.where(rows), masks, np.zeros((len(rows), game.frame.itemsize), np.uint8))
    assert masks[np.arange(len(rows)), chosen].all()


@pytest.mark.parametrize("players", [2, 3])
def test_training_with_a_warm_start_runs_at_any_table(tmp_path: Path, players: int) -> None:
    from training.train import main

    config = tmp_path / "config.yaml"
    config.write_text(
        f"""
game: {{name: crystal_mosaic, options: {{players: {players}, max_rounds: 8}}}}
steps: 256
device: cpu
threads: 1
network: {{channels: 16, blocks: 1, value_hidden: 8}}
reward: {{margin: 0.5, outcome: 0.5}}
warm_start: {{teacher: "maxn:depth=1", decisions: 512, games: 16, segment: 8, minibatch: 64}}
ppo: {{games: 8, rollout: 16, minibatch: 64, epochs: 1}}
opponents: {{mirror: 0.5, past: 0.3, fixed: {{greedy: 0.2}}}}
evaluation: {{against: [random], games: 4}}
"""
    )
    assert main(["--config", str(config), "--run-dir", str(tmp_path / "run")]) == 0
    evaluation = json.loads((tmp_path / "run" / "evaluation.json").read_text())
    (result,) = evaluation[-1]["results"]
    assert result["game"] == "crystal_mosaic"
    assert result["games"] == {2: 4, 3: 6}[players]
    assert len(result["seats"]) == players
