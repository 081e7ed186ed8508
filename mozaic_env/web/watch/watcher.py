"""What the page on a training run shows, and the page as one file."""

import json
import secrets
import threading
import time
from dataclasses import asdict
from html import escape
from importlib.resources import files
from typing import Any

from mozaic_env.agents.names import MODULES
from mozaic_env.core.extras import MissingExtra, need
from mozaic_env.core.text.messages import one_line
from mozaic_env.web.watch.game import play_game
from mozaic_env.web.watch.page import parts
from mozaic_env.web.watch.run_data import Found, RunFolder

Json = dict[str, Any]
NO_GAME: Json = {"error": "No checkpoint has been written yet."}
FIRST_GAME: Json = {"error": "The latest checkpoint is playing; its first game takes some seconds."}


class Watcher:
    """What the page asks for, worked out when it asks; the games are played beside, one at a time."""

    def __init__(self, run: RunFolder) -> None:
        """Plays nothing yet.

        Args:
            run: to watch.
        """
        self.run = run
        self._reading, self._changing = threading.Lock(), threading.Lock()
        self._game, self._tried = dict(NO_GAME), ""
        self._player: threading.Thread | None = None

    def state(self) -> Json:
        """The parts of the page, and which game there is; has one played where the checkpoint is a new one."""
        with self._reading:
            shown = asdict(parts(self.run))
            latest = self.run.latest()
        if latest is not None and latest.key != self._tried:
            self.play(latest, wait=False)
        return shown | {"game": self._game.get("key", self._game.get("error")), "time": time.time()}

    def game(self) -> Json:
        """The game to look at, or why there is none."""
        return self._game

    def another(self) -> Json:
        """Has another game played by the latest checkpoint, and waits for it."""
        latest = self.run.latest()
        if latest is not None:
            self.play(latest, wait=True)
        return self._game

    def play(self, found: Found, wait: bool) -> None:
        """Has a checkpoint play, unless a game is being played already."""
        with self._changing:
            player = self._player
            if player is None or not player.is_alive():
                self._tried = found.key
                if "key" not in self._game:
                    self._game = dict(FIRST_GAME)
                player = self._player = threading.Thread(target=self._work, args=(found,), daemon=True)
                player.start()
        if wait:
            player.join()

    def _work(self, found: Found) -> None:
        try:
            need("A game of the latest policy", *MODULES)
            import torch

            torch.set_num_threads(1)  # the cores are for the training
            self._game = play_game(found, secrets.randbelow(2**32))
        except MissingExtra as error:
            self._game = {"error": str(error)}
        except Exception as error:  # it may be written anew just now, damaged, or of another version
            self._game = {"error": f"The latest checkpoint cannot play: {one_line(error)}"}


def snapshot(watcher: Watcher) -> str:
    """The page as it is now, whole, in one HTML text that needs no server."""
    latest = watcher.run.latest()
    if latest is not None:
        watcher.play(latest, wait=True)
    shown = {"state": watcher.state(), "game": watcher.game()}
    content = json.dumps(shown, allow_nan=False).replace("<", "\\u003c")  # "</script>" would end it
    static = files("mozaic_env.web") / "static"
    text = (static / "watch.html").read_text("utf-8")
    style, script = ((static / name).read_text("utf-8") for name in ("watch.css", "watch.js"))
    for tag, inlined in (
        ("<title>Training</title>", f"<title>{escape(watcher.run.name)}</title>"),
        ('<link rel="stylesheet" href="/static/watch.css">', f"<style>\n{style}</style>"),
        ('<script src="/static/watch.js"></script>', f"<script>\n{script}</script>"),
        ('<script id="snapshot" type="application/json"></script>', _data(content)),
    ):
        before, found, after = text.partition(tag)
        if not found:
            raise RuntimeError(f"watch.html lacks {tag}")
        text = before + inlined + after
    return text


def _data(content: str) -> str:
    return f'<script id="snapshot" type="application/json">{content}</script>'
