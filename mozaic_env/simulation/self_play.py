"""Many games of self-play at once, and the decisions of every seat that the policy holds, with their advantages.

A seat's decisions make a chain of their own: each is rewarded with what happens until the seat's next decision, whoever
moves in between and however often. So a seat that moves twice or misses its turn needs no special case. A fragment ends
anywhere in a game; the last decision of each seat is kept until the next fragment shows what came of it.

`training.train` and the RLlib runner train on these fragments; this module knows neither.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from mozaic_env.agents.base import Agent
from mozaic_env.core.game import Game
from mozaic_env.simulation.advantages import Array, Decisions, Finals, Weights, estimate_advantages
from mozaic_env.simulation.batch import Batch
from mozaic_env.simulation.queries import seat_margins, seat_outcomes, seat_views

Observation = dict[str, Array]
Policy = Callable[[Observation, Array], tuple[Array, Array, Array]]  # views, masks; actions, their log p, values


@dataclass(frozen=True)
class Rewards:
    """How decisions are rewarded.

    Attributes:
        margin: weight of what a seat's lead gains, in the game's unit.
        outcome: weight of the game's result.
        discount: from one decision of a seat to its next.
        gae_lambda: of generalised advantage estimation (J. Schulman et al., 2015).
    """

    margin: float = 0.25
    outcome: float = 0.0
    discount: float = 0.99
    gae_lambda: float = 0.9


class Fragment(NamedTuple):
    """Decisions to train on, in no particular order; every array has one entry for each."""

    observation: Observation
    masks: Array  # int8
    actions: Array  # int64
    log_probabilities: Array  # float32, of the actions when they were chosen
    advantages: Array  # float32, not normalised
    targets: Array  # float32, of the values


class Ending(NamedTuple):
    """How a game ended for the policy's seat; in a mirror game, where `opponent` is None, for seat 0."""

    opponent: str | None
    outcome: float
    margin: float
    decisions: int


class _Group:
    """Some of the games: the mirror games, or those against opponents."""

    def __init__(self, game: Game, low: int, size: int, limit: int | None, **options: Any) -> None:
        self.slice = slice(low, low + size)
        self.batch = Batch(game, size, max_decisions=limit, **options)


class SelfPlayGames:
    """Games that go on from one fragment to the next."""

    def __init__(
        self,
        game: Game,
        *,
        mirror: int,
        versus: int = 0,
        opponents: Sequence[Agent] = (),
        shares: Sequence[float] | None = None,
        steps: int,
        rewards: Rewards = Rewards(),
        seed: Sequence[int] = (0,),
        max_decisions: int | None = None,
    ) -> None:
        """Begins the games.

        Args:
            game: what is played.
            mirror: number of games in which the policy holds all seats and is trained on the decisions of all.
            versus: number of games in which it holds one seat, drawn for each game, and `opponents` the others.
            opponents: who they may be.
            shares: how likely each of them is; None: equally.
            steps: decisions of each game in a fragment.
            rewards: of the decisions.
            seed: of the games' luck; whole numbers.
            max_decisions: limit of a game; None: the game's own.

        Raises:
            ValueError: no games, no steps, or games against opponents and no opponent.
        """
        if mirror < 0 or versus < 0 or mirror + versus < 1 or steps < 1 or (versus and not opponents):
            raise ValueError(
                f"mirror={mirror}, versus={versus}, steps={steps}, {len(opponents)} opponents; accepted: at least one "
                "game and one step, and opponents where there are games against them"
            )
        self.game, self.rewards, self.steps, self.size = game, rewards, steps, mirror + versus
        self._groups = [_Group(game, 0, mirror, max_decisions)] if mirror else []
        self._versus: _Group | None = None
        if versus:
            self._versus = _Group(game, mirror, versus, max_decisions, opponents=opponents, shares=shares)
            self._groups.append(self._versus)
        self.endings: list[Ending] = []  # since whoever reads them last cleared them
        self._make_buffers()
        self.begin(seed)

    def begin(self, seed: Sequence[int]) -> None:
        """Begins all games anew; decisions that were left open are forgotten.

        Args:
            seed: of their luck; whole numbers.
        """
        keys = np.random.SeedSequence(list(seed)).generate_state(self.size, np.uint64).astype(np.uint64)
        for group in self._groups:
            group.batch.begin(np.arange(group.batch.size), keys[group.slice], None, None)
        self._open[:] = False

    def _make_buffers(self) -> None:
        """A row for each decision of a fragment, and one for each seat's decision that an earlier one left open."""
        seats = self.game.num_players
        fresh, kept = self.steps * self.size, self.size * seats
        rows = fresh + kept
        self._frames = np.zeros((rows, self.game.frame.itemsize), np.uint8)
        self._masks = np.zeros((rows, self.game.num_actions), np.int8)
        self._actions = np.zeros(rows, np.int64)
        self._log_probabilities = np.zeros(rows, np.float32)
        self._values = np.zeros(rows, np.float32)
        self._leads = np.zeros(rows)
        self._seats = np.zeros((self.steps, self.size), np.int64)
        self._ended = np.full((self.steps, self.size), -1)  # number of the ending that a decision led to, or -1
        self._open = np.zeros((self.size, seats), np.bool_)
        self._margins = np.zeros((self.size, seats))

    @property
    def _columns(self) -> tuple[Array, ...]:
        return self._frames, self._masks, self._actions, self._log_probabilities, self._values, self._leads

    def set_shares(self, shares: Sequence[float]) -> None:
        """Changes how likely each opponent is in the games that begin from now on."""
        if self._versus is not None:
            self._versus.batch.set_opponents(self._versus.batch.opponents, shares)

    @property
    def opponents_in_use(self) -> set[int]:
        """Numbers of the opponents in games under way."""
        return set() if self._versus is None else set(self._versus.batch.episodes["opponent"].tolist())

    def play(self, policy: Policy) -> Fragment:
        """Plays on by one fragment.

        Args:
            policy: chooses the actions; given the views (each entry of shape (n, ...)) and masks (n, actions) of the
                seats that decide.
        """
        finals = _Endings(self.game, self.rewards)
        self._ended[:] = -1
        for step in range(self.steps):
            rows = slice(step * self.size, (step + 1) * self.size)
            for group in self._groups:
                buffers, part = group.batch.buffers, group.slice
                self._frames[rows][part] = buffers.frames
                self._masks[rows][part] = buffers.masks
                self._seats[step, part] = buffers.seats
                seat_margins(group.batch.rows, self._margins[part])
            self._leads[rows] = np.take_along_axis(self._margins, self._seats[step][:, None], 1)[:, 0]
            chosen, log_probabilities, values = policy(self._named(self._frames[rows]), self._masks[rows])
            self._actions[rows], self._log_probabilities[rows], self._values[rows] = chosen, log_probabilities, values
            for group in self._groups:
                group.batch.step(np.ascontiguousarray(self._actions[rows][group.slice]))
                self._end_games(group, step, finals)
        return self._fragment(finals.arrays(policy, self._named))

    def _named(self, frames: Array) -> Observation:
        entries = frames.view(self.game.frame)[:, 0]
        return {field.key: entries[field.key] for field in self.game.fields}

    def _end_games(self, group: _Group, step: int, finals: "_Endings") -> None:
        batch = group.batch
        ended = np.flatnonzero(batch.buffers.terminated | batch.buffers.truncated)
        if not len(ended):
            return
        self._ended[step, group.slice][ended] = len(finals) + np.arange(len(ended))
        margins, outcomes = finals.add(batch.rows[ended], batch.buffers.truncated[ended])
        for number, i in enumerate(ended):
            name, seat = None, 0
            if group is self._versus:
                slot = batch.episodes[i]
                name, seat = str(batch.opponent_names[slot["opponent"]]), int(slot["seat"])
            decisions = int(batch.rows["decisions"][i])
            self.endings.append(Ending(name, float(outcomes[number, seat]), float(margins[number, seat]), decisions))
        batch.begin(ended, None, None, None)

    def _fragment(self, finals: Finals) -> Fragment:
        """What is complete; the rest moves to the rows that are kept."""
        decisions = Decisions(self._seats, self._ended, self._leads, self._values, self._open)
        weights = Weights(self.rewards.margin, self.rewards.discount, self.rewards.gae_lambda)
        complete, advantages, open_rows = estimate_advantages(decisions, finals, weights)
        chosen = np.flatnonzero(complete)
        entries = self._named(self._frames[chosen])
        fragment = Fragment(
            {key: np.ascontiguousarray(entry) for key, entry in entries.items()},
            self._masks[chosen],
            self._actions[chosen],
            self._log_probabilities[chosen],
            advantages[chosen].astype(np.float32),
            (advantages[chosen] + self._values[chosen]).astype(np.float32),
        )
        self._open = open_rows >= 0
        places = self.steps * self.size + np.flatnonzero(self._open)
        for column in self._columns:
            column[places] = column[open_rows[self._open]]
        return fragment


class _Endings:
    """The ends of games in a fragment: each seat's lead, its reward besides, and what it could still have expected."""

    def __init__(self, game: Game, rewards: Rewards) -> None:
        self._game, self._outcome_weight = game, rewards.outcome
        self._size = 0
        self._margins: list[Array] = []
        self._rewards: list[Array] = []
        self._cut: list[Array] = []  # truncated or not
        self._frames: list[Array] = []  # views of those that were

    def __len__(self) -> int:
        return self._size

    def add(self, rows: Array, truncated: Array) -> tuple[Array, Array]:
        """Takes games that have ended; returns margins and outcomes by seat, shape (games, seats)."""
        seats = self._game.num_players
        margins, outcomes = np.zeros((len(rows), seats)), np.zeros((len(rows), seats))
        seat_margins(rows, margins)
        over = np.flatnonzero(~truncated)
        results = np.zeros((len(over), seats))
        seat_outcomes(rows[over], results)
        outcomes[over] = results
        cut = rows[truncated]
        frames = np.zeros((len(cut) * seats, self._game.frame.itemsize), np.uint8)
        seat_views(cut, seats, frames)
        self._size += len(rows)
        self._margins.append(margins)
        self._rewards.append(self._outcome_weight * outcomes)
        self._cut.append(truncated)
        self._frames.append(frames)
        return margins, outcomes

    def arrays(self, policy: Policy, named: Callable[[Array], Observation]) -> Finals:
        """The same as arrays."""
        seats = self._game.num_players
        if not self._size:
            return Finals(*np.zeros((3, 0, seats)))
        values = np.zeros((self._size, seats))
        cut = np.concatenate(self._cut)
        if cut.any():
            frames = np.concatenate(self._frames)
            everything = np.ones((len(frames), self._game.num_actions), np.int8)
            values[cut] = policy(named(frames), everything)[2].reshape(-1, seats)
        return Finals(np.concatenate(self._margins), np.concatenate(self._rewards), values)
