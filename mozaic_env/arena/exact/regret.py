"""Regret: what an agent gives away against perfect play, decision by decision, on a variant that is solved.

A decision's regret is the exact value of the best action less that of the chosen one. By the performance difference
lemma (S. Kakade, J. Langford, Approximately optimal approximate reinforcement learning, 2002) its sum over a game
against perfect play is on average what the agent loses in expectation. Luck is not part of it, so fewer games tell as
much as with the margin; how many fewer, `docs/exact.md` has measured.
"""

import dataclasses
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mozaic_env.agents.base import Agent
from mozaic_env.agents.exact.perfect import TIE, PerfectAgent
from mozaic_env.arena import trajectories
from mozaic_env.arena.match import Progress, play_match
from mozaic_env.arena.records import first_rows
from mozaic_env.arena.results import MatchResult
from mozaic_env.arena.statistics.intervals import Interval, mean_interval
from mozaic_env.core.exact import MARGIN, ExactValues, regrets, require_exact_values
from mozaic_env.core.game import Rows

BATCH = 4096  # decisions that are valued at once


@dataclass(frozen=True)
class Decisions:
    """The decisions of a player in the games of a match, in order.

    Attributes:
        games: index of each one's game, int64, shape (n,).
        states: rows, shape (n,).
        actions: that were chosen, int64, shape (n,).
        regrets: best value less that of the chosen action, float64, shape (n,).
    """

    games: npt.NDArray[np.int64]
    states: Rows
    actions: npt.NDArray[np.int64]
    regrets: npt.NDArray[np.float64]


@dataclass(frozen=True)
class GroupRegret:
    """The decisions of one group, such as those with one gem in hand.

    Attributes:
        name: of the group.
        decisions: how many.
        regret: mean of a decision; 0 if there is none.
        share: of the whole regret; 0 if there is none.
        mistakes: share of the group's decisions that are not best; 0 if there is none.
    """

    name: str
    decisions: int
    regret: float
    share: float
    mistakes: float


@dataclass(frozen=True)
class RegretResult:
    """What an agent gives away against perfect play.

    Equal for equal games: how long they took is not compared.

    Attributes:
        player: the agent's name.
        objective: what perfect play maximises, "margin" or "outcome".
        unit: of the regret.
        residual: largest error of an exact value.
        games: number of games.
        regret: mean sum over a game.
        interval: its 95% interval over pairs; None for one pair.
        lead: mean of what the objective is, for the agent at the end: on average minus the regret for two players.
        lead_interval: its 95% interval; None for one pair.
        decisions: of the agent, all games together.
        decision_regret: mean of a decision.
        mistakes: share of decisions that are not best, by more than the residual can explain.
        groups: by what decisions are sorted, and each group; see `mozaic_env.core.game.Game.group_decisions`.
        match: the games, against perfect play if not said otherwise.
        details: the decisions one by one; not kept in JSON.
        seconds: how long it took.
    """

    player: str
    objective: str
    unit: str
    residual: float
    games: int
    regret: float
    interval: Interval | None
    lead: float
    lead_interval: Interval | None
    decisions: int
    decision_regret: float
    mistakes: float
    groups: dict[str, tuple[GroupRegret, ...]]
    match: MatchResult = dataclasses.field(compare=False, repr=False)
    details: Decisions = dataclasses.field(compare=False, repr=False)
    seconds: float = dataclasses.field(default=0.0, compare=False)

    def to_json(self) -> dict[str, Any]:
        """All figures as JSON values, those of the match included."""
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        del values["details"]
        groups = {by: [dataclasses.asdict(group) for group in groups] for by, groups in self.groups.items()}
        return {**values, "groups": groups, "match": self.match.to_json()}


def measure_regret(
    agent: Agent,
    games: int,
    seed: int = 0,
    *,
    objective: str = MARGIN,
    max_decisions: int | None = None,
    progress: Progress | None = None,
) -> RegretResult:
    """Plays an agent against perfect play, in pairs with the same luck and the seats swapped, and adds its regret up.

    Args:
        agent: who is measured.
        games: an even number; for n players a multiple of n.
        seed: of the match.
        objective: what perfect play maximises, "margin" or "outcome".
        max_decisions: None: the game's own limit. Values know no limit: games that are truncated blur the comparison
            with the margin.
        progress: called now and then with how many games are done.

    Raises:
        ValueError: the variant has no exact values, an argument is none of these, or the agent answered with an illegal
            action, which has no value.
    """
    began = time.perf_counter()
    values = require_exact_values(agent.game, objective)
    match = play_match(
        agent,
        PerfectAgent(agent.game, objective=objective),
        games,
        seed,
        max_decisions=max_decisions,
        keep_actions=True,
        progress=progress,
    )
    result = regret_of(match, values)
    return dataclasses.replace(result, seconds=time.perf_counter() - began)


def regret_of(match: MatchResult, values: ExactValues) -> RegretResult:
    """The regret of a match's first agent.

    It is what the agent loses only where the opponent plays perfectly; else it still is what each decision gave away.

    Args:
        match: whose actions were kept.
        values: of the game that was played.

    Raises:
        ValueError: the actions were not kept, the match is of another game, or the agent answered with an illegal
            action.
    """
    game, name = values.game, match.players[0]
    if match.forfeits[0]:
        raise ValueError(f"agent {name!r} answered with an illegal action, which has no value; its regret is unknown")
    found = decisions_of(match, values)
    games = match.details
    assert games is not None
    players = game.num_players
    sums = np.bincount(found.games, found.regrets, match.games)
    leads = (games.margins if values.objective == MARGIN else games.results)[:, 0]
    wrong = found.regrets > max(2 * values.residual, TIE)
    return RegretResult(
        player=name,
        objective=values.objective,
        unit=game.margin_unit if values.objective == MARGIN else "points of the result",
        residual=values.residual,
        games=match.games,
        regret=float(sums.mean()),
        interval=mean_interval(sums.reshape(-1, players).mean(axis=1)),
        lead=float(leads.mean()),
        lead_interval=mean_interval(leads.reshape(-1, players).mean(axis=1)),
        decisions=len(found.regrets),
        decision_regret=_mean(found.regrets),
        mistakes=_mean(wrong),
        groups={
            grouping.by: tuple(
                _group(name, found.regrets, wrong, grouping.groups == place)
                for place, name in enumerate(grouping.names)
            )
            for grouping in game.group_decisions(found.states)
        },
        match=match,
        details=found,
    )


def decisions_of(match: MatchResult, values: ExactValues) -> Decisions:
    """The decisions of a match's first agent with the regret of each.

    Raises:
        ValueError: the actions were not kept, or the values are of another game.
    """
    games = match.details
    if (match.game, match.options) != (values.game.name, values.game.options):
        played = ", ".join([match.game, *(f"{name}={value!r}" for name, value in match.options.items())])
        raise ValueError(f"a match of {played}; accepted: one of {values.game!r}, whose values these are")
    if games is None or games.actions is None:
        raise ValueError("play the match with keep_actions=True to see its decisions")
    room = int(games.lengths.sum())
    states = np.empty(room, values.game.dtype)
    indices, actions = np.empty(room, np.int64), np.empty(room, np.int64)
    count = trajectories.decisions_of(
        first_rows(values.game, games), games.seating, games.lengths, games.actions, 0, states, indices, actions
    )
    states, indices, actions = states[:count], indices[:count], actions[:count]
    return Decisions(indices, states, actions, regrets_of(values, states, actions))


def regrets_of(values: ExactValues, states: Rows, actions: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """The best value less that of an action, for each state; float64, shape (n,).

    Args:
        values: of the game.
        states: rows at a decision, shape (n,).
        actions: a legal one for each, shape (n,).
    """
    found = np.empty(len(states))
    for low in range(0, len(states), BATCH):
        part = slice(low, low + BATCH)
        found[part] = regrets(values.action_values(states[part]), actions[part])
    return found


def _mean(numbers: npt.NDArray[Any]) -> float:
    return float(numbers.mean()) if len(numbers) else 0.0


def _group(
    name: str, regrets: npt.NDArray[np.float64], wrong: npt.NDArray[np.bool_], chosen: npt.NDArray[np.bool_]
) -> GroupRegret:
    total, here = float(regrets.sum()), regrets[chosen]
    share = float(here.sum()) / total if total else 0.0
    return GroupRegret(name, len(here), _mean(here), share, _mean(wrong[chosen]))
