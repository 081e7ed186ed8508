"""Crystal Mosaic with its options fixed: the Python half of the Game contract, and the documentation page."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from mozaic_env.core.capabilities import Entities
from mozaic_env.core.game import Game, Rows
from mozaic_env.core.registry import register
from mozaic_env.core.text.numbers import is_number
from mozaic_env.games.crystal_mosaic import (
    actions,
    describe,
    drawing,
    drawing_text,
    heuristics,
    observation,
    position,
    record,
    rules,
)

register(rules.ROW, rules, observation, heuristics)


class CrystalMosaic(Game):
    """Crystal Mosaic: Azul (Michael Kiesling, Next Move Games) with the boards of its Crystal Mosaic expansion.

    Two to four players draft coloured tiles from factories, fill pattern lines with them and move one tile of each
    full line to a wall of five by five spaces, where tiles score by the runs that they belong to. On three of the four
    boards players choose where on its row a tile goes.

    ``gym.make("mozaic_env:CrystalMosaic-v0", players=3)`` makes the single environment
    (`mozaic_env.envs.gymnasium.single.GameEnv`), ``gym.make_vec("mozaic_env:CrystalMosaic-v0", num_envs=1024)`` the
    vector environment (`mozaic_env.envs.gymnasium.vector.GameVectorEnv`). With an opponent, that agent holds all
    other seats.

    ## Rules in brief

    There are 20 tiles of each of five colours, in this order everywhere: blue B, yellow Y, red R, black K, white W. A
    game is a number of rounds:

    1. **Refill.** 5, 7 or 9 factories (for 2, 3, 4 players) get four tiles each, drawn from the bag. An empty bag is
       filled from the lid; if both are empty the round starts with what there is. The marker lies in the centre.
    2. **Draft**, in turn until factories and centre are empty. A turn takes all tiles of one colour from one factory,
       the others of which go to the centre, or all of one colour from the centre; the first to do that also takes the
       marker, which goes to the leftmost free floor space. The tiles go to one pattern line, or to the floor. Line l
       holds l tiles of one colour, and none that its row of the wall has already. Excess tiles go to the floor, beyond
       its seven spaces to the lid.
    3. **Tiling**, from the starting player on and from the top line down: of each full line one tile goes to the wall
       and the others to the lid. On the base board its space is fixed; elsewhere it is any free space of the row whose
       column has not got the colour and which is not printed with another one. If there is none, the whole line goes to
       the floor.
    4. **Scoring.** A tile scores the lengths of the unbroken runs through it, across and down, each if longer than 1; 1
       if both are 1; twice that on a doubled space.
    5. **Floor.** The values of occupied floor spaces are added, to no less than 0 points, and the floor is cleared. Who
       has taken the marker starts the next round.

    The game is over after the round in which a wall has a complete row. Complete rows, columns and colours then bring
    bonuses. Most points win; among equals more complete rows; who is still equal shares the win.

    | `board` | wall | row, column, colour bonus | floor |
    |---|---|---|---|
    | `"base"` | fixed: row 1 is B Y R K W, each next row one step to the right | 2, 7, 10 | -1 -1 -2 -2 -2 -3 -3 |
    | `"grey"` | free | 2, 7, 10 | the same |
    | `"side1"` | doubled: K at r1c4, W at r2c1, Y at r3c3, B at r4c5, R at r5c2 | 2, 7, 10 | -1 0 -1 -2 -1 -2 -3 |
    | `"side2"` | printed: B at r2c2, R at r2c4, W at r3c3, K at r4c2, Y at r4c4 | 3, 10, 12 | -1 0 -1 -2 -1 -2 -3 |

    Decisions are draft turns, and tilings with more than one space. A tiling with one space or none is not asked. The
    refill is chance, tile by tile; everything else is public.

    ## Actions

    `Discrete(305)`, for all boards and numbers of players.

    | id | action | notation |
    |---|---|---|
    | 30 s + 6 c + l | draft colour c from source s to line l, from 0; s = 9: centre, l = 5: floor | `F3:R>2` |
    | 300 + k | put the tile into column k, from 0 | `@4` is column 4, k = 3 |

    `F3:R>2` takes red from factory 3 to line 2, `C:W>-` white from the centre to the floor.

    ## Observation

    A Dict, from the view of the seat that decides: n players, own things first, the others in turn order; f factories.

    | key | space | what it holds |
    |---|---|---|
    | `score` | Box int32 (n,) | points |
    | `wall` | MultiBinary int8 (n, 5, 5, 5) | player, colour, row, column: a tile is there |
    | `printed` | MultiBinary int8 (5, 5, 5) | the board: colour, row, column: the space is printed in it |
    | `doubled` | MultiBinary int8 (5, 5) | the board: spaces that count twice |
    | `lines` | Box int8 (25 n,) | tiles on them: player by player, line by line, colour by colour |
    | `table` | Box int8 (5 f + 5,) | factories, then the centre: tiles of each colour |
    | `floor` | Box int8 (5 n,) | player by player: tiles of each colour on the floor, the marker not counted |
    | `bag`, `lid` | Box int8 (5,) | tiles of each colour |
    | `marker` | MultiBinary int8 (n + 1,) | who has taken it in this round; last: it is in the centre |
    | `starter` | MultiBinary int8 (n,) | who began this round; at the end who would begin the next one |
    | `turn` | MultiBinary int8 (n,) | who decides; zeros at the end |
    | `phase` | MultiBinary int8 (3,) | draft, tiling, over |
    | `tiling` | MultiBinary int8 (5,) | the line that is tiled; zeros elsewhere |
    | `round` | Box int8 (1,) | number of the round, from 1 |

    Positions that differ in what can follow never share an observation. The marker occupies a floor space of who has
    taken it, unless seven tiles lie there.

    ## Rewards

    `reward="outcome"`, at the end: 1 for who wins alone, -1 / (n - 1) for the others; where k players share the win
    1 / k for each of them and -1 / (n - k) for the others; 0 if all n tie. `reward="margin"`: by how many tens of
    points the lead over the best of the others has grown since the seat's last decision; with `opponent=None` by how
    many within the step.

    ## Arguments

    | argument | default | |
    |---|---|---|
    | `players` | 2 | 2, 3 or 4 |
    | `board` | `"side2"` | `"base"`, `"grey"`, `"side1"` or `"side2"` |
    | `floor` | None | seven values from -10 to 0, or `"base"` or `"expansion"`; None: the board's own |
    | `max_rounds` | 30 | 1 to 100; a game that is not over after so many rounds is truncated, see below |
    | `opponent`, `seat`, `reward`, `illegal`, `max_decisions`, `render_mode` | | see `GameEnv` |

    Rows can become impossible to complete, on side1 above all; `max_rounds` ends such games. They bring no bonuses, pay
    0 to every seat, and count as a draw, whatever the scores.

    ## Rule interpretations

    Where the rules leave a gap, this is how they are interpreted:

    * Seat 0 starts the first round; who sits there is for the environment, or a match, to vary.
    * If the floor is full when the marker is taken, its taker still starts the next round. If nobody takes it in a
      round, the starting player stays.
    * Who has complete lines tiles them all before the next player does; floors are counted when all have.
    * A colour with a printed space in a row may also go to another space of that row.
    * The printed spaces are those of the implementation on Board Game Arena.
    * The floor of the expansion is what reviewers of the printed boards show of side 1. Of side 2 they show the first
      two spaces; the others are taken to be the same. It is an option, since Board Game Arena keeps the values of the
      base game.
    * Among those who do not win nobody is placed before another by complete rows.

    ## Version history

    * v0: first version.
    """

    name: ClassVar[str] = "crystal_mosaic"
    dtype: ClassVar[np.dtype[Any]] = rules.ROW
    option_fields: ClassVar[tuple[str, ...]] = ("players", "factories", "board", "max_rounds", "penalties")
    heuristics: ClassVar[Mapping[str, tuple[float, ...]]] = heuristics.HEURISTICS
    usual_agents: ClassVar[tuple[str, ...]] = ("paranoid:depth=3,width=12", "planner", "greedy", "random")
    max_outcomes: ClassVar[int] = len(actions.COLOURS)
    max_decisions: int = 2000
    margin_unit: ClassVar[str] = "tens of points"
    players: ClassVar[tuple[int, int]] = min(actions.FACTORIES), max(actions.FACTORIES)

    win_lead: ClassVar[float] = 12.0

    num_actions = actions.NUM_ACTIONS

    format_action = staticmethod(actions.format_action)
    parse_action = staticmethod(actions.parse_action)
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

    def __init__(
        self,
        players: int = 2,
        board: str = "side2",
        floor: str | Sequence[int] | None = None,
        max_rounds: int = 30,
    ) -> None:
        """Fixes the variant.

        Args:
            players: 2, 3 or 4.
            board: "base", "grey", "side1" or "side2".
            floor: values of the seven floor spaces, -10 to 0, as a sequence or as text with commas; or "base" or
                "expansion"; None: the board's own.
            max_rounds: a game that is not over after so many rounds is truncated, without bonuses and without a winner;
                1 to 100.

        Raises:
            ValueError: an option is not one of these.
        """
        if not _is_whole(players) or players not in actions.FACTORIES:
            raise ValueError(f"players={players!r}; accepted: {', '.join(map(str, actions.FACTORIES))}")
        if not isinstance(board, str) or board not in actions.BOARDS:
            raise ValueError(f"board={board!r}; accepted: {', '.join(map(repr, actions.BOARDS))}")
        if not _is_whole(max_rounds) or not 1 <= max_rounds <= actions.MOST_ROUNDS:
            raise ValueError(f"max_rounds={max_rounds!r}; accepted: a whole number from 1 to {actions.MOST_ROUNDS}")
        self.num_players = int(players)
        self.board = board
        self.floor = _read_floor(floor, actions.Board(actions.BOARDS.index(board)))
        self.max_rounds = int(max_rounds)
        self.options = {
            "players": self.num_players,
            "board": board,
            "floor": ",".join(map(str, self.floor)),
            "max_rounds": self.max_rounds,
        }
        self.fields = observation.fields(self.num_players, self.max_rounds)
        self.entities = _entities(self.num_players)
        self.last_action = (actions.TILING if board == "base" else actions.NUM_ACTIONS) - 1

    def rows(self, size: int) -> Rows:
        made = np.zeros(size, self.dtype)
        made["players"], made["factories"] = self.num_players, actions.FACTORIES[self.num_players]
        made["board"] = actions.BOARDS.index(self.board)
        made["max_rounds"] = self.max_rounds
        made["penalties"] = np.cumsum([0, *self.floor])
        return made


def _entities(players: int) -> Entities:
    """The sources to take from, and the colours of what lies there."""
    strides = dict.fromkeys(("wall", "printed"), observation.CELLS)
    strides |= dict.fromkeys(("lines", "floor", "bag", "lid"), 1)
    blocks = (*range(actions.FACTORIES[players]), actions.CENTRE)
    return Entities("table", blocks, actions.PER_SOURCE, len(actions.COLOURS), strides)


def _is_whole(given: Any) -> bool:
    return isinstance(given, int | np.integer) and not isinstance(given, bool)


def _read_floor(floor: Any, board: actions.Board) -> tuple[int, ...]:
    """The seven values of the floor spaces."""
    accepted = (
        f"floor={floor!r}; accepted: {actions.FLOOR_SPACES} whole numbers from {actions.LEAST_FLOOR} to 0, "
        "'base' or 'expansion'"
    )
    if floor is None:
        floor = actions.FLOOR_OF[board]
    if isinstance(floor, str):
        try:
            floor = actions.FLOORS.get(floor) or [_read_value(value.strip()) for value in floor.split(",")]
        except ValueError:
            raise ValueError(accepted) from None
    if isinstance(floor, np.ndarray):
        floor = floor.tolist()  # of an array without dimensions no sequence
    if not isinstance(floor, Sequence) or isinstance(floor, bytes | bytearray) or len(floor) != actions.FLOOR_SPACES:
        raise ValueError(accepted)
    if not all(_is_whole(value) and actions.LEAST_FLOOR <= value <= 0 for value in floor):
        raise ValueError(accepted)
    return tuple(int(value) for value in floor)


def _read_value(text: str) -> int:
    if not is_number(text.removeprefix("-")):
        raise ValueError(text)
    return int(text)
