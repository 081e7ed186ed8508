"""The MCTS agent: tree search with chance nodes.

Priors and leaf values come from a heuristic of the game or from a policy.
"""

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from mozaic_env.agents.base import Actions, Agent, Masks
from mozaic_env.agents.kernels import agent_bits, best
from mozaic_env.agents.search.search_agent import heuristic_weights
from mozaic_env.agents.search.tree import Forest, grow, make_forest, plant, walk
from mozaic_env.core.contract import OVER, Floats, Integers, Row, action_values, mover, value
from mozaic_env.core.game import Game, Rows
from mozaic_env.core.jit import jit

COOLING = 40.0  # the temperature of the priors from a heuristic is the game's `win_lead` divided by this
TEMPO = 0.5  # share of what the next action gains that already counts
TREES = 64  # searched side by side where a policy is asked


class Evaluator(Protocol):
    """What gives priors and values for states: a policy agent."""

    game: Game

    def evaluate(self, states: Rows) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Probabilities of the actions, shape (n, actions), and the mover's expected outcome in [-1, 1], shape (n,)."""
        ...


@jit
def _heuristic_priors(
    row: Row, weights: Floats, temperature: float, actions: Integers, priors: Floats
) -> tuple[int, float]:
    """Softmax of the one-ply values of who decides; returns how many actions, and the largest of the values."""
    size = action_values(row, mover(row), weights, actions, priors)
    top = priors[0]
    for k in range(1, size):
        top = max(top, priors[k])
    total = 0.0
    for k in range(size):
        priors[k] = np.exp((priors[k] - top) / temperature)
        total += priors[k]
    for k in range(size):
        priors[k] /= total
    return size, top


@jit
def _search(
    row: Row,
    simulations: int,
    weights: Floats,
    win_lead: float,
    exploration: float,
    key: np.uint64,
    forest: Forest,
    workspace: Any,
) -> None:
    """One whole search on tree 0, by a heuristic."""
    seat = mover(row)
    actions, priors = workspace
    plant(forest, 0, row)
    for simulation in range(simulations + 1):  # the first one only looks at the root
        node = walk(forest, 0, seat, exploration, key, simulation)
        state, size, estimate = forest.states[0, node], 0, 0.0
        if mover(state) != OVER:
            size, gain = _heuristic_priors(state, weights, win_lead / COOLING, actions, priors)
            # Without the tempo, states count for more right before the own move than after.
            lead = value(state, seat, weights) + (TEMPO if mover(state) == seat else -TEMPO) * gain
            estimate = np.tanh(lead / win_lead)
        grow(forest, 0, node, seat, actions, priors, size, estimate)


@jit
def _most_visited(forest: Forest, tree: int, bits: np.uint64, workspace: Any) -> int:
    size = forest.edges[tree, 0]
    for edge in range(size):
        workspace[1][edge] = forest.visits[tree, edge]
    return forest.action[tree, best(workspace[1], size, bits)]


@jit
def _search_rows(
    rows: Rows,
    simulations: int,
    weights: Floats,
    win_lead: float,
    exploration: float,
    agent_seed: np.uint64,
    chosen: Integers,
    forest: Forest,
    workspace: Any,
) -> None:
    for i in range(len(rows)):
        if mover(rows[i]) < 0:  # nobody decides
            chosen[i] = -1
            continue
        bits = agent_bits(rows[i], agent_seed)
        _search(rows[i], simulations, weights, win_lead, exploration, bits, forest, workspace)
        chosen[i] = _most_visited(forest, 0, bits, workspace)


@jit
def _walk_all(
    rows: Rows,
    forest: Forest,
    exploration: float,
    agent_seed: np.uint64,
    simulation: int,
    nodes: Integers,
    leaves: Rows,
) -> int:
    """`walk` in every tree; the decisions reached are gathered in `leaves`, `nodes` holds what was reached."""
    found = 0
    for tree in range(len(rows)):
        if simulation == 0:
            plant(forest, tree, rows[tree])
        nodes[tree] = walk(forest, tree, mover(rows[tree]), exploration, agent_bits(rows[tree], agent_seed), simulation)
        if mover(forest.states[tree, nodes[tree]]) != OVER:
            leaves[found] = forest.states[tree, nodes[tree]]
            found += 1
    return found


@jit
def _grow_all(
    rows: Rows, forest: Forest, nodes: Integers, probabilities: Any, values: Any, others: int, workspace: Any
) -> None:
    """`grow` in every tree, with the policy's answers for the decisions that `_walk_all` gathered.

    What one of the `others` can expect all others pay in equal parts.
    """
    actions, priors = workspace
    found = 0
    for tree in range(len(rows)):
        seat, state = mover(rows[tree]), forest.states[tree, nodes[tree]]
        size, estimate = 0, 0.0
        if mover(state) != OVER:
            for action in range(probabilities.shape[1]):
                if probabilities[found, action] > 0:
                    actions[size], priors[size] = action, probabilities[found, action]
                    size += 1
            estimate = values[found] if mover(state) == seat else -values[found] / others
            found += 1
        grow(forest, tree, nodes[tree], seat, actions, priors, size, estimate)


@jit
def _choose_all(rows: Rows, forest: Forest, agent_seed: np.uint64, chosen: Integers, workspace: Any) -> None:
    for tree in range(len(rows)):
        chosen[tree] = _most_visited(forest, tree, agent_bits(rows[tree], agent_seed), workspace)


class MctsAgent(Agent):
    """Plays the action that its search visited most."""

    def __init__(
        self,
        game: Game,
        name: str = "mcts",
        simulations: int = 200,
        heuristic: str | None = None,
        policy: Evaluator | None = None,
        exploration: float = 2.0,
    ) -> None:
        """Makes the agent.

        Args:
            game: what it plays; with more than two players the others are taken to join against who searches.
            name: what it is called.
            simulations: for each decision.
            heuristic: one of the game's, gives priors and leaf values; None: its last, strongest one.
            policy: gives them instead of a heuristic.
            exploration: weight of the priors.

        Raises:
            ValueError: an argument is none of these.
        """
        if not 1 <= simulations <= 100_000:
            raise ValueError(f"simulations={simulations!r}; accepted: 1 to 100000")
        self.game = game
        self.name = name
        self._simulations = simulations
        self._weights = heuristic_weights(game, heuristic)
        self._policy = policy
        self._exploration = float(exploration)
        self._forest: Forest | None = None
        self._workspace = (np.zeros(game.num_actions, np.int64), np.zeros(game.num_actions))

    def __getstate__(self) -> dict[str, Any]:
        """Without the trees, which the next search makes again."""
        return {**self.__dict__, "_forest": None}

    def quick(self) -> Agent:
        return self._changed(_simulations=1)

    def act(self, states: Rows, masks: Masks | None = None) -> Actions:
        self.game.check_rows(states)
        rows, chosen = np.ascontiguousarray(states), np.empty(len(states), np.int64)
        if self._forest is None:
            self._forest = make_forest(self.game, 1 if self._policy is None else TREES, self._simulations)
        if self._policy is None:
            _search_rows(
                rows,
                self._simulations,
                self._weights,
                float(self.game.win_lead),
                self._exploration,
                self.agent_seed,
                chosen,
                self._forest,
                self._workspace,
            )
            return chosen
        for low in range(0, len(rows), TREES):
            self._ask_policy(self._policy, rows[low : low + TREES], chosen[low : low + TREES], self._forest)
        return chosen

    def _ask_policy(self, policy: Evaluator, rows: Rows, chosen: Actions, forest: Forest) -> None:
        nodes, leaves = np.empty(len(rows), np.int64), self.game.rows(len(rows))
        for simulation in range(self._simulations + 1):
            found = _walk_all(rows, forest, self._exploration, self.agent_seed, simulation, nodes, leaves)
            probabilities, values = np.zeros((0, self.game.num_actions), np.float32), np.zeros(0, np.float32)
            if found:
                probabilities, values = policy.evaluate(leaves[:found])
            _grow_all(rows, forest, nodes, probabilities, values, self.game.num_players - 1, self._workspace)
        _choose_all(rows, forest, self.agent_seed, chosen, self._workspace)
