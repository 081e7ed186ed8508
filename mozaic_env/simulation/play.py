"""Games between agents alone, played to their ends."""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from mozaic_env.agents.base import Agent
from mozaic_env.agents.baselines import random_agent
from mozaic_env.agents.kernels import policy_specs
from mozaic_env.core.game import Game
from mozaic_env.simulation.ask import ask_agents
from mozaic_env.simulation.driver import answer_matches, begin_matches
from mozaic_env.simulation.state import SETTINGS, TERMINATED, Simulation, make_simulation


def play_games(
    game: Game,
    agents: Sequence[Agent],
    keys: npt.NDArray[np.uint64],
    seating: npt.NDArray[np.int64],
    limit: int,
    *,
    log: bool = False,
    progress: Callable[[float], None] | None = None,
) -> Simulation:
    """Plays games to their ends, each as if it were alone.

    Args:
        game: what is played.
        agents: the players.
        keys: of the games' random streams, shape (games,).
        seating: the number of the player in each seat, shape (games, seats).
        limit: number of decisions after which a game is truncated.
        log: whether to note the actions.
        progress: called with about which share of the work is done.

    Raises:
        ValueError: an agent answered with something else than one whole number for each state.
    """
    settings = np.zeros(1, SETTINGS)
    settings["limit"] = limit
    rows = game.rows(len(keys))
    rows["key"] = keys
    columns = limit if log else 0
    sim = make_simulation(
        rows, seating, policy_specs(agents), settings, game.num_actions, columns=columns, digests=True
    )
    typical = 0.0

    def report() -> None:
        nonlocal typical
        if progress is not None:
            typical = typical or typical_length(game, limit)
            shares = np.minimum(rows["decisions"] / typical, 0.99)
            shares[sim.episodes["status"] >= TERMINATED] = 1
            progress(float(shares.mean()))

    begin_matches(sim)
    ask_agents(sim, agents, lambda agent, games, answers: answer_matches(sim, games, answers), report)
    return sim


def typical_length(game: Game, limit: int) -> float:
    """Mean number of decisions in a few random games: what to expect of any."""
    agents = [random_agent(game)] * game.num_players
    seating = np.tile(np.arange(game.num_players), (8, 1))
    return float(play_games(game, agents, np.arange(8, dtype=np.uint64), seating, limit).rows["decisions"].mean())
