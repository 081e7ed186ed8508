"""Text files as other editors and systems leave them: a UTF-8 mark, CRLF, trailing blanks, no last newline."""

from __future__ import annotations

import io
import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

from mozaic_env.agents.policy.checkpoint import read_card
from mozaic_env.agents.specs import make_agent
from mozaic_env.arena.evaluate import append_evaluation, read_evaluations
from mozaic_env.arena.match import play_match
from mozaic_env.arena.records import append_records, read_records, write_records
from mozaic_env.arena.results_file import append_result, read_results
from mozaic_env.cli import main
from mozaic_env.core.record import parse_record
from mozaic_env.core.text.files import clean, read_text
from mozaic_env.games import make_game
from mozaic_env.web.play.replay import Replay
from mozaic_env.web.watch.run_data import Metrics, RunFolder
from tests.cli.processes import ROOT
from training.config import load_config
from training.curves import read_curves
from training.runs.folder import METRICS, RUN
from training.sweeps.space import read_space

GAME = make_game("mozaic", rows=4, cols=4)
POSITION = "4/4/y3/yybb y y 1 4,6,1,1,1,1 0-0"
NUMBERS = {"evaluation/greedy/points": 0.5, "evaluation/greedy/low": 0.4, "evaluation/greedy/high": 0.6}


def mangled(text: str) -> bytes:
    lines = [f"{line} \t" for line in text.rstrip("\n").split("\n")]
    return b"\xef\xbb\xbf" + "\r\n".join(lines).encode()


def record() -> str:
    agents = [make_agent(name, GAME) for name in ("greedy", "random")]
    file = io.StringIO()
    result = play_match(*agents, 2, 0, keep_actions=True)
    from mozaic_env.arena.records import match_records

    file.writelines(f"{line}\n" for line in match_records(GAME, result))
    return file.getvalue()


def results() -> str:
    result = play_match(*(make_agent(name, GAME) for name in ("greedy", "random")), 2, 0)
    return "".join(json.dumps(result.to_json()) + "\n" for _ in range(2))


def look(metrics: Metrics) -> Any:
    metrics.read()
    return metrics.decisions, metrics.damaged, sorted(metrics.series)


def reset(path: Path) -> str:
    env = gym.make("mozaic_env:Mozaic-v0", rows=4, cols=4, opponent=None)
    env.reset(options={"position": path.read_bytes().decode()})
    return str(env.unwrapped.position)


metrics = json.dumps(NUMBERS | {"evaluation/decisions": 5, "time/steps": 5})
# The name of a file, what is in it, and how it is read.
FILES: dict[str, tuple[str, Callable[[], str], Callable[[Path], Any]]] = {
    "records": ("games.txt", record, lambda path: [(n, str(line)) for n, line in read_records(path)]),
    "results": ("ladder.jsonl", results, lambda path: [result.to_json() for result in read_results(path)[0]]),
    "evaluation": ("evaluation.json", lambda: '[\n{"results": []}\n]\n', lambda path: read_evaluations(path.parent)),
    "card": (
        "card.json",
        lambda: (ROOT / "mozaic_env" / "games" / "mozaic" / "champion" / "card.json").read_text("utf-8"),
        lambda path: read_card(path.parent),
    ),
    "configuration": ("run.yaml", lambda: (ROOT / "configs" / "quick.yaml").read_text("utf-8"), load_config),
    "space": (
        "space.yaml",
        lambda: (ROOT / "configs" / "sweep.yaml").read_text("utf-8"),
        lambda path: read_space(path),
    ),
    "run": (RUN, lambda: '{\n"status": "finished"\n}\n', lambda path: RunFolder(path.parent).facts()),
    "metrics": (METRICS, lambda: f"{metrics}\n{metrics}\n", lambda path: read_curves(path.parent)),
    "metrics on the page": (METRICS, lambda: f"{metrics}\n\n", lambda path: look(Metrics(path))),
    "film": (
        "game.txt",
        lambda: record().splitlines()[0],
        lambda path: Replay(path.read_bytes().decode(), "mozaic").words,
    ),
    "a record": ("game.txt", lambda: record().splitlines()[0], lambda path: parse_record(path.read_bytes().decode())),
    "position": ("position.txt", lambda: POSITION, reset),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_was_edited_elsewhere_reads_the_same(tmp_path: Path, name: str) -> None:
    file, content, read = FILES[name]
    text = content()
    path = tmp_path / file
    path.write_text(text, "utf-8", newline="\n")
    meant = read(path)
    assert meant
    path.write_bytes(mangled(text) + (b"\r\n\r\n" if name == "metrics on the page" else b""))
    assert read(path) == meant


def test_what_is_added_begins_a_line_of_its_own(tmp_path: Path) -> None:
    agents = [make_agent(name, GAME) for name in ("greedy", "random")]
    result = play_match(*agents, 2, 0, keep_actions=True)
    ladder, games = tmp_path / "ladder.jsonl", tmp_path / "games.txt"
    append_result(ladder, result)
    write_records(games, GAME, [result])
    for path in (ladder, games):
        path.write_bytes(mangled(path.read_text("utf-8")))
    append_result(ladder, result)
    append_records(games, GAME, [result])
    assert len(read_results(ladder)[0]) == 2
    assert not read_results(ladder)[1]
    assert main(["replay", str(games), "--quiet"]) == 0
    assert len(list(read_records(games))) == 4
    (tmp_path / "evaluation.json").write_bytes(mangled("[]\n"))
    append_evaluation(tmp_path, [result])
    assert len(read_evaluations(tmp_path)) == 1


def test_moves_that_are_piped_into_a_game(monkeypatch: pytest.MonkeyPatch) -> None:
    from mozaic_env.web.play.terminal import _read

    monkeypatch.setattr(sys, "stdin", io.StringIO("\ufeffd4 \r\n"))
    assert _read("> ") == "d4"


def test_what_cannot_be_read_says_why(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes("yellow".encode("utf-16"))
    with pytest.raises(ValueError, match="it is not UTF-8 text"):
        read_text(file)
    for wrong, reason in ((file / "x", "Not a directory"), (tmp_path, "Is a directory"), ("", "accepted"), (3, "3")):
        with pytest.raises(ValueError, match=reason):
            read_text(wrong)  # type: ignore[arg-type]
    assert clean(None) is None
    shutil.rmtree(tmp_path)
    with pytest.raises(ValueError, match="No such file"):
        read_text(file)
