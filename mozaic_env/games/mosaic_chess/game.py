"""Mosaic Chess: the Python half of the Game contract, and the documentation page."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from mozaic_env.core.capabilities import BoardLayout
from mozaic_env.core.game import Game, Rows
from mozaic_env.core.registry import register
from mozaic_env.games.mosaic_chess import (
    actions,
    board,
    describe,
    drawing,
    drawing_text,
    heuristics,
    observation,
    position,
    record,
    rules,
    whole_moves,
)

register(board.ROW, board, rules, observation, heuristics, whole_moves)


MATERIAL = 0.01  # of a win, for each pawn that the lead in material grows by, in the material reward


class MosaicChess(Game):
    """Mosaic Chess, Daniel Zacharias's chess variant (2021) for two: 20 kinds of pieces on 12 x 12 squares.

    White (seat 0) and Black (seat 1) move in turn, White first. Whoever checkmates wins, and mostly whoever leaves the
    opponent with a king alone. Nothing is left to chance.

    ``gym.make("mozaic_env:MosaicChess-v0")`` makes the single environment (`mozaic_env.envs.gymnasium.single.GameEnv`),
    ``gym.make_vec("mozaic_env:MosaicChess-v0", num_envs=64)`` the vector environment
    (`mozaic_env.envs.gymnasium.vector.GameVectorEnv`). docs/mosaic-chess.md has a picture of each piece's moves.

    ## Pieces

    | letter | piece | Betza | moves |
    |---|---|---|---|
    | P | Pawn | ifmnDfmWfceF | one ahead, from rank 4 (Black: 9) also two; takes diagonally ahead, in passing too |
    | E | Drunk Elephant | FfsW | one step, but not straight back |
    | I | Kirin | FD | one step diagonally; leaps (2,0) |
    | G | Gold General | WfF | one step straight, or diagonally ahead |
    | S | Silver General | FfW | one step diagonally, or straight ahead |
    | X | Phoenix | WA | one step straight; leaps (2,2) |
    | C | Copper General | vWfF | one step ahead, diagonally ahead or straight back |
    | R, B | Rook, Bishop | R, B | as in chess |
    | M, A | Bombard, Arbalest | pR, pB | like rook and bishop, but only over exactly one piece of either side |
    | N | Knight | ND | leaps (2,1) and (2,0) |
    | Z | Zebra | Z | leaps (3,2) |
    | L | Lion | CH | leaps (3,1) and (3,0) |
    | Y | Gryphon | FyafsF | one step diagonally, then outward as a rook |
    | D | Condor | AmpafyafsF | leaps (2,2), then outward as a rook |
    | O | Osprey | DmpafyafsW | leaps (2,0), then outward as a bishop |
    | U | Rhinoceros | mpyafsW | leaps (2,1), then outward as a bishop, in one direction |
    | Q | Cannon Queen | QpQ | rook, bishop, bombard and arbalest |
    | K | King | K | one step; no castling |

    Of Y, D, O and U the first square is itself one to go to or take on; they go on only if it is empty. A move that
    ends in the last four ranks may promote: P to L; C and N to Y; S and X to D; G and Z to U; E and I to O; R, M, B
    and A to Q. A pawn on the last rank has to. Who declines can promote by any later move that ends there.

    ## End

    * No move may leave the own king attacked. Checkmate wins, stalemate is a draw.
    * After a move that leaves the opponent with a king alone, the mover wins with two other pieces or more. With one,
      the opponent draws if it can legally take that piece at once; else the mover wins. Pawns are pieces.
    * Third repetition of a position (board, side, en passant square), and 200 plies without a capture or a pawn move,
      are draws. `max_plies` truncates.

    ## Actions

    `Discrete(432)`: a move is two decisions, first the piece, then the square. Square t = 12 * (rank - 1) + file, so
    a1 is 0 and l12 is 143, the same for both sides.

    | id | action | notation |
    |---|---|---|
    | t | choose the piece on square t; it has a legal move, and there is no taking back | `e4` |
    | 144 + t | move it to t | `-e5` |
    | 288 + t | move it to t and promote it | `-e9+` |

    Records have whole moves: `e4-e5`, `e4xf5`, `e4xd5ep` in passing, `a8-a9+`.

    ## Observation

    A Dict, from the view of the seat that decides.

    | key | space | what it holds |
    |---|---|---|
    | `board` | MultiBinary int8 (42, 12, 12) | planes, the own first rank first; see below |
    | `quiet` | Box uint8 (1,) | plies since a capture or a pawn move, 0 to 200 |
    | `repeats` | Box int8 (1,) | how often the position has been there before, 0 to 2 |
    | `black` | MultiBinary int8 (1,) | 1: the seat is Black and the board is turned: rank r is its row 12 - r |

    The planes are the own pieces by kind in the order PEIGSXCRBMANZLYDOUQK, the opponent's, the chosen piece's square
    and the en passant square.

    Exchanging the colours of a position changes `black` alone. Which earlier positions could come again is not in it,
    nor how many moves have been made.

    ## Rewards

    `reward="outcome"`: +1 for a win, -1 for a loss, 0 for a draw and before the end. `reward="margin"`: by how much
    the lead in material has grown since the last decision, in pawns. `reward="material"`, for training: the outcome,
    and 0.01 for each pawn by which the lead has grown. What pieces are worth (this project's own table, of how many
    squares they reach): P 1, C 2, G/S/Z 2.5, E/I/X/A 3, M/L 4, B/N 4.5, R 6, D/O/U 7.5, Y 9, Q 13, K 0.

    ## Arguments

    | argument | default | |
    |---|---|---|
    | `max_plies` | 1000 | moves of both sides together, after which a game is truncated |
    | `opponent`, `seat`, `reward`, `illegal`, `max_decisions`, `render_mode` | | see `GameEnv` |

    ## Positions

    FEN: board from rank 12 down, `w` or `b`, en passant square or `-`, plies since a capture or a pawn move, number of
    the move. Where the state holds more, two fields follow: the chosen square or `-`, and the moves since the last one
    that can't be undone, by which repetitions are known: ``... w - 4 9 - c2-c3,f11-f10``. Both can be left out.

    ## Rule interpretations

    Where the source leaves a gap, this is how it is read:

    * White moves first.
    * The Rhinoceros's leap can't be blocked. Cannons may jump over cannons and take them.
    * A bare king that is stalemated has lost.
    * The draws by repetition and after 200 plies, and the limit, are this project's: the source has none. Who wins by
      the move that would also bring a draw has won.
    * The en passant square is part of a position whether or not a pawn can take there.

    ## Version history

    * v0: first version.
    """

    name: ClassVar[str] = "mosaic_chess"
    dtype: ClassVar[np.dtype[Any]] = board.ROW
    heuristics: ClassVar[Mapping[str, tuple[float, ...]]] = heuristics.HEURISTICS
    usual_agents: ClassVar[tuple[str, ...]] = ("alphabeta:depth=3", "greedy", "material", "random")
    max_outcomes: ClassVar[int] = 0
    margin_unit: ClassVar[str] = "pawns"
    rewards: ClassVar[Mapping[str, tuple[float, float]]] = {**Game.rewards, "material": (MATERIAL, 1.0)}
    max_moves: ClassVar[int] = board.MOST_MOVES

    win_lead: ClassVar[float] = 12.0

    num_players = len(actions.PLAYERS)
    num_actions = actions.NUM_ACTIONS
    seat_names = actions.PLAYERS
    board_layout = BoardLayout(actions.action_planes(), observation.TURNED)

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

    def __init__(self, max_plies: int = 1000) -> None:
        """Fixes the limit.

        Args:
            max_plies: moves of both sides together after which a game is truncated.

        Raises:
            ValueError: it is not a whole number from 1 to 10,000.
        """
        if isinstance(max_plies, bool) or not isinstance(max_plies, int | np.integer) or not 1 <= max_plies <= 10_000:
            raise ValueError(f"max_plies={max_plies!r}; accepted: a whole number from 1 to 10000")
        self.max_plies = int(max_plies)
        self.options = {"max_plies": self.max_plies}
        self.max_decisions = 2 * self.max_plies
        self.fields = observation.fields()

    def rows(self, size: int) -> Rows:
        return np.zeros(size, self.dtype)
