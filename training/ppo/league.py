"""Who the learner plays against: itself as of the last update, earlier selves, and fixed agents.

The configuration weighs four strategies; the weights are relative shares of the games that begin:

    mirror        the learner as of the last update
    past          an earlier self, each as likely as another
    prioritised   an earlier self, the likelier the harder it is to beat (PFSP, prioritised fictitious self-play)
    fixed         agents by their specs

Every game keeps the opponent it began with, weights included, to its end; the final info names it: mirror@STEPS,
past@STEPS or prioritised@STEPS, with the learner's age when it was copied, or a fixed agent's name. All games against
one opponent are asked about in one batch.

Copies of the learner live in slots. A new copy only ever goes into a slot that no game under way uses and that no new
game can draw; so there are a few slots more than copies in play, for games that still run against a copy that has been
replaced.

Who is admitted: at each update the learner is copied, and that copy is the mirror. Every `past_every`-th of them, the
first included, is kept as a past self. When there are more than `past_size`, the one goes whose neighbours in time are
closest together, which keeps the first and the latest and thins evenly between. For each update one past self is drawn
for `past` and one for `prioritised`; the games that begin before the next update and are dealt such an opponent get
that one, so that opponents are asked in few large batches.

How hard a past self is to beat: from the share p of points that the learner gets against it, "hard" weighs it with
(1 - p) ** power and "even" with p (1 - p), which are f_hard and f_var of O. Vinyals et al., Grandmaster level in
StarCraft II using multi-agent reinforcement learning, Nature 575, 2019 (Methods, prioritized fictitious self-play). p
is estimated as if `prior` games had ended evenly before the first; at each update all earlier games count `decay` times
as much as before, since the learner changes. So a self that has not been met for a while counts as even again.

Metrics, while `prioritised` has a share, for the past selves in the order of their age, 1 being the oldest:

    past_selves/N/steps     the learner's age when it was copied
    past_selves/N/score     the estimate of p
    past_selves/N/chance    of being drawn by `prioritised`
"""

import copy
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from mozaic_env.agents.base import Agent
from mozaic_env.agents.policy.agent import PolicyAgent
from mozaic_env.agents.policy.networks import Network
from mozaic_env.agents.policy.thinning import superfluous
from mozaic_env.agents.specs import make_agent
from mozaic_env.core.game import Game
from mozaic_env.envs.sb3 import GameVecEnv
from training.config import OpponentsSection, PrioritySection

MIRROR, PAST, PRIORITISED = STRATEGIES = "mirror", "past", "prioritised"  # that deal copies of the learner
SPARE = 3  # slots for copies that are out of play but not yet out of their games


class InPrecision(nn.Module):
    """A network that computes in bfloat16 where that is asked for, and answers in float32."""

    def __init__(self, network: Network, bfloat16: bool) -> None:
        super().__init__()
        self.network, self.bfloat16 = network, bfloat16

    def forward(self, observation: Mapping[str, torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
        """As `Network.forward`."""
        device = next(self.network.parameters()).device.type
        with torch.autocast(device, torch.bfloat16, enabled=self.bfloat16):
            logits, values = self.network(observation)
        return logits.float(), values.float()


@dataclass
class Slot:
    """Room for one copy of the learner.

    Attributes:
        agents: play the copy by its probabilities; one for each strategy, which differ in name alone.
        steps: the learner's age when it was copied.
        kind: MIRROR, PAST, or "" where no new game can draw it.
        games: how many ended against it as a past self, older ones counting less.
        points: the learner's in these, 1 for a win and 1/2 for a draw.
    """

    agents: dict[str, PolicyAgent]
    steps: int = 0
    kind: str = ""
    games: float = 0.0
    points: float = 0.0

    @property
    def network(self) -> Network:
        """The copy."""
        copied: Network = self.agents[MIRROR].network.network
        return copied

    def rename(self) -> None:
        """Names the agents by the copy's age."""
        for strategy, agent in self.agents.items():
            agent.name = f"{strategy}@{self.steps}"

    def score(self, prior: float) -> float:
        """The estimated share of points that the learner gets against it."""
        return (self.points + prior / 2) / (self.games + prior)


def strategy_of(opponent: str) -> str:
    """Which entry of the configuration brought an opponent into a game, given its name in the final info."""
    strategy, at, steps = opponent.partition("@")
    return strategy if at and steps.isdecimal() and strategy in STRATEGIES else opponent


def chances(scores: npt.NDArray[np.float64], config: PrioritySection) -> npt.NDArray[np.float64]:
    """Probabilities with which past selves are drawn, given the learner's estimated shares of points against them."""
    if config.by == "even":
        weights = scores * (1 - scores)
    else:
        weights = ((1 - scores) / (1 - scores).max()) ** config.power
    return weights / weights.sum()


class League:
    """The opponents of a `GameVecEnv`, kept up to date."""

    def __init__(self, config: OpponentsSection, game: Game, learner: Network, *, seed: int, bfloat16: bool) -> None:
        """Makes room for the copies; `refresh` fills it.

        Args:
            config: shares and sizes.
            game: what is played.
            learner: the network that is copied.
            seed: of the draws of past selves, and of all opponents' own chance.
            bfloat16: compute the copies' moves in mixed precision.

        Raises:
            ValueError: a fixed agent's spec is none.
        """
        self.config, self.learner = config, learner
        self.fixed: list[Agent] = [make_agent(spec, game) for spec in config.fixed]
        self.slots: list[Slot] = []
        for _ in range(config.past_size + SPARE):
            network = InPrecision(copy.deepcopy(learner).eval().requires_grad_(False), bfloat16)
            self.slots.append(Slot({strategy: PolicyAgent(game, network, sample=True) for strategy in STRATEGIES}))
        self.agents = [*self.fixed, *(agent for slot in self.slots for agent in slot.agents.values())]
        for agent in self.agents:
            agent.seed(seed)
        self._random = np.random.default_rng(seed)
        self._updates = 0
        self._refreshed: int | None = None
        self.drawn: dict[str, Slot] = {}  # the past self that new games meet, for PAST and PRIORITISED
        self._seated = False  # whether games under way have opponents from here

    @property
    def past(self) -> list[Slot]:
        """The past selves, the oldest first."""
        return sorted((slot for slot in self.slots if slot.kind == PAST), key=lambda slot: slot.steps)

    def slot_of(self, opponent: int) -> int | None:
        """The slot of an opponent, given its index in the environment; None for a fixed agent."""
        return None if opponent < len(self.fixed) else (opponent - len(self.fixed)) // len(STRATEGIES)

    def refresh(self, env: GameVecEnv, steps: int) -> None:
        """Copies the learner and tells the environment whom its next games may be against.

        Args:
            env: whose games under way are not touched.
            steps: the learner's age; nothing happens if it is the same as at the last call.
        """
        if steps == self._refreshed:
            return
        used = {self.slot_of(opponent) for opponent in np.unique(env.opponent_indices)} if self._seated else set()
        free = [slot for i, slot in enumerate(self.slots) if not slot.kind and i not in used]
        if free:  # else the mirror stays the age it has, until some games have ended
            self._admit(free[0], steps)
        self._draw()
        self._seat(env)
        self._refreshed = steps

    def _draw(self) -> None:
        """Draws the past selves that new games meet."""
        past = self.past
        self.drawn = {}
        if past:
            self.drawn[PAST] = past[self._random.integers(len(past))]
            if self.config.prioritised:
                self.drawn[PRIORITISED] = past[self._random.choice(len(past), p=self._chances())]

    def _scores(self) -> npt.NDArray[np.float64]:
        return np.array([slot.score(self.config.priority.prior) for slot in self.past])

    def _chances(self) -> npt.NDArray[np.float64]:
        return chances(self._scores(), self.config.priority)

    def _seat(self, env: GameVecEnv) -> None:
        """Tells the environment whom its next games may be against."""
        shares = [self._share(slot, strategy) for slot in self.slots for strategy in STRATEGIES]
        env.set_opponents(self.agents, [*self.config.fixed.values(), *shares])
        self._seated = True

    def _share(self, slot: Slot, strategy: str) -> float:
        config = self.config
        if strategy != MIRROR:
            return getattr(config, strategy) if slot is self.drawn.get(strategy) else 0.0
        if slot.kind != MIRROR:
            return 0.0
        return config.mirror + (0.0 if self.drawn else config.past + config.prioritised)  # while there is no past self

    def note(self, endings: Iterable[Mapping[str, Any]]) -> None:
        """Takes the games of an update into the estimates of how hard the past selves are to beat.

        Args:
            endings: final infos.
        """
        for slot in self.slots:
            slot.games *= self.config.priority.decay
            slot.points *= self.config.priority.decay
        dealt = {slot.agents[strategy].name: slot for slot in self.past for strategy in (PAST, PRIORITISED)}
        for ending in endings:
            slot = dealt.get(ending["opponent"])
            if slot is not None:  # else another strategy's, or replaced in the meantime
                slot.games += 1
                slot.points += (ending["outcome"] + 1) / 2

    def metrics(self) -> dict[str, float]:
        """What there is to log of the past selves; nothing unless `prioritised` has a share."""
        if not (self.config.prioritised and self.past):
            return {}
        rows = zip(self.past, self._scores(), self._chances(), strict=True)
        return {
            f"past_selves/{number}/{key}": value
            for number, (slot, score, chance) in enumerate(rows, 1)
            for key, value in (("steps", slot.steps), ("score", float(score)), ("chance", float(chance)))
        }

    def state(self) -> dict[str, Any]:
        """All copies and the next draws, as tensors and plain data."""
        kept = ("steps", "kind", "games", "points")
        return {
            "slots": [
                {**{key: getattr(slot, key) for key in kept}, "weights": slot.network.state_dict()}
                for slot in self.slots
            ],
            "drawn": {strategy: self.slots.index(slot) for strategy, slot in self.drawn.items()},
            "updates": self._updates,
            "refreshed": self._refreshed,
            "random": self._random.bit_generator.state,
        }

    def restore(self, state: dict[str, Any], env: GameVecEnv) -> None:
        """The inverse of `state`, for a league of the same size and games that are all yet to begin."""
        for slot, kept in zip(self.slots, state["slots"], strict=True):
            values = dict(kept)
            slot.network.load_state_dict(values.pop("weights"))
            for key, value in values.items():
                setattr(slot, key, value)
            slot.rename()
        self.drawn = {strategy: self.slots[i] for strategy, i in state["drawn"].items()}
        self._updates, self._refreshed = state["updates"], state["refreshed"]
        self._random.bit_generator.state = state["random"]
        if self._refreshed is not None:
            self._seat(env)

    def _admit(self, slot: Slot, steps: int) -> None:
        """Makes a free slot the mirror, and the mirror before it a past self or nothing."""
        for before in self.slots:
            if before.kind == MIRROR:
                before.kind = PAST if (self._updates - 1) % self.config.past_every == 0 else ""
        self._updates += 1
        past = self.past
        if len(past) > self.config.past_size:
            past[superfluous([one.steps for one in past])].kind = ""
        slot.network.load_state_dict(self.learner.state_dict())
        slot.steps, slot.kind, slot.games, slot.points = steps, MIRROR, 0.0, 0.0
        slot.rename()
