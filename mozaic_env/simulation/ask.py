"""Python agents asked for their moves, each once for all games that wait for it."""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from mozaic_env.agents.base import Agent
from mozaic_env.agents.kernels import PYTHON
from mozaic_env.simulation.driver import waiting_games
from mozaic_env.simulation.queries import masks_of
from mozaic_env.simulation.state import Simulation

Integers = npt.NDArray[np.int64]
Resume = Callable[[Agent, Integers, Integers], None]  # the agent, the games, its answers: makes the moves, plays on


def ask_agents(
    sim: Simulation, agents: Sequence[Agent], resume: Resume, before: Callable[[], None] | None = None
) -> None:
    """Asks Python agents until no game waits any more.

    Args:
        sim: the games.
        agents: by the numbers in the games' seating.
        resume: makes the moves in the games and plays on.
        before: called before each round of questions.

    Raises:
        ValueError: an agent answered with something else than one whole number for each state.
    """
    games, ends = np.empty(len(sim.rows), np.int64), np.empty(len(agents), np.int64)
    while np.any(sim.policies["kind"] == PYTHON):
        waiting_games(sim, games, ends)
        if not len(ends) or not ends[-1]:
            return
        if before is not None:
            before()
        for agent, part in zip(agents, np.split(games[: ends[-1]], ends[:-1]), strict=True):
            if len(part):
                resume(agent, part, _answers(agent, sim, part))


def _answers(agent: Agent, sim: Simulation, games: Integers) -> Integers:
    states = sim.rows[games]
    masks = np.zeros((len(games), len(sim.actions)), np.int8)
    masks_of(states, masks)
    given = np.asarray(agent.act(states, masks))
    if given.shape != games.shape or given.dtype.kind not in "iu":
        raise ValueError(
            f"agent {agent.name!r} was asked for {len(games)} actions and gave shape {given.shape} "
            f"and dtype {given.dtype}; accepted: ({len(games)},) of whole numbers"
        )
    return np.ascontiguousarray(given, np.int64)
