"""Who the learner plays against: itself as of the last update, earlier selves, and fixed agents.

Every game keeps the opponent it began with, weights included, to its end. Copies of the learner
live in slots. A new copy only ever goes into a slot that no game under way uses and that no new
game can draw; so there are a few slots more than copies in play, for games that still run against
a copy that has been replaced.

At each update the learner is copied: that copy is the mirror. Every `past_every`-th of them is
kept as a past self. When there are more than `past_size`, the one goes whose neighbours in time
are closest together, which keeps the first and the latest and thins evenly between. For each
update one of the past selves is drawn, uniformly; the games that begin before the next update and
are dealt a past self get that one, so that opponents are asked in few large batches.
"""

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn

from mozaic_env.agents.base import Agent
from mozaic_env.agents.network import BoardNetwork
from mozaic_env.agents.policy import PolicyAgent
from mozaic_env.agents.specs import make_agent
from mozaic_env.core.game import Game
from mozaic_env.envs.sb3 import GameVecEnv
from training.config import OpponentsSection

MIRROR, PAST = "mirror", "past"
SELF = "self@"  # begins the names of copies, their age follows
SPARE = 3  # slots for copies that are out of play but not yet out of their games


class InPrecision(nn.Module):
    """A network that computes in bfloat16 where that is asked for, and answers in float32."""

    def __init__(self, network: BoardNetwork, bfloat16: bool) -> None:
        super().__init__()
        self.network, self.bfloat16 = network, bfloat16

    def forward(self, observation: Mapping[str, torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
        """As `BoardNetwork.forward`."""
        device = next(self.network.parameters()).device.type
        with torch.autocast(device, torch.bfloat16, enabled=self.bfloat16):
            logits, values = self.network(observation)
        return logits.float(), values.float()


@dataclass
class Slot:
    """Room for one copy of the learner.

    Attributes:
        agent: plays the copy, by its probabilities.
        steps: the learner's age when it was copied.
        strategy: MIRROR, PAST, or "" where no new game can draw it.
    """

    agent: PolicyAgent
    steps: int = 0
    strategy: str = ""


def _copy_in(slot: Slot) -> BoardNetwork:
    copied: BoardNetwork = slot.agent.network.network
    return copied


class League:
    """The opponents of a `GameVecEnv`, kept up to date."""

    def __init__(
        self,
        config: OpponentsSection,
        game: Game,
        learner: BoardNetwork,
        *,
        per_update: int,
        seed: int,
        bfloat16: bool,
    ) -> None:
        """Makes room for the copies; `refresh` fills it.

        Args:
            config: shares and sizes.
            game: what is played.
            learner: the network that is copied.
            per_update: the learner's decisions between two updates.
            seed: of the draws of past selves, and of all opponents' own chance.
            bfloat16: compute the copies' moves in mixed precision.

        Raises:
            ValueError: a fixed agent's spec is none.
        """
        self.config, self.learner = config, learner
        self.fixed: list[Agent] = [make_agent(spec, game) for spec in config.fixed]
        self.slots: list[Slot] = []
        for _ in range(config.past_size + SPARE):
            network = copy.deepcopy(learner).eval().requires_grad_(False)
            self.slots.append(Slot(PolicyAgent(game, InPrecision(network, bfloat16), sample=True)))
        for agent in (*self.fixed, *(slot.agent for slot in self.slots)):
            agent.seed(seed)
        self._per_update = per_update
        self._random = np.random.default_rng(seed)
        self._updates = 0
        self._refreshed: int | None = None
        self._drawn: Slot | None = None  # the past self that new games meet
        self._seated = False  # whether games under way have opponents from here

    def refresh(self, env: GameVecEnv, steps: int) -> None:
        """Copies the learner and tells the environment whom its next games may be against.

        Args:
            env: whose games under way are not touched.
            steps: the learner's age; nothing happens if it is the same as at the last call.
        """
        if steps == self._refreshed:
            return
        used = set(env.opponent_indices - len(self.fixed)) if self._seated else set()
        free = [slot for i, slot in enumerate(self.slots) if not slot.strategy and i not in used]
        if free:  # else the mirror stays the age it has, until some games have ended
            self._admit(free[0], steps)
        past = [slot for slot in self.slots if slot.strategy == PAST]
        self._drawn = past[self._random.integers(len(past))] if past else None
        self._seat(env)
        self._refreshed = steps

    def _seat(self, env: GameVecEnv) -> None:
        """Tells the environment whom its next games may be against."""
        shares = [*self.config.fixed.values(), *(self._share(slot, self._drawn) for slot in self.slots)]
        env.set_opponents([*self.fixed, *(slot.agent for slot in self.slots)], shares)
        self._seated = True

    def state(self) -> dict[str, Any]:
        """All copies and the next draws, as tensors and plain data."""
        return {
            "slots": [
                {"steps": slot.steps, "strategy": slot.strategy, "weights": _copy_in(slot).state_dict()}
                for slot in self.slots
            ],
            "drawn": None if self._drawn is None else self.slots.index(self._drawn),
            "updates": self._updates,
            "refreshed": self._refreshed,
            "random": self._random.bit_generator.state,
        }

    def restore(self, state: dict[str, Any], env: GameVecEnv) -> None:
        """The inverse of `state`, for a league of the same size and games that are all yet to begin."""
        for slot, kept in zip(self.slots, state["slots"], strict=True):
            _copy_in(slot).load_state_dict(kept["weights"])
            slot.steps, slot.strategy = kept["steps"], kept["strategy"]
            slot.agent.name = f"{SELF}{slot.steps}"
        self._drawn = None if state["drawn"] is None else self.slots[state["drawn"]]
        self._updates, self._refreshed = state["updates"], state["refreshed"]
        self._random.bit_generator.state = state["random"]
        if self._refreshed is not None:
            self._seat(env)

    def _share(self, slot: Slot, drawn: Slot | None) -> float:
        if slot is drawn:
            return self.config.past
        if slot.strategy == MIRROR:  # which stands in for past selves while there is none
            return self.config.mirror + (self.config.past if drawn is None else 0.0)
        return 0.0

    def _admit(self, slot: Slot, steps: int) -> None:
        """Makes a free slot the mirror, and the mirror before it a past self or nothing."""
        for before in self.slots:
            if before.strategy == MIRROR:
                before.strategy = PAST if self._updates % self.config.past_every == 0 else ""
        self._updates += 1
        past = sorted((s for s in self.slots if s.strategy == PAST), key=lambda s: s.steps)
        if len(past) > self.config.past_size:
            gaps = [later.steps - earlier.steps for earlier, later in zip(past, past[2:])]
            past[1 + int(np.argmin(gaps)) if gaps else 0].strategy = ""
        _copy_in(slot).load_state_dict(self.learner.state_dict())
        slot.steps, slot.strategy = steps, MIRROR
        slot.agent.name = f"{SELF}{steps}"

    def strategy(self, opponent: str, steps: int) -> str:
        """Which entry of the configuration brought an opponent into a game that ended just now.

        Args:
            opponent: its name in the final info.
            steps: the learner's age.
        """
        if not opponent.startswith(SELF):
            return opponent
        return PAST if steps - int(opponent[len(SELF) :]) > 2 * self._per_update else MIRROR
