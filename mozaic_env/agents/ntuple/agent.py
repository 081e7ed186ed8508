"""An agent that plays tables: the action of the largest gain and preference, compiled, without looking at any draw."""

from pathlib import Path

import numpy as np
import numpy.typing as npt

from mozaic_env.agents.base import Actions, Agent, Masks, tied
from mozaic_env.agents.kernels import agent_bits
from mozaic_env.core.afterstates import WEIGHT, Single, Weights, Workspace, evaluate_actions, features_of
from mozaic_env.core.contract import Floats, Integers, Row, mover
from mozaic_env.core.game import Game, Rows
from mozaic_env.core.jit import jit
from mozaic_env.core.stream import below, unit


class NTupleAgent(Agent):
    """Plays the action after which gain and preference are largest, ties at random; or draws it by its probability."""

    def __init__(
        self, game: Game, weights: Weights, *, temperature: float = 0.1, sample: bool = False, name: str = "ntuple"
    ) -> None:
        """Makes an agent of tables in memory; later changes of them change the agent.

        Args:
            game: what it plays; it offers features.
            weights: of type `mozaic_env.core.afterstates.WEIGHT`, one for each feature.
            temperature: of its probabilities, in points.
            sample: draw actions by their probabilities instead of taking the best.
            name: what results and records call it.
        """
        self.game, self.weights, self.temperature, self.sample, self.name = game, weights, temperature, sample, name

    @classmethod
    def load(cls, path: str | Path, game: Game, *, sample: bool = False) -> "NTupleAgent":
        """Makes an agent of a checkpoint.

        Args:
            path: of a checkpoint or run.
            game: what it is to play; tables of any variant of the same game fit.
            sample: as above.

        Raises:
            ValueError: no checkpoint there, a damaged one, or one for another game or other features.
        """
        from mozaic_env.agents.names import folder_name
        from mozaic_env.agents.ntuple.tables import load, resolve

        tables = load(resolve(path), game)
        name = f"policy:{folder_name(path)}"
        return cls(game, tables.weights, temperature=tables.temperature, sample=sample, name=name)

    def act(self, states: Rows, masks: Masks | None = None) -> Actions:
        self.game.check_rows(states)
        chosen = np.empty(len(states), np.int64)
        temperature = np.float32(self.temperature if self.sample else 0)
        _choose_rows(np.ascontiguousarray(states), self.weights, temperature, self.agent_seed, chosen, *self._memory())
        return chosen

    def choices(self, states: Rows) -> Masks | None:
        return None if self.sample else tied(self.action_values(states))

    def action_values(self, states: Rows) -> npt.NDArray[np.float64]:
        """What the agent compares: gain and preference of every action, in points, for the seat that decides.

        Args:
            states: rows at a decision, shape (n,).

        Returns:
            float64, shape (n, actions); NaN for illegal actions.
        """
        return self._values(states, False)

    def evaluate(self, states: Rows) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """The policy, and what it expects.

        Args:
            states: rows at a decision, shape (n,).

        Returns:
            Probabilities of all actions, float64, shape (n, actions), 0 for illegal ones; and the critic's values,
            float64, shape (n,): points still to come, own less other, if actions are drawn by these probabilities.
        """
        values = self.action_values(states)
        weights = np.exp((values - np.nanmax(values, 1, keepdims=True)) / self.temperature)
        weights = np.nan_to_num(weights)
        probabilities = weights / weights.sum(1, keepdims=True)
        behind = np.nan_to_num(self._values(states, True))
        return probabilities, (probabilities * behind).sum(1)

    def _values(self, states: Rows, of_critic: bool) -> npt.NDArray[np.float64]:
        self.game.check_rows(states)
        found = np.full((len(states), self.game.num_actions), np.nan)
        _value_rows(np.ascontiguousarray(states), self.weights, of_critic, found, *self._memory())
        return found

    def _memory(self) -> tuple[Integers, Single, Weights, Workspace]:
        actions = self.game.num_actions
        return (
            np.empty(actions, np.int64),
            np.empty(actions, np.float32),
            np.empty(actions, WEIGHT),
            features_of(self.game).make_workspace(),
        )


@jit
def choose(
    row: Row,
    weights: Weights,
    temperature: float,
    bits: np.uint64,
    actions: Integers,
    points: Single,
    sums: Weights,
    workspace: Workspace,
) -> int:
    """The action of the largest gain and preference, among equals a random one; or one drawn by its probability.

    Args:
        row: a state at a decision; not changed.
        weights: of the functions.
        temperature: 0: the best action; else of the probabilities, in points.
        bits: of the agent's own chance.
        actions: room, as are those below.
        points: room.
        sums: room.
        workspace: room.
    """
    size = evaluate_actions(row, weights, actions, points, sums, workspace)
    top, ties = np.float32(-np.inf), 0
    for k in range(size):
        points[k] += sums[k].policy
        if points[k] > top:
            top, ties = points[k], 1
        elif points[k] == top:
            ties += 1
    if temperature > 0:
        total = 0.0
        for k in range(size):
            points[k] = np.exp((points[k] - top) / temperature)
            total += points[k]
        rest = total * unit(bits)
        for k in range(size):
            rest -= points[k]
            if rest < 0:
                return actions[k]
        return actions[size - 1]
    left = below(bits, ties)
    for k in range(size):
        if points[k] == top:
            if left == 0:
                return actions[k]
            left -= 1
    return -1  # not reached


@jit
def _choose_rows(
    rows: Rows,
    weights: Weights,
    temperature: float,
    agent_seed: np.uint64,
    chosen: Integers,
    actions: Integers,
    points: Single,
    sums: Weights,
    workspace: Workspace,
) -> None:
    for i in range(len(rows)):
        bits = agent_bits(rows[i], agent_seed)
        chosen[i] = choose(rows[i], weights, temperature, bits, actions, points, sums, workspace)


@jit
def _value_rows(
    rows: Rows,
    weights: Weights,
    of_critic: bool,
    found: Floats,
    actions: Integers,
    points: Single,
    sums: Weights,
    workspace: Workspace,
) -> None:
    """Writes gain and one of the functions at found[row, action]."""
    for i in range(len(rows)):
        if mover(rows[i]) < 0:
            continue  # nobody decides, so nothing is legal
        for k in range(evaluate_actions(rows[i], weights, actions, points, sums, workspace)):
            found[i, actions[k]] = points[k] + (sums[k].value if of_critic else sums[k].policy)
