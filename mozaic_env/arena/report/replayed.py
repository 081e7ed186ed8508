"""What the pictures of a report are drawn from: matches whose actions were kept, replayed."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from mozaic_env.arena import trajectories
from mozaic_env.arena.records import first_rows
from mozaic_env.arena.results import MatchResult
from mozaic_env.core.game import Game

OPENING = 8  # placements of an agent in a game that count as its opening


def courses(game: Game, result: MatchResult, player: int) -> npt.NDArray[np.float64]:
    """A player's lead after each decision, its last one behind the end of a game.

    Args:
        game: what was played.
        result: a match whose actions were kept.
        player: 0 or 1, the first or the second of the match.

    Returns:
        float64, shape (games, longest + 1); column k is the lead after k decisions of both seats.
    """
    games = result.details
    if games is None or games.actions is None:
        raise ValueError("play the match with keep_actions=True to see the course of its games")
    seats = np.argmax(games.seating == player, axis=1)
    margins = np.empty((len(seats), games.actions.shape[1] + 1))
    trajectories.trace(first_rows(game, games), seats, games.lengths, games.actions, margins)
    return margins


def join_courses(parts: Sequence[npt.NDArray[np.float64]]) -> npt.NDArray[np.float64]:
    """The courses of several matches as one array."""
    longest = max(part.shape[1] for part in parts)
    return np.concatenate([np.pad(part, ((0, 0), (0, longest - part.shape[1])), mode="edge") for part in parts])


def board_shape(game: Game) -> tuple[int, int] | None:
    """Rows and columns, if actions are planes over a board; see `Game.board_layout`."""
    if game.board_layout is None:
        return None
    shapes = (field.shape[1:] for field in game.fields if len(field.shape) == 3)
    shape = next(shapes, None)
    return None if shape is None else (int(shape[0]), int(shape[1]))


def openings(game: Game, result: MatchResult, player: int) -> npt.NDArray[np.float64]:
    """Where a player puts things first.

    Args:
        game: what was played, with actions that are planes over a board.
        result: a match whose actions were kept.
        player: 0 or 1.

    Returns:
        float64, shape (rows, cols), row 0 the lowest: how many of the player's first `OPENING`
        actions of the first plane were on each tile.
    """
    games, shape, layout = result.details, board_shape(game), game.board_layout
    if games is None or games.actions is None or shape is None or layout is None:
        raise ValueError("openings need a board and a match played with keep_actions=True")
    tiles = shape[0] * shape[1]
    deciders = np.empty(games.actions.shape, np.int64)
    trajectories.deciders(first_rows(game, games), games.seating, games.lengths, games.actions, deciders)
    placed = (deciders == player) & (np.append(layout.planes, tiles)[games.actions] < tiles)
    placed &= np.cumsum(placed, axis=1) <= OPENING
    counts = np.bincount(layout.planes[games.actions[placed]], minlength=tiles)
    return counts.reshape(shape).astype(np.float64)
