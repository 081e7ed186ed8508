"""How long a server of games takes to answer while many are played: python -m tests.web.play.load --games 200.

Starts `mozaic play` on a free port of this machine and plays against one agent with as many pages as asked for. Each
thinks for a while, sends a move, waits for the answer, asks for the agent's reply, as the page does. Ends by itself.
"""

import argparse
import asyncio
import json
import os
import random
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]


class Player:
    """One page on a connection of its own."""

    def __init__(self, port: int, number: int, think: float, times: dict[str, list[float]]) -> None:
        self.port, self.think, self.times = port, think, times
        self.random = random.Random(number)
        self.token = ""

    async def connect(self) -> None:
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        self.token = (await self.ask({"do": "hello"}, None))["token"]

    async def ask(self, message: dict[str, Any], kind: str | None) -> Any:
        body = json.dumps(message).encode()
        head = (
            f"POST /message HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\nX-Session: {self.token}\r\n\r\n"
        )
        begun = time.perf_counter()
        self.writer.write(head.encode() + body)
        answer = await self.reader.readuntil(b"\r\n\r\n")
        found = re.search(rb"content-length: (\d+)", answer, re.IGNORECASE)
        if found is None:
            raise RuntimeError(f"answer without a length: {answer[:200]!r}")
        content = await self.reader.readexactly(int(found[1]))
        if kind is not None:
            self.times[kind].append(time.perf_counter() - begun)
        if not answer.startswith(b"HTTP/1.1 200"):
            raise RuntimeError(f"{answer[:40]!r} {content[:200]!r}")
        return json.loads(content)

    async def play(self, until: float) -> None:
        await asyncio.sleep(self.random.uniform(0, self.think))  # not all at the same moment
        state = await self.ask({"do": "new", "seats": ["human", "pattern"]}, None)
        while time.perf_counter() < until:
            view, version = state["view"], state["version"]
            if view["mover"] is None:
                state = await self.ask({"do": "new"}, None)
            elif view["mover"] == 0:
                await asyncio.sleep(self.random.uniform(0.5, 1.5) * self.think)
                action = self.random.choice(view["legal"])[0]
                state = await self.ask({"do": "play", "version": version, "action": action}, "own move")
            else:
                state = await self.ask({"do": "agent", "version": version}, "agent's reply")


def start_server(games: int) -> tuple[subprocess.Popen[str], int]:
    """A server process and its port."""
    words = ["play", "--agents", "pattern", "--port", "0", "--no-browser", "--sessions", str(games)]
    process = subprocess.Popen(
        [sys.executable, "-m", "mozaic_env", *words],
        env=os.environ | {"PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    for line in process.stdout:
        found = re.search(r"http://127\.0\.0\.1:(\d+)/", line)
        if found:
            return process, int(found[1])
    raise RuntimeError("the server did not start")


async def load(port: int, games: int, seconds: float, think: float) -> dict[str, list[float]]:
    """The times that answers took, in seconds, by kind."""
    times: dict[str, list[float]] = {"own move": [], "agent's reply": []}
    players = [Player(port, number, think, times) for number in range(games)]
    for player in players:
        await player.connect()
    for kind in times:
        times[kind].clear()
    await asyncio.gather(*(player.play(time.perf_counter() + seconds) for player in players))
    return times


def processor_seconds(pid: int) -> float:
    """What a process has used of processors so far; NaN where this cannot be known."""
    file = Path(f"/proc/{pid}/stat")
    if not file.exists():
        return float("nan")
    return sum(map(int, file.read_text().rpartition(")")[2].split()[11:13])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Plays and prints the times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=200, help="played at the same time (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=30, help="how long (default: %(default)s)")
    parser.add_argument("--think", type=float, default=2, help="mean seconds before a move (default: %(default)s)")
    words = parser.parse_args()
    process, port = start_server(words.games)
    before = processor_seconds(process.pid)
    try:
        times = asyncio.run(load(port, words.games, min(words.seconds, 300), words.think))
        used = processor_seconds(process.pid) - before
    finally:
        process.terminate()
        process.wait()
    both = [time for kind in times.values() for time in kind]
    print(f"{words.games} games, {words.think:g} s to think: {len(both) / words.seconds:.0f} answers a second")
    print(f"  the server's processor time for each: {1e3 * used / len(both):.2f} ms")
    for kind, taken in [*times.items(), ("both", both)]:
        cuts = statistics.quantiles(taken, n=100)
        print(
            f"  {kind:14} median {1e3 * cuts[49]:6.1f} ms   90% {1e3 * cuts[89]:6.1f} ms   99% {1e3 * cuts[98]:6.1f} ms"
        )


if __name__ == "__main__":
    main()
