import pytest
import torch

from benchmarks.throughput import Own, fixed_opponents_only, main, make_stock, measure
from mozaic_env.games import make_game
from training.config import Config

TINY = """
game: {options: {rows: 4, cols: 4}}
threads: 1
precision: float32
network: {channels: 4, blocks: 0, value_hidden: 4}
ppo: {games: 32, rollout: 8, minibatch: 64, epochs: 1}
opponents: {mirror: 1, fixed: {greedy: 1}}
"""


def test_it_prints_who_trains_how_fast(tmp_path, capsys):
    (tmp_path / "tiny.yaml").write_text(TINY)
    words = ["--config", str(tmp_path / "tiny.yaml"), "--rounds", "1"]
    assert main([*words, "ppo.minibatch=128"]) == 0
    out = capsys.readouterr().out
    for text in ("own", "stock, minibatches of 64", "stock, minibatches of 128", "own / it"):
        assert text in out
    assert main([*words, "opponents.fixed={}"]) == 2
    assert "opponents.fixed is empty" in capsys.readouterr().err


def test_both_sides_learn_with_the_same_network_and_epochs():
    config = fixed_opponents_only(
        Config(
            game={"options": {"rows": 4, "cols": 4}},
            network={"channels": 4, "blocks": 1, "value_hidden": 4},
            ppo={"games": 16, "rollout": 8, "minibatch": 64, "epochs": 2},
            opponents={"fixed": {"greedy": 1.0}},
        )
    )
    game = make_game("mozaic", rows=4, cols=4)
    own, stock = Own(config, game, "cpu", False), make_stock(config, game, "cpu", 64)
    theirs = stock.policy.features_extractor.network
    assert [w.shape for w in own.model.policy.parameters()] == [w.shape for w in stock.policy.parameters()]
    observation = {key: torch.tensor(entry) for key, entry in stock.env.reset().items()}
    masks = torch.tensor(stock.env.env_method("action_masks")[0])[None].expand(16, -1)
    theirs.load_state_dict(own.model.policy.network.state_dict())
    actions = masks.float().argmax(1)
    for mine, other in zip(
        own.model.policy.evaluate_actions(observation, actions, masks),
        stock.policy.evaluate_actions(observation, actions, masks),
        strict=True,
    ):
        torch.testing.assert_close(mine, other)
    speeds = measure({"own": own, "stock": stock}, 2, 100)
    assert [len(values) for values in speeds.values()] == [2, 2]
    assert own.num_timesteps == 3 * 128
    assert stock.num_timesteps == 3 * 2048
    assert own.model.n_epochs == stock.n_epochs == 2


@pytest.mark.parametrize("words", [["--rounds", "0"], ["device=gpu"]])
def test_bad_input_is_one_line(tmp_path, capsys, words):
    (tmp_path / "tiny.yaml").write_text(TINY)
    assert main(["--config", str(tmp_path / "tiny.yaml"), *words]) == 2
    assert capsys.readouterr().err.count("\n") == 1
