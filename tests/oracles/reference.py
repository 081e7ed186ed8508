"""Mozaic in slow, plain Python: a literal transcription of the rules page.

The fast kernels are proved against this module, so it shares nothing with them: no arrays, no
bitboards, no import from the package. The board is a dictionary, everything that lies elsewhere is
a multiset, and after every step all gems are counted.

Gems are named as in position strings: ``y`` yellow, ``b`` blue, ``e`` emerald, ``d`` diamond,
``r`` ruby, ``x`` the double-turn gem. A tile is a pair (file, rank), both from 0: a1 is (0, 0).
"""

from __future__ import annotations

import copy
import random
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

COLOURS = "yb"
KINDS = "ybedrx"  # the order of the bag field in a position string
RULES = ("amethyst", "onyx")
# Slides k = 0, 1, 2, 3: up-right, up-left, down-right, down-left, as (file step, rank step).
SLIDES = ((1, 1), (-1, 1), (1, -1), (-1, -1))

Tile = tuple[int, int]


class ReferenceGame:
    """One game; see the module's docstring for the names of gems and tiles.

    Attributes:
        board: the gems that lie on tiles; empty tiles are absent.
        bag: the gems that can be drawn.
        aside: exception gems that are out of the bag until a turn is complete.
        hand: the gem to play at a decision, otherwise None.
        plays: draws still owed in this turn, the one in hand included; 0 when over.
        score: points of each colour's owner.
    """

    def __init__(self, rules: str = "amethyst", rows: int = 8, cols: int = 8, first: str | None = None) -> None:
        """Amethyst: yellow starts, a yellow gem already in hand. Onyx: `first` draws from all."""
        if rules not in RULES:
            raise ValueError(f"rules={rules!r}; accepted: {RULES}")
        if not (2 <= rows <= 8 and 2 <= cols <= 8 and rows * cols % 2 == 0):
            raise ValueError(f"board {rows}x{cols}; accepted: 2x2 to 8x8, an even number of tiles")
        accepted = (None, "y") if rules == "amethyst" else ("y", "b")
        if first not in accepted:
            raise ValueError(f"first={first!r} with rules={rules!r}; accepted: {accepted}")
        self.rules, self.rows, self.cols = rules, rows, cols
        self.board: dict[Tile, str] = {}
        self.bag: Counter[str] = self._all_gems()
        self.aside: Counter[str] = Counter()
        self.hand: str | None = None
        self.plays = 1
        self.score = {"y": 0, "b": 0}
        self._mover = first or "y"
        if rules == "amethyst":
            self.bag["y"] -= 1
            self.hand = "y"
        self._check_conservation()

    # --- material -------------------------------------------------------------------------------

    def _all_gems(self) -> Counter[str]:
        """Half as many gems of each colour as there are tiles, and one of each exception gem."""
        half = self.rows * self.cols // 2
        return Counter(y=half, b=half, e=1, d=1, r=1, x=1)

    def _check_conservation(self) -> None:
        """At every moment board + bag + hand + set aside are exactly all the gems, kind by kind."""
        found = Counter(self.board.values()) + self.bag + self.aside + Counter(self.hand or "")
        assert found == self._all_gems(), f"gems lost or made: {found}"
        # Adding Counters drops negative counts, so these are looked at on their own.
        assert min([*self.bag.values(), *self.aside.values(), 0]) == 0, "a count below 0"
        assert sum(self.aside[colour] for colour in COLOURS) == 0, "a colour gem is missing"

    def _tile(self, index: int) -> Tile:
        """Tiles are numbered along the files first, from a1 up: index = cols * rank + file."""
        return index % self.cols, index // self.cols

    def _is_on_board(self, tile: Tile) -> bool:
        return 0 <= tile[0] < self.cols and 0 <= tile[1] < self.rows

    def _is_full(self) -> bool:
        """The end: every tile is covered, which is the same as: every colour gem is placed."""
        return len(self.board) == self.rows * self.cols

    # --- what is going on -----------------------------------------------------------------------

    @property
    def status(self) -> str:
        """Over when the board is full, a decision when a gem is in hand, otherwise chance."""
        if self._is_full():
            return "over"
        return "chance" if self.hand is None else "decision"

    @property
    def mover(self) -> str:
        """Who decides, or who draws next at a chance state; ``-`` when over."""
        return "-" if self._is_full() else self._mover

    def winner(self) -> str | None:
        """More points wins, equal points is a draw (``-``); None while the game runs."""
        if not self._is_full():
            return None
        if self.score["y"] == self.score["b"]:
            return "-"
        return "y" if self.score["y"] > self.score["b"] else "b"

    def clone(self) -> ReferenceGame:
        return copy.deepcopy(self)

    # --- decisions ------------------------------------------------------------------------------

    def _decode(self, action: int) -> tuple[str, Tile, Tile | None]:
        """Ids: t places, n + 4t + k slides, 5n + t removes, with n the number of tiles.

        Returns what is done ("place", "slide", "remove"), the tile named, and a slide's target
        (which may lie off the board: those ids exist and are never legal).
        """
        n = self.rows * self.cols
        if 0 <= action < n:
            return "place", self._tile(action), None
        if n <= action < 5 * n:
            index, k = divmod(action - n, 4)
            file, rank = self._tile(index)
            return "slide", (file, rank), (file + SLIDES[k][0], rank + SLIDES[k][1])
        if 5 * n <= action < 6 * n:
            return "remove", self._tile(action - 5 * n), None
        raise ValueError(f"action {action}; accepted: 0 to {6 * n - 1}")

    def _is_legal(self, action: int) -> bool:
        """A colour gem, whosever it is, goes on any empty tile. The emerald moves any gem, of
        either colour, one step diagonally to an empty tile. The diamond takes any gem off."""
        what, tile, target = self._decode(action)
        if self.hand in ("y", "b"):
            return what == "place" and tile not in self.board
        if self.hand == "e":
            return (
                what == "slide"
                and tile in self.board
                and target is not None
                and self._is_on_board(target)
                and target not in self.board
            )
        if self.hand == "d":
            return what == "remove" and tile in self.board
        return False

    def legal_actions(self) -> list[int]:
        """All that can be done with the gem in hand; a gem that can be played must be: no pass."""
        return [a for a in range(6 * self.rows * self.cols) if self._is_legal(a)]

    def notation(self, action: int) -> str:
        """``d4`` places, ``d4-e5`` slides, ``xd4`` removes."""

        def name(tile: Tile) -> str:
            return "abcdefgh"[tile[0]] + str(tile[1] + 1)

        what, tile, target = self._decode(action)
        if target is not None:
            if not self._is_on_board(target):
                raise ValueError(f"action {action} slides off the board and has no notation")
            return f"{name(tile)}-{name(target)}"
        return "x" + name(tile) if what == "remove" else name(tile)

    def apply(self, action: int) -> None:
        """Play the gem in hand. Leaves "chance", or "over" when the last tile was covered."""
        if action not in self.legal_actions():
            raise ValueError(f"action {action} is not legal; accepted: {self.legal_actions()}")
        what, tile, target = self._decode(action)
        gem, self.hand = self.hand, None
        assert gem is not None
        if what == "place":
            self.board[tile] = gem
            self._score_squares(tile)
        elif what == "slide" and target is not None:
            self.board[target] = self.board.pop(tile)
            self._score_squares(target)
            self.aside[gem] += 1
        else:
            # The gem taken off is in the bag at once, before any further draw. Scores nothing.
            self.bag[self.board.pop(tile)] += 1
            self.aside[gem] += 1
        self._check_conservation()
        if self._is_full():
            # At once: a second draw still owed is void, and nothing set aside goes back any more.
            self.plays = 0
        else:
            self._use_up_draw()

    def _score_squares(self, tile: Tile) -> None:
        """The gem that has just come to `tile` scores 4 points for every 2 x 2 block around it
        that is now of its colour. The points belong to the colour's owner, whoever played."""
        file, rank = tile
        colour = self.board[tile]
        for left in (file - 1, file):
            for low in (rank - 1, rank):
                block = [(left, low), (left + 1, low), (left, low + 1), (left + 1, low + 1)]
                if all(self.board.get(corner) == colour for corner in block):
                    self.score[colour] += 4

    # --- chance and turns -----------------------------------------------------------------------

    def possible_draws(self) -> dict[str, Fraction]:
        """Every gem in the bag is equally likely: kinds that can come, with their probability."""
        if self.status != "chance":
            raise ValueError(f"nothing is drawn now: status is {self.status!r}")
        total = sum(self.bag.values())
        return {kind: Fraction(self.bag[kind], total) for kind in KINDS if self.bag[kind]}

    def draw(self, gem: str) -> None:
        """`gem` comes out of the bag. A gem that can be played is a decision; ruby, double-turn
        gem and a gem with nothing to act on are settled here, without asking anyone."""
        if gem not in self.possible_draws():
            raise ValueError(f"gem {gem!r} can't be drawn; in the bag: {self.possible_draws()}")
        self.bag[gem] -= 1
        if gem == "x":
            self._start_double_turn()
        elif gem == "r":
            self._miss()
        else:
            self.hand = gem
            if not self.legal_actions():
                # No legal slide, or a diamond on an empty board: no effect, the draw is used up.
                self.hand = None
                self.aside[gem] += 1
                self._use_up_draw()
        self._check_conservation()

    def _start_double_turn(self) -> None:
        """Set the double-turn gem aside; two gems are drawn and played, one after the other."""
        assert self.plays == 1, "a double turn inside a double turn"
        self.aside["x"] += 1
        self.plays = 2

    def _miss(self) -> None:
        """Ruby: the turn is missed. As the first draw of an amethyst double turn it ends the one
        turn that those two draws are; in every other case it costs just the draw that it was."""
        self.aside["r"] += 1
        if self.rules == "amethyst" and self.plays == 2:
            self._end_turn()
        else:
            self._use_up_draw()

    def _use_up_draw(self) -> None:
        """One owed draw has been played, missed, or was without effect.

        Onyx: each draw is a turn, after which its emerald, diamond or ruby goes back.
        Amethyst: they stay out until all that the turn owes has been played.
        """
        self.plays -= 1
        if self.rules == "onyx":
            self._put_back("edr")
        if self.plays == 0:
            self._end_turn()

    def _end_turn(self) -> None:
        """The whole turn (onyx: both turns of a double turn) is complete: everything set aside,
        the double-turn gem included, is in the bag again before the other player draws."""
        self._put_back("edrx")
        self._mover = "b" if self._mover == "y" else "y"
        self.plays = 1

    def _put_back(self, kinds: str) -> None:
        for kind in kinds:
            self.bag[kind] += self.aside.pop(kind, 0)
        self._check_conservation()

    # --- position strings -----------------------------------------------------------------------

    def position(self) -> str:
        """Six fields: tiles, mover, hand, plays, bag, score. There is none for a chance state."""
        if self.status == "chance":
            raise ValueError("a position is written at a decision or at the end; draw first")
        bag = ",".join(str(self.bag[kind]) for kind in KINDS)
        score = f"{self.score['y']}-{self.score['b']}"
        return f"{self._tiles()} {self.mover} {self.hand or '-'} {self.plays} {bag} {score}"

    def _tiles(self) -> str:
        """Ranks from top to bottom; letters are gems, a number is a run of empty tiles."""
        ranks = []
        for rank in reversed(range(self.rows)):
            text = "".join(self.board.get((file, rank), ".") for file in range(self.cols))
            for run in range(self.cols, 0, -1):  # longest first, so no run is split
                text = text.replace("." * run, str(run))
            ranks.append(text)
        return "/".join(ranks)

    @classmethod
    def from_position(cls, text: str, rules: str = "amethyst") -> ReferenceGame:
        """The game that `text` describes; a ValueError for what no game could have led to.

        Set aside is whatever is neither on the board nor in the bag nor in hand.
        """
        fields = text.split(" ")
        if len(fields) != 6:
            raise ValueError(f"position {text!r} has {len(fields)} fields; accepted: 6")
        tiles, mover, hand, plays, bag, score = fields
        rows = [_expand_runs(rank) for rank in reversed(tiles.split("/"))]
        if len({len(row) for row in rows}) != 1:
            raise ValueError(f"position {text!r}: its ranks differ in length")
        game = cls(rules, len(rows), len(rows[0]), None if rules == "amethyst" else "y")
        game.board = {(file, rank): gem for rank, row in enumerate(rows) for file, gem in enumerate(row) if gem != "."}
        game._mover = mover
        game.hand = None if hand == "-" else hand
        try:
            game.plays = int(plays)
            game.bag = Counter(dict(zip(KINDS, map(int, bag.split(",")), strict=True)))
            game.score = dict(zip(COLOURS, map(int, score.split("-")), strict=True))
        except ValueError as error:
            raise ValueError(f"position {text!r}: bad plays, bag or score ({error})") from None
        present = Counter(game.board.values()) + game.bag + Counter(game.hand or "")
        game.aside = game._all_gems() - present
        game._check_position(text)
        return game

    def _check_position(self, text: str) -> None:
        """Refuse positions that break the rules of the position string or of the turn."""

        def require(condition: bool, reason: str) -> None:
            if not condition:
                raise ValueError(f"position {text!r} can't be: {reason}")

        try:
            self._check_conservation()
        except AssertionError as error:
            require(False, str(error))
        require(all(points >= 0 and points % 4 == 0 for points in self.score.values()), "score")
        if self._is_full():
            require((self._mover, self.hand, self.plays) == ("-", None, 0), "the game is over")
        else:
            require(self._mover in ("y", "b"), "mover")
            require(self.plays in (1, 2), "plays")
            require(bool(self.legal_actions()), "the gem in hand can't be played")
        out = "".join(sorted(self.aside.elements()))
        # Before the first of two draws is played only the double-turn gem is out. After it, an
        # amethyst emerald or diamond may be out as well (a ruby first would have ended the turn).
        second_half = ["", "x", "dx", "ex"] if self.rules == "amethyst" else ["", "x"]
        require(out in (["x"] if self.plays == 2 else second_half), f"set aside is {out!r}")
        require(self.position() == text, f"it is written {self.position()!r}")


def _expand_runs(rank: str) -> str:
    """One rank of a position string with a dot for each empty tile."""
    return "".join("." * int(c) if c in "12345678" else c for c in rank)


def random_reference_game(
    rng: random.Random, rules: str = "amethyst", rows: int = 8, cols: int = 8
) -> Iterator[ReferenceGame]:
    """Play at random, yielding the game (always the same object) at each decision.

    Once the iterator ends the object is the finished game. Onyx: who starts is an even chance,
    for the opening (a fair coin, then the same draws for both) treats the players alike.
    """
    first = rng.choice("yb") if rules == "onyx" else None
    game = ReferenceGame(rules, rows, cols, first)
    while game.status != "over":
        if game.status == "chance":
            game.draw(rng.choice(sorted(game.bag.elements())))
        else:
            yield game
            game.apply(rng.choice(game.legal_actions()))
