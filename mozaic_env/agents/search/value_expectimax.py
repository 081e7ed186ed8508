"""Expectimax with learnt values: every draw behind each action by its probability, then the policy's reply to it.

Tables (`mozaic_env.core.afterstates`) are policy and critic at once: the reply is the action that the policy takes, and
the critic says what is left behind it. To take the reply of the best value instead makes play much weaker, since the
critic's values are those of this policy. Likewise the policy has a say at the root: `prior` times its own value of an
action is added.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from mozaic_env.agents.base import Actions
from mozaic_env.agents.kernels import agent_bits, best
from mozaic_env.agents.search.chance import Draws, Followers, gather, make_draws, make_followers
from mozaic_env.agents.search.search_agent import SearchAgent
from mozaic_env.agents.search.valuation import Room, gain, list_values, make_room, worth, worth_of_choice
from mozaic_env.core.afterstates import Weights
from mozaic_env.core.contract import Floats, Integers, Row, apply, mover
from mozaic_env.core.game import Game, Rows
from mozaic_env.core.jit import jit


class ValueExpectimaxAgent(SearchAgent):
    """Plays the action of the largest expected value two decisions deep, ties at random."""

    def __init__(self, game: Game, weights: Weights, *, prior: float = 1.0, name: str = "expectimax") -> None:
        """Makes the agent.

        Args:
            game: what it plays; it offers features.
            weights: tables, of type `mozaic_env.core.afterstates.WEIGHT`.
            prior: how much the policy's own value of an action counts beside the search's.
            name: what it is called.

        Raises:
            ValueError: a negative prior.
        """
        if prior < 0:
            raise ValueError(f"prior={prior!r}; accepted: a number of at least 0")
        self.game, self.name = game, name
        self._weights, self._prior = weights, float(prior)

    def _make_memory(self) -> Any:
        actions = self.game.num_actions
        return (
            np.zeros(actions, np.int64),
            np.zeros(actions),
            make_followers(self.game),
            make_draws(self.game),
            make_room(self.game, self._weights),
        )

    def _search_rows(self, rows: Rows, chosen: Actions, found: npt.NDArray[np.float64]) -> None:
        _search_rows(rows, self._weights, self._prior, self.agent_seed, chosen, found, *self._memory)


@jit
def _search_rows(
    rows: Rows,
    weights: Weights,
    prior: float,
    agent_seed: np.uint64,
    chosen: Integers,
    found: npt.NDArray[np.float64],
    actions: Integers,
    values: Floats,
    followers: Followers,
    draws: Draws,
    room: Room,
) -> None:
    for i in range(len(rows)):
        if mover(rows[i]) < 0:  # nobody decides
            chosen[i] = -1
            continue
        size = list_values(rows[i], weights, room)
        for k in range(size):
            actions[k], values[k] = room.actions[k], gain(k, weights, room) + prior * room.values[k]
        for k in range(size):
            values[k] += _expected(rows[i], actions[k], weights, followers, draws, room)
            if found.shape[1]:
                found[i, actions[k]] = values[k]
        chosen[i] = actions[best(values, size, agent_bits(rows[i], agent_seed))]


@jit
def _expected(row: Row, action: int, weights: Weights, followers: Followers, draws: Draws, room: Room) -> float:
    """What follows an action, on average over all draws, for who decides in the row."""
    states, shares, seat, total = followers.states[0], followers.shares[0], mover(row), 0.0
    states[0] = row
    apply(states[0], action)
    for state in range(gather(followers, 0, draws)):
        if shares[state] == 0.0:
            continue
        if mover(states[state]) < 0:  # over, or at chance that is too much to go through
            total += shares[state] * worth(states[state], seat, weights, room)
            continue
        size = list_values(states[state], weights, room)
        total += shares[state] * worth_of_choice(states[state], seat, size, room)
    return total
