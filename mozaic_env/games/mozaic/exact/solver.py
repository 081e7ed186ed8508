"""The solver of the Game contract for Mozaic."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from mozaic_env.core.exact import MARGIN, ExactSolver, ExactValues
from mozaic_env.core.game import Game, Rows
from mozaic_env.games.mozaic.actions import AMETHYST, EDITIONS
from mozaic_env.games.mozaic.exact.index import MOST_TILES, Index, find, make_index, number_of_boards
from mozaic_env.games.mozaic.exact.iteration import BEST, Iteration, lead_error, number_of_leads, scale_of
from mozaic_env.games.mozaic.exact.moves import PASS, make_moves
from mozaic_env.games.mozaic.exact.query import action_worths

MOST_TILES_BY_LEAD = 12
SECONDS, SECONDS_PER_LEAD = 40e-6, 12e-6  # to solve a board, and more for each lead; of one core
_PASSES = "passes"


class MozaicValues(ExactValues):
    """What every action is worth, from what it is worth that the other player's turn begins."""

    def __init__(self, game: Game, objective: str, residual: float, index: Index, passes: npt.NDArray[np.float64]):
        self.game, self.objective, self.residual = game, objective, residual
        self._index, self._passes, self._scale = index, passes[..., None], scale_of(objective)
        self._tiles = game.num_actions // 6

    @property
    def draw_value(self) -> float:
        """What it is worth to draw first, the board empty and the bag full."""
        return -float(self._passes[0, self._passes.shape[1] // 2, PASS])

    @property
    def start_value(self) -> float:
        if self.game.options["rules"] != EDITIONS[AMETHYST]:
            return 0.0  # a coin says who draws first
        middle = self._passes.shape[1] // 2
        openings = [self._passes[find(self._index, 1 << tile, 0), middle, PASS] for tile in range(self._tiles)]
        return float(max(openings))

    def action_values(self, states: Rows) -> npt.NDArray[np.float64]:
        self.game.check_rows(states)
        found = np.full((len(states), self.game.num_actions), np.nan)
        room = make_moves(self._tiles), make_moves(self._tiles)
        rows = np.ascontiguousarray(states)
        action_worths(rows, self._index, self._passes, self._scale, self.game.rows(2), found, *room)
        return found


class MozaicSolver(ExactSolver):
    """Value iteration; see `Iteration`."""

    def __init__(self, game: Game, objective: str) -> None:
        """Begins; ValueError if the board is too large."""
        super().__init__(game, objective)
        self._size = (int(game.options["rows"]), int(game.options["cols"]))
        self._tiles = tiles = self._size[0] * self._size[1]
        self._kinds = 4 if game.options["rules"] == EDITIONS[AMETHYST] else 2
        self.boards = number_of_boards(*self._size)
        leads = number_of_leads(objective, tiles)
        self.seconds = self.boards * (SECONDS + leads * SECONDS_PER_LEAD)
        arrays = self._kinds + 12  # what is stored of a board, and room to sweep and to mix
        self.bytes = self.boards * leads * 8 * arrays + 250 * 2**20
        most = MOST_TILES if objective == MARGIN else MOST_TILES_BY_LEAD
        if tiles > most:
            self.refusal = (
                f"{game!r} has {self.boards:.2g} boards up to symmetry: to solve it for {objective} would take about "
                f"{self.bytes / 2**30:.2g} GiB and {self.seconds / 3600:.2g} hours; "
                f"accepted: up to {most} tiles" + ("" if objective == MARGIN else f", for {MARGIN} up to {MOST_TILES}")
            )
        self._iteration: Iteration | None = None

    @property
    def iteration(self) -> Iteration:
        """Made when it is needed, since it takes memory."""
        if self._iteration is None:
            self._iteration = Iteration(self.game, self._size, self._kinds, self.objective, [BEST], folded=True)
        return self._iteration

    @property
    def error(self) -> float:
        return self.iteration.errors.error

    def sweep(self, threads: int = 1) -> None:
        self.iteration.sweep(threads)

    def tensors(self) -> dict[str, npt.NDArray[np.float64]]:
        return {_PASSES: np.ascontiguousarray(self.iteration.values[0][..., PASS])}

    def restore(self, tensors: Mapping[str, npt.NDArray[np.float64]], error: float, threads: int = 1) -> None:
        self.values(tensors, error)  # says what does not fit
        self.iteration.restore([tensors[_PASSES]], error, threads)

    def values(self, tensors: Mapping[str, npt.NDArray[np.float64]], error: float) -> ExactValues:
        index, layers = make_index(*self._size)
        passes, shape = tensors.get(_PASSES), (layers[-1].end, number_of_leads(self.objective, self._tiles))
        if passes is None or passes.shape != shape or passes.dtype != np.float64:
            raise ValueError(f"values of {self.game!r} are float64 {_PASSES!r} of shape {shape}; solve the board again")
        return MozaicValues(self.game, self.objective, error + lead_error(passes), index, passes)
