"""Some games of a match under way: their rows, who sits where, and the asking of Python agents."""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from mozaic_env.agents.base import Agent
from mozaic_env.agents.kernels import RANDOM, RECIPE
from mozaic_env.arena import loops
from mozaic_env.arena.results import Games
from mozaic_env.core.game import Game, Rows
from mozaic_env.simulation.loops import masks_of


class Table:
    """Games that are played to their ends together, each as if it were alone."""

    def __init__(
        self,
        game: Game,
        keys: npt.NDArray[np.uint64],
        seating: npt.NDArray[np.int64],
        recipes: Rows,
        limit: int,
        keep_actions: bool,
    ) -> None:
        """Sets the games up.

        Args:
            game: what is played.
            keys: of the games' luck, uint64, shape (games,).
            seating: which player sits where, int64, shape (games, seats).
            recipes: of the players, type `RECIPE`; kind PYTHON for those that are asked.
            limit: number of decisions after which a game is truncated.
            keep_actions: whether to note the actions.
        """
        self.game, self.limit, self.recipes = game, limit, recipes
        self.seating = np.ascontiguousarray(seating)
        self.rows, self.slots = game.rows(len(keys)), np.zeros(len(keys), loops.SLOT)
        self.rows["key"] = keys
        self.log = np.full((len(keys), limit if keep_actions else 0), -1, np.int16)
        self._keep_actions = keep_actions
        self._scratch = np.empty(game.num_actions, np.int64), np.empty(game.num_actions)
        loops.begin(self.rows, self.slots)

    def play(self, agents: Sequence[Agent], progress: Callable[[float], None] | None = None) -> None:
        """Plays all games to their ends.

        Args:
            agents: the players; asked where their recipe says so.
            progress: called with about which share of the work is done.

        Raises:
            ValueError: an agent answered with something else than one whole number for each state.
        """
        typical = 0.0
        while True:
            loops.play(
                self.rows,
                self.slots,
                self.seating,
                self.recipes,
                self.limit,
                self.log,
                self._scratch,
            )
            waiting = np.flatnonzero(self.slots["status"] == loops.WAITING)
            if not len(waiting):
                return
            if progress is not None:
                typical = typical or typical_length(self.game, self.limit)
                shares = np.minimum(self.rows["decisions"] / typical, 0.99)
                shares[self.slots["status"] >= loops.FINISHED] = 1
                progress(float(shares.mean()))
            asked = self.slots["player"][waiting]
            for player in np.unique(asked):
                self._ask(agents[player], waiting[asked == player])

    def _ask(self, agent: Agent, games: npt.NDArray[np.int64]) -> None:
        states = self.rows[games]
        masks = np.zeros((len(games), self.game.num_actions), np.int8)
        masks_of(states, masks)
        answers = np.asarray(agent.act(states, masks))
        if answers.shape != games.shape or answers.dtype.kind not in "iu":
            raise ValueError(
                f"agent {agent.name!r} was asked for {len(games)} whole numbers "
                f"and gave {answers.dtype} of shape {answers.shape}"
            )
        answers = np.ascontiguousarray(answers, np.int64)
        loops.answer(games, answers, self.game.num_actions, self.rows, self.slots, self.log)

    def games(self, seeds: npt.NDArray[np.uint64]) -> Games:
        """What happened; all games have ended.

        Args:
            seeds: that the keys were made from.
        """
        shape = len(self.rows), self.game.num_players
        results, margins = np.empty(shape), np.empty(shape)
        loops.score(self.rows, self.slots, self.seating, results, margins)
        lengths = self.rows["decisions"].astype(np.int64)
        return Games(
            seeds=seeds,
            seating=self.seating,
            results=results,
            margins=margins,
            lengths=lengths,
            endings=self.slots["status"].copy(),
            courses=self.slots["course"].copy(),
            actions=self.log[:, : lengths.max()].copy() if self._keep_actions else None,
        )


def typical_length(game: Game, limit: int) -> float:
    """Mean number of decisions in a few random games: what to expect of any."""
    recipes = np.zeros(game.num_players, RECIPE)
    recipes["kind"] = RANDOM
    seating = np.tile(np.arange(game.num_players), (8, 1))
    table = Table(game, np.arange(8, dtype=np.uint64), seating, recipes, limit, keep_actions=False)
    table.play(())
    return float(table.rows["decisions"].mean())
