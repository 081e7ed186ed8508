"""The alpha-beta agent: compiled search over whole moves, for games that offer them."""

import time

import numpy as np

from mozaic_env.agents.base import Actions, Agent, Masks
from mozaic_env.agents.kernels import agent_bits
from mozaic_env.agents.search.alphabeta_search import (
    FORCED_WIN,
    MAX_PLY,
    NODES,
    STOPPED,
    Search,
    begin,
    deepen,
    make_search,
    search_rows,
)
from mozaic_env.core.contract import Integers
from mozaic_env.core.game import Game, Rows
from mozaic_env.core.jit import jit
from mozaic_env.core.whole_moves import decision_of_move

MAX_DEPTH = MAX_PLY // 2
NO_LIMIT = 2**62
FIRST_NODES = 1 << 12  # positions that take next to no time


class AlphaBetaAgent(Agent):
    """Looks `depth` moves ahead, then at captures and the like; see `mozaic_env.agents.search.alphabeta_search`.

    With `depth` or `nodes` alone its choices repeat. With `seconds` they depend on how fast the machine is just then.
    """

    def __init__(
        self,
        game: Game,
        name: str = "alphabeta",
        depth: int | None = None,
        nodes: int | None = None,
        seconds: float | None = None,
    ) -> None:
        """Makes the agent.

        Args:
            game: what it plays.
            name: what it is called.
            depth: in moves of either side, 1 to 32; None: 3, or as deep as it gets if there is another limit.
            nodes: positions to look at for each decision.
            seconds: for each decision.

        Raises:
            ValueError: an argument is none of these, or the game does not offer whole moves.
        """
        if not game.max_moves:
            raise ValueError(f"{game.name} has no whole moves to search over; accepted: expectimax or mcts")
        if depth is None:
            depth = 3 if nodes is None and seconds is None else MAX_DEPTH
        if not 1 <= depth <= MAX_DEPTH:
            raise ValueError(f"depth={depth!r}; accepted: 1 to {MAX_DEPTH}")
        if nodes is not None and nodes < 1:
            raise ValueError(f"nodes={nodes!r}; accepted: a whole number of at least 1")
        if seconds is not None and not 0 < seconds < float("inf"):
            raise ValueError(f"seconds={seconds!r}; accepted: a number above 0")
        self.game = game
        self.name = name
        self._depth = depth
        self._nodes = NO_LIMIT if nodes is None else nodes
        self._seconds = seconds
        self._search: Search | None = None

    def quick(self) -> Agent:
        return self._changed(_depth=1, _nodes=FIRST_NODES)

    def act(self, states: Rows, masks: Masks | None = None) -> Actions:
        self.game.check_rows(states)
        if self._search is None:
            self._search = make_search(self.game)
        rows = np.array(states)  # a search makes moves in its row
        keys, moves = np.empty(len(rows), np.uint64), np.empty(len(rows), np.int64)
        _bits_of(rows, self.agent_seed, keys)
        if self._seconds is None:
            search_rows(rows, self._depth, self._nodes, keys, moves, self._search)
        else:
            for i in range(len(rows)):
                moves[i] = self._search_by_clock(rows[i], keys[i], self._seconds, self._search)
        chosen = np.empty(len(rows), np.int64)
        _decisions(rows, moves, chosen)
        return chosen

    def _search_by_clock(self, row: np.void, key: np.uint64, seconds: float, search: Search) -> int:
        """Deepens until the time is used up: each step may look at as many positions as the rate so far allows."""
        began = time.perf_counter()
        if begin(row, key, search) > 1:
            limit = FIRST_NODES
            for depth in range(1, self._depth + 1):
                value = deepen(row, depth, min(limit, self._nodes), search)
                used = time.perf_counter() - began
                if search.counters[STOPPED] or used >= seconds or abs(value) >= FORCED_WIN:
                    break
                done = int(search.counters[NODES])
                limit = done + int(done * (seconds - used) / max(used, 1e-6))
        return int(search.moves[0, 0])


@jit
def _bits_of(rows: Rows, agent_seed: np.uint64, keys: Rows) -> None:
    for i in range(len(rows)):
        keys[i] = agent_bits(rows[i], agent_seed)


@jit
def _decisions(rows: Rows, moves: Integers, chosen: Integers) -> None:
    for i in range(len(rows)):
        chosen[i] = decision_of_move(rows[i], moves[i])
