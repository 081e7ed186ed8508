"""The page in a real browser: the system's Chromium, driven by Playwright, and a server in a thread."""

from __future__ import annotations

import contextlib
import os
import shutil
import threading
from collections.abc import Iterator
from typing import Any

import uvicorn

from mozaic_env.agents.base import Agent
from mozaic_env.agents.specs import make_agent
from mozaic_env.cli.play import warm_up
from mozaic_env.core.game import Game
from mozaic_env.web.play.game_server import GameServer
from mozaic_env.web.server.serve import listening
from tests.web.play.web_games import asgi_app

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def chromium_path() -> str | None:
    """The system's Chromium, if there is one."""
    return next(filter(None, map(shutil.which, NAMES)), None)


@contextlib.contextmanager
def serving(game: Game, *agents: str | Agent) -> Iterator[str]:
    """A server on a free port of this machine; its address."""
    made = {agent.name: agent for agent in (make_agent(agent, game) for agent in agents)}
    warm_up(game, made)
    with serving_app(asgi_app(GameServer(game, made))) as url:
        yield url


@contextlib.contextmanager
def serving_app(app: Any) -> Iterator[str]:
    """The same for any application."""
    with listening("127.0.0.1", 0) as sock:
        config = uvicorn.Config(app, log_level="warning", access_log=False, ws="none")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [sock]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{sock.getsockname()[1]}/"
        finally:
            server.should_exit = True
            thread.join()


@contextlib.contextmanager
def chromium(playwright: Any) -> Iterator[Any]:
    """A headless Chromium; root has to do without its sandbox."""
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    browser = playwright.chromium.launch(executable_path=chromium_path(), args=["--no-sandbox"] if root else [])
    try:
        yield browser
    finally:
        browser.close()


class Tab:
    """A tab with the page in it, and what its console has said."""

    def __init__(self, browser: Any, url: str, **options: Any) -> None:
        options = {"viewport": {"width": 1280, "height": 900}, "accept_downloads": True} | options
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", self._note)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(url)
        self.text("#status").wait_for()
        self.page.locator(".place").first.wait_for(state="attached")

    def _note(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def text(self, selector: str) -> Any:
        return self.page.locator(selector)

    def new_game(self, seats: list[str], seed: int | None = None, speed: str = "0") -> None:
        page = self.page
        page.select_option("#speed", speed)
        page.click("#begin")
        for number, name in enumerate(seats):
            page.locator("#new-seats select").nth(number).select_option(name)
        page.fill("#new-seed", "" if seed is None else str(seed))
        page.click("#new-start")
        page.locator("#new").wait_for(state="hidden")
        if seed is not None:
            page.get_by_text(f"Seed {seed}", exact=True).wait_for()

    def decisions(self, number: int) -> None:
        """Waits until so many decisions have been made."""
        if number:
            self.page.locator("#log li").nth(number - 1).wait_for(state="attached", timeout=60_000)

    def close(self) -> None:
        self.context.close()
