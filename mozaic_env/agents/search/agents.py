"""The agents that search by a heuristic: compiled search, asked in batches."""

import numpy as np
import numpy.typing as npt

from mozaic_env.agents.base import Actions, Agent, Masks, tied
from mozaic_env.agents.search.expectimax import MAX_DEPTH, Plan, Workspace, make_workspace, search_rows
from mozaic_env.agents.search.lookahead import MAX_DEPTH as MAX_LOOKAHEAD
from mozaic_env.agents.search.lookahead import Workspace as LookaheadWorkspace
from mozaic_env.agents.search.lookahead import look_ahead_rows
from mozaic_env.agents.search.lookahead import make_workspace as make_lookahead_workspace
from mozaic_env.core.game import Game, Rows

MAXN = "maxn"
EVERY = 2**31 - 1  # a width that leaves no action out
LEAST = 0.02  # probability of what depth 4 looks at further


class ExpectimaxAgent(Agent):
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
        chosen = heuristic or tuple(game.heuristics)[-1]
        if not 1 <= depth <= MAX_DEPTH:
            raise ValueError(f"depth={depth!r}; accepted: 1 to {MAX_DEPTH}")
        if chosen not in game.heuristics:
            raise ValueError(f"heuristic={heuristic!r}; accepted: {', '.join(game.heuristics)}")
        if nodes < 1:
            raise ValueError(f"nodes={nodes!r}; accepted: a whole number of at least 1")
        self.game = game
        self.name = name
        self._depth = depth
        self._weights = np.array(game.heuristics[chosen])
        followers, likely = game.followers
        wide = max(2, int((nodes / followers**2) ** (1 / 2))) if depth > 2 else EVERY
        deep = max(2, int((nodes / (likely**2 * followers)) ** (1 / 3)))
        self._plans = Plan(wide, 0.0), Plan(deep, LEAST)
        self._workspace: Workspace | None = None

    def __getstate__(self) -> dict[str, object]:
        """Without the workspace, which the next search makes again: copies of its arrays would not share memory."""
        return {**self.__dict__, "_workspace": None}

    def quick(self) -> Agent:
        return self._changed(_depth=1, _plans=(Plan(1, 0.0), Plan(1, 0.0)))

    def act(self, states: Rows, masks: Masks | None = None) -> Actions:
        return self._search(states, np.empty((len(states), 0)))

    def choices(self, states: Rows) -> Masks:
        return tied(self.action_values(states))

    def action_values(self, states: Rows) -> npt.NDArray[np.float64]:
        """What the agent thinks of every action: expected final lead, in points, for the seat that decides.

        Args:
            states: rows at a decision, shape (n,).

        Returns:
            float64, shape (n, actions); NaN for actions that are illegal or were not tried.
        """
        found = np.full((len(states), self.game.num_actions), np.nan)
        self._search(states, found)
        return found

    def _search(self, states: Rows, found: npt.NDArray[np.float64]) -> Actions:
        self.game.check_rows(states)
        if self._workspace is None:
            self._workspace = make_workspace(self.game)
        chosen = np.empty(len(states), np.int64)
        rows = np.ascontiguousarray(states)
        search_rows(rows, self._depth, self._weights, self._plans, self.agent_seed, chosen, found, self._workspace)
        return chosen


class LookaheadAgent(Agent):
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
        chosen = heuristic or tuple(game.heuristics)[-1]
        if not 1 <= depth <= MAX_LOOKAHEAD:
            raise ValueError(f"depth={depth!r}; accepted: 1 to {MAX_LOOKAHEAD}")
        if chosen not in game.heuristics:
            raise ValueError(f"heuristic={heuristic!r}; accepted: {', '.join(game.heuristics)}")
        if width < 1:
            raise ValueError(f"width={width!r}; accepted: a whole number of at least 1")
        self.game = game
        self.name = name
        self._depth, self._width = depth, width
        self._paranoid = name != MAXN or game.num_players == 2  # the same for two, and pruning saves work
        self._weights = np.array(game.heuristics[chosen])
        self._workspace: LookaheadWorkspace | None = None

    def __getstate__(self) -> dict[str, object]:
        """Without the workspace, which the next search makes again."""
        return {**self.__dict__, "_workspace": None}

    def quick(self) -> Agent:
        return self._changed(_depth=1, _width=1)

    def act(self, states: Rows, masks: Masks | None = None) -> Actions:
        return self._search(states, np.empty((len(states), 0)))

    def choices(self, states: Rows) -> Masks:
        return tied(self.action_values(states))

    def action_values(self, states: Rows) -> npt.NDArray[np.float64]:
        """What the agent thinks of every action: the lead to be expected, in points, for the seat that decides.

        Args:
            states: rows at a decision, shape (n,).

        Returns:
            float64, shape (n, actions); NaN for actions that are illegal or were not tried.
        """
        found = np.full((len(states), self.game.num_actions), np.nan)
        self._search(states, found)
        return found

    def _search(self, states: Rows, found: npt.NDArray[np.float64]) -> Actions:
        self.game.check_rows(states)
        if self._workspace is None:
            self._workspace = make_lookahead_workspace(self.game)
        chosen = np.empty(len(states), np.int64)
        look_ahead_rows(
            np.ascontiguousarray(states),
            self._depth,
            self._paranoid,
            self._weights,
            self._width,
            self.agent_seed,
            chosen,
            found,
            self._workspace,
        )
        return chosen
