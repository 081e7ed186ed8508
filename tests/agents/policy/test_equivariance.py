"""A network with the symmetries built in answers a turned board with turned logits, and an ordinary one does not."""

import numpy as np
import pytest
import torch

from mozaic_env.agents.policy import checkpoint
from mozaic_env.agents.policy.network import BoardNetwork, Layout, NetworkConfig, layout_of
from mozaic_env.games import make_game


def make_network(game, *, symmetric, channels=16):
    torch.manual_seed(1)
    network = BoardNetwork(layout_of(game), NetworkConfig(channels, 2, 16, symmetric)).eval()
    with torch.no_grad():  # large weights and biases everywhere, so that nothing cancels by being small
        for weights in network.parameters():
            weights.add_(0.3 * torch.randn_like(weights))
    return network


def largest_difference(game, network):
    """Between the answer to each image of some observations and the image of the answer, as a share of the largest."""
    random = np.random.default_rng(2)
    observation = {field.key: random.integers(0, 2, (6, *field.shape), field.dtype) for field in game.fields}

    def ask(entries):
        with torch.inference_mode():
            logits, values = network({key: torch.from_numpy(entry) for key, entry in entries.items()})
        return logits.numpy(), values.numpy()

    logits, values = ask(observation)
    worst = 0.0
    for symmetry in game.symmetries:
        turned_logits, turned_values = ask(symmetry.observation(observation))
        worst = max(worst, np.abs(turned_logits - symmetry.masks(logits)).max() / np.abs(logits).max())
        worst = max(worst, np.abs(turned_values - values).max() / np.abs(values).max())
    return worst


@pytest.mark.parametrize("size", [(8, 8), (4, 4), (4, 6), (2, 3)])
def test_turned_boards_get_turned_answers(size):
    game = make_game("mozaic", rows=size[0], cols=size[1])
    assert largest_difference(game, make_network(game, symmetric=True)) < 1e-4


def test_an_ordinary_network_has_no_such_answers():
    game = make_game("mozaic")
    assert largest_difference(game, make_network(game, symmetric=False)) > 0.05


def test_symmetries_save_weights():
    game = make_game("mozaic")
    few, many = (
        sum(weights.numel() for weights in make_network(game, symmetric=symmetric).blocks.parameters())
        for symmetric in (True, False)
    )
    assert few < many / 7


def test_a_checkpoint_remembers_the_symmetries(tmp_path):
    game = make_game("mozaic", rows=4, cols=4)
    network = make_network(game, symmetric=True)
    checkpoint.save(tmp_path / "it", network, game, steps=1, seed=0)
    loaded = checkpoint.load(tmp_path / "it", game).network
    assert loaded.config.symmetric
    assert largest_difference(game, loaded) < 1e-4


@pytest.mark.parametrize(("channels", "hidden", "name"), [(12, 16, "channels=12"), (16, 12, "value_hidden=12")])
def test_channels_come_in_sets(channels, hidden, name):
    with pytest.raises(ValueError, match=f"{name}; with symmetric=true accepted is a multiple of 8"):
        BoardNetwork(layout_of(make_game("mozaic")), NetworkConfig(channels, 1, hidden, True))


def test_a_game_without_a_boards_symmetries_is_refused():
    layout = Layout((3, 2, 2), (("bag", (1.0,)),), (0, 1, 2, 3))
    with pytest.raises(ValueError, match="symmetric=true; this game's symmetries are not those of a board"):
        BoardNetwork(layout, NetworkConfig(8, 1, 8, True))
