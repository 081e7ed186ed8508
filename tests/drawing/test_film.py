"""`mozaic replay` with pictures: what is written, and that it is whole or not at all."""

from __future__ import annotations

import os
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mozaic_env.cli import main
from mozaic_env.core.record import parse_record
from mozaic_env.core.storage import outputs
from mozaic_env.drawing import film
from mozaic_env.drawing.picture import Text, to_svg
from mozaic_env.drawing.raster import to_rgb
from mozaic_env.games import game_of_record

GAME = (
    "rules=onyx board=2x4 first=b result=4-4 | b:a1 r y:c1 y:d1 x b:b1 y:c2 e:a1-b2 r y:d2 e:b2-a1 d:xa1 b:a1 b:b2 b:a2"
)


@pytest.fixture
def records(tmp_path: Path) -> Path:
    file = tmp_path / "games.txt"
    file.write_text(f"{GAME}\n")
    return file


def words() -> tuple[str, ...]:
    return parse_record(GAME).words


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["replay", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    return err


def test_a_picture_for_each_word() -> None:
    record = parse_record(GAME)
    game = game_of_record(record)
    shown = film.pictures(game, record)
    rows = [row for _, row in game.replay(record)]
    assert len(shown) == len(record.words)
    assert shown[7] == game.draw(rows[7], rows[6], caption=f"8 of {len(rows)}:  e:a1-b2")


def test_a_gif(records: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "game.gif"
    assert main(["replay", str(records), "--gif", str(out)]) == 0
    assert capsys.readouterr().out == f"wrote {out}, {len(words())} frames\n"
    record = parse_record(GAME)
    shown = film.pictures(game_of_record(record), record)
    with Image.open(out) as gif:
        assert gif.n_frames == len(words())
        assert gif.info["loop"] == 0
        for number in (0, 6, gif.n_frames - 1):
            gif.seek(number)
            frame = np.asarray(gif.convert("RGB")).astype(int)
            difference = np.abs(frame - to_rgb(shown[number]))
            assert difference.max() < 60  # 255 colours, and the shades of all edges
            assert np.percentile(difference, 99) < 16


def test_a_gif_has_the_name_of_one(records: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for name in ("game.txt", "game", "game.png"):
        message = refused(capsys, str(records), "--gif", str(tmp_path / name))
        assert f"--gif {tmp_path / name}; accepted: a name that ends in .gif" in message
        assert not (tmp_path / name).exists()
    assert main(["replay", str(records), "--gif", str(tmp_path / "GAME.GIF")]) == 0
    assert main(["replay", str(records), "--gif", os.devnull]) == 0  # a device may be called what it likes


def test_players_are_named_where_they_are_known(tmp_path: Path) -> None:
    named = parse_record(GAME.replace("first=b", "first=b yellow=champion blue=runs/" + "long" * 30))
    game = game_of_record(named)
    shown = film.pictures(game, named)
    plain = film.pictures(game, parse_record(GAME))
    assert (plain[3].height, plain[3].width) == (512, 512)
    for picture, other in zip(shown, plain, strict=True):
        assert picture.height > other.height
        below = [item.text for item in picture.still if isinstance(item, Text) and item.y > other.height]
        assert below[0] == "yellow: champion"
        assert re.fullmatch(r"blue: runs/[long]+\.\.\.[long]+", below[1])
        rgb = to_rgb(picture).astype(int)
        assert (rgb[: other.height] == to_rgb(other)).all()
        assert np.ptp(rgb[int(other.height) + 2 : -2]) > 100  # light letters on a dark strip
    only = film.with_names(plain[0], ["yellow: pattern"])
    assert film.with_names(plain[0], []) is plain[0]
    assert "yellow: pattern" in to_svg(only)


def test_pngs_and_svgs(records: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    png, svg = tmp_path / "a" / "png", tmp_path / "svg"
    assert main(["replay", str(records), "--png", str(png), "--svg", str(svg)]) == 0
    names = [f"{number:04}" for number in range(1, len(words()) + 1)]
    assert sorted(path.name for path in png.iterdir()) == [f"{name}.png" for name in names]
    assert sorted(path.name for path in svg.iterdir()) == [f"{name}.svg" for name in names]
    record = parse_record(GAME)
    shown = film.pictures(game_of_record(record), record)
    with Image.open(png / "0003.png") as picture:
        assert (np.asarray(picture) == to_rgb(shown[2])).all()
    for path, word in zip(sorted(svg.iterdir()), words(), strict=True):
        assert any(text.text is not None and text.text.endswith(word) for text in ET.parse(path).iter())


def test_one_record_of_several(records: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    records.write_text(f"{GAME}\nnonsense\n{GAME} b:a1\nrules=onyx board=2x4 first=b |\n{GAME}\n")
    out = str(tmp_path / "svg")
    assert "holds 5 records, and pictures show one: add --game N" in refused(capsys, str(records), "--svg", out)
    assert "line 2: a record is one line" in refused(capsys, str(records), "--svg", out, "--game", "2")
    assert "line 3: record word" in refused(capsys, str(records), "--svg", out, "--game", "3")
    assert "line 4: the record has no words" in refused(capsys, str(records), "--svg", out, "--game", "4")
    assert not Path(out).exists()
    assert main(["replay", str(records), "--svg", out, "--game", "5"]) == 0


def test_places_that_cannot_be_written(records: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "cannot write /missing/x.gif" in refused(capsys, str(records), "--gif", "/missing/x.gif")
    assert "/dev/null/x" in refused(capsys, str(records), "--svg", "/dev/null/x")


def test_a_write_that_fails_leaves_the_old_file(
    records: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "game.gif"
    out.write_bytes(b"the old one")

    def full(*arguments: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(outputs.os, "fsync", full)
    assert "disk full" in refused(capsys, str(records), "--gif", str(out))
    assert out.read_bytes() == b"the old one"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["game.gif", "games.txt"]


def test_too_many_frames_for_a_gif(tmp_path: Path) -> None:
    record = parse_record(GAME)
    shown = film.pictures(game_of_record(record), record)
    for wrong in ([], shown * 200):
        with pytest.raises(ValueError, match="accepted for a GIF: 1 to 2000"):
            film.write_gif(tmp_path / "x.gif", wrong)
    with pytest.raises(ValueError, match="accepted: png, svg"):
        film.write_stills(tmp_path / "x", shown, "jpeg")
