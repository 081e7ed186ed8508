"""Position strings: six fields that say all but the random stream, with every malformed one refused."""

import re

import numpy as np

from mozaic_env.games.mozaic.actions import AMETHYST, LETTERS, NO_GEM, POINTS_PER_SQUARE, Gem
from mozaic_env.games.mozaic.rules import DIAMOND, DOUBLE, EMERALD, RUBY, any_slide, empty_tiles

FORMAT = "<tiles> <mover> <hand> <plays> <bag> <score>, such as '8/8/8/8/8/8/8/8 y y 1 31,32,1,1,1,1 0-0'"


def format_position(row: np.void) -> str:
    """A row at a decision or at the end as its position string."""
    rows, cols = int(row["rows"]), int(row["cols"])
    ranks = []
    for rank in reversed(range(rows)):
        letters = [_letter(row, rank * cols + file) for file in range(cols)]
        ranks.append(re.sub("-+", lambda run: str(len(run[0])), "".join(letters)))
    over = row["plays"] == 0
    return " ".join(
        [
            "/".join(ranks),
            "-" if over else LETTERS[row["mover"]],
            "-" if row["hand"] == NO_GEM else LETTERS[row["hand"]],
            str(row["plays"]),
            ",".join(str(number) for number in row["bag"]),
            f"{row['score'][0]}-{row['score'][1]}",
        ]
    )


def _letter(row: np.void, tile: int) -> str:
    for colour in range(2):
        if int(row["gems"][colour]) >> tile & 1:
            return LETTERS[colour]
    return "-"


def read_position(text: str, row: np.void) -> None:
    """Writes a position into a row that carries the options; the key stays.

    Raises:
        ValueError: the text has another form, or no game of this edition and board can reach it.
    """
    if not isinstance(text, str):
        raise ValueError(f"a position is a string of the form {FORMAT}; got {text!r}")
    words = text.split(" ")
    if len(words) != 6:
        raise ValueError(f"position {text!r} has {len(words)} fields separated by single spaces; expected 6: {FORMAT}")
    try:
        _read_tiles(words[0], row)
        _read_counts(words, row)
        _check(row)
    except ValueError as error:
        raise ValueError(f"position {text!r}: {error}") from None


def _read_tiles(text: str, row: np.void) -> None:
    rows, cols = int(row["rows"]), int(row["cols"])
    ranks = text.split("/")
    if len(ranks) != rows:
        raise ValueError(f"{len(ranks)} ranks; this board is {rows}x{cols} and has {rows}, top rank first")
    gems = [0, 0]
    for index, content in enumerate(ranks):
        if not re.fullmatch("[yb1-8]+", content) or re.search("[1-8][1-8]", content):
            raise ValueError(f"rank {content!r}; accepted are y, b and a number for each run of empty tiles")
        tiles = re.sub("[1-8]", lambda run: "-" * int(run[0]), content)
        if len(tiles) != cols:
            raise ValueError(f"rank {content!r} has {len(tiles)} tiles; this board is {rows}x{cols}")
        for file, letter in enumerate(tiles):
            if letter != "-":
                gems[LETTERS.index(letter)] |= 1 << ((rows - 1 - index) * cols + file)
    row["gems"] = gems


def _read_counts(words: list[str], row: np.void) -> None:
    _, mover, hand, plays, bag, score = words
    over = hand == "-"
    if mover not in (("-",) if over else ("y", "b")):
        raise ValueError(f"mover {mover!r}; accepted are y and b, and - together with hand - when the game is over")
    if hand not in tuple("ybed-"):
        raise ValueError(f"hand {hand!r}; accepted are y, b, e, d, and - when the game is over")
    if plays not in (("0",) if over else ("1", "2")):
        raise ValueError(f"plays {plays!r}; accepted are 1 and 2, and 0 when the game is over")
    if not re.fullmatch(r"(0|[1-9]\d?)(,(0|[1-9]\d?)){5}", bag, re.ASCII):
        raise ValueError(f"bag {bag!r}; expected six counts in the order y,b,e,d,r,x")
    if not re.fullmatch(r"(0|[1-9]\d{0,8})-(0|[1-9]\d{0,8})", score, re.ASCII):
        raise ValueError(f"score {score!r}; expected yellow's points, a hyphen, blue's, such as 8-12")
    row["mover"] = 0 if over else LETTERS.index(mover)
    row["hand"] = NO_GEM if over else LETTERS.index(hand)
    row["plays"] = int(plays)
    row["bag"] = [int(number) for number in bag.split(",")]
    row["score"] = [int(points) for points in score.split("-")]
    row["draws"] = row["decisions"] = 0


def _check(row: np.void) -> None:
    """Refuses what no game can reach: gems too many or too few, a decision that nobody would be asked for."""
    half, hand, bag = int(row["rows"]) * int(row["cols"]) // 2, int(row["hand"]), [int(n) for n in row["bag"]]
    for colour in range(2):
        total = int(row["gems"][colour]).bit_count() + bag[colour] + (hand == colour)
        if total != half:
            raise ValueError(
                f"{total} gems of {LETTERS[colour]} on the board, in the bag and in hand; there are {half}"
            )
    for gem in range(EMERALD, DOUBLE + 1):
        if bag[gem] + (hand == gem) > 1:
            raise ValueError(
                f"{bag[gem] + (hand == gem)} {Gem(gem).name.lower()} gems in the bag and in hand; there is 1"
            )
    if any(points % POINTS_PER_SQUARE for points in row["score"]):
        raise ValueError(f"score {row['score'][0]}-{row['score'][1]}; points come in fours")
    over, full = hand == NO_GEM, not empty_tiles(row)
    if over != full:
        raise ValueError(
            "the board is full, so hand is - (the game is over)"
            if full
            else "hand is - (the game is over), but tiles are empty"
        )
    if hand == EMERALD and not any_slide(row):
        raise ValueError("hand e, but no gem can slide, so nobody decides here")
    if hand == DIAMOND and not (row["gems"][0] | row["gems"][1]):
        raise ValueError("hand d, but the board is empty, so nobody decides here")
    _check_aside(row, [gem for gem in range(EMERALD, DOUBLE + 1) if not bag[gem] and hand != gem])


def _check_aside(row: np.void, aside: list[int]) -> None:
    """Which gems can be set aside: the double-turn gem inside a double turn, in amethyst with one drawn before.

    The last gem ends the game at once, so what is set aside then stays so.
    """
    names = ", ".join(LETTERS[gem] for gem in aside)
    if row["plays"] == 2 and aside != [DOUBLE]:
        raise ValueError(
            f"plays 2 is the first half of a double turn, with x alone set aside; set aside: {names or 'none'}"
        )
    if row["plays"] != 2 and aside:
        first = [gem for gem in aside if gem != DOUBLE]
        if DOUBLE not in aside or len(first) > (1 if row["edition"] == AMETHYST else 0) or RUBY in first:
            raise ValueError(f"{names} can't be what is set aside here, so the bag is not complete")
