"""Solves a variant that is small enough, and keeps its exact values in a file."""

import time
from collections.abc import Callable
from pathlib import Path

from mozaic_env.core.exact import TOLERANCE, ExactSolver
from mozaic_env.core.storage import exact_values

SAVE_EVERY = 2.0  # seconds; after a sweep that ends later than that the values are written
Report = Callable[[int, float], None]


def solve(solver: ExactSolver, file: Path, threads: int = 1, report: Report | None = None) -> exact_values.Card:
    """Solves a variant, from where the file is, and keeps the values there.

    Args:
        solver: of the variant, at its beginning.
        file: where the values are kept; after each sweep, but no more often than every two seconds.
        threads: change no result.
        report: called after each sweep with their number and the bound of the error.

    Returns:
        The card of the file.

    Raises:
        ValueError: the variant is too large; the file is damaged, foreign, or can't be written.
        MissingExtra: safetensors is not installed.
    """
    exact_values.need_safetensors()
    if solver.refusal:
        raise ValueError(solver.refusal)
    sweeps, seconds, card = 0, 0.0, None
    if file.is_file():
        card = exact_values.read_card(file, solver.game, solver.objective)
        tensors, _ = exact_values.read(file, card, solver)  # also of what is solved: it may be damaged
        if card["solved"]:
            return card
        sweeps, seconds = card["sweeps"], card["seconds"]
        solver.restore(tensors, card["error"], threads)
    begun = saved = time.monotonic()
    while solver.error > TOLERANCE:
        solver.sweep(threads)
        sweeps += 1
        if report is not None:
            report(sweeps, solver.error)
        now = time.monotonic()
        if now - saved > SAVE_EVERY and solver.error > TOLERANCE:
            found = _solved(solver, file)
            if found is not None:  # by another process, which was faster
                return found
            exact_values.write(file, solver, sweeps, seconds + now - begun)
            saved = time.monotonic()
    return exact_values.write(file, solver, sweeps, seconds + time.monotonic() - begun)


def _solved(solver: ExactSolver, file: Path) -> exact_values.Card | None:
    """The card of the file, if the variant is solved there."""
    try:
        card = exact_values.read_card(file, solver.game, solver.objective)
    except ValueError:  # nothing yet, or nothing that can be used
        return None
    return card if card["solved"] else None
