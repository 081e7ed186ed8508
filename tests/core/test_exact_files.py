"""`mozaic solve`, `mozaic exploit` and the files of exact values: what they say, what they survive."""

from __future__ import annotations

import errno
import json
import os
import pickle
import re
import shlex

import gymnasium as gym
import numpy as np
import pytest

from mozaic_env.agents.specs import make_agent
from mozaic_env.arena.exact import solve
from mozaic_env.cli import main
from mozaic_env.core import exact, extras
from mozaic_env.core.storage import cache, exact_values
from mozaic_env.games import make_game

pytest.importorskip("safetensors", reason="safetensors is not installed")
SMALL = ["--rows", "2", "--cols", "4"]


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(exact_values, "user_cache", lambda: tmp_path / "cache")
    monkeypatch.delenv("MOZAIC_ENV_CACHE", raising=False)
    exact.exact_values.cache_clear()
    return tmp_path / "cache"


def refused(capsys, *words):
    """What a wrong command says: one line on stderr, nothing on stdout, status 2."""
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n"), len(err) < 500) == ("", 1, True)
    return err


def test_solve_keeps_the_values_where_all_find_them(own_cache, capsys):
    assert main(["solve", *SMALL]) == 0
    first = capsys.readouterr().out
    assert "+0.0078" in first
    (file,) = (own_cache / "exact").iterdir()
    assert str(file) in first
    before = file.stat().st_mtime_ns
    assert main(["solve", *SMALL]) == 0
    assert "already solved" in capsys.readouterr().out
    assert file.stat().st_mtime_ns == before
    game = make_game("mozaic", rows=2, cols=4)
    row = game.parse_position("4/4 y y 1 3,4,1,1,1,1 0-0")
    at_once, read = game.exact_values(), game.exact_values(file=file)
    np.testing.assert_array_equal(at_once.action_values(row), read.action_values(row))


def test_without_a_home_small_boards_are_solved_and_files_have_to_be_named(capsys, monkeypatch):
    monkeypatch.setattr(exact_values, "user_cache", lambda: None)
    monkeypatch.delenv("MOZAIC_ENV_CACHE", raising=False)
    assert make_game("mozaic", rules="onyx", rows=2, cols=4).exact_values().start_value == 0.0
    assert "none of HOME, XDG_CACHE_HOME and MOZAIC_ENV_CACHE names one; name a file with --out" in refused(
        capsys, "solve", *SMALL
    )


def test_an_interrupted_solve_goes_on_from_its_last_sweep(tmp_path, capsys, monkeypatch):
    file = tmp_path / "values.safetensors"
    monkeypatch.setattr(solve, "SAVE_EVERY", -1.0)
    game, sweeps = make_game("mozaic", rows=2, cols=4), []

    def stop(number, error):
        sweeps.append(number)
        if number == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        solve.solve(game.exact_solver(), file, report=stop)
    with pytest.raises(ValueError, match=rf"has yet to be solved .*mozaic solve .*rows=2.* --out {file}"):
        game.exact_values(file=file)
    solve.solve(game.exact_solver(), file, report=lambda number, error: sweeps.append(number))
    assert sweeps[:7] == [1, 2, 3, 4, 5, 5, 6]  # the fifth had not been written
    assert game.exact_values(file=file).start_value == pytest.approx(game.exact_values().start_value, abs=2e-7)


def test_a_full_disk_leaves_what_was_there(tmp_path, capsys, monkeypatch):
    file = tmp_path / "values.safetensors"
    game = make_game("mozaic", rows=2, cols=4)
    solver = game.exact_solver()
    solver.sweep()
    exact_values.write(file, solver, 1, 0.0)
    before = file.read_bytes()

    def full(*arguments):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    assert main(["solve", *SMALL, "--out", str(file)]) == 2
    going_on, error = capsys.readouterr().err.splitlines()
    assert "going on from sweep 1" in going_on
    assert re.search(r"cannot write .*: No space left on device; what was there before is unharmed", error)
    assert file.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


def damage(file, how):
    content = file.read_bytes()
    if how == "cut":
        file.write_bytes(content[:-100])
    elif how == "flipped":
        file.write_bytes(content[:-9] + bytes([content[-9] ^ 1]) + content[-8:])
    elif how == "text":
        file.write_text("not values")
    elif how == "empty":
        file.write_bytes(b"")
    elif how == "foreign":
        import safetensors.numpy

        file.write_bytes(safetensors.numpy.save({"weights": np.zeros(3)}))
    else:
        rewrite(file, how)


def rewrite(file, how):
    """The file with another card or other values; the card's digest is right."""
    import safetensors.numpy

    with safetensors.safe_open(file, framework="numpy") as opened:
        card = json.loads(opened.metadata()["card"])
    tensors = safetensors.numpy.load_file(file)
    if how == "float32":
        tensors = {name: tensor.astype(np.float32) for name, tensor in tensors.items()}
    elif how == "renamed":
        tensors = {f"other {name}": tensor for name, tensor in tensors.items()}
    elif how == "shape":
        tensors = {name: tensor[:-1].copy() for name, tensor in tensors.items()}
    elif how == "nan":
        tensors = {name: np.full_like(tensor, np.nan) for name, tensor in tensors.items()}
    elif how.endswith(" missing"):
        del card[how.removesuffix(" missing")]
    else:
        key, _, text = how.partition(" ")
        card[key] = json.loads(text)
    if "sha256" in card:
        card["sha256"] = exact_values._digest(tensors)
    file.write_bytes(safetensors.numpy.save(tensors, {"card": json.dumps(card)}))


VALUES = ["flipped", "float32", "renamed", "shape", "nan"]
CARDS = [
    *(f"{key} missing" for key in ("format", "game", "objective", "solved", "error", "sweeps", "seconds", "sha256")),
    *("format 7", "format null", "game [1]", 'game "abc"', "game {}", "objective [1]", "boards null", "solved 1"),
    *("error NaN", 'error "x"', "sweeps 1.5", "seconds Infinity", "start_value null"),
]


@pytest.mark.parametrize("how", ["cut", "text", "empty", "foreign", *VALUES, *CARDS])
def test_damaged_and_foreign_files(tmp_path, capsys, how):
    file = tmp_path / "values.safetensors"
    assert main(["solve", *SMALL, "--out", str(file)]) == 0
    capsys.readouterr()
    damage(file, how)
    content = file.read_bytes()
    words = ["evaluate", f"perfect:values={file}", "--against", "random", "--games", "2", *SMALL]
    assert str(file) in refused(capsys, *words)
    told = refused(capsys, "solve", *SMALL, "--out", str(file))
    assert str(file) in told
    assert how not in VALUES or "move it away and solve the board again" in told
    assert file.read_bytes() == content


@pytest.mark.parametrize("how", ["text", "flipped", "nan"])
def test_a_damaged_file_of_the_cache_is_ignored_where_the_board_is_solved_at_once(own_cache, how):
    game = make_game("mozaic", rows=2, cols=4)
    assert main(["solve", *SMALL]) == 0
    (file,) = (own_cache / "exact").iterdir()
    damage(file, how)
    assert game.exact_values().start_value == pytest.approx(0.0078, abs=1e-4)


def test_without_safetensors_it_is_said_before_any_work_and_small_boards_are_solved(tmp_path, capsys, monkeypatch):
    file, game = tmp_path / "values.safetensors", make_game("mozaic", rows=2, cols=4)
    assert main(["solve", *SMALL]) == 0
    assert main(["solve", *SMALL, "--out", str(file)]) == 0
    capsys.readouterr()
    installed = extras.is_installed
    monkeypatch.setattr(extras, "is_installed", lambda module: module != "safetensors" and installed(module))
    monkeypatch.setattr(type(game.exact_solver()), "sweep", lambda *_: pytest.fail("work was done"))
    needs = r"needs safetensors, which the extra 'train' brings: pip install"
    assert re.search(needs, refused(capsys, "solve", *SMALL, "--out", str(tmp_path / "other")))
    words = ["evaluate", f"perfect:values={file}", "--against", "random", *SMALL]
    assert re.search(needs, refused(capsys, *words))
    with pytest.raises(extras.MissingExtra, match=needs):
        gym.make("mozaic_env:Mozaic-v0", rows=2, cols=4, opponent=f"perfect:values={file}")
    monkeypatch.undo()
    monkeypatch.setattr(extras, "is_installed", lambda module: module != "safetensors" and installed(module))
    exact.exact_values.cache_clear()
    assert game.exact_values().start_value == pytest.approx(0.0078, abs=1e-4)


def test_values_are_pickled_with_their_file(tmp_path, monkeypatch):
    """Also with one that was named from another folder."""
    monkeypatch.chdir(tmp_path)
    game = make_game("mozaic", rows=2, cols=4)
    assert main(["solve", *SMALL, "--out", "values.safetensors"]) == 0
    agent = make_agent("perfect:values=values.safetensors", game)
    pickled = pickle.dumps(agent.values)
    monkeypatch.chdir("/")
    exact.exact_values.cache_clear()
    monkeypatch.setattr(type(game.exact_solver()), "sweep", lambda *_: pytest.fail("solved instead of read"))
    again = pickle.loads(pickled)
    assert again.file == tmp_path / "values.safetensors"
    assert again.start_value == agent.values.start_value


@pytest.mark.parametrize("name", ["x.st", "a,b.st", "a,,objective=b.st"])
def test_the_file_of_perfect_play_is_a_path_like_any_other(tmp_path, monkeypatch, name):
    monkeypatch.setenv("HOME", str(tmp_path))
    game = make_game("mozaic", rows=2, cols=4)
    assert main(["solve", *SMALL, "--objective", "outcome", "--out", str(tmp_path / name)]) == 0
    for spec in (f"perfect:values=~/{name},objective=outcome", f"perfect:objective=outcome,values={tmp_path / name}"):
        assert make_agent(spec, game).values.file == tmp_path / name
    with pytest.raises(ValueError, match=r"agent 'perfect:values=': .*accepted: the name of a file"):
        make_agent("perfect:values=", game)


def test_the_command_that_solves_can_be_pasted(tmp_path):
    game, file = make_game("mozaic", rows=2, cols=4), tmp_path / "it's mine; $HOME"
    assert shlex.split(exact.solve_command(game, "margin", file))[-2:] == ["--out", str(file)]


@pytest.mark.parametrize("value", [" ", "~no such user/x"])
def test_a_chosen_folder_that_is_none_is_ignored_with_one_warning(own_cache, tmp_path, monkeypatch, value):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MOZAIC_ENV_CACHE", value)
    cache._named_folder.cache_clear()
    game = make_game("mozaic", rows=2, cols=4)
    with pytest.warns(RuntimeWarning, match=f"MOZAIC_ENV_CACHE='{value}' is ignored") as warned:
        files = [exact_values.default_file(game, "margin") for _ in range(2)]
    assert len(warned) == 1
    assert {file.parent for file in files} == {own_cache / "exact"}
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("base", ["relative", "~/cache", " "])
def test_a_relative_xdg_folder_is_ignored(monkeypatch, base):
    monkeypatch.setenv("HOME", "/home/me")
    monkeypatch.setenv("XDG_CACHE_HOME", base)
    assert str(cache.user_cache()) == "/home/me/.cache/mozaic_env"


def test_what_is_solved_already_is_only_read(capsys, monkeypatch):
    assert main(["solve", *SMALL]) == 0

    def read_only(path):
        raise ValueError(f"cannot write {path}: Read-only file system")

    monkeypatch.setattr("mozaic_env.core.storage.outputs.make_output_folder", read_only)
    monkeypatch.setattr("mozaic_env.core.storage.outputs.check_output_file", read_only)
    assert main(["solve", *SMALL]) == 0
    assert "already solved" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["solve"], r"4\.3e\+29 boards .* GiB and .* hours; accepted: up to 16 tiles"),
        (["solve", "--rows", "4", "--cols", "4", "--objective", "outcome"], "12 tiles, for margin up to 16$"),
        (["solve", "--game", "mosaic_chess"], "has no solver"),
        (["solve", *SMALL, "--threads", "0"], "--threads 0; accepted"),
        (["solve", *SMALL, "--out", "/missing/values"], "cannot write /missing/values"),
        (["exploit", "random"], "accepted: up to 16 tiles$"),
        (["exploit", "expectimax", "--rows", "4", "--cols", "4"], "accepted: up to 12 tiles; up to 16 for random"),
        (["exploit", "mcts:simulations=5", *SMALL], "does not choose by the state alone"),
        (["exploit", "random", "--game", "mosaic_chess"], "nothing works out best responses"),
        (["evaluate", "perfect", "--against", "random"], r"agent 'perfect': .* accepted: up to 16 tiles"),
        (
            ["evaluate", "perfect", "--against", "random", "--rows", "4", "--cols", "4"],
            "has yet to be solved for margin; run: mozaic solve --game mozaic --option rules=amethyst",
        ),
        (["evaluate", "perfect:objective=score", "--against", "random", *SMALL], "accepted: margin, outcome"),
        (["evaluate", "perfect:values=/missing", "--against", "random", *SMALL], "cannot read /missing"),
        (["evaluate", "perfect", "--against", "random", "--game", "mosaic_chess"], "nothing solves"),
    ],
)
def test_what_is_refused(capsys, words, message):
    assert re.search(message, refused(capsys, *words))


def test_values_of_another_variant(tmp_path, capsys):
    file = tmp_path / "values.safetensors"
    assert main(["solve", *SMALL, "--out", str(file)]) == 0
    capsys.readouterr()
    other = ["--rows", "2", "--cols", "4", "--rules", "onyx"]
    words = ["evaluate", f"perfect:values={file}", "--against", "random", "--games", "2", *other]
    assert "asked for were Mozaic(rules='onyx'" in refused(capsys, *words)
    assert "asked for were" in refused(capsys, "solve", *other, "--out", str(file))
    assert "for outcome" in refused(capsys, "solve", *SMALL, "--objective", "outcome", "--out", str(file))


def test_exploit_prints_what_the_best_response_gets(capsys):
    assert main(["exploit", "random", *SMALL]) == 0
    out = capsys.readouterr().out
    assert re.search(r"yellow\s+\+0\.7369\s+\+0\.0078\s+\+0\.7290", out)
    assert re.search(r"mean\s+\+0\.7022", out)


def test_perfect_is_an_opponent_like_any_other():
    env = gym.make("mozaic_env:Mozaic-v0", rows=2, cols=4, opponent="perfect")
    env.reset(seed=0)
    done = False
    while not done:
        _, _, terminated, truncated, _ = env.step(int(np.flatnonzero(env.unwrapped.action_masks())[0]))
        done = terminated or truncated
    env.close()
