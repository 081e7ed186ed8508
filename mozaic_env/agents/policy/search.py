"""A policy that looks one draw ahead: its prior prunes the candidates, its value net judges what can follow each.

For each of the likeliest actions all draws are gone through by their probabilities (`mozaic_env.agents.search.chance`),
and the network values the decisions that follow, for whoever decides there. Where there are too many draws to go
through (a refill in Crystal Mosaic) the first of them are, and each state that is then still at chance is dealt on to
one decision by luck of the search's own, the same for all actions. What the action itself gains is counted as the
training's reward counted it, since that is the unit of the network's values. Values are noisier than priors, so
the prior has a say: without it, search made the policy of a four-minute run lose 20 games of 20 against `pattern`;
with it, the `champion` scores 61.0% against `expectimax:depth=2`, as it does without search (docs/training.md).
"""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mozaic_env.agents.base import Actions
from mozaic_env.agents.kernels import agent_bits, best
from mozaic_env.agents.policy.agent import PolicyAgent
from mozaic_env.agents.search.chance import Draws, Followers, gather, make_draws, make_followers
from mozaic_env.agents.search.search_agent import SearchAgent
from mozaic_env.core.contract import CHANCE, OVER, Floats, Integers, apply, deal, margin, mover, outcome
from mozaic_env.core.game import Game, Rows
from mozaic_env.core.jit import jit
from mozaic_env.core.stream import SAMPLE, random_bits

BATCH = 64  # states searched at once
PRIOR = 1.0  # what a prior e times as large is worth, in the unit of the margin
LEAST = 0.004  # draws less likely than this are left out, and the rest weighs more,
MOST_LEFT_OUT = 0.025  # unless together they are more likely than this


class RewardWeights:
    """What a network's values are made of: of each unit of margin gained, and of the outcome at the end."""

    def __init__(self, training: dict[str, Any]) -> None:
        """Reads the weights of a checkpoint's training configuration; without any, values are the outcome alone."""
        reward = training.get("reward") or {}
        self.margin = float(reward.get("margin", 0.0))
        self.outcome = float(reward.get("outcome", 1.0))
        self.prior = PRIOR * (self.margin or self.outcome)


class PolicySearchAgent(SearchAgent):
    """Plays the candidate of the largest expected value, its prior counted in, ties at random."""

    def __init__(
        self, policy: PolicyAgent, weights: RewardWeights, *, candidates: int = 4, name: str = "policy+search"
    ) -> None:
        """Makes the agent.

        Args:
            policy: gives priors and values.
            weights: the unit of the values.
            candidates: how many actions, the likeliest first, to look at.
            name: what results and records call it.

        Raises:
            ValueError: no candidates.
        """
        if candidates < 1:
            raise ValueError(f"candidates={candidates!r}; accepted: a whole number of at least 1")
        self.game = policy.game
        self.name = name
        self._policy = policy
        self._weights = weights
        self._candidates = min(candidates, self.game.num_actions)

    @classmethod
    def load(cls, path: str | Path, game: Game, *, candidates: int = 4) -> "PolicySearchAgent":
        """Makes an agent of a checkpoint or run folder.

        Raises:
            ValueError: no checkpoint there, a damaged one, or one for another game.
        """
        from mozaic_env.agents.policy.checkpoint import load, resolve

        checkpoint = load(resolve(path), game)
        policy = PolicyAgent(game, checkpoint.network)
        return cls(policy, RewardWeights(checkpoint.card.get("training") or {}), candidates=candidates)

    def _make_memory(self) -> tuple[Followers, Draws]:
        return make_followers(self.game), make_draws(self.game)

    def _search_rows(self, rows: Rows, chosen: Actions, found: npt.NDArray[np.float64]) -> None:
        for low in range(0, len(rows), BATCH):
            part = slice(low, low + BATCH)
            tried, values = self._value(rows[part])
            _choose(rows[part], tried, values, self.agent_seed, chosen[part])
            if found.shape[1]:
                np.put_along_axis(found[part], tried, np.where(np.isinf(values), np.nan, values), axis=1)

    def _value(self, rows: Rows) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
        """Which actions were tried, and the value of each, -inf for illegal ones; shapes (n, candidates)."""
        room_for = BATCH * self._candidates * self._memory[0].states.size
        priors, _ = self._policy.evaluate(rows)
        tried = np.argsort(-priors, axis=1, kind="stable")[:, : self._candidates].astype(np.int64)
        values = np.full(tried.shape, -np.inf)
        leaves = self.game.rows(room_for)
        places = np.empty((room_for, 2), np.int64)
        shares = np.empty(room_for)
        found = _spread(
            rows,
            priors,
            tried,
            values,
            leaves,
            places,
            shares,
            self._weights.margin,
            self._weights.outcome,
            self.game.num_players - 1,
            self.agent_seed,
            *self._memory,
        )
        if found:
            _, judged = self._policy.evaluate(leaves[:found])
            np.add.at(values, (places[:found, 0], places[:found, 1]), shares[:found] * judged)
        likely = np.take_along_axis(priors, tried, axis=1)
        values += self._weights.prior * np.log(np.maximum(likely, 1e-30))  # impossible ones are -inf already
        return tried, values


@jit
def _spread(
    rows: Rows,
    priors: Floats,
    tried: npt.NDArray[np.int64],
    values: npt.NDArray[np.float64],
    leaves: Rows,
    places: npt.NDArray[np.int64],
    shares: Floats,
    margin_weight: float,
    outcome_weight: float,
    others: int,
    agent_seed: np.uint64,
    followers: Followers,
    draws: Draws,
) -> int:
    """Writes what each candidate gains at once, and the decisions that can follow.

    Args:
        rows: states at decisions.
        priors: of their actions.
        tried: the candidates of each state.
        values: written for legal candidates: gain of the action and of chance, and expected result where the game ends.
        leaves: written: decisions that can follow.
        places: written: state and candidate of each.
        shares: written: its probability, negative where another seat decides.
        margin_weight: worth of a unit of margin.
        outcome_weight: worth of the outcome.
        others: how many other seats there are; what one of them gains all others pay in equal parts.
        agent_seed: of the agent's chance.
        followers: room.
        draws: room.

    Returns:
        How many decisions were written.
    """
    states, shares_of = followers.states[0], followers.shares[0]
    found = 0
    for i in range(len(rows)):
        seat, luck = mover(rows[i]), agent_bits(rows[i], agent_seed)
        for k in range(tried.shape[1]):
            if priors[i, tried[i, k]] <= 0.0:
                continue
            states[0] = rows[i]
            apply(states[0], tried[i, k])
            lead = margin(states[0], seat)
            values[i, k] = margin_weight * (lead - margin(rows[i], seat))
            size = gather(followers, 0, draws)
            kept = _leave_out_unlikely(shares_of[:size])
            for state in range(size):
                if shares_of[state] == 0.0:
                    continue
                if mover(states[state]) == CHANCE:  # too much to go through
                    states[state].key = random_bits(luck, SAMPLE, state)  # not the game's own: that luck is to come
                    deal(states[state])
                decides, share = mover(states[state]), shares_of[state] / kept
                values[i, k] += share * margin_weight * (margin(states[state], seat) - lead)
                if decides == OVER:
                    values[i, k] += share * outcome_weight * outcome(states[state], seat)
                    continue
                leaves[found] = states[state]
                places[found, 0], places[found, 1] = i, k
                shares[found] = share * (1.0 if decides == seat else -1.0 / others)
                found += 1
    return found


@jit
def _leave_out_unlikely(shares: Floats) -> float:
    """Sets what is less likely than `LEAST` to 0, unless that is much together; returns the sum of the rest."""
    total, kept = 0.0, 0.0
    for share in shares:
        total += share
        kept += share if share >= LEAST else 0.0
    if total - kept > MOST_LEFT_OUT:
        return total
    for state in range(len(shares)):
        if shares[state] < LEAST:
            shares[state] = 0.0
    return kept


@jit
def _choose(
    rows: Rows, tried: npt.NDArray[np.int64], values: npt.NDArray[np.float64], agent_seed: np.uint64, chosen: Integers
) -> None:
    for i in range(len(rows)):
        chosen[i] = tried[i, best(values[i], tried.shape[1], agent_bits(rows[i], agent_seed))]


class OutcomeEstimator:
    """A policy as tree search wants it: values on one scale wherever a game stands, in [-1, 1]."""

    def __init__(self, policy: PolicyAgent, weights: RewardWeights) -> None:
        self.game = policy.game
        self._policy = policy
        self._weights = weights

    def evaluate(self, states: Rows) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Priors, and what the seat that decides can expect of the whole game: its lead so far added to the values."""
        priors, values = self._policy.evaluate(states)
        leads = np.empty(len(states))
        _leads(np.ascontiguousarray(states), leads)
        total = self._weights.margin * leads + values
        return priors, np.tanh(total / (self._weights.margin + self._weights.outcome))


@jit
def _leads(rows: Rows, leads: Floats) -> None:
    for i in range(len(rows)):
        leads[i] = margin(rows[i], mover(rows[i]))
