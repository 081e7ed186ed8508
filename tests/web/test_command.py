"""`mozaic play` as a user starts it."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from argparse import Namespace
from collections.abc import Iterator

import pytest

from mozaic_env.agents.specs import make_agent
from mozaic_env.cli import main, play
from mozaic_env.games import make_game
from mozaic_env.web.play.play import HUMAN, Play
from mozaic_env.web.server.serve import address, listening
from tests.cli.processes import ROOT
from tests.web.play.web_games import GAME, PythonAgent

SMALL = ["--rows", "4", "--cols", "4", "--no-browser"]


def refused(capsys, *words):
    assert main(["play", *words]) == 2
    err = capsys.readouterr().err
    assert err.startswith("mozaic play: ")
    assert err.count("\n") == 1
    return err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--agents", "nobody"], "unknown agent 'nobody'"),
        (["--rules", "ruby"], "rules='ruby'; accepted"),
        (["--game", "go"], "invalid choice: 'go'"),
        (["--sessions", "0"], "--sessions 0; accepted"),
        (["--port", "many"], "invalid int value"),
        (["--port", "65536", "--agents", "random"], "port 65536; accepted"),
        (["--host", "256.0.0.1", "--agents", "random"], "cannot listen at"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(capsys, words, message) -> None:
    assert message in refused(capsys, *SMALL, *words)


def test_a_taken_port_is_named_and_the_usual_one_is_then_not_insisted_on(capsys) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert "choose another with --port" in refused(capsys, *SMALL, "--agents", "random", "--port", str(port))
    with listening("127.0.0.1", None) as first, listening("127.0.0.1", None) as second:
        assert first.getsockname()[1] != second.getsockname()[1]


def test_addresses_to_type() -> None:
    assert address("127.0.0.1", 8000) == "http://127.0.0.1:8000/"
    assert address("0.0.0.0", 80) == "http://127.0.0.1:80/"
    assert address("::", 80) == "http://[::1]:80/"


def test_visitors_see_no_paths_and_no_name_twice() -> None:
    names = ["pattern", "/home/me/secret/runs/quick", "policy:runs/quick,sample=1", "other/quick/", "human"]
    named = play.name_agents([PythonAgent(None, name) for name in names])
    assert list(named) == ["pattern", "quick", "quick,sample=1", "quick-2", "agent-human"]
    assert [agent.name for agent in named.values()] == names


def test_agents_that_an_installation_lacks_are_left_out_of_the_usual_ones(monkeypatch) -> None:
    def make(spec, game):
        if spec == "champion":
            raise ModuleNotFoundError("No module named 'torch'", name="torch")
        if spec == "greedy":
            raise ValueError("unknown agent")
        return PythonAgent(None, spec)

    monkeypatch.setattr("mozaic_env.agents.specs.make_agent", make)
    _, agents = play._agents(Namespace(agents=None, rules="onyx", rows=4, cols=4))
    assert list(agents) == ["expectimax:depth=2", "pattern", "random"]


def test_a_missing_library_is_named_with_what_to_install(capsys, monkeypatch) -> None:
    monkeypatch.delitem(sys.modules, "mozaic_env.cli.play")
    monkeypatch.delitem(sys.modules, "mozaic_env.web.server.app", raising=False)
    monkeypatch.setitem(sys.modules, "starlette.applications", None)
    assert (
        "the page needs starlette.applications, which the extra 'play' brings: pip install 'mozaic_env[play]'"
        in refused(capsys, *SMALL)
    )


def test_warming_up_asks_every_agent_even_if_the_game_is_short() -> None:
    asked: list[str] = []

    def first_empty(states):
        return [next(tile for tile in range(16) if not int(states[0]["gems"].sum()) >> tile & 1)]

    def agent(name):
        return PythonAgent(lambda states: asked.append(name) or first_empty(states), name)

    agents = {name: agent(name) for name in "012"}
    play.warm_up(GAME, agents)
    assert asked == ["0", "1", "2"]


def test_warming_up_never_asks_an_agent_that_may_think_for_ever() -> None:
    class Deep(PythonAgent):
        def quick(self):
            return PythonAgent(lambda states: asked.append(self.name) or [0], "shallow")

    def never(states):
        raise AssertionError("asked")

    asked: list[str] = []
    play.warm_up(GAME, {"deep": Deep(never, "deep")})
    assert asked == ["deep"]


@pytest.mark.parametrize(
    ("game", "spec"),
    [
        (make_game("mosaic_chess"), "alphabeta:depth=32"),
        (GAME, "expectimax:depth=4,nodes=999999999999"),
        (GAME, "paranoid:depth=8,width=64"),
        (GAME, "mcts:simulations=100000"),
    ],
)
def test_a_quick_twin_searches_next_to_nothing_and_leaves_the_agent_as_it_was(game, spec) -> None:
    agent = make_agent(spec, game)
    before = dict(vars(agent))
    play = Play(game, 0, [HUMAN, HUMAN])
    play.play(int(agent.quick().act(play.now.reshape(1))[0]), HUMAN)
    assert all(vars(agent)[name] is value for name, value in before.items())


@contextlib.contextmanager
def thinking_for_ever(*words: str) -> Iterator[subprocess.Popen[str]]:
    """Mosaic Chess against an agent that will not come to an end; what hangs is killed, so that the test fails."""
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
    command = [sys.executable, "-W", "error", "-m", "mozaic_env", "play", "--game", "mosaic_chess", *words]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=environment, text=True, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        timer = threading.Timer(240, process.kill)
        timer.start()
        try:
            yield process
        finally:
            timer.cancel()
            process.kill()


def connect(process: subprocess.Popen[str]) -> http.client.HTTPConnection:
    """A connection to the server that a command has started, once it says where."""
    found = None
    while found is None:
        line = process.stdout.readline()
        assert line, process.stderr.read()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/", line)
    return http.client.HTTPConnection("127.0.0.1", int(found[1]), timeout=60)


def test_ctrl_c_ends_the_page_while_an_agent_thinks() -> None:
    with thinking_for_ever("--no-browser", "--port", "0", "--agents", "alphabeta:depth=32", "random") as process:
        connection = connect(process)

        def send(token: str = "", **message: object) -> None:
            headers = {"Content-Type": "application/json"} | ({"X-Session": token} if token else {})
            connection.request("POST", "/message", json.dumps(message), headers)

        send(do="hello")
        state = json.loads(connection.getresponse().read())
        send(state["token"], do="new", seats=["alphabeta:depth=32", "human"])
        state |= json.loads(connection.getresponse().read())
        assert state["seats"] == ["alphabeta:depth=32", "human"]
        send(state["token"], do="agent", version=state["version"])
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        connection.close()
        assert process.returncode == 130
        assert "Traceback" not in err
        assert err.endswith("interrupted\n")


def test_ctrl_c_ends_the_terminal_while_an_agent_thinks() -> None:
    with thinking_for_ever("--terminal", "--seat", "1", "--agents", "alphabeta:depth=32") as process:
        assert "white: alphabeta:depth=32" in process.stdout.readline()
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        assert process.returncode == 130
        assert err == "interrupted\n"


def test_the_command_serves_a_game_until_it_is_interrupted() -> None:
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
    words = [sys.executable, "-W", "error", "-m", "mozaic_env", "play", *SMALL, "--port", "0"]
    with subprocess.Popen(
        [*words, "--agents", "random"], env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        try:
            connection = connect(process)
            connection.request("GET", "/")
            page = connection.getresponse()
            assert page.status == 200
            assert b"/static/play.js" in page.read()
            connection.request("POST", "/message", b'{"do":"hello"}', {"Content-Type": "application/json"})
            answer = connection.getresponse()
            assert answer.status == 200
            token = json.loads(answer.read())["token"]
            connection.request("GET", "/", headers={"Host": "evil.example"})
            assert connection.getresponse().status == 421
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 130
    assert err == "interrupted\n"
    assert token not in out
