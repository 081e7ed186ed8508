"""Agents by name: a short string that evaluate, tournament, play and the environments all take."""

from mozaic_env.agents.base import Agent
from mozaic_env.agents.builtin import greedy_agent, random_agent
from mozaic_env.core.game import Game


def names(game: Game) -> tuple[str, ...]:
    """The agents that a game has without any checkpoint, weakest first."""
    return ("random", *game.heuristics)


def make_agent(spec: str | Agent, game: Game) -> Agent:
    """An agent from its name, or an agent as it is.

    Args:
        spec: "random", or a heuristic of the game such as "greedy" and "pattern"; or an `Agent`.
        game: what it is to play.

    Raises:
        ValueError: no agent of that name, or the agent is for another game or variant.
    """
    if isinstance(spec, Agent):
        if spec.game != game:
            raise ValueError(f"agent {spec.name!r} plays {spec.game!r}; this is {game!r}")
        return spec
    if spec == "random":
        return random_agent(game)
    if isinstance(spec, str) and spec in game.heuristics:
        return greedy_agent(game, spec)
    raise ValueError(f"unknown agent {spec!r}; accepted: {', '.join(names(game))}, or an Agent")
