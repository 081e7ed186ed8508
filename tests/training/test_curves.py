import json
import re

import numpy as np
import pytest

from training.curves import COMPARISON, Measurement, main, make_curve


def make_run(folder, points, *, each=100, minutes=True, anchors=("greedy", "pattern"), regret=False):
    """A run's metrics: one match after every `each` decisions and half as many minutes."""
    folder.mkdir()
    with (folder / "metrics.jsonl").open("w") as file:
        for i, value in enumerate(points, 1):
            line = {"time/steps": each * i, "evaluation/decisions": each * i}
            if minutes:
                line["evaluation/minutes"] = each * i / 2
            for anchor in anchors:
                line |= {f"evaluation/{anchor}/points": value, f"evaluation/{anchor}/low": value - 0.1}
                line[f"evaluation/{anchor}/high"] = value + 0.1
            if regret:
                line |= {"evaluation/regret/mean": value, "evaluation/regret/low": value - 0.01}
                line |= {"evaluation/regret/high": value + 0.01, "evaluation/regret/mistakes": 0.5}
            file.write(json.dumps(line) + "\n" + json.dumps({"time/steps": each * i, "train/loss": 1.0}) + "\n")
    return str(folder)


def test_seeds_are_averaged_where_all_have_been_measured():
    first = [Measurement(0.1, 0, 1, 100, 50), Measurement(0.3, 0, 1, 300, 150)]
    second = [Measurement(0.4, 0, 1, 200, 10), Measurement(0.8, 0, 1, 400, 20)]
    curve = make_curve([first, second], "decisions")
    assert curve.x.tolist() == [200, 300]
    np.testing.assert_allclose(curve.points, [(0.2 + 0.4) / 2, (0.3 + 0.6) / 2])
    np.testing.assert_allclose(curve.low, [0.2, 0.3])
    np.testing.assert_allclose(curve.high, [0.4, 0.6])
    with pytest.raises(ValueError, match=r"no minutes in common: some end at 20, others begin at 50"):
        make_curve([first, second], "minutes")


def test_several_runs_in_one_picture(tmp_path, capsys):
    one = make_run(tmp_path / "one", [0.2, 0.5])
    two = make_run(tmp_path / "two", [0.4, 0.6])
    alone = make_run(tmp_path / "alone", [0.3])
    picture = tmp_path / "both.svg"
    assert main(["--compare", f"seeds={one},{two}", alone, "--x", "minutes", "--out", str(picture)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "seeds: 55.0 [50.0, 60.0] after 100 minutes (mean of 2 runs, lowest and highest)",
        "alone: 30.0 [20.0, 40.0] after 50 minutes (one run, 95% interval)",
        str(picture),
    ]
    assert "<svg" in picture.read_text()
    assert main(["--compare", one, "--against", "greedy", "--out", str(tmp_path / "both.png")]) == 0
    assert (tmp_path / "both.png").read_bytes().startswith(b"\x89PNG")
    assert {path.name for path in tmp_path.iterdir() if path.is_file()} == {"both.svg", "both.png"}


def test_all_that_is_named_beside_compare_is_a_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two"):
        make_run(tmp_path / name, [0.2])
    assert main(["--compare", "one", "two"]) == 0
    assert [line.split(":")[0] for line in capsys.readouterr().out.splitlines()] == ["one", "two", COMPARISON]
    assert "<svg" in (tmp_path / COMPARISON).read_text()


def test_regret_of_several_runs_in_one_picture(tmp_path, capsys):
    one = make_run(tmp_path / "one", [2.0, 0.5], regret=True)
    two = make_run(tmp_path / "two", [1.0, 0.25], regret=True)
    picture = tmp_path / "regret.svg"
    assert main(["--compare", "--regret", f"seeds={one},{two}", str(two), "--out", str(picture)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "seeds: 0.375 [0.250, 0.500] after 200 decisions (mean of 2 runs, lowest and highest)",
        "two: 0.250 [0.240, 0.260] after 200 decisions (one run, 95% interval)",
        str(picture),
    ]
    assert "regret a game" in texts(picture)


@pytest.mark.parametrize(("anchors", "regret"), [(("greedy",), True), ((), True), (("greedy",), False)])
def test_a_runs_own_picture_has_what_was_measured(tmp_path, anchors, regret):
    run = tmp_path / "run"
    make_run(run, [2.0, 0.5], anchors=anchors, regret=regret)
    assert main([str(run)]) == 0
    shown = texts(run / "curves.svg")
    assert ("regret a game" in shown) == regret
    assert ("points, %" in shown) == bool(anchors)


def texts(picture):
    """What is written in an SVG of matplotlib's, which draws letters as paths and tells them in comments."""
    return re.findall(r"<!-- (.*) -->", picture.read_text())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--compare", "one", "one"], "'one' is no group of runs of its own label"),
        (["--compare", "label="], "'label=' is no group"),
        (["--compare", "nowhere"], "can't be read"),
        (["--compare", "empty"], "no matches on the way"),
        (["--compare", "one", "--against", "kasparov"], "accepted: greedy, pattern"),
        (["--compare", "old", "--x", "minutes"], "old: a run has not noted its minutes"),
        (["--compare", "one", "--out", "x.cat"], "cat"),
        (["--compare", "one", "--out", "nowhere/x.svg"], "nowhere"),
        (["--compare", "one", "--out", "empty"], "cannot write empty: it is a folder; name a file"),
        (["--compare", "one", "x.svg"], "x.svg/metrics.jsonl can't be read"),
        (["--compare", "--regret", "one"], "one has no regret on the way; evaluation.regret"),
        (["--compare", "--regret", "one", "--against", "greedy"], "give one of them"),
        (["one", "--regret"], "belong to --compare"),
        (["one", "--x", "minutes"], "belong to --compare"),
        (["one", "--out", "x.svg"], "belong to --compare"),
    ],
)
def test_errors_are_one_line_and_leave_no_picture(tmp_path, monkeypatch, capsys, words, message):
    monkeypatch.chdir(tmp_path)
    make_run(tmp_path / "one", [0.2])
    make_run(tmp_path / "old", [0.2], minutes=False)
    make_run(tmp_path / "empty", [])
    assert main(words) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert error.count("\n") == 1
    assert message in error
    assert not [path for path in tmp_path.iterdir() if path.is_file()]
