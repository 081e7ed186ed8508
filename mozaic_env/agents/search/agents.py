"""The agents that search by a heuristic: expectimax, paranoid and max^n."""

from typing import Any

import numpy as np
import numpy.typing as npt

from mozaic_env.agents.base import Actions, Agent
from mozaic_env.agents.search import expectimax, lookahead
from mozaic_env.agents.search.expectimax import Plan
from mozaic_env.agents.search.search_agent import SearchAgent, heuristic_weights
from mozaic_env.core.game import Game, Rows

MAXN = "maxn"
EVERY = 2**31 - 1  # a width that leaves no action out
LEAST = 0.02  # probability of what depth 4 looks at further


class ExpectimaxAgent(SearchAgent):
    """Looks `depth` decisions ahead over every draw by its probability; see `mozaic_env.agents.search.expectimax`."""

    def __init__(
        self, game: Game, name: str = "expectimax", depth: int = 2, heuristic: str | None = None, nodes: int = 20_000
    ) -> None:
        """Makes the agent.

        Args:
            game: what it plays.
            name: what it is called.
            depth: 1 (greedy) to 4, in decisions, its own included.
            heuristic: one of the game's, values the states at the end; None: its last, strongest one.
            nodes: beyond depth 2, about how many last decisions to value at most for each depth: each ply then tries
                as many actions as fit, the best by one-ply value. Depth 2 always tries all.

        Raises:
            ValueError: an argument is none of these.
        """
        if not 1 <= depth <= expectimax.MAX_DEPTH:
            raise ValueError(f"depth={depth!r}; accepted: 1 to {expectimax.MAX_DEPTH}")
        if nodes < 1:
            raise ValueError(f"nodes={nodes!r}; accepted: a whole number of at least 1")
        self.game = game
        self.name = name
        self._depth = depth
        self._weights = heuristic_weights(game, heuristic)
        followers, likely = game.followers
        wide = max(2, int((nodes / followers**2) ** (1 / 2))) if depth > 2 else EVERY
        deep = max(2, int((nodes / (likely**2 * followers)) ** (1 / 3)))
        self._plans = Plan(wide, 0.0), Plan(deep, LEAST)

    def quick(self) -> Agent:
        return self._changed(_depth=1, _plans=(Plan(1, 0.0), Plan(1, 0.0)))

    def _make_memory(self) -> Any:
        return expectimax.make_workspace(self.game)

    def _search_rows(self, rows: Rows, chosen: Actions, found: npt.NDArray[np.float64]) -> None:
        expectimax.search_rows(
            rows, self._depth, self._weights, self._plans, self.agent_seed, chosen, found, self._memory
        )


class LookaheadAgent(SearchAgent):
    """Looks `depth` decisions ahead, up to the next chance; see `mozaic_env.agents.search.lookahead`."""

    def __init__(
        self,
        game: Game,
        name: str = "paranoid",
        depth: int = 3,
        width: int = 10,
        heuristic: str | None = None,
    ) -> None:
        """Makes the agent.

        Args:
            game: what it plays.
            name: what it is called; "maxn": the other seats are taken to play each for itself, else to join.
            depth: 1 (greedy) to 8, in decisions, its own included.
            width: how many actions are tried at each ply, the best by one-ply value.
            heuristic: one of the game's, values the states at the end; None: its last, strongest one.

        Raises:
            ValueError: an argument is none of these.
        """
        if not 1 <= depth <= lookahead.MAX_DEPTH:
            raise ValueError(f"depth={depth!r}; accepted: 1 to {lookahead.MAX_DEPTH}")
        if width < 1:
            raise ValueError(f"width={width!r}; accepted: a whole number of at least 1")
        self.game = game
        self.name = name
        self._depth, self._width = depth, width
        self._paranoid = name != MAXN or game.num_players == 2  # the same for two, and pruning saves work
        self._weights = heuristic_weights(game, heuristic)

    def quick(self) -> Agent:
        return self._changed(_depth=1, _width=1)

    def _make_memory(self) -> Any:
        return lookahead.make_workspace(self.game)

    def _search_rows(self, rows: Rows, chosen: Actions, found: npt.NDArray[np.float64]) -> None:
        lookahead.look_ahead_rows(
            rows,
            self._depth,
            self._paranoid,
            self._weights,
            self._width,
            self.agent_seed,
            chosen,
            found,
            self._memory,
        )
