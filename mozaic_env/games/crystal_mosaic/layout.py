"""Where everything lies on a picture of Crystal Mosaic, in its units."""

import functools
from dataclasses import dataclass

from mozaic_env.games.crystal_mosaic.actions import CENTRE, FLOOR_SPACES, PER_FACTORY, SIZE

WIDTH = HEIGHT = 512
MARGIN = 14
HEADER = 54
BOARD_W, BOARD_H = 236, 170
CELL = 21.5  # of lines and walls
TITLE = 26  # of a board

Spot = tuple[float, float]  # a middle


@dataclass(frozen=True)
class Layout:
    """The places for a number of players; every method gives middles."""

    players: int
    factories: int

    @property
    def table_height(self) -> float:
        """Of the room between the header and the boards."""
        return self.boards_top - HEADER - 6

    @property
    def boards_top(self) -> float:
        rows = 1 if self.players == 2 else 2
        return float(HEIGHT - rows * (BOARD_H + 8))

    @property
    def table_tile(self) -> float:
        """Size of a tile on a factory."""
        return 32.0 if self.players == 2 else 19.0 if self.players == 3 else 17.0

    @property
    def small_tile(self) -> float:
        """Size of a tile in the centre, bag and lid."""
        return 30.0 if self.players == 2 else 17.0

    @property
    def factory_size(self) -> float:
        return 2 * self.table_tile + 10

    def factory(self, source: int) -> Spot:
        pitch = (WIDTH - 2 * MARGIN) / self.factories
        return MARGIN + pitch * (source + 0.5), HEADER + 2 + self.factory_size / 2

    def on_factory(self, source: int, place: int) -> Spot:
        """One of the four places of a factory."""
        x, y = self.factory(source)
        step = self.table_tile / 2 + 1.5
        return x + (step if place % 2 else -step), y + (step if place >= PER_FACTORY // 2 else -step)

    @property
    def centre_y(self) -> float:
        gap = self.table_height - self.factory_size
        return HEADER + self.factory_size + gap * (0.34 if self.players == 2 else 0.36)

    @property
    def piles_y(self) -> float:
        return self.centre_y + self.small_tile + (26 if self.players == 2 else 9)

    def in_centre(self, colour: int) -> Spot:
        """Where the centre shows a colour; SIZE is the marker's place."""
        return MARGIN + 72 + colour * 70, self.centre_y

    def in_pile(self, pile: int, colour: int) -> Spot:
        """Where the bag (0) or the lid (1) shows a colour."""
        return MARGIN + 44 + 248 * pile + colour * 41, self.piles_y

    def board(self, seat: int) -> tuple[float, float]:
        """The upper left corner of a player's board."""
        column, row = seat % 2, seat // 2
        return MARGIN + column * (BOARD_W + 12), self.boards_top + row * (BOARD_H + 4)

    def line(self, seat: int, line: int, place: int) -> Spot:
        """A place of a pattern line, counted from the right."""
        x, y = self.board(seat)
        return x + 6 + CELL * (SIZE - place - 0.5), y + TITLE + CELL * (line + 0.5)

    def wall(self, seat: int, line: int, column: int) -> Spot:
        x, y = self.board(seat)
        return x + BOARD_W - 6 - CELL * (SIZE - column - 0.5), y + TITLE + CELL * (line + 0.5)

    def floor(self, seat: int, place: int) -> Spot:
        x, y = self.board(seat)
        return x + 6 + (CELL + 9.5) * (place + 0.5), y + BOARD_H - 27

    def source(self, source: int) -> tuple[float, float, float, float]:
        """Middle, width and height of a factory or the centre."""
        if source == CENTRE:
            return WIDTH / 2, self.centre_y, WIDTH - 2.0 * MARGIN + 4, self.small_tile + 8
        x, y = self.factory(source)
        return x, y, self.factory_size, self.factory_size

    def target(self, seat: int, target: int) -> tuple[float, float, float, float]:
        """Middle, width and height of a pattern line or the floor."""
        if target == SIZE:
            x = (self.floor(seat, 0)[0] + self.floor(seat, FLOOR_SPACES - 1)[0]) / 2
            return x, self.floor(seat, 0)[1], (CELL + 9.5) * FLOOR_SPACES, CELL
        first, last = self.line(seat, target, target), self.line(seat, target, 0)
        return (first[0] + last[0]) / 2, first[1], CELL * (target + 1), CELL


@functools.cache
def layout(players: int, factories: int) -> Layout:
    """The layout for a number of players."""
    return Layout(players, factories)
