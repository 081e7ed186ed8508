"""Monte Carlo tree search with chance nodes, compiled, for any game; many trees side by side.

A simulation walks from the root to a state not looked at before: at a decision along the edge of the best PUCT score
(D. Silver et al., Mastering the game of Go without human knowledge, 2017), at chance by the outcomes' probabilities.
The caller values that state and gives priors for its actions; `grow` adds them and passes the value back along the
path. All values are for the root's seat, in [-1, 1]; other seats try to make them small.

Room is limited, and chance may take many draws (a refill in Crystal Mosaic takes 20 to 36). Where the tree has no room
for the next state, the simulation goes on beside it, draw by draw, to the next decision, which is valued and not kept.
So every simulation counts. A decision whose actions find no room stays a leaf, and is valued whenever it is reached.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mozaic_env.core.contract import CHANCE, OVER, Floats, Integers, Row, apply, deal, mover, outcome, outcomes, resolve
from mozaic_env.core.game import Game
from mozaic_env.core.jit import jit
from mozaic_env.core.stream import SAMPLE, random_bits, unit

MAX_PATH = 256  # edges of a simulation within the tree
_NODES = 4  # for which there is room, for each simulation: a decision, and the chance nodes on the way to it
_MOST_ACTIONS = 96  # of a decision, on average

Array = npt.NDArray[Any]


class Forest(NamedTuple):
    """Room for some trees; every array has a leading axis of trees."""

    states: Array  # rows of the game, one for each node; node 0 is the root, the last one stands beside the tree
    first: Array  # a node's first edge
    edges: Array  # how many edges it has; 0: not looked at
    action: Array  # of an edge: the action, or the chance outcome
    prior: Array  # the action's prior, or the outcome's probability
    visits: Array
    total: Array  # sum of the values that came back along the edge
    child: Array  # the node behind it, or -1
    path: Array  # edges of the simulation under way
    size: Array  # nodes, edges, length of the path
    codes: Array
    chances: Array


def make_forest(game: Game, trees: int, simulations: int) -> Forest:
    """Room for `trees` trees of so many simulations each."""
    nodes = _NODES * simulations + 3
    edges = game.num_actions + simulations * (min(game.num_actions, _MOST_ACTIONS) + 2 * game.max_outcomes)
    whole, number = np.int32, np.float64
    return Forest(
        np.zeros((trees, nodes), game.dtype),
        np.zeros((trees, nodes), whole),
        np.zeros((trees, nodes), whole),
        np.zeros((trees, edges), whole),
        np.zeros((trees, edges), number),
        np.zeros((trees, edges), whole),
        np.zeros((trees, edges), number),
        np.zeros((trees, edges), whole),
        np.zeros((trees, MAX_PATH), whole),
        np.zeros((trees, 3), np.int64),
        np.zeros((trees, game.max_outcomes), np.int64),
        np.zeros((trees, game.max_outcomes), number),
    )


@jit
def plant(forest: Forest, tree: int, row: Row) -> None:
    """Begins a tree: its root is the row, not looked at yet."""
    forest.states[tree, 0] = row
    forest.edges[tree, 0] = 0
    forest.size[tree, 0], forest.size[tree, 1], forest.size[tree, 2] = 1, 0, 0


@jit
def _add_edges(forest: Forest, tree: int, node: int, actions: Integers, priors: Floats, size: int) -> None:
    start = forest.size[tree, 1]
    forest.first[tree, node], forest.edges[tree, node] = start, size
    for k in range(size):
        edge = start + k
        forest.action[tree, edge], forest.prior[tree, edge] = actions[k], priors[k]
        forest.visits[tree, edge], forest.total[tree, edge], forest.child[tree, edge] = 0, 0.0, -1
    forest.size[tree, 1] += size


@jit
def _pick_outcome(forest: Forest, tree: int, node: int, bits: np.uint64) -> int:
    left, first = unit(bits), forest.first[tree, node]
    for edge in range(first, first + forest.edges[tree, node] - 1):
        left -= forest.prior[tree, edge]
        if left < 0:
            return edge
    return first + forest.edges[tree, node] - 1


@jit
def _pick_action(forest: Forest, tree: int, node: int, mine: bool, exploration: float) -> int:
    """The edge with the best PUCT score; an edge not tried yet counts as the average of those that were."""
    first, size = forest.first[tree, node], forest.edges[tree, node]
    visits, total = 0, 0.0
    for edge in range(first, first + size):
        visits += forest.visits[tree, edge]
        total += forest.total[tree, edge]
    average = total / visits if visits else 0.0
    chosen, best = first, -np.inf
    for edge in range(first, first + size):
        tried = forest.visits[tree, edge]
        mean = forest.total[tree, edge] / tried if tried else average
        score = (mean if mine else -mean) + exploration * forest.prior[tree, edge] * np.sqrt(visits + 1) / (1 + tried)
        if score > best:
            chosen, best = edge, score
    return chosen


@jit
def walk(forest: Forest, tree: int, seat: int, exploration: float, key: np.uint64, simulation: int) -> int:
    """One simulation's way down.

    Args:
        forest: the trees.
        tree: which one.
        seat: the root's.
        exploration: weight of the priors.
        key: of the search's own chance.
        simulation: its number.

    Returns:
        The node reached: over, or a decision not looked at before; where the tree has no room left, the one beside it.
    """
    states, node, length, inside = forest.states[tree], 0, 0, True
    decides = mover(states[0])
    while decides != OVER:
        if forest.edges[tree, node] == 0:
            if decides != CHANCE:
                break
            inside = _add_outcomes(forest, tree, node)
        if not inside or length == MAX_PATH:
            inside = False
            break
        if decides == CHANCE:
            bits = random_bits(key, np.uint64(simulation), length)
            edge = _pick_outcome(forest, tree, node, bits)
        else:
            edge = _pick_action(forest, tree, node, decides == seat, exploration)
        forest.path[tree, length] = edge
        length += 1
        if forest.child[tree, edge] >= 0:
            node = forest.child[tree, edge]
            decides = mover(states[node])
            continue
        added = forest.size[tree, 0]
        states[added] = states[node]
        if decides == CHANCE:
            resolve(states[added], forest.action[tree, edge])
        else:
            apply(states[added], forest.action[tree, edge])
        forest.edges[tree, added] = 0
        decides, node, left = mover(states[added]), added, len(states) - 1 - added
        # Chance leaves room for one decision of each simulation to come.
        inside = left > (len(states) // _NODES - simulation if decides == CHANCE else 0)
        if not inside:
            break
        forest.child[tree, edge] = added
        forest.size[tree, 0] += 1
    forest.size[tree, 2] = length
    return node if inside else _leave(forest, tree, node, key, simulation)


@jit
def _add_outcomes(forest: Forest, tree: int, node: int) -> bool:
    """Gives a node at chance its edges, if there is room."""
    codes, chances = forest.codes[tree], forest.chances[tree]
    size = outcomes(forest.states[tree, node], codes, chances)
    if forest.size[tree, 1] + size > forest.action.shape[1]:
        return False
    _add_edges(forest, tree, node, codes, chances, size)
    return True


@jit
def _leave(forest: Forest, tree: int, node: int, key: np.uint64, simulation: int) -> int:
    """Goes on from a node beside the tree, chance by the search's own luck, to a decision or the end."""
    beside = forest.states.shape[1] - 1
    states = forest.states[tree]
    states[beside] = states[node]
    states[beside].key = random_bits(key, SAMPLE, simulation)  # not the game's own: that luck is to come
    deal(states[beside])
    return beside


@jit
def grow(
    forest: Forest, tree: int, node: int, seat: int, actions: Integers, priors: Floats, size: int, estimate: float
) -> None:
    """Ends a simulation: adds the actions of the node that `walk` reached and passes its value back.

    Args:
        forest: the trees.
        tree: which one.
        node: from `walk`.
        seat: the root's.
        actions: legal actions of the node, if it is a decision.
        priors: their priors, summing to 1.
        size: how many; 0 where the game is over.
        estimate: the node's value for the seat; for a finished game the outcome counts instead.
    """
    state = forest.states[tree, node]
    if mover(state) == OVER:
        estimate = outcome(state, seat)
    elif (
        node < forest.states.shape[1] - 1
        and forest.edges[tree, node] == 0
        and forest.size[tree, 1] + size <= forest.action.shape[1]
    ):
        _add_edges(forest, tree, node, actions, priors, size)
    for k in range(forest.size[tree, 2]):
        edge = forest.path[tree, k]
        forest.visits[tree, edge] += 1
        forest.total[tree, edge] += estimate
