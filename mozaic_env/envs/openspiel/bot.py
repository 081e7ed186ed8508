"""An agent of the package as an OpenSpiel bot."""

import pyspiel

from mozaic_env.agents.specs import AgentSpec, make_agent
from mozaic_env.core.checks import check_whole_number
from mozaic_env.envs.openspiel.game import SpielGame
from mozaic_env.envs.openspiel.state import SpielState


class AgentBot(pyspiel.Bot):  # type: ignore[misc]
    """An agent of the package as an OpenSpiel bot."""

    def __init__(self, agent: AgentSpec, game: SpielGame, seed: int = 0) -> None:
        """Makes a bot.

        Args:
            agent: an agent's name, the path of a checkpoint, or an agent.
            game: what it plays.
            seed: of the agent's own choices among equals.

        Raises:
            ValueError: no such agent, or one for another game.
        """
        super().__init__()
        self._agent = make_agent(agent, game.rules)
        self._agent.seed(check_whole_number("seed", seed, 0))

    def step(self, state: SpielState) -> int:
        """The agent's action for whoever decides in the state.

        Raises:
            ValueError: the state is of another game, or of other options.
        """
        given, own = state.get_game(), self._agent.game
        if getattr(given, "rules", None) != own:
            raise ValueError(f"a state of {getattr(given, 'rules', given)}; accepted: states of {own!r}")
        return int(self._agent.act(state.row)[0])

    def restart_at(self, state: SpielState) -> None:
        """Nothing to do: an agent keeps nothing of a game."""
