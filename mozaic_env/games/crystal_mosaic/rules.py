"""The rules of Crystal Mosaic as compiled functions on a row; no drawing, no environment.

Tiles of one place are counted in the bytes of a 64-bit word, byte c for colour c (a *pile*). A wall is five 25-bit
boards, one for each colour; the space in row r and column k, both from 0, is bit 5 r + k. Rows of the wall, pattern
lines and seats count from 0 here. Readings of the rules are marked *reading*.
"""

import numpy as np

from mozaic_env.core.bits import Bytes, count, nth, spread
from mozaic_env.core.contract import CHANCE, OVER, Floats, Integers, Row
from mozaic_env.core.jit import jit
from mozaic_env.core.registry import HEADER
from mozaic_env.core.stream import LUCK, below, random_bits
from mozaic_env.games.crystal_mosaic import actions as names
from mozaic_env.games.crystal_mosaic.actions import (
    CENTRE,
    FLOOR_SPACES,
    MOST_POINTS,
    PER_FACTORY,
    SIZE,
    TARGETS,
    TO_FLOOR,
    Phase,
)

ROW = np.dtype(
    [
        *HEADER,
        ("sources", np.uint64, (names.SOURCES,)),  # piles: factories, centre
        ("bag", np.uint64),  # pile
        ("lid", np.uint64),  # pile
        ("floor", np.uint64, (4,)),  # pile of each player, without the marker
        ("wall", np.uint32, (4, 5)),  # of each player and colour: the spaces with a tile
        ("accepts", np.uint32, (4,)),  # bit 6 c + l: the player's line l (5: the floor) accepts colour c; follows
        # from wall and lines, see `refresh`
        ("score", np.int32, (4,)),  # points
        ("filled", np.uint8, (4, 5)),  # tiles on each pattern line
        ("colour", np.uint8, (4, 5)),  # their colour; 0 where there is none
        ("marker", np.uint8),  # who has taken it in this round, NOBODY: it lies in the centre
        ("starter", np.uint8),  # who begins, or began, this round
        ("mover", np.uint8),  # who decides
        ("line", np.uint8),  # which line is tiled; 0 elsewhere
        ("phase", np.uint8),
        ("round", np.uint8),  # from 1
        ("dealt", np.uint8),  # tiles drawn in a refill under way
        ("players", np.uint8),
        ("factories", np.uint8),
        ("board", np.uint8),
        ("max_rounds", np.uint8),
        ("penalties", np.int8, (8,)),  # what so many occupied floor spaces cost, at most 0
    ],
    align=True,
)

REFILL, DRAFT, TILING, ENDED = (int(phase) for phase in Phase)
NOBODY = names.MOST_PLAYERS
BASE, SIDE1 = int(names.Board.BASE), int(names.Board.SIDE1)
BONUS = np.array([names.BONUSES[board] for board in names.Board])  # row, column, colour

NONE = np.uint64(0)
BYTE = np.uint64(0xFF)
EACH = np.uint64(0x01_01_01_01_01)  # one tile of each colour
SUMS = np.uint64(0x0101_0101_0101_0101)
LOW_BITS, HIGH_BITS = np.uint64(0x7F_7F_7F_7F_7F), np.uint64(0x80_80_80_80_80)
GATHER = np.uint64(0x1_0204_0810)  # a multiplier that brings the lowest bits of five bytes to bits 32 to 36
FULL_BAG = np.uint64(names.TILES_OF_COLOUR) * EACH
COLUMN = 0b00001_00001_00001_00001_00001  # column 0 of a wall
COLUMN_TO_ROW = sum(1 << (20 - 4 * row) for row in range(5))  # a multiplier that brings column 0 to bits 20..24

# By a set of colours (5 bits): all targets of each colour of the set, and one target of each.
TARGETS_OF = np.array([sum(0b111111 << 6 * c for c in range(5) if s >> c & 1) for s in range(32)], np.uint64)
TARGET_OF = np.array([sum(1 << 6 * c for c in range(5) if s >> c & 1) for s in range(32)], np.uint32)
LOWEST = np.array([0] + [(bits & -bits).bit_length() - 1 for bits in range(1, 32)])  # set bit of five
# Length of the run of set bits through position k of five bits; that bit counts as set.
RUN = np.zeros((32, 5), np.int64)
for _bits in range(32):
    for _at in range(5):
        RUN[_bits, _at] = 1
        for _step in (-1, 1):
            _next = _at + _step
            while 0 <= _next < 5 and _bits >> _next & 1:
                RUN[_bits, _at] += 1
                _next += _step
# Columns of each row that are printed with another colour, by board, colour and row; and doubled spaces by board.
BARRED = np.zeros((4, 5, 5), np.int64)
DOUBLED = np.zeros(4, np.int64)
for _board in names.Board:
    for _row, _letters in enumerate(names.PRINTS[_board]):
        for _column, _letter in enumerate(_letters):
            for _colour in range(5):
                if _letter not in (".", names.COLOURS[_colour]):
                    BARRED[_board, _colour, _row] |= 1 << _column
            if _letter != "." and _board in names.DOUBLING:
                DOUBLED[_board] |= 1 << (5 * _row + _column)


@jit(forceinline=True)
def tiles_of(pile: np.uint64, colour: int) -> int:
    """How many tiles of a colour a pile has."""
    return np.int64((pile >> np.uint64(8 * colour)) & BYTE)  # type: ignore[return-value]


@jit(forceinline=True)
def some(number: int, colour: int) -> np.uint64:
    """A pile of so many tiles of one colour."""
    return np.uint64(number) << np.uint64(8 * colour)


@jit(forceinline=True)
def size(pile: np.uint64) -> int:
    """How many tiles a pile has."""
    return np.int64((pile * SUMS) >> np.uint64(56))  # type: ignore[return-value]


@jit(forceinline=True)
def colours_in(pile: np.uint64) -> int:
    """The set of colours of a pile, five bits."""
    present = ((pile + LOW_BITS) & HIGH_BITS) >> np.uint64(7)
    return np.int64(((present * GATHER) >> np.uint64(32)) & np.uint64(31))  # type: ignore[return-value]


@jit(forceinline=True)
def occupied(row: Row, seat: int) -> int:
    """The spaces of a wall that have a tile, 25 bits."""
    wall = row.wall
    return np.int64(wall[seat, 0] | wall[seat, 1] | wall[seat, 2] | wall[seat, 3] | wall[seat, 4])  # type: ignore[return-value]


@jit(forceinline=True)
def floor_spaces(row: Row, seat: int) -> int:
    """How many floor spaces are occupied, by tiles and perhaps the marker."""
    return min(size(row.floor[seat]) + (row.marker == seat), FLOOR_SPACES)


@jit(forceinline=True)
def columns_with(board: int) -> int:
    """The columns in which a 25-bit board has a bit, five bits."""
    return (board | board >> 5 | board >> 10 | board >> 15 | board >> 20) & 31


@jit(forceinline=True)
def colours_in_row(row: Row, seat: int, line: int) -> int:
    """The set of colours in a row of a wall."""
    found = 0
    for colour in range(SIZE):
        holds = (row.wall[seat, colour] >> np.uint32(5 * line)) & np.uint32(31) != 0
        found |= (1 << colour) if holds else 0
    return found


@jit
def refresh(row: Row, seat: int, line: int) -> None:
    """Works out which colours a line accepts: one that it holds, or while empty any that its wall row lacks."""
    fill, colour = np.int64(row.filled[seat, line]), np.int64(row.colour[seat, line])
    if fill == 0:
        accepted = 31 & ~colours_in_row(row, seat, line)
    else:
        accepted = (1 << colour) if fill <= line else 0
    at = np.uint32(line)
    row.accepts[seat] = (row.accepts[seat] & ~(TARGET_OF[31] << at)) | (TARGET_OF[accepted] << at)


@jit(forceinline=True)
def mover(row: Row) -> int:
    """Who decides, or CHANCE during a refill, or OVER."""
    if row.phase == REFILL:
        return CHANCE
    if row.phase == ENDED:
        return OVER
    return np.int64(row.mover)  # type: ignore[return-value]


@jit
def setup(row: Row) -> None:
    """A full bag, empty boards; seat 0 begins (*reading*: who sits where is drawn by whoever plays)."""
    row.draws = row.decisions = 0
    for source in range(names.SOURCES):
        row.sources[source] = NONE
    row.bag, row.lid = FULL_BAG, NONE
    for seat in range(names.MOST_PLAYERS):
        row.floor[seat] = NONE
        row.score[seat] = 0
        row.accepts[seat] = np.uint32(0x3FFF_FFFF)
        for k in range(SIZE):
            row.wall[seat, k] = 0
            row.filled[seat, k] = row.colour[seat, k] = 0
    row.marker = NOBODY
    row.starter = row.mover = row.line = row.dealt = 0
    row.phase, row.round = REFILL, 1


# --- chance: the refill ---


@jit
def sample(row: Row) -> int:
    """The colour of a tile from the bag, uniformly over tiles."""
    upto = row.bag * EACH  # byte c: tiles of colours 0 to c
    number = np.uint64(below(random_bits(row.key, LUCK, row.draws), size(row.bag)))
    passed = ((number * EACH) | HIGH_BITS) - (upto & LOW_BITS)
    return count(passed & (HIGH_BITS >> np.uint64(8)))


@jit
def outcomes(row: Row, codes: Integers, probabilities: Floats) -> int:
    """The colours in the bag and their shares of it."""
    total, found = size(row.bag), 0
    for colour in range(SIZE):
        tiles = tiles_of(row.bag, colour)
        if tiles > 0:
            codes[found] = colour
            probabilities[found] = tiles / total
            found += 1
    return found


@jit
def resolve(row: Row, code: int) -> None:
    """That tile goes to the next factory; an empty bag is filled from the lid if another tile is to be drawn."""
    row.draws += 1
    tile = some(1, code)
    row.bag -= tile
    row.sources[row.dealt // PER_FACTORY] += tile
    row.dealt += 1
    if row.dealt < PER_FACTORY * row.factories:
        if row.bag == NONE:
            row.bag, row.lid = row.lid, NONE
        if row.bag != NONE:
            return
    row.dealt = 0
    row.phase = DRAFT
    row.mover = row.starter


# --- decisions ---


@jit(forceinline=True)
def apply(row: Row, action: int) -> None:
    """Drafts tiles or tiles a line, and does what follows without a choice."""
    row.decisions += 1
    if row.phase == TILING:
        put_on_wall(row, row.mover, row.line, action - names.TILING)
        _tile_on(row)
        return
    _draft(row, action // names.PER_SOURCE, action % names.PER_SOURCE // TARGETS, action % TARGETS)
    left = NONE
    for source in range(names.SOURCES):
        left |= row.sources[source]
    if left == NONE:
        _tile_on(row)
    else:
        following = row.mover + 1
        row.mover = following if following < row.players else 0


@jit
def _draft(row: Row, source: int, colour: int, target: int) -> None:
    seat = np.int64(row.mover)
    number = tiles_of(row.sources[source], colour)
    row.sources[source] -= some(number, colour)
    if source == CENTRE:
        if row.marker == NOBODY:
            row.marker = seat
    else:
        row.sources[CENTRE] += row.sources[source]
        row.sources[source] = NONE
    if target != TO_FLOOR:
        placed = min(number, target + 1 - np.int64(row.filled[seat, target]))
        row.filled[seat, target] += placed
        row.colour[seat, target] = colour
        refresh(row, seat, target)
        number -= placed
    to_floor(row, seat, colour, number)


@jit
def to_floor(row: Row, seat: int, colour: int, number: int) -> None:
    """Tiles go to the free floor spaces, those beyond the last to the lid."""
    kept = min(number, FLOOR_SPACES - floor_spaces(row, seat))
    row.floor[seat] += some(kept, colour)
    row.lid += some(number - kept, colour)


@jit(forceinline=True)
def spaces(row: Row, seat: int, line: int) -> int:
    """The columns to which the tile of a line may go, five bits."""
    colour = np.int64(row.colour[seat, line])
    if row.board == BASE:
        return 1 << (colour + line) % SIZE  # type: ignore[return-value]
    taken = (occupied(row, seat) >> 5 * line) | columns_with(np.int64(row.wall[seat, colour]))
    return 31 & ~(taken | BARRED[row.board, colour, line])


@jit(forceinline=True)
def points_at(spaces_taken: int, board: int, line: int, column: int) -> int:
    """What a tile scores that has just come to a wall with these other tiles: both runs through it if longer than 1."""
    across = RUN[(spaces_taken >> 5 * line) & 31, column]
    down = RUN[((((spaces_taken >> column) & COLUMN) * COLUMN_TO_ROW) >> 20) & 31, line]
    points = across + down
    if across == 1 or down == 1:
        points -= 1
    return points << ((DOUBLED[board] >> (5 * line + column)) & 1)


@jit
def put_on_wall(row: Row, seat: int, line: int, column: int) -> None:
    """One tile of a complete line goes to the wall and scores, the others go to the lid."""
    colour = row.colour[seat, line]
    gained = points_at(occupied(row, seat), row.board, line, column)
    row.score[seat] = min(row.score[seat] + gained, MOST_POINTS)
    row.wall[seat, colour] |= np.uint32(1) << np.uint32(5 * line + column)
    row.lid += some(line, colour)
    row.filled[seat, line] = row.colour[seat, line] = 0
    refresh(row, seat, line)


@jit
def _tile_on(row: Row) -> None:
    """Tiles the complete lines that are left, up to the first that leaves a choice; then the round ends.

    A line that has been tiled is empty, so what is left is found by looking through all again.
    """
    for turn in range(row.players):
        seat = np.int64(row.starter) + turn
        if seat >= row.players:
            seat -= np.int64(row.players)
        for line in range(SIZE):
            if row.filled[seat, line] <= line:
                continue
            free = spaces(row, seat, line)
            if free == 0:
                colour = np.int64(row.colour[seat, line])
                row.filled[seat, line] = row.colour[seat, line] = 0
                refresh(row, seat, line)
                to_floor(row, seat, colour, line + 1)
            elif free & (free - 1) == 0:
                put_on_wall(row, seat, line, LOWEST[free])
            else:
                row.phase, row.mover, row.line = TILING, seat, line
                return
    _end_round(row)


@jit
def _end_round(row: Row) -> None:
    """Floors are counted and cleared, and the next round's refill or the end comes.

    Who has taken the marker begins the next round; where nobody has, the starting player stays (*reading*). Rounds
    without a single tile, which are possible in theory for four players, are passed over.
    """
    row.line = 0
    for seat in range(row.players):
        row.score[seat] = max(row.score[seat] + row.penalties[floor_spaces(row, seat)], 0)
        row.lid += row.floor[seat]
        row.floor[seat] = NONE
    if row.marker != NOBODY:
        row.starter = row.marker
    row.marker = NOBODY
    row.mover = row.starter
    if any_complete_row(row):
        row.phase = ENDED
        for seat in range(row.players):
            row.score[seat] = min(row.score[seat] + bonuses(row, seat), MOST_POINTS)
        return
    while row.round < row.max_rounds:
        row.round += 1
        if row.bag == NONE:
            row.bag, row.lid = row.lid, NONE
        if row.bag != NONE:
            row.phase = REFILL
            return
    row.phase = ENDED


# --- the end ---


@jit
def complete_rows(board: int) -> int:
    """How many of the five rows of a 25-bit board are full."""
    found = 0
    for line in range(SIZE):
        found += ((board >> 5 * line) & 31) == 31
    return found


@jit
def any_complete_row(row: Row) -> bool:
    """Whether a wall has a complete row, which ends the game after the round."""
    for seat in range(row.players):
        if complete_rows(occupied(row, seat)) > 0:
            return True
    return False


@jit
def bonuses(row: Row, seat: int) -> int:
    """Points at the end for complete rows, columns and colours."""
    board = occupied(row, seat)
    columns = board & (board >> 5) & (board >> 10) & (board >> 15) & (board >> 20) & 31
    colours = 0
    for colour in range(SIZE):
        colours += count(np.uint64(row.wall[seat, colour])) == SIZE
    each = BONUS[row.board]
    return each[0] * complete_rows(board) + each[1] * count(np.uint64(columns)) + each[2] * colours


@jit
def cut_off(row: Row) -> bool:
    """Whether a game that is over has reached its last round without a complete row."""
    return row.phase == ENDED and not any_complete_row(row)


@jit
def _rank(row: Row, seat: int) -> int:
    """Score, and among equal scores complete rows, as one number."""
    return 8 * np.int64(row.score[seat]) + complete_rows(occupied(row, seat))


@jit
def outcome(row: Row, seat: int) -> float:
    """1 over the number of winners for each of them; what they gain the others lose in equal parts; 0 if all tie."""
    if cut_off(row):
        return 0.0
    best, winners = 0, 0
    for other in range(row.players):
        rank = _rank(row, other)
        if rank > best or winners == 0:
            best, winners = rank, 1
        elif rank == best:
            winners += 1
    if winners == row.players:
        return 0.0
    return 1.0 / winners if _rank(row, seat) == best else -1.0 / (np.int64(row.players) - winners)


@jit
def margin(row: Row, seat: int) -> float:
    """By how many tens of points the seat leads the best of the others."""
    best = -1
    for other in range(row.players):
        if other != seat:
            best = max(best, np.int64(row.score[other]))  # type: ignore[assignment]
    return (np.int64(row.score[seat]) - best) / 10.0


# --- masks ---

Words = tuple[np.uint64, np.uint64, np.uint64, np.uint64, np.uint64]


@jit(forceinline=True)
def _words(row: Row) -> Words:
    """The mask as bits: four words for actions 0 to 255, and one whose bit k is action 241 + k.

    The last word overlaps the fourth, so that 64 bits can be written to the end of a mask; its bits of the overlap
    are set as well.
    """
    if row.phase == TILING:
        free = np.uint64(spaces(row, row.mover, row.line))
        return NONE, NONE, NONE, NONE, free << np.uint64(59)
    accepts = np.uint64(row.accepts[row.mover])
    m0 = TARGETS_OF[colours_in(row.sources[0])] & accepts
    m1 = TARGETS_OF[colours_in(row.sources[1])] & accepts
    m2 = TARGETS_OF[colours_in(row.sources[2])] & accepts
    m3 = TARGETS_OF[colours_in(row.sources[3])] & accepts
    m4 = TARGETS_OF[colours_in(row.sources[4])] & accepts
    m5 = TARGETS_OF[colours_in(row.sources[5])] & accepts
    m6 = TARGETS_OF[colours_in(row.sources[6])] & accepts
    m7 = TARGETS_OF[colours_in(row.sources[7])] & accepts
    m8 = TARGETS_OF[colours_in(row.sources[8])] & accepts
    m9 = TARGETS_OF[colours_in(row.sources[9])] & accepts
    w3 = m6 >> np.uint64(12) | m7 << np.uint64(18) | m8 << np.uint64(48)
    w4 = m8 >> np.uint64(16) | m9 << np.uint64(14)  # actions 256 to 299
    return (
        m0 | m1 << np.uint64(30) | m2 << np.uint64(60),
        m2 >> np.uint64(4) | m3 << np.uint64(26) | m4 << np.uint64(56),
        m4 >> np.uint64(8) | m5 << np.uint64(22) | m6 << np.uint64(52),
        w3,
        w3 >> np.uint64(49) | w4 << np.uint64(15),
    )


@jit(forceinline=True)
def legal(row: Row, masks: Bytes, index: int) -> None:
    """Writes the mask: in the draft what is there and where it may go, at a tiling the free columns."""
    words = _words(row)
    spread(masks, index, 0, words[0], 64)
    spread(masks, index, 64, words[1], 64)
    spread(masks, index, 128, words[2], 64)
    spread(masks, index, 192, words[3], 64)
    spread(masks, index, names.NUM_ACTIONS - 64, words[4], 64)


@jit(forceinline=True)
def is_legal(row: Row, action: int) -> bool:
    """Whether the source has the colour and the line accepts it, or the column is free."""
    if row.phase == TILING:
        return action >= names.TILING and (spaces(row, row.mover, row.line) >> (action - names.TILING)) & 1 != 0
    if action >= names.TILING:
        return False
    source, rest = action // names.PER_SOURCE, action % names.PER_SOURCE
    accepted = (np.int64(row.accepts[row.mover]) >> rest) & 1
    return accepted != 0 and tiles_of(row.sources[source], rest // TARGETS) > 0


@jit(forceinline=True)
def random_action(row: Row, bits: np.uint64) -> int:
    """Uniform over the legal actions: the n-th set bit of the mask."""
    w0, w1, w2, w3, tail = _words(row)
    w4 = tail >> np.uint64(15)
    n0 = count(w0)
    n1 = n0 + count(w1)
    n2 = n1 + count(w2)
    n3 = n2 + count(w3)
    left = below(bits, n3 + count(w4))
    if left < n0:
        return nth(w0, left)
    if left < n1:
        return 64 + nth(w1, left - n0)
    if left < n2:
        return 128 + nth(w2, left - n1)
    if left < n3:
        return 192 + nth(w3, left - n2)
    return 256 + nth(w4, left - n3)
