"""The rules of Mozaic as compiled functions on a row; no drawing, no environment.

Tiles are bits: tile = cols * rank + file, so a1 is bit 0. Readings of the printed rules are marked *reading*.
"""

import numpy as np

from mozaic_env.core.bits import ALL, ONE, Board, Bytes, clear, clearer, count, nth, spread, spread_interleaved
from mozaic_env.core.contract import CHANCE, OVER, Floats, Integers, Row
from mozaic_env.core.jit import jit
from mozaic_env.core.registry import HEADER
from mozaic_env.core.stream import LUCK, SETUP, below, random_bits
from mozaic_env.games.mozaic.actions import AMETHYST, MOST_POINTS, NO_GEM, ONYX, POINTS_PER_SQUARE, Gem

ROW = np.dtype(
    [
        ("gems", np.uint64, (2,)),  # the board of each player
        *HEADER,
        ("score", np.int32, (2,)),  # points
        ("bag", np.uint8, (6,)),  # how many of each Gem are in the bag now
        ("hand", np.uint8),  # the Gem in hand at a decision, else NO_GEM
        ("plays", np.uint8),  # draws owed in this turn, the one in hand included; 0: the game is over
        ("mover", np.uint8),  # who decides or draws; when the game is over, who played last
        ("edition", np.uint8),
        ("rows", np.uint8),
        ("cols", np.uint8),
    ],
    align=True,
)

YELLOW, BLUE, EMERALD, DIAMOND, RUBY, DOUBLE = (int(gem) for gem in Gem)

# Left and right edge of a board of 0..8 columns: the bits of its first and its last file.
MOST_TILES = 64
_clear_full_planes = clearer(5 * MOST_TILES)  # of the largest board, which most games are played on

FIRST_FILE = np.zeros(9, np.uint64)
LAST_FILE = np.zeros(9, np.uint64)
for _cols in range(2, 9):
    for _tile in range(64):
        if _tile % _cols == 0:
            FIRST_FILE[_cols] |= ONE << np.uint64(_tile)
        if _tile % _cols == _cols - 1:
            LAST_FILE[_cols] |= ONE << np.uint64(_tile)


@jit(forceinline=True)
def tiles_of(row: Row) -> int:
    """Number of tiles of the board."""
    return np.int64(row.rows) * np.int64(row.cols)  # type: ignore[return-value]


@jit(forceinline=True)
def empty_tiles(row: Row) -> Board:
    """The tiles without a gem."""
    board = ALL >> np.uint64(64 - tiles_of(row))
    return board & ~(row.gems[0] | row.gems[1])


@jit(forceinline=True)
def squares(board: Board, cols: int) -> Board:
    """The lower left tiles of all 2 x 2 blocks that `board` fills: three shifts and three ands."""
    pairs = board & (board >> ONE) & ~LAST_FILE[cols]
    return pairs & (pairs >> np.uint64(cols))


@jit(forceinline=True)
def points_at(board: Board, tile: int, cols: int) -> int:
    """Points for a gem that has just come to `tile` of its colour's `board`.

    Only the at most four blocks that contain the tile count, 4 points for each that is complete.
    """
    bit = ONE << np.uint64(tile)
    corners = bit | (bit >> ONE)  # a wrap around the edge names a block that does not exist, so never a square
    corners |= corners >> np.uint64(cols)
    return POINTS_PER_SQUARE * count(squares(board, cols) & corners)


@jit(forceinline=True)
def slides(row: Row, direction: int) -> Board:
    """The gems that can slide in a direction: 0 up-right, 1 up-left, 2 down-right, 3 down-left."""
    cols = np.uint64(row.cols)
    gems, empty = row.gems[0] | row.gems[1], empty_tiles(row)
    if direction == 0:
        return gems & (empty >> (cols + ONE)) & ~LAST_FILE[row.cols]
    if direction == 1:
        return gems & (empty >> (cols - ONE)) & ~FIRST_FILE[row.cols]
    if direction == 2:
        return gems & (empty << (cols - ONE)) & ~LAST_FILE[row.cols]
    return gems & (empty << (cols + ONE)) & ~FIRST_FILE[row.cols]


@jit(forceinline=True)
def slide_step(direction: int, cols: int) -> int:
    """By how much a slide in a direction changes the tile index."""
    if direction == 0:
        return cols + 1
    if direction == 1:
        return cols - 1
    if direction == 2:
        return 1 - cols
    return -cols - 1


@jit(forceinline=True)
def mover(row: Row) -> int:
    """Who decides, or CHANCE while a draw is owed, or OVER."""
    if row.plays == 0:
        return OVER
    if row.hand == NO_GEM:
        return CHANCE
    return np.int64(row.mover)  # type: ignore[return-value]


@jit
def setup(row: Row) -> None:
    """An empty board and a full bag, by the edition's opening.

    onyx: a coin says who draws first, and players draw in turn, putting back, until one has a gem of their own
    colour. Both colours are equally many, so exchanging the two players maps every such course to one that is as
    likely: the starter is a fair coin, and one coin is what is thrown here (*reading*).
    """
    half = tiles_of(row) // 2
    row.gems[0] = row.gems[1] = np.uint64(0)
    row.score[0] = row.score[1] = 0
    row.draws = row.decisions = 0
    row.bag[YELLOW] = row.bag[BLUE] = half
    for gem in range(EMERALD, DOUBLE + 1):
        row.bag[gem] = 1
    row.plays = 1
    row.hand = NO_GEM
    row.mover = 0
    if row.edition == AMETHYST:
        row.bag[YELLOW] -= 1
        row.hand = YELLOW
    else:
        row.mover = random_bits(row.key, SETUP, 1) >> np.uint64(63)


@jit
def _finish_draw(row: Row, gem: int) -> None:
    """The drawn gem has been played, or had no effect: on to the turn's next draw or the other player.

    Set-aside gems return when the turn is complete. onyx calls a double turn two turns, so there an emerald,
    diamond or ruby returns after its own, and only the double-turn gem waits for the second.
    """
    row.hand = NO_GEM
    if row.edition == ONYX and EMERALD <= gem <= RUBY:
        row.bag[gem] = 1
    row.plays -= 1
    if row.plays == 0:
        for exception in range(EMERALD, DOUBLE + 1):
            row.bag[exception] = 1
        row.mover = 1 - row.mover
        row.plays = 1


@jit(forceinline=True)
def _score(row: Row, colour: int, tile: int, cols: int) -> None:
    """Points for a gem of a colour that has just come to a tile."""
    row.score[colour] = min(row.score[colour] + points_at(row.gems[colour], tile, cols), MOST_POINTS)


@jit(forceinline=True)
def apply(row: Row, action: int) -> None:
    """Plays the gem in hand. The points go to the owner of the colour, whoever played it.

    When the last colour gem lands the game is over at once: nothing is owed or returned any more (*reading*).
    """
    tiles, cols = tiles_of(row), np.int64(row.cols)
    gem = np.int64(row.hand)
    row.decisions += 1
    if gem <= BLUE:
        row.gems[gem] |= ONE << np.uint64(action)
        _score(row, gem, action, cols)
        if empty_tiles(row) == 0:
            row.hand = NO_GEM
            row.plays = 0
            return
    elif gem == EMERALD:
        tile, direction = (action - tiles) >> 2, (action - tiles) & 3
        target = tile + slide_step(direction, cols)
        colour = np.int64((row.gems[1] >> np.uint64(tile)) & ONE)
        row.gems[colour] ^= (ONE << np.uint64(tile)) | (ONE << np.uint64(target))
        _score(row, colour, target, cols)
    else:
        tile = action - 5 * tiles
        colour = np.int64((row.gems[1] >> np.uint64(tile)) & ONE)
        row.gems[colour] ^= ONE << np.uint64(tile)
        row.bag[colour] += 1
    _finish_draw(row, gem)


@jit
def _gems_in_bag(row: Row) -> int:
    total = 0
    for gem in range(6):
        total += np.int64(row.bag[gem])  # type: ignore[assignment]
    return total


@jit
def sample(row: Row) -> int:
    """A gem from the bag, uniformly over gems."""
    number = below(random_bits(row.key, LUCK, row.draws), _gems_in_bag(row))
    gem, upto = 0, 0
    for kind in range(DOUBLE):  # adding comparisons instead of leaving early: nothing to mispredict
        upto += np.int64(row.bag[kind])  # type: ignore[assignment]
        gem += number >= upto
    return gem


@jit
def outcomes(row: Row, codes: Integers, probabilities: Floats) -> int:
    """The kinds of gem in the bag and their shares of it."""
    total, size = _gems_in_bag(row), 0
    for gem in range(6):
        if row.bag[gem] > 0:
            codes[size] = gem
            probabilities[size] = row.bag[gem] / total
            size += 1
    return size


@jit
def any_slide(row: Row) -> bool:
    """Whether any gem can slide."""
    return (slides(row, 0) | slides(row, 1) | slides(row, 2) | slides(row, 3)) != 0


@jit
def resolve(row: Row, code: int) -> None:
    """That gem is drawn. Where it asks for a decision it is in hand afterwards, else its effect is done."""
    row.draws += 1
    row.bag[code] -= 1
    if code <= BLUE:
        row.hand = code
    elif code == EMERALD:
        if any_slide(row):
            row.hand = code
        else:
            _finish_draw(row, code)
    elif code == DIAMOND:
        if (row.gems[0] | row.gems[1]) != 0:
            row.hand = code
        else:
            _finish_draw(row, code)
    elif code == RUBY:
        if row.edition == AMETHYST:
            row.plays = 1  # the first of two loses both
        _finish_draw(row, code)
    else:
        row.plays = 2


@jit(forceinline=True)
def _clear_planes(masks: Bytes, index: int, start: int, tiles: int) -> None:
    """Clears five of a mask's six planes."""
    if tiles == MOST_TILES:
        _clear_full_planes(masks, index, start)
    else:
        clear(masks, index, start, 5 * tiles)


@jit(forceinline=True)
def legal(row: Row, masks: Bytes, index: int) -> None:
    """Writes the mask: for a colour gem the empty tiles, for an emerald the slides, for a diamond all gems."""
    tiles = tiles_of(row)
    if row.hand <= BLUE:
        spread(masks, index, 0, empty_tiles(row), tiles)
        _clear_planes(masks, index, tiles, tiles)
    elif row.hand == DIAMOND:
        _clear_planes(masks, index, 0, tiles)
        spread(masks, index, 5 * tiles, row.gems[0] | row.gems[1], tiles)
    else:
        clear(masks, index, 0, 6 * tiles)
        boards = (slides(row, 0), slides(row, 1), slides(row, 2), slides(row, 3))
        spread_interleaved(masks, index, tiles, boards, tiles)


@jit(forceinline=True)
def is_legal(row: Row, action: int) -> bool:
    """Whether the action plays the gem in hand and its tiles allow it."""
    tiles = tiles_of(row)
    if row.hand <= BLUE:
        return action < tiles and (empty_tiles(row) >> np.uint64(action)) & ONE != 0
    if row.hand == EMERALD:
        if action < tiles or action >= 5 * tiles:
            return False
        slide = action - tiles
        return (slides(row, slide & 3) >> np.uint64(slide >> 2)) & ONE != 0
    gems = row.gems[0] | row.gems[1]
    return action >= 5 * tiles and (gems >> np.uint64(action - 5 * tiles)) & ONE != 0


@jit(forceinline=True)
def random_action(row: Row, bits: np.uint64) -> int:
    """Uniform over the legal actions: the n-th set bit of their board."""
    if row.hand <= BLUE:
        empty = empty_tiles(row)
        return nth(empty, below(bits, count(empty)))
    tiles = tiles_of(row)
    if row.hand == DIAMOND:
        gems = row.gems[0] | row.gems[1]
        return 5 * tiles + nth(gems, below(bits, count(gems)))
    total = 0
    for direction in range(4):
        total += count(slides(row, direction))
    left = below(bits, total)
    for direction in range(4):
        board = slides(row, direction)
        if left < count(board):
            return tiles + 4 * nth(board, left) + direction
        left -= count(board)
    return -1  # not reached: a slide is asked for only where one exists


@jit
def outcome(row: Row, seat: int) -> float:
    """+1 for more points, -1 for fewer, 0 for a draw."""
    return np.float64(np.sign(row.score[seat] - row.score[1 - seat]))


@jit
def margin(row: Row, seat: int) -> float:
    """Own points less the opponent's, in squares (4 points)."""
    return (row.score[seat] - row.score[1 - seat]) / POINTS_PER_SQUARE
