"""`mozaic watch`: what its page says, the games of its checkpoints, its server, its snapshot."""

from __future__ import annotations

import http.client
import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from tests.web.watch.watch_runs import GAME, imitation, make_run, save_checkpoint, update, write_lines

pytest.importorskip("rich", reason="rich is not installed")
from mozaic_env.agents.specs import make_agent
from mozaic_env.arena.evaluate import append_evaluation
from mozaic_env.arena.match import play_match
from mozaic_env.cli import main
from mozaic_env.core.record import parse_record
from mozaic_env.drawing.picture import to_svg
from mozaic_env.web.play.play import Play
from mozaic_env.web.watch.game import play_game, show
from mozaic_env.web.watch.page import parts
from mozaic_env.web.watch.run_data import RunFolder
from mozaic_env.web.watch.sections import MOST_POINTS
from mozaic_env.web.watch.watcher import Watcher, snapshot


class Content(HTMLParser):
    """Checks that tags are closed, and keeps texts and tags."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in {"meta", "link", "input", "br", "img"}:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(self.texts)


def page(run: Path) -> Content:
    shown = parts(RunFolder(run))
    return Content(shown.head + shown.strength + shown.more)


# --- what it says ---------------------------------------------------------------------------------


def test_a_run_with_everything(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="torch is not installed")
    lines = [imitation(500), imitation(800), *(update(number, 800) for number in range(1, 9))]
    run = make_run(tmp_path / "my run", *lines)
    save_checkpoint(run / "best", 6800, results={"against": "pattern", "points": 0.5, "interval": [0.45, 0.55]})
    result = play_match(make_agent("pattern", GAME), make_agent("random", GAME), 20)
    append_evaluation(run, [result])
    content = page(run)
    for text in (
        "my run", "running", "8.8k decisions trained on · 800 of them a teacher's · 0:16 of self-play",
        "seed 7", "started 2026-01-02 03:04", "against random", "against pattern", "self-play begins",
        "52.0%, +0.2 squares", "The best checkpoint so far, after 6.8k decisions: 50.0 [45.0, 55.0]% against pattern.",
        "Last evaluation", f"{result.wins} / {result.draws} / {result.losses}", "margin, squares",
        "mirror: itself in all seats", "Throughput", "agreement with the teacher",
    ):  # fmt: skip
        assert text in content.text, text
    pictures = [attrs["aria-label"] for tag, attrs in content.tags if tag == "svg"]
    assert pictures[:3] == [
        "Points against fixed agents over training",
        "Latest points against each agent",
        "Points in training games",
    ]
    bands = [attrs for tag, attrs in content.tags if "band" in (attrs.get("class") or "")]
    assert len(bands) == 2
    rows = [attrs for tag, attrs in content.tags if tag == "td"]
    assert len(rows) == 4 + 2 * 4


@pytest.mark.parametrize("anchors", [True, False])
def test_a_run_with_regret(tmp_path: Path, anchors: bool) -> None:
    lines = [update(number) | regret(1 / number) for number in (1, 2, 4)]
    if not anchors:
        lines = [{key: value for key, value in line.items() if not key.endswith("/points")} for line in lines]
    run = make_run(tmp_path / "run", *lines)
    evaluation = {"regret": 0.25, "interval": [0.2, 0.3], "mistakes": 0.375, "unit": "squares"}
    (run / "evaluation.json").write_text(json.dumps([{"results": [], "regret": evaluation | {"match": match()}}]))
    content = page(run)
    pictures = [attrs["aria-label"] for tag, attrs in content.tags if tag == "svg"]
    assert "Regret over training" in pictures
    assert ("Points against fixed agents over training" in pictures) == anchors
    assert "at the last measure: 25.0%" in content.text
    assert "Regret against perfect play: 0.250 [0.200, 0.300] squares a game; 37.5% of decisions" in content.text
    assert "No matches have been played" not in content.text
    rows = [attrs for tag, attrs in content.tags if tag == "td"]
    assert len(rows) == 4 + 2 * 4  # the match against perfect play, and two lines on self-play
    for odd in (3, {}, {"regret": "x"}, {"interval": [1]}, None):
        (run / "evaluation.json").write_text(json.dumps([{"results": [], "regret": odd}]))
        assert "Regret over training" in str(parts(RunFolder(run)).strength)


def regret(mean: float) -> dict[str, float]:
    """What is noted of the regret on the way."""
    names = {"mean": mean, "low": mean - 0.1, "high": mean + 0.1, "mistakes": mean}
    return {f"evaluation/regret/{name}": value for name, value in names.items()}


def match() -> dict[str, Any]:
    return play_match(make_agent("pattern", GAME), make_agent("greedy", GAME), 2).to_json()


def test_training_games_are_counted(tmp_path: Path) -> None:
    content = page(make_run(tmp_path / "run", *(update(number) for number in range(1, 11))))
    place = content.texts.index("greedy", content.texts.index("in the last tenth"))
    assert content.texts[place : place + 4] == ["greedy", "100", "55.0", "100.0"]


@pytest.mark.parametrize("keep", [0, 1, 2])
def test_a_run_that_has_just_begun(tmp_path: Path, keep: int) -> None:
    run = make_run(tmp_path / "run", *[imitation(500), update(1)][:keep])
    content = page(run)
    assert "running" in content.text
    assert ("No matches have been played on the way" in content.text) == (keep < 2)


def test_a_run_without_matches_on_the_way(tmp_path: Path) -> None:
    line = {key: value for key, value in update(1).items() if not key.startswith("evaluation/")}
    content = page(make_run(tmp_path / "run", line))
    assert "evaluation.share in the configuration turns them on" in content.text
    assert "Games of self-play" in content.text


def test_earlier_selves_of_the_latest_update_alone(tmp_path: Path) -> None:
    def selves(*scores: float) -> dict[str, float]:
        return {
            f"past_selves/{number}/{key}": value
            for number, score in enumerate(scores, 1)
            for key, value in (("steps", 1000 * number), ("score", score), ("chance", 0.25))
        }

    run = make_run(tmp_path / "run", update(1) | selves(0.6, 0.5, 0.4), update(2) | selves(0.8, 0.7))
    content = page(run)
    assert "80%, dealt 25%" in content.text
    assert "70%, dealt 25%" in content.text
    assert "40%, dealt 25%" not in content.text


def test_troubles_are_said(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", update(1), "{\n", status="failed", error="FloatingPointError: not finite")
    content = page(run)
    assert "failed" in content.text
    assert "FloatingPointError: not finite" in content.text
    assert "1 lines of the metrics are damaged and left out." in content.text
    quiet = make_run(tmp_path / "quiet", update(1))
    import os

    os.utime(quiet / "metrics.jsonl", (1e9, 1e9))
    assert "the run may have been killed" in page(quiet).text


def test_names_are_text_whatever_they_are(tmp_path: Path) -> None:
    name = "<img src=x onerror=alert(1)>"
    line = {key.replace("pattern", name).replace("greedy", name): value for key, value in update(1).items()}
    run = make_run(tmp_path / "<b>run", line, status=name, error=name, started=name, seed=name)
    (run / "evaluation.json").write_text(json.dumps([{"time": name, "results": [{"players": [name, name]}]}]))
    content = page(run)
    assert {tag for tag, _ in content.tags} <= {
        "h1", "h2", "p", "span", "section", "svg", "path", "text", "circle", "rect", "title", "div", "table", "thead",
        "tbody", "tr", "th", "td", "figure", "figcaption",
    }  # fmt: skip
    assert not any("onerror" in attrs for _, attrs in content.tags)
    assert name in content.text


def test_long_runs_are_thinned(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", *(update(number) for number in range(1, 4 * MOST_POINTS)))
    shown = parts(RunFolder(run))
    curves = re.findall(r'class="curve c\d" d="([^"]*)"', shown.strength + shown.more)
    assert len(curves) > 4
    assert all(curve.count("L") <= MOST_POINTS for curve in curves)
    assert len(shown.strength + shown.more) < 300_000
    assert "95.0%, +4.5" in shown.strength  # the latest measure is not left out


# --- the games of its checkpoints -----------------------------------------------------------------


def rebuilt(game: dict[str, Any], place: int) -> str:
    return "\n".join(game["lines"][line] for line in game["frames"][place]) + "\n"


def test_a_game_is_its_pictures_and_its_record() -> None:
    play, agent = Play(GAME, 5, ["pattern", "pattern"]), make_agent("pattern", GAME)
    while play.mover is not None:
        play.play(int(agent.act(play.now.reshape(1))[0]), "pattern")
    game = show(play, "pattern", 17.0)
    json.dumps(game, allow_nan=False)
    assert len(game["frames"]) == len(game["told"]) == len(play.positions)
    for place in (0, 1, len(play.positions) - 1):
        before = play.positions[place - 1] if place else None
        action = play.steps[place - 1].action if place else None
        assert rebuilt(game, place) == to_svg(GAME.draw(play.positions[place], before, action))
    assert len(game["lines"]) < sum(map(len, game["frames"])) / 5
    assert game["told"][1][0] == play.steps[0].told
    assert list(GAME.replay(parse_record(game["record"])))
    assert "Lead of yellow, in squares" in game["lead"]


def test_a_checkpoint_plays_itself_and_the_same_seed_is_the_same_game(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="torch is not installed")
    run = make_run(tmp_path / "run", update(1))
    save_checkpoint(run / "final", 1234)
    found = RunFolder(run).latest()
    assert found is not None
    game, again, other = play_game(found, 3), play_game(found, 3), play_game(found, 4)
    assert game == again
    assert game["record"] != other["record"]
    assert (game["decisions"], game["who"], game["seed"]) == (1234, "checkpoint-final", 3)
    assert "yellow=checkpoint-final blue=checkpoint-final seed=3" in game["record"]
    assert game["key"] != other["key"]


def test_a_new_checkpoint_plays_and_the_page_learns_of_it(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="torch is not installed")
    run = make_run(tmp_path / "run", update(1))
    watcher = Watcher(RunFolder(run))
    state = watcher.state()
    assert state["game"] == watcher.game()["error"] == "No checkpoint has been written yet."
    keys = []
    for steps in (1000, 2000):
        save_checkpoint(run / "checkpoints" / f"step-{steps}", steps, seed=steps)
        watcher.state()
        assert watcher._player is not None
        watcher._player.join()
        keys.append(watcher.state()["game"])
        assert watcher.game()["key"] == keys[-1]
        assert watcher.game()["decisions"] == steps
    assert watcher.state()["game"] == keys[1] != keys[0]  # none is played while there is no newer one
    assert watcher.another()["key"] not in keys


def test_a_checkpoint_that_cannot_be_read_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch", reason="torch is not installed")
    run = make_run(tmp_path / "run", update(1))
    save_checkpoint(run / "final", 1000)
    weights = run / "final" / "policy.safetensors"
    kept = weights.read_bytes()
    weights.write_bytes(kept[:50])
    watcher = Watcher(RunFolder(run))
    assert "The latest checkpoint cannot play: " in watcher.another()["error"]
    assert "damaged or cut short" in watcher.game()["error"]
    weights.write_bytes(kept)
    assert watcher.another()["frames"]
    for name in [name for name in sys.modules if name.partition(".")[0] == "torch"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torch", None)
    error = Watcher(RunFolder(run)).another()["error"]
    assert "A game of the latest policy needs torch, which the extra 'train' brings" in error


# --- the snapshot ---------------------------------------------------------------------------------


def test_a_snapshot_is_one_file_that_asks_nobody(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch", reason="torch is not installed")
    run = make_run(tmp_path / "<b>run & <script>", update(1))
    save_checkpoint(run / "final", 1000)
    file = tmp_path / "page.html"
    assert main(["watch", str(run), "--once", str(file)]) == 0
    assert capsys.readouterr().out == f"wrote {file}\n"
    text = file.read_text("utf-8")
    content = Content(text)
    for tag, attrs in content.tags:
        assert "src" not in attrs, tag
        assert not (attrs.get("href") or "").startswith(("http", "/"))
    (kept,) = re.findall(r'<script id="snapshot" type="application/json">(.*?)</script>', text, re.DOTALL)
    values = json.loads(kept)
    assert values["game"]["decisions"] == 1000
    assert "against pattern" in values["state"]["strength"]
    assert "<title>&lt;b&gt;run &amp; &lt;script&gt;</title>" in text
    assert "/static/" not in text


def test_a_snapshot_of_a_run_without_a_checkpoint(tmp_path: Path) -> None:
    text = snapshot(Watcher(RunFolder(make_run(tmp_path / "run", update(1)))))
    assert "No checkpoint has been written yet." in text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["missing"], "missing does not exist; accepted: the folder of a training run, such as runs/quick"),
        (["."], "is no training run: it has neither run.json nor metrics.jsonl"),
        (["run", "--once", "/missing/page.html"], "cannot write /missing/page.html"),
        (["run", "--port", "70000"], "port 70000; accepted"),
        (["run", "--host", "no.such.host.invalid"], "cannot listen at 'no.such.host.invalid'"),
        ([], "required: RUN"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, words: list[str], message: str
) -> None:
    pytest.importorskip("uvicorn", reason="uvicorn is not installed")
    make_run(tmp_path / "run", update(1))
    monkeypatch.chdir(tmp_path)
    assert main(["watch", *words]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert message in err


# --- the server -----------------------------------------------------------------------------------


@contextmanager
def served(run: Path) -> Iterator[int]:
    """The page's server in a thread; its port."""
    pytest.importorskip("uvicorn", reason="uvicorn is not installed")
    from tests.web.browsers import serving_app
    from tests.web.watch.watch_runs import watching

    with serving_app(watching(run)) as url:
        yield int(url.rstrip("/").rpartition(":")[2])


def ask(port: int, path: str, method: str = "GET", **headers: str) -> tuple[int, str, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    result = answer.status, answer.getheader("content-type", ""), answer.read()
    connection.close()
    return result


def test_the_server_gives_the_page_its_parts_and_its_game(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="torch is not installed")
    run = make_run(tmp_path / "run", update(1))
    save_checkpoint(run / "final", 1000)
    with served(run) as port:
        status, kind, body = ask(port, "/")
        assert (status, kind.partition(";")[0]) == (200, "text/html")
        for path in re.findall(rb'(?:src|href)="(/[^"]+)"', body):
            assert ask(port, path.decode())[0] == 200
        state = json.loads(ask(port, "/run")[2])
        assert "1k decisions trained on" in state["head"]
        write_lines(run, update(2))
        assert "2k decisions trained on" in json.loads(ask(port, "/run")[2])["head"]
        game = json.loads(ask(port, "/game", "POST")[2])
        assert game["decisions"] == 1000
        assert json.loads(ask(port, "/game")[2]) == game


def test_the_server_answers_nobody_else(tmp_path: Path) -> None:
    with served(make_run(tmp_path / "run", update(1))) as port:
        assert ask(port, "/run", Host="evil.example")[0] == 421
        assert ask(port, "/game", "POST", Origin="http://evil.example")[0] == 403
        assert ask(port, "/run", "POST")[0] == 405
        assert ask(port, "/run.json")[0] == 404  # the folder itself is not served
        assert ask(port, "/static/../watch.py")[0] == 404
