import numpy as np
import pytest
import torch

from mozaic_env.agents.policy.network import BoardNetwork, Layout, NetworkConfig, layout_of
from mozaic_env.games import make_game
from mozaic_env.games.mozaic.actions import SLIDES
from mozaic_env.simulation.batch import Batch


def observation_of(game, size=5, decisions=6):
    batch = Batch(game, size)
    batch.begin(np.arange(size), np.arange(size, dtype=np.uint64), None, None)
    for _ in range(decisions):
        batch.step(np.array([np.flatnonzero(mask)[0] for mask in batch.buffers.masks]))
    return {key: torch.from_numpy(entry.copy()) for key, entry in batch.buffers.observation.items()}


@pytest.mark.parametrize(("rows", "cols"), [(8, 8), (4, 4), (2, 3), (5, 8)])
@pytest.mark.parametrize("blocks", [0, 2])
def test_logits_for_every_action_and_a_value_for_every_observation(rows, cols, blocks):
    game = make_game("mozaic", rows=rows, cols=cols)
    network = BoardNetwork(layout_of(game), NetworkConfig(channels=8, blocks=blocks, value_hidden=4))
    logits, values = network(observation_of(game))
    assert logits.shape == (5, game.num_actions)
    assert values.shape == (5,)
    assert torch.isfinite(logits).all()
    assert torch.isfinite(values).all()


def test_action_places_put_each_action_on_its_tile_and_like_actions_on_one_plane():
    game = make_game("mozaic", rows=4, cols=6)
    places, tiles = game.board_layout.planes, 24
    assert sorted(places) == list(range(6 * tiles))
    for action in range(game.num_actions):
        plane, tile = divmod(int(places[action]), tiles)
        if action < tiles:
            assert (plane, tile) == (0, action)
        elif action < 5 * tiles:
            assert tile == (action - tiles) // 4
            assert plane == 1 + (action - tiles) % 4
            rank, file = tile // 6 + SLIDES[plane - 1][0], tile % 6 + SLIDES[plane - 1][1]
            if 0 <= rank < 4 and 0 <= file < 6:
                assert game.format_action(action).endswith(f"-{'abcdef'[file]}{rank + 1}")
        else:
            assert (plane, tile) == (5, action - 5 * tiles)


def test_a_shifted_board_gives_shifted_logits_away_from_the_edges():
    """Two planes of actions on a large board; three convolutions see three tiles far."""
    size, far = 12, 3
    layout = Layout((2, size, size), (("counts", (1.0, 1.0)),), tuple(range(2 * size * size)))
    torch.manual_seed(1)
    network = BoardNetwork(layout, NetworkConfig(channels=8, blocks=1))
    board = (torch.rand(1, 2, size, size) < 0.5).float()
    counts = torch.rand(1, 2)
    shifted = torch.roll(board, (1, 2), (2, 3))
    with torch.no_grad():
        before = network({"board": board, "counts": counts})[0].reshape(2, size, size)
        after = network({"board": shifted, "counts": counts})[0].reshape(2, size, size)
    inner = before[:, far : size - far - 1, far : size - far - 2]
    assert torch.allclose(inner, after[:, far + 1 : size - far, far + 2 : size - far], atol=1e-6)
    assert inner.std() > 1e-4  # not because all are equal
    assert not torch.allclose(before[:, :-1, :-2], after[:, 1:, 2:], atol=1e-6)  # the edges are seen


def test_the_counts_matter_on_every_tile():
    game = make_game("mozaic", rows=4, cols=4)
    network = BoardNetwork(layout_of(game), NetworkConfig(channels=8, blocks=1))
    observation = observation_of(game, 1)
    for key in ("hand", "bag", "plays", "score"):
        other = {**observation, key: observation[key] + 1}
        moved = network(other)[0] - network(observation)[0]
        assert (moved != 0).all(), key


def test_counts_are_divided_by_their_bounds_and_scores_by_the_tiles():
    scales = dict(layout_of(make_game("mozaic", rows=6, cols=8)).scales)
    assert scales == {"score": (48, 48), "bag": (24, 24, 1, 1, 1, 1), "hand": (1,) * 4, "plays": (2,)}


def test_a_network_is_made_again_from_its_description():
    config = NetworkConfig(channels=5, blocks=3, value_hidden=7)
    assert NetworkConfig.from_description(config.describe()) == config


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"kind": "mlp"}, "kind 'board'"),
        ({"width": 3}, "'width': 3"),
        ({"channels": 0}, "channels=0; accepted: a whole number in 1..1024"),
        ({"channels": 10**9}, "channels=1000000000; accepted: a whole number in 1..1024"),
        ({"blocks": True}, "blocks=True"),
        ({"value_hidden": 2.0}, "value_hidden=2.0"),
    ],
)
def test_a_description_that_is_none_is_refused(change, words):
    with pytest.raises(ValueError, match="network") as caught:
        NetworkConfig.from_description({**NetworkConfig().describe(), **change})
    assert words in str(caught.value)


def test_a_game_without_a_board_of_actions_has_no_network():
    game = make_game("mozaic", rows=4, cols=4)

    class Boardless(type(game)):
        def __init__(self):
            super().__init__()
            self.board_layout = None

    with pytest.raises(ValueError, match="has no network"):
        layout_of(Boardless())
