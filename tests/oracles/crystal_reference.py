"""Crystal Mosaic in slow, plain Python: a literal transcription of the rules page.

The fast kernels are proved against this module, so it shares nothing with them: no arrays, no bits, no import from the
package. Tiles are letters that lie in lists, a wall is a dictionary from (row, column) to a letter, rows and columns
count from 1 as on the rules page, seats count from 0, and after every step all hundred tiles are counted.
"""

from __future__ import annotations

import copy
import random
from collections import Counter
from fractions import Fraction

COLOURS = "BYRKW"
MARKER = "*"
FACTORIES = {2: 5, 3: 7, 4: 9}
BASE_FLOOR = (-1, -1, -2, -2, -2, -3, -3)
NEW_FLOOR = (-1, 0, -1, -2, -1, -2, -3)
BASE_ROWS = ("BYRKW", "WBYRK", "KWBYR", "RKWBY", "YRKWB")
PRINTED = {
    "base": {},
    "grey": {},
    "side1": {(1, 4): "K", (2, 1): "W", (3, 3): "Y", (4, 5): "B", (5, 2): "R"},
    "side2": {(2, 2): "B", (2, 4): "R", (3, 3): "W", (4, 2): "K", (4, 4): "Y"},
}
DOUBLED = {"side1"}
BONUSES = {"base": (2, 7, 10), "grey": (2, 7, 10), "side1": (2, 7, 10), "side2": (3, 10, 12)}
FLOORS = {"base": BASE_FLOOR, "grey": BASE_FLOOR, "side1": NEW_FLOOR, "side2": NEW_FLOOR}
BOARDS = tuple(PRINTED)

Space = tuple[int, int]


class Player:
    """What lies in front of one player: pattern lines, wall, floor line (tiles and perhaps the marker), score."""

    def __init__(self) -> None:
        self.lines: dict[int, list[str]] = {1: [], 2: [], 3: [], 4: [], 5: []}
        self.wall: dict[Space, str] = {}
        self.floor: list[str] = []
        self.score = 0

    def complete_rows(self) -> int:
        return sum(all((row, column) in self.wall for column in range(1, 6)) for row in range(1, 6))

    def complete_columns(self) -> int:
        return sum(all((row, column) in self.wall for row in range(1, 6)) for column in range(1, 6))

    def complete_colours(self) -> int:
        return sum(list(self.wall.values()).count(colour) == 5 for colour in COLOURS)


class ReferenceCrystal:
    """One game. The caller supplies the luck: at `status` "chance" it calls `draw` with a colour.

    Attributes:
        status: "chance" (a tile is to be drawn), "draft", "tiling", "over" or "truncated".
        mover: the seat that decides, None elsewhere.
        has_marker: the seat that has taken the marker in this round, None while it lies in the centre.
    """

    def __init__(
        self, players: int = 2, board: str = "side2", floor: tuple[int, ...] | None = None, max_rounds: int = 30
    ) -> None:
        self.board, self.max_rounds = board, max_rounds
        self.floor_values = FLOORS[board] if floor is None else floor
        self.players = [Player() for _ in range(players)]
        self.bag = [colour for colour in COLOURS for _ in range(20)]
        self.lid: list[str] = []
        self.factories: list[list[str]] = [[] for _ in range(FACTORIES[players])]
        self.centre: list[str] = []
        self.round = 1
        self.starter = 0
        self.has_marker: int | None = None
        self.status, self.mover = "chance", None
        self.tiling_line: int | None = None
        self._begin_refill()

    # --- refill ---------------------------------------------------------------------------------

    def _begin_refill(self) -> None:
        self.status, self.mover, self.tiling_line = "chance", None, None
        self._refill_on()

    def _refill_on(self) -> None:
        """Waits for a draw if there is one to make, else the draft begins."""
        self._count_tiles()
        if all(len(factory) == 4 for factory in self.factories):
            self._begin_draft()
            return
        if not self.bag:
            self.bag, self.lid = self.lid, []
        if not self.bag:
            self._begin_draft()

    def possible_draws(self) -> dict[str, Fraction]:
        return {colour: Fraction(self.bag.count(colour), len(self.bag)) for colour in COLOURS if colour in self.bag}

    def draw(self, colour: str) -> None:
        assert self.status == "chance"
        self.bag.remove(colour)
        next(factory for factory in self.factories if len(factory) < 4).append(colour)
        self._refill_on()

    # --- draft ----------------------------------------------------------------------------------

    def _begin_draft(self) -> None:
        self.status, self.mover = "draft", self.starter
        if self._table_is_empty():
            self._begin_tiling()

    def _table_is_empty(self) -> bool:
        return not self.centre and not any(self.factories)

    def _source(self, number: int) -> list[str]:
        """Sources 0 to 8 are the factories, 9 is the centre."""
        if number == 9:
            return self.centre
        return self.factories[number] if number < len(self.factories) else []

    def _accepts(self, player: Player, line: int, colour: str) -> bool:
        tiles = player.lines[line]
        if tiles and (tiles[0] != colour or len(tiles) == line):
            return False
        return not any(row == line and tile == colour for (row, _), tile in player.wall.items())

    def _draft(self, source: int, colour: str, line: int) -> None:
        player, tiles = self.players[self.mover], self._source(source)
        taken = [tile for tile in tiles if tile == colour]
        rest = [tile for tile in tiles if tile != colour]
        tiles.clear()
        if source == 9:
            self.centre.extend(rest)
            if self.has_marker is None:
                self.has_marker = self.mover
                if len(player.floor) < 7:
                    player.floor.append(MARKER)
        else:
            self.centre.extend(rest)
        while taken and line <= 5 and len(player.lines[line]) < line:
            player.lines[line].append(taken.pop())
        self._to_floor(player, taken)
        self.mover = (self.mover + 1) % len(self.players)
        if self._table_is_empty():
            self._begin_tiling()

    def _to_floor(self, player: Player, tiles: list[str]) -> None:
        for tile in tiles:
            if len(player.floor) < 7:
                player.floor.append(tile)
            else:
                self.lid.append(tile)

    # --- tiling ---------------------------------------------------------------------------------

    def _begin_tiling(self) -> None:
        self.status = "tiling"
        self._to_tile = [
            ((self.starter + turn) % len(self.players), line)
            for turn in range(len(self.players))
            for line in range(1, 6)
        ]
        self._tile_on()

    def _tile_on(self) -> None:
        """Goes through the lines that are still to be looked at, up to the first with a choice."""
        self.mover = self.tiling_line = None
        while self._to_tile:
            seat, line = self._to_tile[0]
            player = self.players[seat]
            if len(player.lines[line]) == line:
                spaces = self.spaces(seat, line)
                if len(spaces) > 1:
                    self.mover, self.tiling_line = seat, line
                    return
                if spaces:
                    self._put_on_wall(seat, line, spaces[0])
                else:
                    tiles = player.lines[line]
                    player.lines[line] = []
                    self._to_floor(player, tiles)
            self._to_tile.pop(0)
        self._end_round()

    def spaces(self, seat: int, line: int) -> list[Space]:
        """Where the tile of a complete line may go."""
        player, colour = self.players[seat], self.players[seat].lines[line][0]
        if self.board == "base":
            return [(line, BASE_ROWS[line - 1].index(colour) + 1)]
        found = []
        for column in range(1, 6):
            taken = (line, column) in player.wall
            in_row = any(player.wall.get((line, other)) == colour for other in range(1, 6))
            in_column = any(player.wall.get((other, column)) == colour for other in range(1, 6))
            other_print = PRINTED[self.board].get((line, column), colour) != colour
            if not (taken or in_row or in_column or other_print):
                found.append((line, column))
        return found

    def _put_on_wall(self, seat: int, line: int, space: Space) -> None:
        player = self.players[seat]
        tiles = player.lines[line]
        player.lines[line] = []
        player.wall[space] = tiles.pop()
        self.lid.extend(tiles)
        player.score += self.points(player, space)

    def points(self, player: Player, space: Space) -> int:
        """What a tile that has just come to a space scores."""
        row, column = space
        across = 1 + self._run(player, row, column, 0, 1) + self._run(player, row, column, 0, -1)
        down = 1 + self._run(player, row, column, 1, 0) + self._run(player, row, column, -1, 0)
        if across == 1 and down == 1:
            points = 1
        else:
            points = (across if across > 1 else 0) + (down if down > 1 else 0)
        if self.board in DOUBLED and space in PRINTED[self.board]:
            points *= 2
        return points

    def _run(self, player: Player, row: int, column: int, down: int, right: int) -> int:
        length = 0
        while (row + down * (length + 1), column + right * (length + 1)) in player.wall:
            length += 1
        return length

    # --- the end of a round ---------------------------------------------------------------------

    def _end_round(self) -> None:
        for player in self.players:
            player.score += sum(self.floor_values[: len(player.floor)])
            player.score = max(player.score, 0)
            self.lid.extend(tile for tile in player.floor if tile != MARKER)
            player.floor = []
        if self.has_marker is not None:
            self.starter = self.has_marker
        self.has_marker = None
        self.mover = None
        if any(player.complete_rows() for player in self.players):
            self._finish()
        elif self.round == self.max_rounds:
            self.status = "truncated"
        else:
            self.round += 1
            self._begin_refill()
        self._count_tiles()

    def _finish(self) -> None:
        row, column, colour = BONUSES[self.board]
        for player in self.players:
            player.score += row * player.complete_rows()
            player.score += column * player.complete_columns()
            player.score += colour * player.complete_colours()
        self.status = "over"

    def winners(self) -> list[int]:
        """Highest score; of those, most complete rows; who is still tied shares."""
        best = max((player.score, player.complete_rows()) for player in self.players)
        return [seat for seat, player in enumerate(self.players) if (player.score, player.complete_rows()) == best]

    def outcomes(self) -> list[Fraction]:
        winners, seats = self.winners(), len(self.players)
        if len(winners) == seats:
            return [Fraction(0)] * seats
        return [
            Fraction(1, len(winners)) if seat in winners else Fraction(-1, seats - len(winners))
            for seat in range(seats)
        ]

    # --- decisions ------------------------------------------------------------------------------

    def legal_actions(self) -> list[int]:
        """Ids: 30 s + 6 c + l drafts colour c from source s onto line l, 300 + k tiles column k."""
        if self.status == "tiling":
            return [300 + column - 1 for _, column in self.spaces(self.mover, self.tiling_line)]
        found = []
        for source in range(10):
            for number, colour in enumerate(COLOURS):
                if colour not in self._source(source):
                    continue
                for line in range(1, 6):
                    if self._accepts(self.players[self.mover], line, colour):
                        found.append(30 * source + 6 * number + line - 1)
                found.append(30 * source + 6 * number + 5)
        return found

    def apply(self, action: int) -> None:
        assert action in self.legal_actions(), f"{action} is not legal"
        if self.status == "tiling":
            seat, line = self._to_tile.pop(0)
            self._put_on_wall(seat, line, (line, action - 300 + 1))
            self._tile_on()
        else:
            self._draft(action // 30, COLOURS[action % 30 // 6], action % 6 + 1)
        self._count_tiles()

    def notation(self, action: int) -> str:
        if action >= 300:
            return f"@{action - 300 + 1}"
        source, line = action // 30, action % 6
        from_where = "C" if source == 9 else f"F{source + 1}"
        return f"{from_where}:{COLOURS[action % 30 // 6]}>{'-' if line == 5 else line + 1}"

    # --- looking at it --------------------------------------------------------------------------

    def all_tiles(self) -> list[str]:
        found = self.bag + self.lid + self.centre
        for factory in self.factories:
            found = found + factory
        for player in self.players:
            found = found + list(player.wall.values()) + [tile for tile in player.floor if tile != MARKER]
            for line in player.lines.values():
                found = found + line
        return found

    def _count_tiles(self) -> None:
        assert Counter(self.all_tiles()) == dict.fromkeys(COLOURS, 20), "tiles lost or made"
        assert min(player.score for player in self.players) >= 0

    def position(self) -> str:
        """The position string of a decision or of the end."""
        turn = "-"
        if self.status == "draft":
            turn = str(self.mover + 1)
        if self.status == "tiling":
            turn = f"{self.mover + 1}@{self.tiling_line}"
        centre = (MARKER if self.has_marker is None else "") + _sorted(self.centre)
        words = [str(self.round), str(self.starter + 1), turn]
        words += ["/".join(_sorted(factory) or "-" for factory in self.factories), centre or "-"]
        words += [",".join(str(pile.count(colour)) for colour in COLOURS) for pile in (self.bag, self.lid)]
        for seat, player in enumerate(self.players):
            lines = "/".join("".join(player.lines[line]) or "-" for line in range(1, 6))
            wall = "/".join(
                "".join(player.wall.get((row, column), ".") for column in range(1, 6)) for row in range(1, 6)
            )
            floor = _sorted([tile for tile in player.floor if tile != MARKER])
            floor += MARKER if self.has_marker == seat else ""
            words.append(f"{player.score}:{lines}:{wall}:{floor or '-'}")
        return " ".join(words)

    def clone(self) -> ReferenceCrystal:
        return copy.deepcopy(self)


def _sorted(tiles: list[str]) -> str:
    return "".join(sorted(tiles, key=COLOURS.index))


def refill_at_random(game: ReferenceCrystal, rng: random.Random) -> None:
    while game.status == "chance":
        game.draw(rng.choice(game.bag))


def random_reference_crystal(game: ReferenceCrystal, rng: random.Random, decisions: int = 100_000) -> ReferenceCrystal:
    """Plays at random, up to so many decisions or to the end."""
    for _ in range(decisions):
        refill_at_random(game, rng)
        if game.status not in ("draft", "tiling"):
            break
        game.apply(rng.choice(game.legal_actions()))
    refill_at_random(game, rng)
    return game
