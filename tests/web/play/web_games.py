"""Tables and pages for the tests: in this process, without a network."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from mozaic_env.agents.base import Agent
from mozaic_env.agents.specs import make_agent
from mozaic_env.core.game import Game
from mozaic_env.games import make_game
from mozaic_env.web.play.game_server import GameServer
from mozaic_env.web.server.app import PLAY, application, play_routes
from mozaic_env.web.server.messages import Refused
from mozaic_env.web.server.sessions import Sessions

GAME = make_game("mozaic", rows=4, cols=4)


def make_server(*agents: str | Agent, game: Game = GAME, sessions: Sessions | None = None) -> GameServer:
    """A table with agents by their names; "pattern" and "random" if none are given."""
    made = [make_agent(agent, game) for agent in agents or ("pattern", "random")]
    return GameServer(game, {agent.name: agent for agent in made}, sessions)


class Page:
    """What a page does: it says hello, keeps its secret, and knows the state that it was last told."""

    def __init__(self, table: GameServer) -> None:
        self.table = table
        self.state = asyncio.run(table.answer(None, {"do": "hello"}))
        self.token = self.state["token"]

    def ask(self, do: str, **fields: Any) -> dict[str, Any]:
        """The answer; what tells of a state is remembered."""
        answer = asyncio.run(self.table.answer(self.token, {"do": do, **fields}))
        json.dumps(answer, allow_nan=False)
        if "version" in answer:
            self.state = answer
        return answer

    def now(self, do: str, **fields: Any) -> dict[str, Any]:
        """The same, saying which state is meant."""
        return self.ask(do, version=self.state["version"], **fields)

    def refused(self, do: str, **fields: Any) -> Refused:
        """How a message is refused; the game must be as it was."""
        before = self.ask("state")
        try:
            self.ask(do, **fields)
        except Refused as refused:
            assert self.ask("state") == before
            return refused
        raise AssertionError(f"{do} {fields} was carried out")

    def play_first(self) -> dict[str, Any]:
        """The first legal action."""
        return self.now("play", action=self.state["view"]["legal"][0][0])

    def play_out(self, decisions: int = 10_000) -> None:
        """First legal actions and the agents', until the game is over or so many decisions were made."""
        for _ in range(decisions):
            mover = self.state["view"]["mover"]
            if mover is None:
                return
            if self.state["seats"][mover] == "human":
                self.play_first()
            else:
                self.now("agent")


class PythonAgent(Agent):
    """An agent by a function from states to actions, for tests of agents that are slow, wrong or broken."""

    def __init__(self, act: Any, name: str = "odd", game: Game = GAME) -> None:
        self._act, self.name, self.game = act, name, game

    def act(self, states: Any, masks: Any = None) -> Any:
        return np.asarray(self._act(states), np.int64)


class Thoughtful(PythonAgent):
    """Takes the first legal action and is sure of it."""

    def evaluate(self, states: Any) -> tuple[Any, Any]:
        probabilities = np.zeros((len(states), self.game.num_actions))
        probabilities[np.arange(len(states)), self.act(states)] = 0.75
        return probabilities, states["decisions"] / 8


def asgi_app(table: GameServer | None = None, host: str = "127.0.0.1", names: tuple[str, ...] = ()) -> Any:
    return application([PLAY], play_routes(table or make_server()), host=host, names=names)


async def request(
    app: Any, body: bytes = b"", headers: Mapping[str, str] | None = None, method: str = "POST", path: str = "/message"
) -> tuple[int, dict[str, str], bytes]:
    """One request as the server would hand it over: status, headers, body."""
    given = {"host": "127.0.0.1:8000", "content-type": "application/json"} | dict(headers or {})
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in given.items()],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 8000),
    }
    sent: list[Any] = []
    chunks = [body[i : i + 65536] for i in range(0, len(body), 65536)] or [b""]

    async def receive() -> Any:
        if not chunks:
            await asyncio.sleep(3600)
        return {"type": "http.request", "body": chunks.pop(0), "more_body": bool(chunks)}

    async def send(event: Any) -> None:
        sent.append(event)

    await app(scope, receive, send)
    start = sent[0]
    content = b"".join(event.get("body", b"") for event in sent[1:])
    return start["status"], {name.decode(): value.decode("latin-1") for name, value in start["headers"]}, content
