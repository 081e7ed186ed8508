"""Agents for the arena's tests."""

from __future__ import annotations

import numpy as np

from mozaic_env.agents.base import Agent
from mozaic_env.agents.specs import make_agent
from mozaic_env.games import make_game


def small_game():
    """A board on which games are short and draws are many."""
    return make_game("mozaic", rules="onyx", rows=4, cols=4)


def agents(game, *names):
    return [make_agent(name, game) for name in names]


class Asked(Agent):
    """A compiled agent that hides its policy spec, so it has to be asked; checks the masks it gets."""

    def __init__(self, name, game):
        self.inner = make_agent(name, game)
        self.name, self.game = self.inner.name, game
        self.batches = []

    def act(self, states, masks=None):
        assert masks.shape == (len(states), self.game.num_actions)
        actions = self.inner.act(states)
        assert masks[np.arange(len(states)), actions].all()
        self.batches.append(len(states))
        return actions


class Wrong(Agent):
    """Answers with the same thing always, or with a function of the masks."""

    def __init__(self, game, answer):
        self.name, self.game, self.answer = "wrong", game, answer

    def act(self, states, masks=None):
        return self.answer(masks) if callable(self.answer) else np.full(len(states), self.answer)
