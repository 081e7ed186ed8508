"""Agents outside the event loop: each has a thread of its own and answers many games at once."""

import asyncio
import logging

import numpy as np

from mozaic_env.agents.base import Agent
from mozaic_env.core.game import Rows
from mozaic_env.web.play import analysis
from mozaic_env.web.play.daemon_executor import DaemonExecutor

MOST_AT_ONCE = 32  # positions; more would keep the first ones waiting for the last

logger = logging.getLogger(__name__)


class AgentFailed(Exception):
    """The agent raised an error, which is in the log."""


class AgentWorker:
    """One agent, on one thread: searches keep their workspace between calls."""

    def __init__(self, name: str, agent: Agent) -> None:
        self.name, self.analyses = name, analysis.kind_of(agent)
        self._agent = agent
        self._thread = DaemonExecutor(f"agent {name}")
        self._waiting: list[tuple[np.void, asyncio.Future[int]]] = []
        self._worker: asyncio.Task[None] | None = None

    async def act(self, row: np.void) -> int:
        """The agent's action for a row at a decision; AgentFailed if it has none."""
        answer: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._waiting.append((row, answer))
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._work())
        return await answer

    async def _work(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting[:MOST_AT_ONCE], self._waiting[MOST_AT_ONCE:]
            try:
                await self._answer(batch)
            except Exception:
                # Whatever ails one position must not harm the games that happened to ask with it.
                for one in batch:
                    await self._answer_alone(one)

    async def _answer(self, batch: list[tuple[np.void, "asyncio.Future[int]"]]) -> None:
        rows = np.array([row for row, _ in batch], self._agent.game.dtype)
        actions = await asyncio.get_running_loop().run_in_executor(self._thread, self._agent.act, rows)
        for (_, answer), action in zip(batch, actions.tolist(), strict=True):
            if not answer.done():
                answer.set_result(action)

    async def _answer_alone(self, one: tuple[np.void, "asyncio.Future[int]"]) -> None:
        try:
            await self._answer([one])
        except Exception:
            logger.exception("agent %s failed", self.name)
            if not one[1].done():
                one[1].set_exception(AgentFailed(self.name))

    async def analyse(self, rows: Rows) -> analysis.Analysis:
        """The agent's analysis of rows at a decision; AgentFailed if it fails."""
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._thread, analysis.analyse, self._agent, rows)
        except Exception:
            logger.exception("agent %s failed to analyse", self.name)
            raise AgentFailed(self.name) from None
