"""The Game contract for Python callers, on one row.

`mozaic_env.core.contract` runs inside compiled code alone; these are thin compiled fronts for it.
"""

from mozaic_env.core import contract
from mozaic_env.core.contract import Bytes, Floats, Integers, Row
from mozaic_env.core.game import Rows
from mozaic_env.core.jit import jit


@jit
def setup_rows(rows: Rows) -> None:
    """Sets up every row; its key and options are set."""
    for row in rows:
        contract.setup(row)


@jit
def mover(row: Row) -> int:
    """The seat that decides, or `contract.CHANCE`, or `contract.OVER`."""
    return contract.mover(row)


@jit
def apply(row: Row, action: int) -> None:
    """Makes a legal decision, no chance."""
    contract.apply(row, action)


@jit
def deal(row: Row) -> None:
    """Chance, by the row's own stream, until the next decision or the end."""
    contract.deal(row)


@jit
def sample(row: Row) -> int:
    """The chance outcome that the row's own stream gives."""
    return contract.sample(row)


@jit
def outcomes(row: Row, codes: Integers, probabilities: Floats) -> int:
    """Writes the possible chance outcomes; returns how many."""
    return contract.outcomes(row, codes, probabilities)


@jit
def resolve(row: Row, code: int) -> None:
    """Makes a chance outcome happen."""
    contract.resolve(row, code)


@jit
def legal(row: Row, masks: Bytes, index: int) -> None:
    """Writes the action mask to masks[index]."""
    contract.legal(row, masks, index)


@jit
def outcome(row: Row, seat: int) -> float:
    """The seat's result of a finished game."""
    return contract.outcome(row, seat)


@jit
def margin(row: Row, seat: int) -> float:
    """By how much the seat leads."""
    return contract.margin(row, seat)
