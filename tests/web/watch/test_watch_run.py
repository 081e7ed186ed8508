"""A run's folder read while it is being written: what is cut off, missing, damaged or replaced."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from mozaic_env.web.watch import run_data
from mozaic_env.web.watch.run_data import RunFolder
from tests.web.watch.watch_runs import imitation, make_run, save_checkpoint, update, write_lines


def test_what_is_added_is_read_and_nothing_is_read_twice(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", update(1))
    watched = RunFolder(run)
    for number in (1, 2, 3):
        watched.metrics.read()
        watched.metrics.read()
        assert watched.metrics.get("time/elapsed") == [(1000.0 * k, 2.0 * k) for k in range(1, number + 1)]
        write_lines(run, update(number + 1))


def test_a_line_that_is_still_being_written_waits_for_its_end(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", update(1))
    whole = json.dumps(update(2))
    watched = RunFolder(run)
    for piece in (whole[:1], whole[1:200], whole[200:]):
        write_lines(run, piece)
        watched.metrics.read()
        assert len(watched.metrics.get("time/steps")) == 1
    write_lines(run, "\n")
    watched.metrics.read()
    assert len(watched.metrics.get("time/steps")) == 2
    assert watched.metrics.damaged == 0


def test_damaged_lines_are_left_out_and_counted(tmp_path: Path) -> None:
    odd = ["{", "[1, 2]", "null", '{"time/steps": }', "\u00e9" * 10, "[" * 5000]
    run = make_run(tmp_path / "run", update(1), *(f"{line}\n" for line in odd), "\n", update(2))
    watched = RunFolder(run)
    watched.metrics.read()
    assert len(watched.metrics.get("time/steps")) == 2
    assert watched.metrics.damaged == len(odd)


def test_what_is_no_number_is_left_out(tmp_path: Path) -> None:
    line = '{"a": NaN, "b": Infinity, "c": "high", "d": true, "e": null, "f": [1], "g": 1e400, "h": 2}\n'
    watched = RunFolder(make_run(tmp_path / "run", line))
    watched.metrics.read()
    assert list(watched.metrics.series) == ["h"]


def test_a_file_that_takes_the_place_of_the_old_one_is_read_from_its_start(tmp_path: Path) -> None:
    """As when a run is resumed: what was noted after the state that it goes on from is dropped."""
    run = make_run(tmp_path / "run", *(update(number) for number in range(1, 9)))
    watched = RunFolder(run)
    watched.metrics.read()
    new = run / "new"
    new.write_text("".join(json.dumps(update(number)) + "\n" for number in range(1, 4)))
    os.replace(new, run / "metrics.jsonl")
    watched.metrics.read()
    assert [x for x, _ in watched.metrics.get("time/steps")] == [1000, 2000, 3000]
    assert watched.metrics.decisions == 3000
    write_lines(run, update(1), mode="w")  # the same file, made shorter
    watched.metrics.read()
    assert [x for x, _ in watched.metrics.get("time/steps")] == [1000]


def test_long_files_are_read_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_data, "LARGEST_PIECE", 2000)
    run = make_run(tmp_path / "run", *(update(number) for number in range(1, 30)))
    write_lines(run, '{"nothing": "' + "x" * 9000 + '"}\n', update(30), '{"cut')
    watched = RunFolder(run)
    watched.metrics.read()
    assert [x for x, _ in watched.metrics.get("time/steps")] == [1000.0 * number for number in range(1, 31)]
    assert watched.metrics.damaged >= 1


def test_decisions_go_on_from_the_warm_start(tmp_path: Path) -> None:
    run = make_run(
        tmp_path / "run", imitation(500), imitation(800), update(1, warm_start=800), update(2, warm_start=800)
    )
    metrics = RunFolder(run).metrics
    metrics.read()
    assert metrics.get("warm_start/agreement") == [(500, 0.4), (800, 0.4)]
    assert [x for x, _ in metrics.get("time/elapsed")] == [1800, 2800]
    assert [x for x, _ in metrics.get("evaluation/random/points")] == [1800, 2800]
    assert (metrics.warm_start, metrics.decisions) == (800, 2800)


def test_a_file_that_is_not_there_yet_or_not_any_more(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run")
    (run / "metrics.jsonl").unlink()
    watched = RunFolder(run)
    watched.metrics.read()
    assert watched.metrics.decisions == 0
    assert watched.modified() is None
    write_lines(run, update(1))
    watched.metrics.read()
    (run / "metrics.jsonl").unlink()
    watched.metrics.read()
    assert watched.metrics.decisions == 1000  # what was known stays


@pytest.mark.parametrize("content", ["", "{", "[]", "7", "\udcff", '{"status": '])
def test_facts_and_evaluations_that_cannot_be_read(tmp_path: Path, content: str) -> None:
    run = make_run(tmp_path / "run", update(1))
    for name in ("run.json", "evaluation.json"):
        (run / name).write_bytes(content.encode("utf-8", "surrogateescape"))
    watched = RunFolder(run)
    assert watched.facts() == {}
    assert watched.evaluations() == []


def test_the_latest_checkpoint_is_the_one_that_was_trained_on_most(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="torch is not installed")
    run = make_run(tmp_path / "run", update(1))
    watched = RunFolder(run)
    assert watched.latest() is None
    assert watched.best() is None
    save_checkpoint(run / "checkpoints" / "step-000000001000", 1000)
    save_checkpoint(run / "best", 500, seed=1)
    latest, best = watched.latest(), watched.best()
    assert latest is not None
    assert best is not None
    assert (latest.folder.name, latest.decisions, best.decisions) == ("step-000000001000", 1000, 500)
    assert latest.key != best.key
    (run / "checkpoints" / ".step-000000002000.new-7").mkdir()  # being written
    (run / "checkpoints" / "step-000000003000").mkdir()  # gone but for its folder
    (run / "checkpoints" / "step-000000004000").mkdir()
    (run / "checkpoints" / "step-000000004000" / "card.json").write_text("{")
    assert watched.latest() == latest
    save_checkpoint(run / "final", 5000, seed=2)
    assert watched.latest() != latest
    card = run / "final" / "card.json"
    card.write_text(card.read_text().replace('"steps": 5000', '"steps": "many"'))
    assert watched.latest() == latest


@pytest.mark.parametrize("name", ["missing", "a file", "a folder", "checkpoint"])
def test_what_is_no_run_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "a file").write_text("")
    (tmp_path / "a folder").mkdir()
    (tmp_path / "checkpoint").mkdir()
    (tmp_path / "checkpoint" / "card.json").write_text("{}")
    with pytest.raises(ValueError, match=r"does not exist|is a file|is no training run"):
        RunFolder(tmp_path / name)
