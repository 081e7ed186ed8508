"""What games are played on: arrays with one entry for each game, and the settings that they share."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mozaic_env.core.contract import Bytes, Floats, Integers
from mozaic_env.core.game import Rows

# The status of a game: the caller decides; a Python agent is to be asked; how it has ended.
READY, WAITING, TERMINATED, TRUNCATED, FORFEITED = range(5)
NEXT_STEP, SAME_STEP, DISABLED = range(3)  # when a finished game is replaced by the next one
ALL_SEATS, ANY_SEAT = -1, -2  # the caller's seat: every one; one that is drawn for each game
CALLER = -1  # in place of a policy: whoever calls the driver holds the seat

Flags = npt.NDArray[np.bool_]
Players = npt.NDArray[np.int16]  # index of the policy that holds a seat, or CALLER

EPISODE = np.dtype(
    [
        ("margin", np.float64),  # of the view's seat at the last decision
        ("outcome", np.float64),  # of the last viewer, once the game is over
        ("opponent", np.int16),  # index into the policies
        ("tries", np.int16),  # games begun in vain
        ("status", np.int8),
        ("seat", np.int8),  # whose view and reward, or ALL_SEATS
        ("viewer", np.int8),  # the seat whose observation was written last
        ("acted", np.int8),  # the seat that made the last decision from outside; who forfeited
        ("start", np.bool_),  # a new game is being begun, nobody has been asked yet
    ],
    align=True,
)

SETTINGS = np.dtype(
    [
        ("seat", np.int64),  # the caller's in the next games: ALL_SEATS, ANY_SEAT or a seat
        ("margin_weight", np.float64),  # of the reward: for each unit by which the lead grows
        ("outcome_weight", np.float64),  # and for the outcome at the end
        ("limit", np.int64),  # decisions of a game
        ("autoreset", np.int64),
        ("raises", np.bool_),  # illegal actions are refused instead of losing the game
    ],
    align=True,
)


class Simulation(NamedTuple):
    """Everything that games are played on, but for what they show.

    Attributes:
        rows: states, shape (games,).
        episodes: how the games stand, type `EPISODE`, shape (games,).
        seating: who holds each seat, shape (games, seats).
        settings: type `SETTINGS`, shape (1,).
        policies: type `mozaic_env.agents.kernels.POLICY_SPEC`, shape (players,).
        log: int16, shape (games, decisions); takes down every seat's actions as far as it has columns.
        courses: uint64, shape (games,): digests of all draws and decisions; or shape (0,): none are made.
        final_frames: the last observation of games that ended in a step that also begun the next one, shape
            (games, bytes); `final_masks` and `final_episodes` belong to it.
        final_masks: shape (games, actions).
        final_episodes: type `EPISODE`, shape (games,).
        actions: workspace, one integer for each action, overwritten.
        values: workspace, one number for each action, overwritten.
        unfinished: workspace, one integer for each game, overwritten.
    """

    rows: Rows
    episodes: Rows
    seating: Players
    settings: Rows
    policies: Rows
    log: npt.NDArray[np.int16]
    courses: npt.NDArray[np.uint64]
    final_frames: Bytes
    final_masks: Bytes
    final_episodes: Rows
    actions: Integers
    values: Floats
    unfinished: Integers


class Outputs(NamedTuple):
    """What a step writes, an entry for each game.

    Attributes:
        frames: observations, uint8, shape (games, bytes), see `mozaic_env.core.game.Game.frame`.
        masks: int8, shape (games, actions).
        seats: whose view the observation is, int64.
        rewards: float64.
        terminated: bool.
        truncated: bool.
    """

    frames: Bytes
    masks: Bytes
    seats: Integers
    rewards: Floats
    terminated: Flags
    truncated: Flags


def make_simulation(
    rows: Rows,
    seating: npt.NDArray[Any],
    policies: Rows,
    settings: Rows,
    num_actions: int,
    *,
    columns: int = 0,
    digests: bool = False,
    finals: tuple[Bytes, Bytes] | None = None,
) -> Simulation:
    """The arrays for games that have yet to begin.

    Args:
        rows: states, shape (games,).
        seating: who holds each seat, shape (games, seats).
        policies: type `mozaic_env.agents.kernels.POLICY_SPEC`, shape (players,).
        settings: type `SETTINGS`, shape (1,).
        num_actions: of the game.
        columns: of the log.
        digests: whether to digest what happens.
        finals: observations and masks for the ends of games that are replaced at once; None: nothing is kept of them.
    """
    size = len(rows)
    final_frames, final_masks = finals or (np.zeros((0, 0), np.uint8), np.zeros((0, 0), np.int8))
    episodes = np.zeros(size, EPISODE)
    episodes["status"] = TERMINATED
    return Simulation(
        rows=rows,
        episodes=episodes,
        seating=np.ascontiguousarray(seating, np.int16),
        settings=settings,
        policies=policies,
        log=np.full((size, columns), -1, np.int16),
        courses=np.zeros(size if digests else 0, np.uint64),
        final_frames=final_frames,
        final_masks=final_masks,
        final_episodes=np.zeros(len(final_masks), EPISODE),
        actions=np.empty(num_actions, np.int64),
        values=np.empty(num_actions),
        unfinished=np.empty(size, np.int64),
    )
