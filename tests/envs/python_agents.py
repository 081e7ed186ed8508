"""Agents that loops have to ask: Python does the choosing."""

from __future__ import annotations

from typing import Any

import numpy as np

from mozaic_env.agents.base import Agent
from mozaic_env.agents.specs import make_agent
from mozaic_env.core.game import Game


class Asked(Agent):
    """Chooses as a compiled agent does, but has no policy spec; notes how often and for how many games."""

    def __init__(self, game: Game, name: str) -> None:
        self.game = game
        self.name = f"asked-{name}"
        self.inner = make_agent(name, game)
        self.asked: list[int] = []

    def act(self, states: Any, masks: Any = None) -> Any:
        assert masks.shape == (len(states), self.game.num_actions)
        assert masks.any(axis=1).all()
        self.asked.append(len(states))
        chosen = self.inner.act(states)
        assert masks[np.arange(len(states)), chosen].all()
        return chosen


class Answers(Agent):
    """Gives the same answer whatever it is asked."""

    name = "stubborn"

    def __init__(self, game: Game, answer: Any) -> None:
        self.game = game
        self.answer = answer

    def act(self, states: Any, masks: Any = None) -> Any:
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer(len(states))
