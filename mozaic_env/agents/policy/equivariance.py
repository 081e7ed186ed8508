"""Convolutions that a game's symmetries are built into: turn the board, and what they say turns with it.

A layer's channels come in sets, one channel for each symmetry: what one of them sees of a position, the others see of
its images. All kernels of a set are the images of one, so a layer has as many times fewer weights as there are
symmetries, for the same arithmetic, and the network need not learn from eight positions what it could learn from one.

Source: T. S. Cohen and M. Welling, Group Equivariant Convolutional Networks, 2016.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mozaic_env.core.extras import importing
from mozaic_env.core.game import Game

with importing("a policy"):
    import torch
    from torch import Tensor, nn
    from torch.nn import functional


Table = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Group:
    """The symmetries of a game as a convolution sees them; tables of indices, one line for each symmetry.

    Attributes:
        products: `products[g][h]` is the symmetry that first does h and then undoes g.
        kernels: undone, where each of the nine squares of a 3 x 3 kernel goes.
        planes: undone, where each plane of the observation's board goes.
        actions: undone, where each plane of actions goes.
    """

    products: Table
    kernels: Table
    planes: Table
    actions: Table

    @property
    def order(self) -> int:
        """How many symmetries there are."""
        return len(self.products)


def group_of(game: Game, board: tuple[int, int, int], places: npt.NDArray[np.int64]) -> Group:
    """The symmetries of a game whose observation has a board and whose actions lie over it.

    Args:
        game: whose `symmetries` these are.
        board: planes, rows and columns of the observation's entry.
        places: for each action, plane * tiles + tile.

    Raises:
        ValueError: a symmetry does more than to move tiles and to exchange planes.
    """
    planes, rows, cols = board
    tiles = rows * cols
    found = {tuple(symmetry.actions.tolist()): index for index, symmetry in enumerate(game.symmetries)}
    turns, swaps, moves = [], [], []
    for symmetry in game.symmetries:
        entry = symmetry.entries.get("board", np.arange(planes * tiles)).reshape(planes, tiles)
        turn, swap = entry[0] % tiles, entry[:, 0] // tiles
        move = np.arange(places.max() // tiles + 1)
        move[places // tiles] = places[symmetry.actions] // tiles
        images = move[places // tiles] * tiles + turn[places % tiles]
        if (entry != swap[:, None] * tiles + turn).any() or (places[symmetry.actions] != images).any():
            raise ValueError(f"symmetry {symmetry.name!r} of {game!r} does more than to move tiles and exchange planes")
        turns.append(_kernel(turn, rows, cols))
        swaps.append(swap)
        moves.append(move)
    undone = [np.argsort(symmetry.actions) for symmetry in game.symmetries]
    products = [[found[tuple(undo[other.actions].tolist())] for other in game.symmetries] for undo in undone]

    def inverse(tables: list[npt.NDArray[np.int64]]) -> Table:
        return tuple(tuple(np.argsort(table).tolist()) for table in tables)

    return Group(tuple(map(tuple, products)), inverse(turns), inverse(swaps), inverse(moves))


def _kernel(turn: npt.NDArray[np.int64], rows: int, cols: int) -> npt.NDArray[np.int64]:
    """Where the squares of a 3 x 3 kernel go when the tiles of a board go to `turn`."""

    def step(tile: int) -> npt.NDArray[np.int64]:
        there, origin = divmod(int(turn[tile]), cols), divmod(int(turn[0]), cols)
        return np.array([there[0] - origin[0], there[1] - origin[1]])

    down = step(cols) if rows > 1 else np.array([1, 0])
    right = step(1) if cols > 1 else np.array([0, 1])
    row, col = np.mgrid[-1:2, -1:2].reshape(2, 9, 1)
    image: npt.NDArray[np.int64] = (row * down + col * right + 1) @ np.array([3, 1])
    return image


class TiedConv(nn.Module):
    """A convolution whose kernels are images of each other.

    Attributes:
        weight: the free weights, one kernel for each set of channels.
        bias: one number for each set of channels (or each kind of action planes).
    """

    def __init__(self, index: npt.NDArray[np.int64], free: tuple[int, ...], owners: npt.NDArray[np.int64]) -> None:
        """Makes random weights, as large as those of an ordinary convolution.

        Args:
            index: which free weight stands where in the kernels, shape (out, in, size, size).
            free: the shape of the free weights.
            owners: for each channel that comes out, whose bias it has.
        """
        super().__init__()
        self.index: Tensor
        self.owners: Tensor
        self.register_buffer("index", torch.from_numpy(index), persistent=False)
        self.register_buffer("owners", torch.from_numpy(owners), persistent=False)
        bound = 1 / math.sqrt(index[0].size)
        self.weight = nn.Parameter(torch.empty(free).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(int(owners.max()) + 1).uniform_(-bound, bound))

    def forward(self, planes: Tensor) -> Tensor:
        """The planes that come out, as large as those that go in."""
        weight = self.weight.flatten()[self.index]
        return functional.conv2d(planes, weight, self.bias[self.owners], padding=weight.shape[-1] // 2)


def lift(group: Group, planes: int, sets: int) -> TiedConv:
    """From the planes of an observation to sets of channels, 3 x 3."""
    shape = (sets, planes, 9)
    free = np.arange(math.prod(shape)).reshape(shape)
    whole = np.stack([free[:, p][:, :, k] for p, k in zip(group.planes, group.kernels)], 1)
    return TiedConv(whole.reshape(-1, planes, 3, 3), shape, np.repeat(np.arange(sets), group.order))


def between(group: Group, sets_in: int, sets_out: int, size: int) -> TiedConv:
    """From sets of channels to sets of channels, 3 x 3 or 1 x 1."""
    kernels = group.kernels if size == 3 else ((0,),) * group.order
    shape = (sets_out, sets_in, group.order, size * size)
    free = np.arange(math.prod(shape)).reshape(shape)
    whole = np.stack([free[:, :, g][:, :, :, k] for g, k in zip(group.products, kernels)], 1)
    whole = whole.reshape(sets_out * group.order, sets_in * group.order, size, size)
    return TiedConv(whole, shape, np.repeat(np.arange(sets_out), group.order))


def lower(group: Group, sets: int, planes: int) -> TiedConv:
    """From sets of channels to planes of actions, 1 x 1."""
    shape = (planes, sets)
    free = np.arange(math.prod(shape)).reshape(shape)
    whole = np.stack([free[list(move)] for move in group.actions], -1)  # planes, sets, symmetries
    moves = np.array(group.actions)
    kinds = np.unique(moves.min(0), return_inverse=True)[1]  # planes that some symmetry exchanges
    return TiedConv(whole.reshape(planes, -1, 1, 1), shape, kinds.reshape(-1))
