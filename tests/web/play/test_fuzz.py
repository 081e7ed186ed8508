"""Thousands of malformed messages: every one is refused, nothing breaks, no game changes."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable
from typing import Any

import pytest

from mozaic_env.web.server.messages import MESSAGES
from tests.web.play.web_games import Page, asgi_app, make_server, request

REFUSALS = {400, 404, 405, 409, 413, 415}
NOT_NUMBERS = [None, True, False, 0.5, 1e300, -0.0, "", "0", "\x00", [], {}, [0], {"a": 0}, "\ud800"]
NOT_TEXTS = [None, True, 0, 1.5, [], {}, ["pattern"], {"record": "x"}]
NOT_SEATS = [
    None,
    "human",
    0,
    {},
    [],
    ["human"],
    ["human", 1],
    [["human"], "human"],
    ["human", "/etc/passwd"],
    ["x" * 9999, "y"],
]
FAR_NUMBERS = [-1, -(2**31), 2**31, 2**63, 2**64, -(2**63), 10**40, 10**4000]
BAD_RECORDS = [
    "",
    "|",
    "||",
    "rules=amethyst",
    "rules=amethyst board=4x4 first=y | q",
    "\x00",
    "a=b | " * 99,
    "y:a1 " * 999,
]


def anything(rng: random.Random, depth: int = 3) -> Any:
    """A JSON value of no particular kind."""
    leaves = [*NOT_NUMBERS, *NOT_TEXTS, *FAR_NUMBERS[:-1], "hello", "play", "do", "💎"]
    if depth == 0 or rng.random() < 0.5:
        return rng.choice(leaves)
    if rng.random() < 0.5:
        return [anything(rng, depth - 1) for _ in range(rng.randrange(4))]
    return {str(rng.choice(leaves))[:20]: anything(rng, depth - 1) for _ in range(rng.randrange(4))}


def no_message(rng: random.Random) -> bytes:
    """JSON that asks for nothing there is."""
    value = anything(rng)
    if isinstance(value, dict):
        value["do"] = rng.choice(["", "Play", "hello ", "__init__", "_ask_play", "answer", None, 0, ["play"], {}, "do"])
    return json.dumps(value).encode()


def no_json(rng: random.Random) -> bytes:
    """Bytes that are no JSON: noise, something broken off, brackets without end, NaN."""
    whole = json.dumps({"do": "play", "version": 0, "action": 0}).encode()
    return rng.choice(
        [
            rng.randbytes(rng.randrange(1, 60)) + b"\xff",
            whole[: rng.randrange(len(whole))],
            whole + rng.choice([b"}", b",", b"x", whole]),
            b"[" * rng.randrange(1, 50_000),
            b'{"do":' * rng.randrange(1, 20_000),
            b'{"do":"play","version":NaN,"action":0}',
            b'{"do":"play","version":0,"action":Infinity}',
            b'{"do":"play","version":0,"action":1' + b"0" * 5000 + b"}",
            whole.decode().encode("utf-16"),
        ]
    )


def wrong_fields(rng: random.Random, version: int) -> bytes:
    """A message that there is, with a field of the wrong kind, too many, too few, or out of all bounds."""
    do = rng.choice([name for name in MESSAGES if MESSAGES[name]])
    good = {"version": version, "action": 0, "at": 0, "seed": 1, "agent": "pattern"}
    good |= {"seats": ["human", "human"], "record": "rules=amethyst board=4x4 first=y | y:a1"}
    wrong = {
        "version": [*NOT_NUMBERS, version + 1, -1, 10**30],
        "action": NOT_NUMBERS + FAR_NUMBERS,
        "at": NOT_NUMBERS + FAR_NUMBERS,
        "seed": NOT_NUMBERS + FAR_NUMBERS[:2] + FAR_NUMBERS[3:],
        "agent": [*NOT_TEXTS, "", "random", "/etc/passwd", "\ud800", "x" * 9999],
        "seats": NOT_SEATS,
        "record": [*NOT_TEXTS, *BAD_RECORDS],
    }
    names = [name.removesuffix("?") for name in MESSAGES[do]]
    message: dict[str, Any] = {"do": do} | {name: good[name] for name in names}
    name = rng.choice(names)
    kind = rng.random()
    if kind < 0.15 and not any(field == f"{name}?" for field in MESSAGES[do]):
        del message[name]
    elif kind < 0.3:
        message[rng.choice(["", "Do", "token", "__class__", "self", "session"])] = anything(rng)
    else:
        message[name] = rng.choice(wrong[name])
    return json.dumps(message).encode()


async def storm(count: int, seed: int) -> None:
    rng = random.Random(seed)
    table = make_server("random", "pattern")
    page = await started(table)
    app, token = asgi_app(table), page["token"]
    session = table.sessions.find(token)
    before = await table.answer(token, {"do": "state"})
    makers: list[Callable[[], bytes]] = [
        lambda: no_message(rng),
        lambda: no_json(rng),
        lambda: wrong_fields(rng, before["version"]),
        lambda: wrong_fields(rng, before["version"]),
    ]
    statuses = dict.fromkeys(REFUSALS, 0)
    for number in range(count):
        body = rng.choice(makers)()
        status, _, content = await request(app, body, {"x-session": token})
        assert status in REFUSALS, (status, body[:300], content[:300])
        assert json.loads(content)["error"], body[:300]
        assert session.version == before["version"], body[:300]
        statuses[status] += 1
        if number % 500 == 0:
            assert await table.answer(token, {"do": "state"}) == before, body[:300]
    assert await table.answer(token, {"do": "state"}) == before
    assert len(table.sessions) == 1
    assert statuses[400] > count // 3
    assert statuses[409] > 0
    # The game goes on as if nothing had been.
    for _ in range(2):
        before = await table.answer(token, {"do": "agent", "version": before["version"]})
    assert len(before["log"]) == 7


async def started(table: Any) -> Any:
    """A game between agents, five decisions old."""
    state = await table.answer(None, {"do": "hello"})
    token = state["token"]
    state |= await table.answer(token, {"do": "new", "seed": 5, "seats": ["pattern", "pattern"]})
    for _ in range(5):
        state |= await table.answer(token, {"do": "agent", "version": state["version"]})
    return state


def test_a_thousand_malformed_messages() -> None:
    asyncio.run(storm(1000, seed=0))


@pytest.mark.slow
def test_ten_thousand_malformed_messages() -> None:
    asyncio.run(storm(10_000, seed=1))


def test_headers_of_any_kind() -> None:
    table = make_server()
    page = Page(table)
    app = asgi_app(table)
    rng = random.Random(2)
    body = json.dumps({"do": "state"}).encode()
    for _ in range(200):
        token = "".join(chr(rng.randrange(1, 256)) for _ in range(rng.randrange(80)))
        assert asyncio.run(request(app, body, {"x-session": token}))[0] == 404
        host = "".join(chr(rng.randrange(1, 256)) for _ in range(rng.randrange(80)))
        assert asyncio.run(request(app, body, {"host": host, "x-session": page.token}))[0] == 421
    assert asyncio.run(request(app, body, {"x-session": page.token}))[0] == 200
