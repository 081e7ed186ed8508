"""Who a policy in training plays against besides itself: earlier selves and fixed agents.

The shares of `Opponents` divide the games between four strategies:

    mirror        the policy holds all seats
    past          an earlier self, each as likely as another
    prioritised   an earlier self, the likelier the harder it is to beat (PFSP, prioritised fictitious self-play)
    fixed         agents by their specs

Every game keeps the opponent it began with, weights included, to its end. An opponent's name tells which it is:
past@STEPS or prioritised@STEPS, with the age of the earlier self, or the fixed agent's name. All games against one
opponent are asked about in one batch.

Earlier selves sit in slots, a few more than there are selves, since weights go only into a slot that no game under way
uses. At each update one self is drawn for `past` and one for `prioritised`; the games that begin before the next update
and get such an opponent get that one, so that opponents are asked in few large batches.

How hard a self is to beat: from the share p of points that the policy gets against it, "hard" weighs it with
(1 - p) ** power and "even" with p (1 - p), which are f_hard and f_var of O. Vinyals et al., Grandmaster level in
StarCraft II using multi-agent reinforcement learning, Nature 575, 2019 (Methods, prioritized fictitious self-play). p
is estimated as if `prior` games had ended evenly before the first; at each update all earlier games count `decay` times
as much as before, since the policy changes. So a self that has not been met for a while counts as even again.

Metrics, while `prioritised` has a share, for the earlier selves in the order of their age, 1 being the oldest:

    past_selves/N/steps     the policy's age when it was copied
    past_selves/N/score     the estimate of p
    past_selves/N/chance    of being drawn by `prioritised`
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mozaic_env.agents.base import Agent
from mozaic_env.agents.policy.agent import PolicyAgent
from mozaic_env.agents.policy.thinning import superfluous
from mozaic_env.agents.specs import make_agent
from mozaic_env.core.game import Game

if TYPE_CHECKING:
    from torch import nn

MIRROR, PAST, PRIORITISED = "mirror", "past", "prioritised"
SPARE = 3  # slots for selves that are out of play but not yet out of their games

Weights = Mapping[str, Any]  # of a network, by name
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Priority:
    """How `prioritised` draws; see above."""

    by: str = "hard"
    power: float = 2.0
    prior: float = 10.0
    decay: float = 0.95


@dataclass(frozen=True)
class Opponents:
    """Relative shares of the games, and which earlier selves are kept.

    Attributes:
        mirror: the policy itself.
        past: an earlier self, each as likely.
        prioritised: an earlier self, the likelier the harder it is to beat.
        priority: how hard that is.
        fixed: agents by their specs.
        past_size: how many earlier selves are kept; of more, the one goes that is closest to its neighbours in time.
        past_every: updates between two that are kept.
    """

    mirror: float = 0.7
    past: float = 0.2
    prioritised: float = 0.0
    priority: Priority = field(default_factory=Priority)
    fixed: Mapping[str, float] = field(default_factory=dict)
    past_size: int = 8
    past_every: int = 5

    def split(self, games: int) -> tuple[int, int]:
        """How many of the games are mirror games and how many are not; at least one of each kind with a share."""
        others = self.past + self.prioritised + sum(self.fixed.values())
        share = self.mirror / (self.mirror + others)
        least, most = int(share > 0), games - int(share < 1)
        mirror = min(max(round(share * games), least), most)
        return mirror, games - mirror


def admit(past: dict[int, Weights], steps: int, weights: Weights, size: int) -> dict[int, Weights]:
    """The earlier selves by age with one more, and without one if these are too many."""
    past = {**past, steps: weights}
    return {age: past[age] for age in thin(list(past), size)}


def thin(ages: Sequence[int], size: int) -> list[int]:
    """The ages to keep, at most `size`: the first and the latest, and between them those that lie evenly."""
    kept = sorted(ages)
    while len(kept) > size:
        del kept[superfluous(kept)]
    return kept


def strategy_of(opponent: str | None) -> str:
    """Which share brought an opponent into a game, given its name; None is a mirror game's."""
    if opponent is None:
        return MIRROR
    strategy, at, steps = opponent.partition("@")
    return strategy if at and steps.isdecimal() and strategy in (PAST, PRIORITISED) else opponent


def chances(scores: Floats, priority: Priority) -> Floats:
    """Probabilities with which earlier selves are drawn, given the estimated shares of points against them."""
    if priority.by == "even":
        weights = scores * (1 - scores)
    else:
        weights = ((1 - scores) / (1 - scores).max()) ** priority.power
    return weights / weights.sum()


class Score(NamedTuple):
    """Sums over games that have ended; of points a win counts 1 and a draw 1/2."""

    games: int
    points: float
    margin: float


def scores_by_strategy(endings: Iterable[Any]) -> dict[str, Score]:
    """The policy's scores in games that have ended, `mozaic_env.simulation.self_play.Ending`."""
    scores: dict[str, Score] = defaultdict(lambda: Score(0, 0.0, 0.0))
    for ending in endings:
        games, points, margin = scores[name := strategy_of(ending.opponent)]
        scores[name] = Score(games + 1, points + (ending.outcome + 1) / 2, margin + ending.margin)
    return dict(scores)


@dataclass
class Slot:
    """Room for one earlier self.

    Attributes:
        network: with its weights.
        agents: play it by its probabilities; one for each strategy, which differ in name alone.
        steps: its age; None before the first.
        games: how many ended against it, older ones counting less.
        points: the policy's in these.
    """

    network: "nn.Module"
    agents: dict[str, PolicyAgent]
    steps: int | None = None
    games: float = 0.0
    points: float = 0.0

    def load(self, steps: int, weights: Weights) -> None:
        """Takes another self in."""
        import torch

        self.network.load_state_dict({key: torch.as_tensor(tensor) for key, tensor in weights.items()})
        self.steps, self.games, self.points = steps, 0.0, 0.0
        for strategy, agent in self.agents.items():
            agent.name = f"{strategy}@{steps}"

    def score(self, prior: float) -> float:
        """The estimated share of points that the policy gets against it."""
        return (self.points + prior / 2) / (self.games + prior)


class League:
    """The opponents as agents, always the same objects.

    Attributes:
        agents: the fixed ones, then those of the slots.
        drawn: the earlier self that new games meet, for `past` and `prioritised`.
    """

    def __init__(
        self,
        game: Game,
        opponents: Opponents,
        make_network: Callable[[], "nn.Module"],
        seed: int,
        wrap: Callable[["nn.Module"], "nn.Module"] = lambda network: network,
    ) -> None:
        """Makes room for the earlier selves; `update` fills it.

        Args:
            game: what is played.
            opponents: shares and sizes.
            make_network: a network of the policy's kind.
            seed: of the draws of earlier selves, and of all opponents' own chance.
            wrap: what plays with such a network; by default the network itself.

        Raises:
            ValueError: a fixed agent's spec is none.
        """
        self.opponents = opponents
        self.fixed: list[Agent] = [make_agent(spec, game) for spec in opponents.fixed]
        self.shares = {name: share for name in (PAST, PRIORITISED) if (share := getattr(opponents, name))}
        self.slots: list[Slot] = []
        for _ in range(opponents.past_size + SPARE if self.shares else 0):
            network = make_network().eval().requires_grad_(False)
            player = wrap(network)
            agents = {name: PolicyAgent(game, player, sample=True, name=name) for name in self.shares}
            self.slots.append(Slot(network, agents))
        self.agents: list[Agent] = [*self.fixed, *(agent for slot in self.slots for agent in slot.agents.values())]
        for agent in self.agents:
            agent.seed(seed)
        self.drawn: dict[str, Slot] = {}
        self._ready: list[Slot] = []
        self._random = np.random.default_rng(seed)

    def update(self, past: Mapping[int, Weights], in_use: set[int]) -> list[float]:
        """Takes over the earlier selves that are new, and draws those that the next games meet.

        Args:
            past: weights by age; selves of other ages leave the play.
            in_use: indices of the agents in games under way, whose slots are not touched.

        Returns:
            The share of each of `agents` in the games that begin from now on.
        """
        used = {(agent - len(self.fixed)) // len(self.shares) for agent in in_use if agent >= len(self.fixed)}
        held = {slot.steps for slot in self.slots}
        for steps in sorted(past.keys() - held) if self.slots else ():
            free = [slot for i, slot in enumerate(self.slots) if slot.steps not in past and i not in used]
            if free:  # else the next update finds one, when some games have ended
                free[0].load(steps, past[steps])
        self._ready = sorted((slot for slot in self.slots if slot.steps in past), key=lambda slot: slot.steps or 0)
        self.drawn = {}
        if self._ready:
            for name in self.shares:
                by = self._chances() if name == PRIORITISED else None
                self.drawn[name] = self._ready[self._random.choice(len(self._ready), p=by)]
        drawn = [
            share if slot is self.drawn.get(name) else 0.0 for slot in self.slots for name, share in self.shares.items()
        ]
        return [*self.opponents.fixed.values(), *drawn]

    def _scores(self) -> Floats:
        return np.array([slot.score(self.opponents.priority.prior) for slot in self._ready])

    def _chances(self) -> Floats:
        return chances(self._scores(), self.opponents.priority)

    def note(self, endings: Iterable[Any]) -> None:
        """Takes the games of an update into the estimates of how hard the earlier selves are to beat."""
        for slot in self.slots:
            slot.games *= self.opponents.priority.decay
            slot.points *= self.opponents.priority.decay
        met = {agent.name: slot for slot in self._ready for agent in slot.agents.values()}
        for ending in endings:
            if ending.opponent in met:  # else another strategy's, or replaced in the meantime
                met[ending.opponent].games += 1
                met[ending.opponent].points += (ending.outcome + 1) / 2

    def metrics(self) -> dict[str, float]:
        """What there is to log of the earlier selves; nothing unless `prioritised` has a share."""
        if PRIORITISED not in self.drawn:
            return {}
        rows = zip(self._ready, self._scores(), self._chances(), strict=True)
        return {
            f"past_selves/{number}/{key}": value
            for number, (slot, score, chance) in enumerate(rows, 1)
            for key, value in (("steps", slot.steps or 0), ("score", float(score)), ("chance", float(chance)))
        }

    def state(self) -> dict[str, Any]:
        """The estimates and the next draws, as plain data; the weights are with who calls `update`."""
        estimates = {slot.steps: [slot.games, slot.points] for slot in self._ready}
        return {"estimates": estimates, "random": self._random.bit_generator.state}

    def restore(self, state: Mapping[str, Any], past: Mapping[int, Weights]) -> None:
        """The inverse of `state`, given the earlier selves of then, before any game."""
        self.update(past, set())
        for slot in self._ready:
            slot.games, slot.points = state["estimates"].get(slot.steps, (0.0, 0.0))
        self._random.bit_generator.state = state["random"]
