"""The best response to an agent whose choices are known."""

from collections.abc import Iterator

import numpy as np

from mozaic_env.core.contract import Bytes
from mozaic_env.core.exact import MARGIN, BestResponse
from mozaic_env.core.game import Game, Rows
from mozaic_env.games.mozaic.actions import AMETHYST, EDITIONS
from mozaic_env.games.mozaic.exact.asking import no_choices, note, questions
from mozaic_env.games.mozaic.exact.index import MOST_TILES, find, number_of_boards
from mozaic_env.games.mozaic.exact.iteration import BEST, Iteration
from mozaic_env.games.mozaic.exact.moves import DRAWS, OWN, PASS, TURN
from mozaic_env.games.mozaic.exact.sweep import choice_bit, is_chosen
from mozaic_env.games.mozaic.symmetries import symmetries

MOST_TILES_ASKED = 12  # of a board whose every decision an agent is asked about, images and all kinds of draws as well
BATCH = 2**16


class MozaicResponse(BestResponse):
    """Value iteration with one player's choices fixed.

    An agent that looks at the tiles and the gem in hand alone, and at no direction, is asked once for all boards that
    are equal by a symmetry and for all kinds of draws.
    """

    def __init__(self, game: Game, plain: bool) -> None:
        """Begins; `plain`: the agent is of that kind."""
        rows, cols = int(game.options["rows"]), int(game.options["cols"])
        self._tiles, self._amethyst = rows * cols, game.options["rules"] == EDITIONS[AMETHYST]
        self.boards = number_of_boards(rows, cols) * (1 if plain else len(symmetries(rows, cols)))
        most = MOST_TILES if plain else MOST_TILES_ASKED
        if self._tiles > most:
            self.refusal = (
                f"{game!r} has {self.boards:.2g} boards at which this agent would be asked; accepted: "
                f"up to {most} tiles"
                + ("" if plain else f"; up to {MOST_TILES} for random, greedy and other heuristics")
            )
            return
        draws = 1 if plain else DRAWS if self._amethyst else DRAWS - 2
        self.game, self._draws = game, draws
        kinds = 4 if self._amethyst else 2
        self._iteration = Iteration(game, (rows, cols), kinds, MARGIN, [BEST, BEST], plain)
        self._index, self._layers = self._iteration.index, self._iteration.layers
        self._choices = no_choices(self._layers, draws)
        self._iteration.fix(1, self._choices)

    def ask(self) -> Iterator[tuple[Rows, object]]:
        for question in questions(self.game, self._index, self._layers, self._draws, BATCH):
            yield question.rows, question

    def tell(self, question: object, taken: Bytes) -> None:
        note(question, taken, self._choices)  # type: ignore[arg-type]

    @property
    def error(self) -> float:
        return self._iteration.errors.error

    def sweep(self, threads: int = 1) -> None:
        self._iteration.sweep(threads)

    def responses(self) -> tuple[float, float]:
        own, agents = (values[:, 0, PASS] for values in self._iteration.values)
        if not self._amethyst:
            both = float(own[0] - agents[0]) / 2
            return both, both
        slots = np.array([find(self._index, 1 << tile, 0) for tile in range(self._tiles)])
        taken = [is_chosen(self._choices, TURN, 0, choice_bit(OWN, tile, self._tiles)) for tile in range(self._tiles)]
        return float(own[slots].max()), -float(agents[slots[taken]].mean())
