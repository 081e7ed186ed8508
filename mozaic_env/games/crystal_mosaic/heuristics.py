"""What makes Crystal Mosaic's agents: what the boards will be worth when the round has ended, and what they promise.

A heuristic is six weights. The worth of a board, in points, is its score if the round ended now: complete lines are
tiled from the top, each where it scores most, floors are counted (to below 0 as well, since more points may come), and
rows, columns and colours that are complete then bring their bonuses. `greedy` looks at nothing else. The weights add
what is not there yet:

0. tiles on incomplete lines: the share of the line that is filled, squared, times what its tile would score now;
1. rows under way: the share of the row that is tiled, squared, times the bonus of a row plus ten points;
2. columns under way, likewise with the bonus of a column plus ten points;
3. colours under way, the same with their bonus;
4. the start of the next round;
5. tiles on a line that no space of the wall will take.
"""

import numpy as np

from mozaic_env.core.bits import count
from mozaic_env.core.contract import Floats, Integers, Row
from mozaic_env.core.jit import jit
from mozaic_env.games.crystal_mosaic import actions as names
from mozaic_env.games.crystal_mosaic.actions import CENTRE, FLOOR_SPACES, SIZE, TARGETS, TO_FLOOR
from mozaic_env.games.crystal_mosaic.rules import (
    BARRED,
    BASE,
    BONUS,
    COLUMN,
    ENDED,
    NOBODY,
    TILING,
    columns_with,
    floor_spaces,
    points_at,
    spaces,
    tiles_of,
)

HEURISTICS = {
    "greedy": (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    "planner": (0.9, 0.25, 0.45, 0.35, 0.8, -0.5),
}
RUN_WORTH = 10.0  # what the tiles of a whole row or column have scored, beside its bonus
_WALL = 0x1FF_FFFF

# A wall as three 25-bit planes, the bits of colour + 1; 0 is an empty space.
Planes = tuple[int, int, int]
Weights = tuple[float, float, float, float, float, float]


@jit(forceinline=True)
def _planes(row: Row, seat: int) -> Planes:
    blue, yellow, red = np.int64(row.wall[seat, 0]), np.int64(row.wall[seat, 1]), np.int64(row.wall[seat, 2])
    black, white = np.int64(row.wall[seat, 3]), np.int64(row.wall[seat, 4])
    return blue | red | white, yellow | red, black | white  # type: ignore[return-value]


@jit(forceinline=True)
def _with(planes: Planes, colour: int, place: int) -> Planes:
    """The wall with one more tile."""
    code = colour + 1
    return planes[0] | (code & 1) << place, planes[1] | (code >> 1 & 1) << place, planes[2] | (code >> 2) << place


@jit(forceinline=True)
def _of_colour(planes: Planes, colour: int) -> int:
    """The spaces that hold a colour."""
    code = colour + 1
    absent = (planes[0] ^ -(code & 1)) | (planes[1] ^ -(code >> 1 & 1)) | (planes[2] ^ -(code >> 2))
    return ~absent & _WALL


@jit(forceinline=True)
def _free(board: int, planes: Planes, colour: int, line: int) -> int:
    """`mozaic_env.games.crystal_mosaic.rules.spaces` on planes; also for lines that are not complete yet."""
    if board == BASE:
        return (1 << (colour + line) % SIZE) & ~((planes[0] | planes[1] | planes[2]) >> 5 * line)
    taken = ((planes[0] | planes[1] | planes[2]) >> 5 * line) | columns_with(_of_colour(planes, colour))
    return 31 & ~(taken | BARRED[board, colour, line])


@jit(forceinline=True)
def _best_space(board: int, planes: Planes, colour: int, line: int) -> tuple[int, int]:
    """The column where a line's tile scores most, and what; (-1, 0) without any."""
    free, spaces_taken = _free(board, planes, colour, line), planes[0] | planes[1] | planes[2]
    column, most = -1, 0
    for k in range(SIZE):
        if free >> k & 1:
            points = points_at(spaces_taken, board, line, k)
            if points > most:
                column, most = k, points
    return column, most


@jit(forceinline=True)
def _worth(row: Row, seat: int, planes: Planes, filled: int, colours: int, floor: int, weights: Weights) -> float:
    """What a board is worth, in points.

    Args:
        row: the game, for board, score and marker.
        seat: whose board.
        planes: its wall.
        filled: tiles on its lines, byte l for line l.
        colours: their colours, likewise.
        floor: occupied floor spaces.
        weights: of the heuristic.
    """
    board, score, promise = np.int64(row.board), np.float64(row.score[seat]), 0.0
    for line in range(SIZE):
        if filled >> 8 * line & 255 <= line:
            continue
        column, points = _best_space(board, planes, colours >> 8 * line & 255, line)
        if column < 0:
            floor += line + 1
        else:
            score += points
            planes = _with(planes, colours >> 8 * line & 255, 5 * line + column)
    score += row.penalties[min(floor, FLOOR_SPACES)]
    if weights[0] != 0.0:
        for line in range(SIZE):
            fill = filled >> 8 * line & 255
            if fill == 0 or fill > line:
                continue
            column, points = _best_space(board, planes, colours >> 8 * line & 255, line)
            share = fill / (line + 1.0)
            promise += weights[5] * fill if column < 0 else weights[0] * share * share * points
    if row.marker == seat:
        promise += weights[4]
    return score + promise + _patterns(board, planes, weights)


@jit(forceinline=True)
def _patterns(board: int, planes: Planes, weights: Weights) -> float:
    """Bonuses of what is complete, and a share of them for what is under way."""
    taken = planes[0] | planes[1] | planes[2]
    total = 0.0
    for k in range(SIZE):
        in_row = count(np.uint64(taken >> 5 * k & 31))
        in_column = count(np.uint64(taken >> k & COLUMN))
        of_colour = count(np.uint64(_of_colour(planes, k)))
        total += _share(in_row, BONUS[board, 0], RUN_WORTH, weights[1])
        total += _share(in_column, BONUS[board, 1], RUN_WORTH, weights[2])
        total += _share(of_colour, BONUS[board, 2], 0.0, weights[3])
    return total


@jit(forceinline=True)
def _share(tiles: int, bonus: int, extra: float, weight: float) -> float:
    return np.float64(bonus) if tiles == SIZE else weight * (bonus + extra) * (tiles * tiles / 25.0)


@jit(forceinline=True)
def _lines(row: Row, seat: int) -> tuple[int, int]:
    """Tiles on the lines and their colours, a byte for each."""
    filled = colours = 0
    for line in range(SIZE):
        filled |= np.int64(row.filled[seat, line]) << 8 * line  # type: ignore[assignment]
        colours |= np.int64(row.colour[seat, line]) << 8 * line  # type: ignore[assignment]
    return filled, colours


@jit(forceinline=True)
def _own_worth(row: Row, seat: int, weights: Weights) -> float:
    if row.phase == ENDED:
        return np.float64(row.score[seat])
    filled, colours = _lines(row, seat)
    return _worth(row, seat, _planes(row, seat), filled, colours, floor_spaces(row, seat), weights)


@jit(forceinline=True)
def _kept(weights: Floats) -> Weights:
    return weights[0], weights[1], weights[2], weights[3], weights[4], weights[5]


@jit(forceinline=True)
def _best_other(row: Row, seat: int, left_out: int, weights: Weights) -> float:
    """The most that a board is worth of those that are neither the seat's nor that of `left_out`."""
    best = -np.inf
    for other in range(row.players):
        if other != seat and other != left_out:
            best = max(best, _own_worth(row, other, weights))
    return best


@jit
def value(row: Row, seat: int, weights: Floats) -> float:
    """By how much the worth of the seat's board exceeds that of the best other one."""
    kept = _kept(weights)
    return _own_worth(row, seat, kept) - _best_other(row, seat, seat, kept)


@jit(forceinline=True)
def action_values(row: Row, seat: int, weights: Floats, actions: Integers, values: Floats) -> int:
    """What each action changes in `value`: it is the deciding player's board that changes."""
    kept, decides = _kept(weights), np.int64(row.mover)
    own = _own_worth(row, decides, kept)
    found = _tiling_worths(row, decides, kept, actions, values)
    if row.phase != TILING:
        found = _draft_worths(row, decides, kept, actions, values)
    if decides == seat:
        for k in range(found):
            values[k] -= own
        return found
    others = _best_other(row, seat, decides, kept)
    before = max(others, own)
    for k in range(found):
        values[k] = before - max(others, values[k])
    return found


@jit(forceinline=True)
def _tiling_worths(row: Row, seat: int, weights: Weights, actions: Integers, values: Floats) -> int:
    if row.phase != TILING:
        return 0
    line, board = np.int64(row.line), np.int64(row.board)
    planes, colour = _planes(row, seat), np.int64(row.colour[seat, line])
    filled, colours = _lines(row, seat)
    filled &= ~(255 << 8 * line)
    floor, free, found = floor_spaces(row, seat), spaces(row, seat, line), 0
    taken = planes[0] | planes[1] | planes[2]
    for column in range(SIZE):
        if free >> column & 1:
            placed = _with(planes, colour, 5 * line + column)
            actions[found] = names.TILING + column
            values[found] = points_at(taken, board, line, column) + _worth(
                row, seat, placed, filled, colours, floor, weights
            )
            found += 1
    return found


@jit(forceinline=True)
def _draft_worths(row: Row, seat: int, weights: Weights, actions: Integers, values: Floats) -> int:
    planes, accepts = _planes(row, seat), np.int64(row.accepts[seat])
    filled, colours = _lines(row, seat)
    floor, found = floor_spaces(row, seat), 0
    for source in range(names.SOURCES):
        with_marker = source == CENTRE and row.marker == NOBODY
        spaces_taken = min(floor + with_marker, FLOOR_SPACES)
        for colour in range(SIZE):
            number = tiles_of(row.sources[source], colour)
            if number == 0:
                continue
            for target in range(TARGETS):
                if not accepts >> (TARGETS * colour + target) & 1:
                    continue
                new_filled, new_colours, rest = filled, colours, number
                if target != TO_FLOOR:
                    placed = min(number, target + 1 - (filled >> 8 * target & 255))
                    rest -= placed
                    new_filled += placed << 8 * target
                    new_colours = (colours & ~(255 << 8 * target)) | colour << 8 * target
                worth = _worth(row, seat, planes, new_filled, new_colours, spaces_taken + rest, weights)
                actions[found] = names.PER_SOURCE * source + TARGETS * colour + target
                values[found] = worth + weights[4] * with_marker
                found += 1
    return found


@jit
def decision_kind(row: Row) -> int:
    """No two decisions that can follow one action are sure to be alike."""
    return -1
