"""Value iteration, a layer at a time, the fullest boards first."""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from mozaic_env.core.contract import Floats
from mozaic_env.core.exact import MARGIN
from mozaic_env.core.game import Game
from mozaic_env.games.mozaic.exact.errors import ErrorBounds
from mozaic_env.games.mozaic.exact.index import make_index
from mozaic_env.games.mozaic.exact.mixing import Mixing
from mozaic_env.games.mozaic.exact.moves import PASS, SECOND, Scale, Values, make_moves
from mozaic_env.games.mozaic.exact.sweep import Choices, sweep_blocks

FIRST_CHANGE = 4.0  # squares; a single action makes no more, and before the first sweep all is worth nothing
# What is slow to settle are the fullest boards: few colour gems are left to draw, and a removal takes one back. So
# before all layers are swept once, some of the fullest are; about the best for its cost of what was tried.
WINDOWS = (2, 3, 4, 5)
BEST: Choices = np.zeros((0, 0, 2), np.uint64)  # no fixed choices


def scale_of(objective: str) -> Scale:
    """How a gain counts in an objective."""
    return Scale(1.0, 0) if objective == MARGIN else Scale(0.0, 1)


def number_of_leads(objective: str, tiles: int) -> int:
    """How many leads are told apart: up to two squares for each tile, by which the outcome is as good as decided."""
    return 1 if objective == MARGIN else 4 * tiles + 1


def lead_error(passes: npt.NDArray[np.float64]) -> float:
    """Bound of the error that comes from telling no larger leads apart.

    Whoever leads by more than the most is taken to lead by that. What is true lies between what that is worth and a
    sure win.

    Args:
        passes: shape (slots, leads); zero where a slot is unused.
    """
    if passes.shape[1] == 1:
        return 0.0
    largest = np.abs(passes[:, [0, -1]])
    return float(1 - largest[largest > 0].min())


class Iteration:
    """The values of the players' turns, and sweeps that better them.

    Each sweep of a layer computes its values from those before it, so neither threads nor the order of its boards
    change a bit of the result.

    Attributes:
        values: for each player, or one array for both if they play alike.
        boards: how many boards have been swept so far, those of all players together.
    """

    def __init__(
        self, game: Game, board: tuple[int, int], kinds: int, objective: str, choices: Sequence[Choices], folded: bool
    ) -> None:
        """Begins with values of zero.

        Args:
            game: the variant.
            board: its ranks and files.
            kinds: of what is stored of a board.
            objective: "margin" or "outcome".
            choices: by player; one: both play so.
            folded: whether boards that are equal by a symmetry share a slot.
        """
        self._game, tiles, leads = game, board[0] * board[1], number_of_leads(objective, board[0] * board[1])
        self.index, self.layers = make_index(*board, folded)
        self.scale, self._choices = scale_of(objective), list(choices)
        shape = (self.layers[-1].end, leads, kinds)
        self.values: list[Values] = [np.zeros(shape) for _ in choices]
        if objective != MARGIN:
            for values in self.values:
                values[self.layers[-1].start :] = np.sign(np.arange(leads) - leads // 2)[None, :, None]
        widest = max(layer.end - layer.start for layer in self.layers)
        self._fresh = [np.zeros((widest, *shape[1:])) for _ in choices]
        self.errors, self._tiles = ErrorBounds(tiles, kinds, FIRST_CHANGE), tiles
        self._mixing = Mixing()
        self.boards = 0

    def fix(self, player: int, choices: Choices) -> None:
        """Says what a player chooses."""
        self._choices[player] = choices

    def sweep(self, threads: int = 1) -> None:
        """Sweeps all layers, the fullest ones several times."""
        number = len(self.layers) - 1
        self._extrapolate()
        for window in (*WINDOWS, number):
            for layer in range(number - 1, max(number - window, 0) - 1, -1):
                self.errors.swept(layer, self._sweep_layer(layer, threads))
        self._mixing.note([values[..., PASS] for values in self.values])

    def _extrapolate(self) -> None:
        """Replaces the passes by what the last sweeps make one expect."""
        passes = [values[..., PASS] for values in self.values]
        changes = np.zeros((len(self.layers), self.values[0].shape[2]))
        for now, better in zip(passes, self._mixing.guess(), strict=False):
            for layer, (start, end, _, _) in enumerate(self.layers):
                change = float(np.abs(better[start:end] - now[start:end]).max())
                changes[layer, PASS] = max(changes[layer, PASS], change)
            now[:] = better
        for layer in range(len(self.layers) - 1):
            self.errors.changed(layer, changes[layer])
        self._mixing.begin(passes)

    def restore(self, passes: Sequence[npt.NDArray[np.float64]], error: float, threads: int = 1) -> None:
        """Goes on from values of the passes, shape (slots, leads), whose errors are at most `error`."""
        for values, known in zip(self.values, passes, strict=True):
            values[..., PASS] = known
        for layer in range(len(self.layers) - 1):
            self._sweep_layer(layer, threads, first_kind=SECOND)
        self.errors.pending[:] = 0.0
        self.errors.pending[:, PASS] = 2 * error

    def _sweep_layer(self, layer: int, threads: int, first_kind: int = PASS) -> Floats:
        """The largest change by kind, of the kinds from `first_kind` on, which alone are kept."""
        start, end = self.layers[layer][:2]
        changes = np.zeros(self.values[0].shape[2])
        for player, choices in enumerate(self._choices):
            np.maximum(changes, self._sweep_player(layer, threads, player, choices), out=changes)
        last = len(self._choices) - 1
        for player, values in enumerate(self.values):
            seconds, passes = self._fresh[player], self._fresh[last - player]
            if first_kind == PASS:
                values[start:end, :, PASS] = passes[: end - start, :, PASS]
            values[start:end, :, SECOND:] = seconds[: end - start, :, SECOND:]
        return changes

    def _sweep_player(self, layer: int, threads: int, player: int, choices: Choices) -> Floats:
        start, _, owns, others = self.layers[layer]
        last = len(self._choices) - 1
        threads = min(threads, os.cpu_count() or 1)
        parts = _parts(len(owns), threads)
        changes = np.zeros((len(parts), self.values[0].shape[2]))

        def work(part: int) -> int:
            low, high = parts[part]
            boards: int = sweep_blocks(
                self._game.rows(1)[0],
                owns[low:high],
                others[low:high],
                self.index,
                self.values[player],
                self.values[last - player],
                self.scale,
                choices,
                start,
                self._fresh[player],
                changes[part],
                make_moves(self._tiles),
            )
            return boards

        if len(parts) == 1:
            self.boards += work(0)
        else:
            with ThreadPoolExecutor(threads) as pool:
                self.boards += sum(pool.map(work, range(len(parts))))
        return np.asarray(changes.max(0))


def _parts(blocks: int, threads: int) -> list[tuple[int, int]]:
    """Blocks as ranges for threads, several for each, since blocks differ in size."""
    number = 1 if threads == 1 else min(blocks, 8 * threads)
    edges = np.linspace(0, blocks, number + 1).astype(int).tolist()
    return list(pairwise(edges))
