"""Position strings: FEN for 12 x 12, with two more fields where the state holds more; malformed ones are refused."""

import re

import numpy as np

from mozaic_env.core.text.numbers import is_number
from mozaic_env.games.mosaic_chess import board, notation, rules
from mozaic_env.games.mosaic_chess.actions import parse_square, square_name
from mozaic_env.games.mosaic_chess.board import MOST_NUMBER, MOST_QUIET, NOWHERE
from mozaic_env.games.mosaic_chess.pieces import KINDS, PAWN_RANK, code_of, symbol
from mozaic_env.games.mosaic_chess.tables import KINGS, PAWNS, SIZE, SQUARES

FORMAT = (
    "<board> <w or b> <en passant square or -> <plies since a capture or pawn move> <move number> "
    "[<chosen square or -> [<moves since then>]]"
)
SIDES = "wb"
MOST_MEN = 48  # of a side
_NUMBER = re.compile(r"0|[1-9]\d{0,4}", re.ASCII)


def format_position(row: np.void) -> str:
    """A row at a decision or at the end as its position string.

    The moves at the end are those back to which the position could repeat: since the last capture, pawn move or
    promotion. Without any, and with no piece chosen, the string is the five fields of the FEN.
    """
    words = [
        "/".join(_format_rank(row, rank) for rank in reversed(range(SIZE))),
        SIDES[row["mover"]],
        _square_or_dash(row["passed"]),
        str(row["quiet"]),
        str(row["number"]),
    ]
    if row["chosen"] != NOWHERE or row["past"]:
        words.append(_square_or_dash(row["chosen"]))
    if row["past"]:
        words.append(",".join(_format_past(int(move)) for move in row["moves"][: row["past"]]))
    return " ".join(words)


def _square_or_dash(square: int) -> str:
    return "-" if square == NOWHERE else square_name(int(square))


def _format_rank(row: np.void, rank: int) -> str:
    codes = row["board"][SIZE * rank : SIZE * (rank + 1)]
    letters = "".join(symbol(int(code)) if code else "." for code in codes)
    return re.sub(r"\.+", lambda run: str(len(run[0])), letters)


def _format_past(move: int) -> str:
    return f"{square_name(move // SQUARES)}-{square_name(move % SQUARES)}"


def read_position(text: str, row: np.void) -> None:
    """Writes a position into a row; the key stays.

    Raises:
        ValueError: the text has another form, or no game can come to it.
    """
    if not isinstance(text, str):
        raise ValueError(f"a position is a string of the form {FORMAT}; got {text!r}")
    words = text.split(" ")
    if not 5 <= len(words) <= 7:
        raise ValueError(f"position {text!r} has {len(words)} fields separated by single spaces; expected: {FORMAT}")
    try:
        _read_board(words[0], row)
        _read_state(words, row)
        _check(row)
        _read_past(words[6] if len(words) == 7 else "", row)
        _read_chosen(words[5] if len(words) > 5 else "-", row)
    except ValueError as error:
        raise ValueError(f"position {text!r}: {error}") from None
    if format_position(row) != text:
        raise ValueError(f"position {text!r} would be written {format_position(row)!r}")


def _read_board(text: str, row: np.void) -> None:
    ranks = text.split("/")
    if len(ranks) != SIZE:
        raise ValueError(f"{len(ranks)} ranks; the board has {SIZE}, the last rank first")
    for index, content in enumerate(ranks):
        codes: list[int] = []
        for word in re.findall(r"[0-9]+|.", content):
            codes += [0] * min(int(word), SIZE + 1) if is_number(word) else [code_of(word)]
        if len(codes) != SIZE:
            raise ValueError(f"rank {content!r} has {len(codes)} squares; each has {SIZE}")
        start = SIZE * (SIZE - 1 - index)
        row["board"][start : start + SIZE] = codes


def _read_number(what: str, text: str, least: int, most: int) -> int:
    if not _NUMBER.fullmatch(text) or not least <= int(text) <= most:
        raise ValueError(f"{what} {text!r}; accepted: {least} to {most}")
    return int(text)


def _read_state(words: list[str], row: np.void) -> None:
    """Everything but the board and what came before."""
    if words[1] not in ("w", "b"):
        raise ValueError(f"side {words[1]!r}; accepted: w, b")
    row["mover"] = SIDES.index(words[1])
    row["passed"] = NOWHERE if words[2] == "-" else parse_square(words[2])
    row["quiet"] = _read_number("plies since a capture or pawn move", words[3], 0, MOST_QUIET)
    row["number"] = _read_number("move number", words[4], 1, MOST_NUMBER)
    row["chosen"] = NOWHERE
    row["draws"] = row["decisions"] = row["past"] = row["repeats"] = row["moves"] = 0


def _check(row: np.void) -> None:
    """Refuses what no game can come to."""
    codes, side = row["board"], int(row["mover"])
    for colour, name in enumerate(("White", "Black")):
        kings = int(np.count_nonzero(codes == KINGS[colour]))
        if kings != 1:
            raise ValueError(f"{kings} kings of {name}; there is 1")
        men = int(np.count_nonzero((codes != 0) & ((codes > KINDS) == bool(colour))))
        if men > MOST_MEN:
            raise ValueError(f"{men} pieces of {name}; there are at most {MOST_MEN}")
        if men == 1 and colour != side:
            raise ValueError(f"{name} has a king alone and moved last; the game was over before that")
        for square in np.flatnonzero(codes == PAWNS[colour]):
            rank = int(square) // SIZE + 1
            if not PAWN_RANK <= (SIZE + 1 - rank if colour else rank) < SIZE:
                raise ValueError(f"a pawn of {name} on {square_name(int(square))}, where none can be")
    rules.count_up(row)
    if row["passed"] != NOWHERE:
        _check_passed(row)
    if board.is_attacked(row, int(row["kings"][1 - side]), side):
        raise ValueError(f"{'White' if side else 'Black'} has moved and left the king attacked")


def _check_passed(row: np.void) -> None:
    """A pawn has just moved two: it stands in front of the square, and behind it all is empty."""
    square, white = int(row["passed"]), row["mover"] == 1  # whose pawn it is
    ahead = SIZE if white else -SIZE
    rank = PAWN_RANK + 1 if white else SIZE - PAWN_RANK
    if square // SIZE + 1 != rank or row["board"][square + ahead] != PAWNS[not white]:
        raise ValueError(f"en passant square {square_name(square)}, but no pawn has just passed it")
    if row["board"][square] or row["board"][square - ahead] or row["quiet"]:
        raise ValueError(f"en passant square {square_name(square)}, but the last move was another one")


def _read_past(text: str, row: np.void) -> None:
    """Goes back to before the moves and makes them again, so that repetitions are known."""
    words = text.split(",") if text else []
    if len(words) > row["quiet"] or (words and row["passed"] != NOWHERE):
        raise ValueError(f"{len(words)} moves at the end, but the last capture or pawn move was later")
    made: list[int] = []
    number = row["number"]
    for word in reversed(words):
        origin, dash, target = word.partition("-")
        if not dash:
            raise ValueError(f"{word!r} at the end is not a move such as e4-e5")
        start, end = parse_square(origin), parse_square(target)
        if not row["board"][end] or row["board"][start]:
            raise ValueError(f"{word} at the end can't have been the move")
        made.insert(0, start | end << 8)
        row["board"][start], row["board"][end] = row["board"][end], 0
        row["mover"] = 1 - row["mover"]
        if row["number"] <= row["mover"]:
            raise ValueError(f"move number {number}, and {len(words)} moves at the end")
        row["number"] -= row["mover"]
        row["quiet"] -= 1
    rules.count_up(row)
    rules.settle(row)
    for move in made:
        if not notation.is_legal_move(row, move):
            raise ValueError(f"{notation.format_move(row, move)} at the end can't have been the move")
        rules.play(row, move)
    if row["past"] != len(words):
        raise ValueError("among the moves at the end is one after which no position can come again")


def _read_chosen(text: str, row: np.void) -> None:
    if text == "-":
        return
    square = parse_square(text)
    if row["ending"] != rules.RUNNING or not rules.is_legal(row, square):
        raise ValueError(f"chosen square {text}: no piece there can move")
    rules.choose(row, square)
