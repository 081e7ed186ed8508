"""The loops over a batch for several threads: what `mozaic_env.simulation.loops` does, as work for a crew."""

import numpy as np
import numpy.typing as npt

from mozaic_env.core.contract import Integers
from mozaic_env.core.jit import jit
from mozaic_env.simulation.loops import Finals, Results, Rows, first_refused, sample_range, step_range
from mozaic_env.simulation.thread_pool import (
    NO_ORDER,
    NOTES,
    OPEN,
    ORDER,
    PARTS,
    SUM,
    WORKERS,
    Desk,
    address_of,
    all_done,
    announce,
    array_at,
    part_done,
    take_part,
)

STEP = -2  # an order; a number from 0 on is the counter of a sample
KIND, CHOSEN, FRAMES, MASKS, SEATS, REWARDS, FLAGS = range(7)  # notes of an order: what, and where the arrays are

Scratches = tuple[npt.NDArray[np.int64], npt.NDArray[np.float64], Integers]  # the first two with a row for each worker


@jit
def _write_order(desk: Desk, order: int, chosen: Integers, results: Results) -> None:
    notes = desk[NOTES]
    notes[KIND], notes[CHOSEN] = order, address_of(chosen)
    notes[FRAMES], notes[MASKS], notes[SEATS] = address_of(results[0]), address_of(results[1]), address_of(results[2])
    notes[REWARDS], notes[FLAGS] = address_of(results[3]), address_of(results[4])
    announce(desk)


@jit
def share(
    worker: int,
    looks: int,
    order: int,
    desk: Desk,
    rows: Rows,
    slots: Rows,
    chosen: Integers,
    options: Rows,
    recipes: Rows,
    results: Results,
    finals: Finals,
    log: Rows,
    scratches: Scratches,
) -> int:
    """`step_rows` or `sample_rows` by several threads, as `mozaic_env.simulation.thread_pool.Work` asks for it.

    The arguments behind `desk` are those of `step_rows`. What is written to are the `chosen` and `results` that come
    with the order; without one, the arrays of these types and shapes that its notes say.

    Returns:
        What `step_rows` does, or 0 for a sample; OPEN without an order, or where others are still at it.
    """
    if order == STEP:
        refused = first_refused(rows, slots, chosen, options, results[1].shape[1])
        if refused >= 0:
            return -1 - refused
    if order != NO_ORDER:
        _write_order(desk, order, chosen, results)
    size, parts, notes = len(rows), desk[ORDER, WORKERS] * desk[ORDER, PARTS], desk[NOTES]
    scratch = (scratches[0][worker], scratches[1][worker], scratches[2])
    idle = 0
    while idle < looks:
        part = take_part(desk, worker)
        if part < 0:
            if worker == 0 and all_done(desk):
                return desk[SUM, 0]
            idle += 1
            continue
        idle, ended = 0, 0
        low, high = size * part // parts, size * (part + 1) // parts
        actions = array_at(notes[CHOSEN], chosen)
        if notes[KIND] == STEP:
            written = (
                array_at(notes[FRAMES], results[0]),
                array_at(notes[MASKS], results[1]),
                array_at(notes[SEATS], results[2]),
                array_at(notes[REWARDS], results[3]),
                array_at(notes[FLAGS], results[4]),
            )
            ended = step_range(low, high, rows, slots, actions, options, recipes, written, finals, log, scratch)
        else:
            sample_range(low, high, rows, slots, notes[KIND], actions)
        part_done(desk, ended)
    return OPEN
