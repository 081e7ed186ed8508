"""`mozaic bench`: what it measures, prints and writes. How fast anything is on this machine is nobody's test."""

from __future__ import annotations

import json

import numpy as np
import pytest

from mozaic_env.bench import environments, loops, measure, peers, report
from mozaic_env.bench.measure import DECISIONS, MICROSECONDS, RATIO, Case, Ratio
from mozaic_env.cli import main
from mozaic_env.games import make_game
from mozaic_env.simulation.batch import Buffers

ROW = {"group", "name", "value", "low", "high", "unit", "repetitions", "left_out", "cores", "produces"}


def run(capsys, *words):
    assert main(["bench", *words]) == 0
    return capsys.readouterr().out


def refused(capsys, *words):
    assert main(["bench", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    return err


def test_kernels_are_printed_and_written(capsys, tmp_path):
    file, picture = tmp_path / "speed.json", tmp_path / "speed.png"
    out = run(capsys, "--quick", "--only", "kernels", "--json", str(file), "--plot", str(picture))
    written = json.loads(file.read_text())
    assert set(written) == {"machine", "versions", "game", "seconds", "rows"}
    assert set(written["machine"]) == {"processor", "cores", "system", "load"}
    assert {"python", "mozaic_env", "numpy", "numba", "gymnasium"} <= set(written["versions"])
    rows = {row["name"]: row for row in written["rows"]}
    assert {"greedy on both seats", "pattern on both seats", environments.BARE, environments.CEILING} < set(rows)
    for row in rows.values():
        assert set(row) == ROW
        assert row["group"] == "kernels"
        assert row["unit"] == DECISIONS
        assert 0 < row["low"] <= row["value"] <= row["high"]
        assert row["repetitions"] >= 1
        assert row["produces"]
        assert row["name"] in out
    assert written["machine"]["processor"] in out
    assert "\x1b" not in out  # no colours, no bars
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["speed.json", "speed.png"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--seconds", "0"], "more than 0"),
        (["--seconds", "nan"], "more than 0"),
        (["--only", "kernel"], "kernels"),
        (["--plot", "speed.jpeg"], ".png"),
        (["--json", "."], "folder"),
        (["--json", "nowhere/speed.json"], "nowhere"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_measured(capsys, tmp_path, monkeypatch, words, said):
    monkeypatch.chdir(tmp_path)
    assert said in refused(capsys, *words)
    assert not list(tmp_path.iterdir())


def test_libraries_that_are_missing_are_named(capsys, monkeypatch):
    monkeypatch.setattr(peers, "_PEERS", {"no_such_library": None})
    monkeypatch.setattr(environments, "SIZES", (1, 8))
    out = run(capsys, "--seconds", "0.01", "--only", "peers")
    assert "no_such_library is not installed" in out
    assert "mozaic_env mozaic, 1,024 games, copy=False" in out


@pytest.mark.parametrize(
    "part", [environments.kernels, environments.vector, environments.threads, environments.single, environments.sb3]
)
def test_every_part_can_be_measured(part, monkeypatch):
    """All cases run, none counts nothing, and ratios name cases that exist."""
    monkeypatch.setattr(environments, "SIZES", (1, 8))
    monkeypatch.setattr(environments, "GAMES", 8)
    monkeypatch.setattr(environments, "GAMES_OF_STABLE_BASELINES", 4)
    cases, ratios = part(
        make_game("mozaic", rows=4, cols=4) if part is not environments.single else make_game("mozaic")
    )
    rows = measure.measure("part", cases, ratios, 0.001, lambda share: None)
    assert len(rows) == sum(case.shown for case in cases) + len(ratios)
    assert all(row.value > 0 for row in rows)


def clocked(monkeypatch):
    """A clock that only moves when it is told to, for wall and processor alike."""
    now = {"wall": 0.0, "processor": 0.0}
    monkeypatch.setattr(measure.time, "perf_counter", lambda: now["wall"])
    monkeypatch.setattr(measure.time, "process_time", lambda: now["processor"])

    def spend(wall, processor=None):
        now["wall"] += wall
        now["processor"] += wall if processor is None else processor

    return spend


def test_rates_times_and_ratios_are_those_of_the_clock(monkeypatch):
    spend = clocked(monkeypatch)

    def work(seconds, decisions):
        spend(seconds)
        return decisions

    cases = [
        Case("fast", "x", lambda: work(0.001, 300)),
        Case("slow", "x", lambda: work(0.004, 300), prepare=lambda: spend(5), unit=MICROSECONDS),
        Case("hidden", "x", lambda: work(0.002, 100), shown=False),
    ]
    shares = []
    rows = measure.measure(
        "part", cases, [Ratio("a", "fast", "slow"), Ratio("b", "fast", "hidden")], 1.0, shares.append
    )
    found = {row.name: (row.value, row.unit) for row in rows}
    assert found == {
        "fast": (pytest.approx(300_000), DECISIONS),
        "slow": (pytest.approx(0.004 / 300 * 1e6), MICROSECONDS),
        "a": (pytest.approx(4), RATIO),
        "b": (pytest.approx(6), RATIO),
    }
    assert rows[0].low == pytest.approx(rows[0].high)
    assert rows[0].cores == pytest.approx(1)
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1)


def test_interrupted_repetitions_are_left_out(monkeypatch):
    spend, calls = clocked(monkeypatch), []

    def work():
        calls.append(None)
        spend(0.01, 0.004 if len(calls) % 3 == 0 else 0.01)  # every third time something else has the processor
        return 50 if len(calls) % 3 == 0 else 100

    (row,) = measure.measure("part", [Case("case", "x", work)], [], 3.0, lambda share: None)
    assert (row.low, row.value, row.high) == (pytest.approx(10_000),) * 3
    assert row.left_out == pytest.approx(row.repetitions / 2, abs=1)
    assert row.cores == pytest.approx(1)


def test_two_cases_of_one_name_are_refused():
    with pytest.raises(ValueError, match="same name"):
        measure.measure("part", [Case("a", "x", lambda: 1)] * 2, [], 0.001, lambda share: None)


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (18_345_678, DECISIONS, "18.3 M"),
        (1_234_567_890, DECISIONS, "1,235 M"),
        (412_345, DECISIONS, "412 k"),
        (999, DECISIONS, "999"),
        (5.5312, MICROSECONDS, "5.53"),
        (0.8, RATIO, "0.800"),
        (121.4, RATIO, "121"),
        (56.0, "MB", "56.0"),
    ],
)
def test_numbers_have_three_digits(value, unit, text):
    assert report.number(value, unit) == text


def test_the_bare_loop_shows_what_is_on_its_rows():
    """What is timed is the real thing: legal play, and the observation and mask of the state that follows."""
    from mozaic_env.simulation.queries import masks_of

    game = make_game("mozaic")
    rows, buffers = game.rows(64), Buffers(game, 64)
    rows["key"] = np.arange(64)
    loops.begin(rows)
    masks = np.zeros_like(buffers.masks)
    for step in range(200):
        before = rows["decisions"].copy()
        loops.play_shown(rows, step, 1, buffers.frames, buffers.masks)
        went_on = rows["decisions"] == before + 1
        assert np.all(went_on | (rows["decisions"] == 0))
        masks_of(rows, masks)
        assert np.array_equal(masks, buffers.masks)
        planes = buffers.observation["board"].reshape(64, 3, 64)
        shown = np.packbits(planes[:, :2], axis=2, bitorder="little").view(np.uint64)[:, :, 0]
        mover = rows["mover"].astype(np.int64)
        assert np.array_equal(shown, rows["gems"][np.arange(64)[:, None], np.stack([mover, 1 - mover], axis=1)])


def test_the_reference_writes_the_boards_it_says():
    boards = np.zeros((3, loops.PLANES + loops.MASKED), np.uint64)
    frames, masks = np.zeros((3, 32), np.uint64), np.zeros((3, 48), np.uint64)
    loops.fill_boards(boards, 0, 10, loops.WORDS, frames, masks)
    own, other, empty, nothing = frames.view(np.uint8).reshape(3, 4, 64).transpose(1, 0, 2)
    assert np.all(own.sum(axis=1) == 5)
    assert np.all(other.sum(axis=1) == 5)
    assert np.all(own + other + empty == 1)
    assert not nothing.any()
    assert np.array_equal(masks.view(np.uint8).reshape(3, 6, 64)[:, 0], empty)
    assert masks.view(np.uint8).sum() == 3 * 54
