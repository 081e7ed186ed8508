import json
import os
import pickle
import subprocess
import sys

import pytest
import safetensors.torch
import torch

from mozaic_env.agents.policy import checkpoint
from mozaic_env.agents.policy.checkpoint import CARD, WEIGHTS, load, read_card, resolve, save
from mozaic_env.agents.policy.network import BoardNetwork, NetworkConfig, layout_of
from mozaic_env.core.storage import folders
from mozaic_env.games import make_game

CONFIG = NetworkConfig(channels=6, blocks=1, value_hidden=5)


def make_network(game, seed=0):
    torch.manual_seed(seed)
    return BoardNetwork(layout_of(game), CONFIG)


@pytest.fixture
def game():
    return make_game("mozaic", rules="onyx", rows=4, cols=6)


@pytest.fixture
def folder(tmp_path, game):
    save(tmp_path / "kept", make_network(game), game, steps=1234, seed=5, training={"lr": 0.1}, results={"x": 1})
    return tmp_path / "kept"


def edit_card(folder, **changes):
    card = json.loads((folder / CARD).read_text())
    (folder / CARD).write_text(json.dumps({**card, **changes}))


def write_weights(folder, tensors):
    """Other tensors with a card that vouches for them."""
    content = safetensors.torch.save(tensors)
    (folder / WEIGHTS).write_bytes(content)
    digest = checkpoint.hashlib.sha256(content).hexdigest()
    edit_card(folder, weights={"sha256": digest, "bytes": len(content)})


def test_round_trip_bit_for_bit(folder, game):
    network = make_network(game)
    read = load(folder, game)
    assert read.game == game
    assert read.network.config == CONFIG
    assert not read.network.training
    assert read.network.state_dict().keys() == network.state_dict().keys()
    for key, tensor in network.state_dict().items():
        assert torch.equal(read.network.state_dict()[key], tensor)
    assert sorted(os.listdir(folder)) == [CARD, WEIGHTS]


def test_the_card_tells_what_the_checkpoint_is(folder, game):
    card = read_card(folder)
    assert card["format"] == 1
    assert card["game"] == {"name": "mozaic", "options": {"rules": "onyx", "rows": 4, "cols": 6}}
    assert [entry["key"] for entry in card["layout"]["observation"]] == [field.key for field in game.fields]
    assert card["layout"]["actions"] == game.num_actions
    assert card["network"] == CONFIG.describe()
    assert (card["steps"], card["seed"], card["training"], card["results"]) == (1234, 5, {"lr": 0.1}, {"x": 1})
    assert {"python", "mozaic_env", "torch", "numpy", "safetensors"} <= card["versions"].keys()


def test_without_a_game_asked_for_it_is_the_cards(folder, game):
    assert load(folder).game == game


def test_loading_does_not_disturb_the_random_generator(folder):
    torch.manual_seed(0)
    expected = torch.rand(1)
    torch.manual_seed(0)
    load(folder)
    assert torch.equal(torch.rand(1), expected)


def test_the_layout_hash_changes_with_the_layout():
    hashes = {
        checkpoint.describe_layout(make_game("mozaic", rows=rows, cols=cols))["hash"]
        for rows, cols in ((4, 6), (6, 4), (4, 4))
    }
    assert len(hashes) == 3


def no_weights(folder):
    (folder / WEIGHTS).unlink()


def no_card(folder):
    (folder / CARD).unlink()


def truncated(folder):
    (folder / WEIGHTS).write_bytes((folder / WEIGHTS).read_bytes()[:-10])


def one_bit(folder):
    content = bytearray((folder / WEIGHTS).read_bytes())
    content[-3] ^= 1
    (folder / WEIGHTS).write_bytes(content)


def not_tensors(folder):
    content = b"\xff" * 100
    (folder / WEIGHTS).write_bytes(content)
    edit_card(folder, weights={"sha256": checkpoint.hashlib.sha256(content).hexdigest()})


def card_not_json(folder):
    (folder / CARD).write_text("{")


def card_of_nothing(folder):
    (folder / CARD).write_text("[]")


def card_without_steps(folder):
    edit_card(folder, steps=None)


def newer_format(folder):
    edit_card(folder, format=2)


def another_game(folder):
    edit_card(folder, game={"name": "chess", "options": {}})


def another_option(folder):
    edit_card(folder, game={"name": "mozaic", "options": {"size": 4}})


def another_network(folder):
    edit_card(folder, network={"kind": "mlp"})


def other_bounds(folder):
    layout = json.loads((folder / CARD).read_text())["layout"]
    layout["observation"][2]["high"][0] = 99
    edit_card(folder, layout={**layout, "hash": "0"})


def other_actions(folder):
    layout = json.loads((folder / CARD).read_text())["layout"]
    edit_card(folder, layout={**layout, "hash": "0"})


def wider_network(folder):
    edit_card(folder, network=NetworkConfig(channels=7, blocks=1, value_hidden=5).describe())


def tensors(folder):
    return safetensors.torch.load_file(folder / WEIGHTS)


def missing_tensor(folder):
    kept = tensors(folder)
    del kept["stem.bias"]
    write_weights(folder, kept)


def extra_tensor(folder):
    write_weights(folder, {**tensors(folder), "tail": torch.zeros(1)})


def whole_numbers(folder):
    kept = tensors(folder)
    write_weights(folder, {**kept, "stem.bias": kept["stem.bias"].long()})


def not_finite(folder):
    kept = tensors(folder)
    kept["stem.bias"][0] = torch.nan
    write_weights(folder, kept)


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        (no_weights, ["policy.safetensors can't be read", "No such file"]),
        (no_card, ["card.json can't be read", "No such file"]),
        (truncated, ["policy.safetensors is damaged or cut short", "restore it or train again"]),
        (one_bit, ["policy.safetensors is damaged or cut short", "its hash is not the card's"]),
        (not_tensors, ["policy.safetensors is damaged or cut short"]),
        (card_not_json, ["card.json is damaged: it is not JSON"]),
        (card_of_nothing, ["card.json is no checkpoint card"]),
        (card_without_steps, ["card.json is damaged: steps"]),
        (newer_format, ["has format 2", "reads up to 1", "install a newer mozaic_env"]),
        (another_game, ["names a game that is not here", "'chess'", "mozaic"]),
        (another_option, ["names a game that is not here", "size"]),
        (another_network, ["card.json", "'mlp'", "kind 'board'"]),
        (other_bounds, ["another layout", "observation entries bag differ"]),
        (other_actions, ["another layout", "the actions differ"]),
        (wider_network, ["tensor 'action_head.weight'", "of shape (6, 6, 1, 1)", "needs (6, 7, 1, 1)"]),
        (missing_tensor, ["lacks the tensor 'stem.bias'"]),
        (extra_tensor, ["has a tensor 'tail'"]),
        (whole_numbers, ["'stem.bias' is torch.int64"]),
        (not_finite, ["'stem.bias' holds numbers that are not finite"]),
    ],
)
def test_what_does_not_fit_gives_a_sentence(folder, harm, words):
    harm(folder)
    with pytest.raises(ValueError, match=str(folder)) as caught:
        load(folder)
    assert "\n" not in str(caught.value)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("options", [{"rules": "amethyst", "rows": 4, "cols": 6}, {"rules": "onyx"}])
def test_another_edition_or_board_than_asked_for(folder, options):
    with pytest.raises(ValueError, match="asked for was") as caught:
        load(folder, make_game("mozaic", **options))
    assert "rules='onyx', rows=4, cols=6" in str(caught.value)
    assert repr(make_game("mozaic", **options)) in str(caught.value)


class Trap:
    """Unpickling it leaves a file behind."""

    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return open, (self.path, "w")


@pytest.mark.parametrize("kind", ["pickle", "torch"])
def test_a_pickle_disguised_as_a_checkpoint_is_refused_unread(folder, tmp_path, kind):
    sprung = tmp_path / "sprung"
    with (folder / WEIGHTS).open("wb") as file:
        if kind == "pickle":
            pickle.dump(Trap(sprung), file)
        else:
            torch.save(Trap(sprung), file)
    with pytest.raises(ValueError, match="is a pickle, not safetensors; it was not read"):
        load(folder)
    assert not sprung.exists()


def test_reading_needs_no_stable_baselines(folder):
    code = (
        "import sys; from mozaic_env.agents.policy.checkpoint import load; load(sys.argv[1]);"
        "assert not {'stable_baselines3', 'sb3_contrib'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code, str(folder)], check=True)


def test_saving_again_replaces(folder, game):
    save(folder, make_network(game, 1), game, steps=2, seed=0)
    assert load(folder).card["steps"] == 2
    assert torch.equal(load(folder).network.stem.weight, make_network(game, 1).stem.weight)
    assert [path.name for path in folder.parent.iterdir()] == ["kept"]


@pytest.mark.parametrize("fails_at", ["write", "first rename", "second rename"])
def test_a_save_that_fails_leaves_the_old_one(folder, game, monkeypatch, fails_at):
    renames, rename = [], os.rename

    def failing_rename(source, target):
        renames.append(source)
        if fails_at == ("first rename" if len(renames) == 1 else "second rename") and len(renames) < 3:
            raise OSError("no")
        rename(source, target)

    def failing_fsync(number):
        raise OSError("disk full")

    monkeypatch.setattr(folders.os, "rename", failing_rename)
    if fails_at == "write":
        monkeypatch.setattr(folders.os, "fsync", failing_fsync)
    with pytest.raises(OSError, match=r"no|disk full"):
        save(folder, make_network(game, 1), game, steps=2, seed=0)
    assert load(folder).card["steps"] == 1234
    assert [path.name for path in folder.parent.iterdir()] == ["kept"]


KILLED = """
import os, sys
from mozaic_env.agents.policy.checkpoint import load, save

read, rename = load(sys.argv[1]), os.rename
def killed(source, target):
    if str(target) == sys.argv[1]:
        os._exit(9)
    rename(source, target)
os.rename = killed
save(sys.argv[1], read.network, read.game, steps=2, seed=0)
"""


def test_killed_between_the_renames_the_old_one_is_still_found(folder, game):
    """A process dies when the old folder has been moved aside and the new one is not yet in place."""
    assert subprocess.run([sys.executable, "-c", KILLED, str(folder)], check=False).returncode == 9
    assert not folder.exists()
    assert load(resolve(folder)).card["steps"] == 1234
    save(folder, make_network(game, 1), game, steps=3, seed=0)
    assert load(resolve(folder)).card["steps"] == 3


def test_a_folder_of_something_else_is_not_replaced(tmp_path, game):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    with pytest.raises(ValueError, match="exists and is no checkpoint"):
        save(tmp_path / "mine", make_network(game), game, steps=0, seed=0)
    assert (tmp_path / "mine" / "thesis.txt").read_text() == "years of work"


def test_a_run_folder_stands_for_its_best_then_final_then_newest_checkpoint(tmp_path, game):
    network, run = make_network(game), tmp_path / "run"
    (run / "checkpoints").mkdir(parents=True)
    for name, steps in (("step-9", 9), ("step-10", 10), (".step-11.new-1", 11)):
        save(run / "checkpoints" / name, network, game, steps=steps, seed=0)
    assert resolve(run) == run / "checkpoints" / "step-10"
    save(run / "final", network, game, steps=12, seed=0)
    assert resolve(run) == run / "final"
    save(run / "best", network, game, steps=7, seed=0)
    assert resolve(run) == run / "best"
    assert resolve(str(run / "final")) == run / "final"


def test_paths_that_are_no_checkpoints(tmp_path, folder):
    (tmp_path / "model.zip").write_bytes(b"PK")
    (tmp_path / "empty").mkdir()
    (folder / CARD).unlink()
    for name, words in (
        ("absent", "absent does not exist; accepted: the folder of a run or of a checkpoint"),
        ("model.zip", "model.zip is a file; accepted: the folder of a run or of a checkpoint"),
        ("empty", "empty holds no checkpoint"),
        ("kept", "holds policy.safetensors but no card.json"),
    ):
        with pytest.raises(ValueError, match="checkpoint") as caught:
            resolve(tmp_path / name)
        assert words in str(caught.value)
