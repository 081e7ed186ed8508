"""Mozaic with an edition and a board fixed: the Python half of the Game contract, and the documentation page."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from mozaic_env.core.afterstates import AfterstateFeatures
from mozaic_env.core.capabilities import BoardLayout, Start
from mozaic_env.core.exact import MARGIN, BestResponse, ExactSolver
from mozaic_env.core.game import Game, Rows
from mozaic_env.core.registry import register
from mozaic_env.core.symmetry import Symmetry
from mozaic_env.core.text.numbers import is_number
from mozaic_env.games.mozaic import (
    actions,
    describe,
    drawing,
    drawing_text,
    heuristics,
    ntuples,
    observation,
    position,
    record,
    rules,
    symmetries,
    windows,
)

register(rules.ROW, rules, observation, heuristics, ntuples)


class Mozaic(Game):
    """Mozaic, Martin H. Samuel's game of placement and luck, for two players.

    Yellow (seat 0) and blue (seat 1) take turns to draw a gem from a bag and to play it on a board of 8 x 8 tiles. A
    2 x 2 block of one colour is a square and scores for the owner of the colour, whoever completed it. The bag holds
    32 gems of each colour and four exceptions: emerald (slide), diamond (remove), ruby (miss the turn) and the
    double-turn gem.

    ``gym.make("mozaic_env:Mozaic-v0")`` makes the single environment (`mozaic_env.envs.gymnasium.single.GameEnv`),
    ``gym.make_vec("mozaic_env:Mozaic-v0", num_envs=1024)`` the vector environment
    (`mozaic_env.envs.gymnasium.vector.GameVectorEnv`).

    ## Rules

    **Material.** The board has files `a` to `h` from left to right and ranks `1` to `8` from bottom to top. The bag
    holds 32 gems of yellow (seat 0), 32 of blue (seat 1) and four exceptions: emerald, diamond, ruby and the
    double-turn gem, an amethyst in one edition and an onyx in the other. These 68 gems are always on the board, in the
    bag, in hand or set aside.

    **A turn.** Draw one gem, uniformly at random from the bag, and play it. The player sees the gem first. A gem that
    can be played must be played; there is no pass.

    | drawn | what happens |
    |---|---|
    | a colour gem, own or the opponent's | it is placed on any empty tile |
    | emerald | any gem on the board, of either colour, moves one step diagonally to an empty tile |
    | diamond | any gem on the board, of either colour, goes back into the bag at once |
    | ruby | the turn is missed |
    | double-turn gem | it is set aside, and two gems are drawn and played, one after the other |

    An emerald when no gem can slide, and a diamond on an empty board, have no effect; the draw is used up.

    **Scoring.** A square is four gems of one colour on a block of 2 x 2 tiles. A placed or slid gem scores 4 points for
    each square that it completes, so 4, 8, 12 or 16. The points belong to the owner of the colour, whoever played the
    gem. Points are never lost. A removal scores nothing. Nobody has to claim points.

    **The end.** The game is over when all tiles are covered. More points win; equal points are a draw. Diamonds give
    gems back, so a game has no longest length. The environments truncate at 1,000 decisions, which no random game has
    come near.

    **Editions.** `amethyst` is the inventor's current text, `onyx` the editions of 2003 to 2010.

    | | `amethyst` | `onyx` |
    |---|---|---|
    | opening | yellow begins with a yellow gem in hand; the bag holds 31 + 32 + 4 | a fair coin; a draw, full bag |
    | a double turn is | one turn of two draws | two turns |
    | a ruby as the first of the two | both are lost | that turn is missed, the second is taken |
    | a ruby as the second | that draw has no effect | that turn is missed |
    | emerald, diamond, ruby return to the bag | when the turn is complete | right after their own action |
    | the double-turn gem returns | when the turn is complete | when both turns are complete |

    So the double-turn gem is never drawn inside its own double turn. After a turn, single or double, the other player
    draws.

    **Decisions and chance.** What leaves a choice is a decision: a colour gem, an emerald when a gem can slide, a
    diamond when there is a gem on the board. Everything else is chance or forced, and is resolved without asking. So a
    seat can decide twice in a row, after a double-turn gem or the opponent's ruby, and can wait through several
    decisions of the other.

    **Smaller boards** of `rows` x `cols` tiles have half as many gems of each colour as tiles, and the same four
    exceptions.

    ## Rule interpretations

    Where the printed rules leave a gap, this is how they are interpreted:

    * A slide that completes squares scores like a placement. A square broken by a slide or a removal costs nothing, and
      completing it again scores again.
    * The printed rule that forfeits points nobody claims has no counterpart.
    * The game ends at once when the last colour gem lands: a second draw that is still owed is not taken, and gems that
      are set aside stay where they are.
    * An exception without effect inside a double turn of the amethyst edition stays out of the bag, like one that was
      played, until the turn is complete.
    * amethyst: colours are chosen by drawing, and that draw is yellow's first.
    * onyx: players draw in turn and put back until one draws a gem of the own colour and begins. By symmetry that is a
      fair coin.

    ## Actions

    `Discrete(6 n)` with n = rows * cols tiles, 384 on the full board. Tile t = cols * (rank - 1) + file; a1 is 0, h8
    is 63.

    | id | action | notation |
    |---|---|---|
    | t | place the gem in hand on t | `d4` |
    | n + 4 t + k | slide the gem on t: k = 0 up-right, 1 up-left, 2 down-right, 3 down-left | `d4-e5` |
    | 5 n + t | remove the gem on t | `xd4` |

    Slides that would leave the board (60 ids on the full board) have ids for regularity and are never legal.

    ## Observation

    A Dict, from the view of the seat that decides: own things first.

    | key | space | what it holds |
    |---|---|---|
    | `score` | Box int32 (2,) | points: own, opponent's |
    | `board` | MultiBinary int8 (3, rows, cols) | planes: own gems, opponent's gems, empty tiles; rank 1 first |
    | `bag` | Box int8 (6,) | in the bag: own colour, opponent's, emerald, diamond, ruby, double-turn |
    | `hand` | MultiBinary int8 (4,) | gem in hand: own colour, opponent's, emerald, diamond; zeros at the end |
    | `plays` | Box int8 (1,) | draws owed in this turn, the gem in hand included; 0 at the end |

    Positions that differ in what can follow never share an observation: which gems are set aside follows from bag
    and hand. How many decisions have been made is not part of it; a game at the limit is truncated, not terminated.

    ## Rewards

    `reward="outcome"`: +1 for a win, -1 for a loss, 0 for a draw and before the end. `reward="margin"`: by how much the
    lead in squares (points / 4) has grown since the last decision.

    ## Arguments

    | argument | default | |
    |---|---|---|
    | `rules` | `"amethyst"` | the edition: `"amethyst"` or `"onyx"` |
    | `rows`, `cols` | 8 | 2 to 8, an even number of tiles; each colour has rows * cols / 2 gems |
    | `opponent`, `seat`, `reward`, `illegal`, `max_decisions`, `render_mode` | | see `GameEnv` |

    ## Version history

    * v0: first version.
    """

    name: ClassVar[str] = "mozaic"
    dtype: ClassVar[np.dtype[Any]] = rules.ROW
    option_fields: ClassVar[tuple[str, ...]] = ("edition", "rows", "cols")
    heuristics: ClassVar[Mapping[str, tuple[float, ...]]] = heuristics.HEURISTICS
    usual_agents: ClassVar[tuple[str, ...]] = ("champion", "expectimax:depth=2", "pattern", "greedy", "random")
    max_outcomes: ClassVar[int] = len(actions.Gem)
    afterstate_features: ClassVar[AfterstateFeatures] = AfterstateFeatures(ntuples.start, windows.ROOM)
    max_decisions: int = 1000
    margin_unit: ClassVar[str] = "squares"

    win_lead: ClassVar[float] = 12.0
    followers: ClassVar[tuple[int, int]] = (16, 2)  # two movers, four gems, in a double turn or not

    num_players = len(actions.PLAYERS)
    seat_names = actions.PLAYERS

    read_position = staticmethod(position.read_position)
    format_position = staticmethod(position.format_position)
    write_record = record.write
    replay = record.replay
    draw = staticmethod(drawing.draw)
    draw_text = staticmethod(drawing_text.draw_text)
    places = staticmethod(drawing.places)
    clicks = staticmethod(drawing.clicks)
    tell_action = staticmethod(describe.tell_action)
    outcome_name = staticmethod(describe.outcome_name)
    tell_outcome = staticmethod(describe.tell_outcome)
    draw_ansi = staticmethod(drawing_text.draw_ansi)
    group_decisions = describe.group_decisions

    def __init__(self, rules: str = "amethyst", rows: int = 8, cols: int = 8) -> None:
        """Fixes the variant.

        Args:
            rules: the edition, "amethyst" or "onyx".
            rows: ranks of the board, 2 to 8.
            cols: files of the board, 2 to 8; rows * cols is even.

        Raises:
            ValueError: an option is not one of these.
        """
        if not isinstance(rules, str) or rules not in actions.EDITIONS:
            raise ValueError(f"rules={rules!r}; accepted: {', '.join(map(repr, actions.EDITIONS))}")
        for name, given in (("rows", rows), ("cols", cols)):
            if isinstance(given, bool) or not isinstance(given, int | np.integer) or given not in actions.SIZES:
                raise ValueError(f"{name}={given!r}; accepted: a whole number from 2 to 8")
        if rows * cols % 2:
            raise ValueError(
                f"rows={rows}, cols={cols}: {rows * cols} tiles; accepted: boards with an even number of tiles"
            )
        self.rules = rules
        self.board = (int(rows), int(cols))
        self.options = {"rules": rules, "rows": self.board[0], "cols": self.board[1]}
        self.num_actions = actions.num_actions(rows * cols)
        self.fields = observation.fields(*self.board)
        self.board_layout = BoardLayout(actions.action_planes(rows * cols))
        if rules == actions.EDITIONS[actions.ONYX]:
            self.starts = Start(0.5, {"mover": 0}), Start(0.5, {"mover": 1})

    @property
    def symmetries(self) -> tuple[Symmetry, ...]:
        return symmetries.symmetries(*self.board)

    @classmethod
    def of_header(cls, header: Mapping[str, str]) -> "Mozaic":
        sizes = header.get("board", "").split("x")
        if len(sizes) != 2 or not all(map(is_number, sizes)) or "rules" not in header:
            raise ValueError("record header: rules=... and board=ROWSxCOLS are needed, such as board=8x8")
        return cls(header["rules"], int(sizes[0]), int(sizes[1]))

    def exact_solver(self, objective: str = MARGIN) -> ExactSolver:
        from mozaic_env.games.mozaic.exact.solver import MozaicSolver

        return MozaicSolver(self, objective)

    def best_response(self, plain: bool) -> BestResponse:
        from mozaic_env.games.mozaic.exact.response import MozaicResponse

        return MozaicResponse(self, plain)

    def rows(self, size: int) -> Rows:
        made = np.zeros(size, self.dtype)
        made["edition"] = actions.EDITIONS.index(self.rules)
        made["rows"], made["cols"] = self.board
        return made

    def format_action(self, action: int) -> str:
        return actions.format_action(action, *self.board)

    def parse_action(self, text: str) -> int:
        return actions.parse_action(text, *self.board)
