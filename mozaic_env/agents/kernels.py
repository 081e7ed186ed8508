"""The agents that compiled loops can play by themselves: a policy spec is a row of data, `choose` follows it."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from mozaic_env.agents.base import Agent
from mozaic_env.core import stream
from mozaic_env.core.contract import Floats, Integers, Row, action_values, legal, mover, random_action, value
from mozaic_env.core.jit import jit

PYTHON, RANDOM, GREEDY = range(3)  # kinds of policy; PYTHON: not compiled, the agent's `act` is to be asked
MAX_WEIGHTS = 8

POLICY_SPEC = np.dtype(
    [
        ("kind", np.int64),
        ("share", np.float64),  # in a list of opponents: cumulative probability of being drawn
        ("agent_seed", np.uint64),  # of the agent's own chance
        ("weights", np.float64, (MAX_WEIGHTS,)),  # of the heuristic
    ],
    align=True,
)

PolicySpec = Row


@jit
def agent_bits(row: Row, agent_seed: np.uint64) -> np.uint64:
    """64 random bits for the agent that decides in the row: of the game, seat and decision, and the agent's seed."""
    return stream.random_bits(row.key ^ agent_seed, stream.AGENT + np.uint64(mover(row)), row.decisions)


@jit
def choose(row: Row, policy: PolicySpec, actions: Integers, values: Floats) -> int:
    """The action of a compiled agent for whoever decides in the row.

    Args:
        row: a state at a decision; not changed.
        policy: a record of type `POLICY_SPEC`, its kind not PYTHON.
        actions: room for one number for each action of the game, overwritten.
        values: the same.
    """
    bits = agent_bits(row, policy.agent_seed)
    if policy.kind == RANDOM:
        return random_action(row, bits)
    size = action_values(row, mover(row), policy.weights, actions, values)
    return actions[best(values, size, bits)]


@jit
def best(values: Floats, size: int, bits: np.uint64) -> int:
    """The position of the largest of the first `size` values; among equals a random one."""
    top, ties = values[0], 1
    for i in range(1, size):
        if values[i] > top:
            top, ties = values[i], 1
        elif values[i] == top:
            ties += 1
    left = stream.below(bits, ties)
    for i in range(size):
        if values[i] == top:
            if left == 0:
                return i
            left -= 1
    return -1  # not reached


@jit
def choose_rows(
    rows: npt.NDArray[np.void], policy: PolicySpec, chosen: Integers, actions: Integers, values: Floats
) -> None:
    """`choose` for each row, into `chosen`."""
    for i in range(len(rows)):
        chosen[i] = choose(rows[i], policy, actions, values)


@jit
def value_rows(rows: npt.NDArray[np.void], weights: Floats, found: Floats, actions: Integers, values: Floats) -> None:
    """Writes at found[row, action] the heuristic value of the state after each legal action, for who decides."""
    for i in range(len(rows)):
        seat = mover(rows[i])
        if seat < 0:
            continue  # nobody decides, so nothing is legal
        now = value(rows[i], seat, weights)
        for k in range(action_values(rows[i], seat, weights, actions, values)):
            found[i, actions[k]] = now + values[k]


@jit
def mark_rows(
    rows: npt.NDArray[np.void], policy: PolicySpec, masks: npt.NDArray[np.int8], actions: Integers, values: Floats
) -> None:
    """Marks in masks[row, action] what `choose` picks from with equal chances; the masks are zero before."""
    for i in range(len(rows)):
        if policy.kind == RANDOM:
            legal(rows[i], masks, i)
            continue
        size = action_values(rows[i], mover(rows[i]), policy.weights, actions, values)
        top = values[0]
        for k in range(1, size):
            top = max(top, values[k])
        for k in range(size):
            masks[i, actions[k]] = values[k] == top


def policy_specs(agents: Sequence[Agent]) -> npt.NDArray[np.void]:
    """The agents as compiled loops see them: type `POLICY_SPEC`, at least one; kind PYTHON for those to be asked."""
    specs = np.zeros(max(len(agents), 1), POLICY_SPEC)
    specs["kind"] = PYTHON
    for index, agent in enumerate(agents):
        spec = agent.policy_spec()
        if spec is not None:
            specs[index] = spec
    return specs
