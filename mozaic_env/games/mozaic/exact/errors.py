"""How far values can be from the true ones: what no play can change about the course of a game.

Whatever the players do, a draw brings a placement, a slide, a removal or a missed turn with probabilities that depend
on the number of gems on the board alone. So errors of the values pass from layer to layer by known shares. If one more
sweep would change the values of layer n by at most r(n), the errors e satisfy e <= M e + r, with M these shares, hence
e <= (1 - M)^-1 r: a bound, not an estimate.
"""

import numpy as np

from mozaic_env.core.contract import Floats
from mozaic_env.games.mozaic.exact.moves import PASS, SECOND, SECOND_NO_DIAMOND, SECOND_NO_EMERALD


class ErrorBounds:
    """What another sweep of each layer could still change, and what that means for the values."""

    def __init__(self, tiles: int, kinds: int, change: float) -> None:
        """Begins.

        Args:
            tiles: of the board.
            kinds: of what is stored of a board.
            change: what a sweep can change at first.
        """
        self.pending = np.full((tiles, kinds), change)
        self._shares = _shares(tiles, kinds)
        shares = self._shares.reshape(tiles * kinds, tiles * kinds)
        self._inverse: Floats = np.asarray(np.linalg.inv(np.eye(tiles * kinds) - shares), np.float64)

    @property
    def error(self) -> float:
        """Bound of the error of all values."""
        return float((self._inverse @ self.pending.ravel()).max())

    def swept(self, layer: int, changes: Floats) -> None:
        """A layer has been swept by values as they were before, which has changed its values by so much, by kind."""
        self.pending[layer] = 0.0
        self.pending += self._shares[:, :, layer] @ changes

    def changed(self, layer: int, changes: Floats) -> None:
        """The values of a layer have been changed otherwise by so much, by kind."""
        self.pending[layer] += changes
        self.pending += self._shares[:, :, layer] @ changes


def _shares(tiles: int, kinds: int) -> Floats:
    """By how much of it an error comes into a new value: shape (layer, kind, layer whose error it is, its kind)."""
    shares = np.zeros((tiles + 1, kinds, tiles + 1, kinds))
    no_emerald, no_diamond = min(SECOND_NO_EMERALD, kinds - 1), min(SECOND_NO_DIAMOND, kinds - 1)
    for gems in range(tiles):
        colours, fewer = tiles - gems, max(gems - 1, 0)
        bag = colours + 4
        turn = shares[gems, PASS]
        for share, placed, slid, removed in ((1.0, PASS, PASS, PASS), (1 / (bag - 1), SECOND, no_emerald, no_diamond)):
            turn[gems + 1, placed] += share * colours
            turn[gems, slid] += share
            turn[fewer, removed] += share
        turn[gems, PASS] += 1  # the ruby
        turn[gems, PASS if kinds > SECOND_NO_EMERALD else SECOND] += 1 / (bag - 1)  # the ruby drawn first
        turn /= bag
        for kind in range(SECOND, kinds):
            second = shares[gems, kind, :, PASS]
            second[gems + 1] += colours
            second[gems] += 1
            if kind != SECOND_NO_EMERALD:
                second[gems] += 1
            if kind != SECOND_NO_DIAMOND:
                second[fewer] += 1
            second /= colours + 1 + (kind != SECOND_NO_EMERALD) + (kind != SECOND_NO_DIAMOND)
    return shares[:tiles, :, :tiles]
