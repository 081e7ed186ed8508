"""The server as browsers, and pages of others, meet it: names, origins, sizes, headers, files, logs."""

from __future__ import annotations

import asyncio
import json
import logging
import re

import pytest

from mozaic_env.web.server.app import LARGEST_MESSAGE, PLAY, STATIC, application
from mozaic_env.web.server.app import Page as WebPage
from tests.web.play.web_games import Page, asgi_app, make_server, request

HELLO = b'{"do":"hello"}'


def ask(app, body=HELLO, headers=None, **more):
    return asyncio.run(request(app, body, headers, **more))


def get(app, path, **headers):
    return ask(app, b"", headers, method="GET", path=path)


def error_of(answer):
    status, headers, body = answer
    assert headers["content-type"] == "application/json"
    return status, json.loads(body)["error"]


def test_a_message_is_answered() -> None:
    status, headers, body = ask(asgi_app())
    assert status == 200
    assert headers["cache-control"] == "no-store"
    answer = json.loads(body)
    assert ask(asgi_app(), b'{"do":"state"}', {"x-session": answer["token"]})[0] == 404  # another server's


@pytest.mark.parametrize(
    ("bound", "names", "host", "passes"),
    [
        ("127.0.0.1", (), "127.0.0.1:8000", True),
        ("127.0.0.1", (), "localhost:8000", True),
        ("127.0.0.1", (), "LOCALHOST", True),
        ("127.0.0.1", (), "[::1]:8000", True),
        ("127.0.0.1", (), "evil.example", False),
        ("127.0.0.1", (), "localhost.evil.example:8000", False),
        ("127.0.0.1", (), "127.0.0.1.evil.example", False),
        ("127.0.0.1", (), "192.168.0.7:8000", False),
        ("127.0.0.1", (), "localhost@evil.example", False),
        ("127.0.0.1", (), "evil.example#127.0.0.1", False),
        ("127.0.0.1", (), "", False),
        ("127.0.0.1", ("games.example",), "Games.Example:443", True),
        ("0.0.0.0", (), "192.168.0.7:8000", True),
        ("0.0.0.0", (), "[2001:db8::1]:8000", True),
        ("0.0.0.0", (), "evil.example:8000", False),
        ("0.0.0.0", (), "0.0.0.0.evil.example", False),
        ("::", (), "192.168.0.7", True),
        ("192.168.0.7", (), "192.168.0.7:8000", True),
        ("192.168.0.7", (), "192.168.0.8:8000", False),
    ],
)
def test_only_the_servers_own_names_are_answered(bound, names, host, passes) -> None:
    app = asgi_app(host=bound, names=names)
    for path in ("/", "/static/play.js", "/pages"):
        assert (get(app, path, host=host)[0] == 200) == passes
    answer = ask(app, headers={"host": host})
    if passes:
        assert answer[0] == 200
    else:
        assert error_of(answer)[0] == 421


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:8001", "http://127.0.0.1", "file://", ""]
)
def test_messages_from_other_pages_are_refused(origin) -> None:
    table = make_server()
    app = asgi_app(table)
    status, error = error_of(ask(app, headers={"origin": origin}))
    assert (status, "own pages" in error) == (403, True)
    assert len(table.sessions) == 0
    for own in ("http://127.0.0.1:8000", "https://127.0.0.1:8000"):
        assert ask(app, headers={"origin": own})[0] == 200


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
def test_what_a_form_can_send_is_no_message(kind) -> None:
    assert error_of(ask(asgi_app(), headers={"content-type": kind}))[0] == 415


def test_messages_are_limited_in_size() -> None:
    app = asgi_app()
    body = json.dumps({"do": "load", "record": "y" * LARGEST_MESSAGE}).encode()
    assert error_of(ask(app, body))[0] == 413
    assert error_of(ask(app, b" " * 50 * LARGEST_MESSAGE))[0] == 413
    assert error_of(ask(app, body[:LARGEST_MESSAGE]))[0] == 400


def test_a_message_that_does_not_come_is_not_waited_for(monkeypatch) -> None:
    monkeypatch.setattr("mozaic_env.web.server.app.MESSAGE_S", 0.05)

    async def stalled():
        sent = []

        async def receive():
            await asyncio.sleep(60)

        async def send(event):
            sent.append(event)

        headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
        scope = {"type": "http", "method": "POST", "path": "/message", "headers": headers, "query_string": b""}
        await asgi_app()(scope, receive, send)
        return sent

    assert asyncio.run(stalled())[0]["status"] == 408


@pytest.mark.parametrize(
    ("path", "method", "status"),
    [
        ("/message", "GET", 405),
        ("/nothing", "GET", 404),
        ("/static/", "GET", 404),
        ("/static/../play.py", "GET", 404),
        ("/static/%2e%2e/play.py", "GET", 404),
        ("/static//etc/passwd", "GET", 404),
        ("/static/play.js", "POST", 405),
        ("/static/play.js", "HEAD", 200),
        ("/", "POST", 405),
    ],
)
def test_other_requests(path, method, status) -> None:
    answer = ask(asgi_app(), b"", method=method, path=path)
    assert answer[0] == status
    if status >= 400:
        assert error_of(answer)[1]


def test_every_answer_tells_the_browser_what_it_may_do_with_it() -> None:
    app = asgi_app()
    answers = [
        get(app, "/"),
        get(app, "/static/play.js"),
        ask(app),
        get(app, "/nothing"),
        get(app, "/", host="evil.example"),
    ]
    for _, headers, _ in answers:
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert "set-cookie" not in headers


def test_pages_load_nothing_from_elsewhere() -> None:
    files = [path for path in STATIC.iterdir() if path.suffix in (".html", ".css", ".js", ".svg")]
    assert len(files) >= 5
    for path in files:
        text = path.read_text("utf-8").replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?:|//\w+\.\w+/", text), path.name
        for name in re.findall(r'(?:src|href)="/static/([^"]+)"', text):
            assert (STATIC / name).is_file()
        for name in re.findall(r'from "\./([^"]+)"', text):
            assert (STATIC / name).is_file()


def test_a_second_page_joins_the_list() -> None:
    pages = [PLAY, WebPage("/watch", "Watch", "play.html")]
    app = application(pages, [], host="127.0.0.1")
    assert get(app, "/watch")[0] == 200
    assert json.loads(get(app, "/pages")[2]) == [{"path": "/", "title": "Play"}, {"path": "/watch", "title": "Watch"}]


def test_nothing_secret_is_in_the_log(monkeypatch, caplog) -> None:
    table = make_server()
    page = Page(table)

    async def broken(self, session):
        raise RuntimeError("broken")

    monkeypatch.setattr("mozaic_env.web.play.game_server._HANDLERS", {"state": broken})
    with caplog.at_level(logging.DEBUG):
        status, error = error_of(ask(asgi_app(table), b'{"do":"state"}', {"x-session": page.token}))
    assert (status, "noted" in error) == (500, True)
    assert "broken" in caplog.text
    assert page.token not in caplog.text


def test_what_came_is_not_sent_back_raw() -> None:
    app = asgi_app()
    token = json.loads(ask(app)[2])["token"]
    body = rb'{"do":"load","record":"\ud800<script>alert(1)</script> | y:a1"}'
    status, headers, content = ask(app, body, {"x-session": token})
    assert status == 400
    assert headers["content-type"] == "application/json"
    content.decode("ascii")
