"""The ways in that no conformance suite takes: commands, records and films, the page, stable-baselines3."""

from __future__ import annotations

import asyncio
import io
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mozaic_env import make_agent
from mozaic_env.cli import main
from mozaic_env.core.record import parse_record
from mozaic_env.games import game_of_record
from tests.oracles.chess_games import GAME

SHORT = ["--game", "mosaic_chess", "--option", "max_plies=6"]


def test_a_match_its_records_and_a_film(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("rich", reason="rich is not installed")
    records, film = tmp_path / "games.txt", tmp_path / "game.gif"
    words = ["evaluate", "greedy", "--against", "random", "--games", "2", "--records", str(records), *SHORT]
    assert main(words) == 0
    assert "greedy on MosaicChess(max_plies=6), 2 games each" in capsys.readouterr().out
    lines = records.read_text(encoding="utf-8").splitlines()
    assert len(lines) == 2
    for line in lines:
        record = parse_record(line)
        assert len(record.words) == 6
        assert len(list(game_of_record(record).replay(record))) == 6
    assert main(["replay", str(records), "--game", "2", "--gif", str(film)]) == 0
    with Image.open(film) as frames:
        assert frames.n_frames == 6


def test_the_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("rich", reason="rich is not installed")
    monkeypatch.setattr(sys, "stdin", io.StringIO("c4\n-c7\n-c6\nc9\n-c8\n"))
    words = ["play", "--terminal", "--seat", "both", "--game", "mosaic_chess", "--option", "max_plies=2"]
    assert main(words) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "white moves the pawn from c4 to c6" in out
    assert "c4-c6 c9-c8" in out


def test_the_page_shows_where_a_piece_may_go() -> None:
    pytest.importorskip("starlette", reason="starlette is not installed")
    from mozaic_env.web.play.game_server import GameServer

    table = GameServer(GAME, {"random": make_agent("random", GAME)})
    answer = asyncio.run(table.answer(None, {"do": "hello"}))
    token, version = answer["token"], answer["version"]
    assert answer["view"]["svg"].count(">P</text>") == 24
    action = GAME.parse_action("c4")
    answer = asyncio.run(table.answer(token, {"do": "play", "action": action, "version": version}))
    shown = answer["view"]
    assert {told: tuple(clicks) for _, told, clicks in shown["legal"]} == {"-c5": ("c5",), "-c6": ("c6",)}
    assert shown["svg"].count('"#target"') == 2


def test_stable_baselines_learns_from_a_few_steps() -> None:
    pytest.importorskip("sb3_contrib", reason="sb3-contrib is not installed")
    from mozaic_env.envs.sb3 import GameVecEnv

    env = GameVecEnv(3, "mosaic_chess", opponent="random", reward="material", max_plies=10)
    env.seed(0)
    env.reset()
    over, rng = 0, np.random.default_rng(0)
    for _ in range(30):
        masks = env.action_masks()
        assert masks.any(axis=1).all()
        chosen = (rng.random(masks.shape) * masks).argmax(axis=1)
        observation, _, dones, _ = env.step(chosen)
        over += int(dones.sum())
        assert {key: entry.shape[1:] for key, entry in observation.items()} == {
            field.key: field.shape for field in GAME.fields
        }
    assert over >= 6
