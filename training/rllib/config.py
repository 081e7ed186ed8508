"""What a run of `training.rllib_train` is to do: a YAML file, checked key by key, for one machine or a cluster.

Sections that `training.config` has already mean the same here.
"""

from typing import Annotated

from pydantic import Field, model_validator

from training.config import Count, GameSection, NetworkSection, Positive, PPOSection, RewardSection, Section, Share


class RunnersSection(Section):
    """The processes that play, wherever in the cluster there is room; each plays `ppo.games` games."""

    number: Annotated[int, Field(ge=0)] = 2  # 0: the learner's process plays too
    cpus: Positive = 1.0  # that each takes, as Ray counts them
    patience: Positive = 10.0  # minutes without any of them after which the run fails


class LearnersSection(Section):
    """The processes that learn."""

    number: Annotated[int, Field(ge=0)] = 0  # 0: the driver's own; more share each minibatch
    gpus: Share = 0.0  # that each takes
    threads: Count = 1  # for torch in the driver


class OpponentsSection(Section):
    """Who the learner plays: relative shares of the games."""

    mirror: Share = 0.7  # itself; it learns from both seats
    past: Share = 0.2  # an earlier self
    fixed: dict[str, Share] = {"greedy": 0.1}  # agents by their specs
    past_size: Count = 8  # how many earlier selves are kept
    past_every: Count = 5  # updates between two that are kept

    @model_validator(mode="after")
    def _someone(self) -> "OpponentsSection":
        if self.mirror + self.past + sum(self.fixed.values()) <= 0:
            raise ValueError("all shares are 0; give mirror, past or a fixed agent a share")
        return self


class MatchesSection(Section):
    """The matches at the end of the run; the policy's choice of actions is greedy."""

    against: list[str] = ["random", "greedy", "pattern"]
    games: Annotated[int, Field(ge=0, multiple_of=2)] = 1000  # against each; 0: no evaluation


class RLlibConfig(Section):
    """A training run. It ends when the first of `steps` and `minutes` is reached."""

    game: GameSection = GameSection()
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 0
    steps: Count = 1_000_000  # decisions learnt from; the learning rate follows them
    minutes: Positive | None = None  # of wall-clock time for training, evaluation not included
    checkpoint_minutes: Positive = 2.0  # between two checkpoints
    runners: RunnersSection = RunnersSection()
    learners: LearnersSection = LearnersSection()
    network: NetworkSection = NetworkSection()
    reward: RewardSection = RewardSection()
    ppo: PPOSection = PPOSection()
    opponents: OpponentsSection = OpponentsSection()
    evaluation: MatchesSection = MatchesSection()

    @property
    def batch(self) -> int:
        """Decisions between two updates, of all runners together."""
        return max(self.runners.number, 1) * self.ppo.games * self.ppo.rollout

    @model_validator(mode="after")
    def _possible(self) -> "RLlibConfig":
        if self.reward.margin + self.reward.outcome <= 0:
            raise ValueError("reward.margin and reward.outcome are both 0; there would be nothing to learn from")
        if self.ppo.minibatch > self.batch:
            raise ValueError(
                f"ppo.minibatch={self.ppo.minibatch} is more than the {self.batch} decisions of a whole batch: "
                "runners.number * ppo.games * ppo.rollout"
            )
        kinds = sum(share > 0 for share in (self.opponents.mirror, self.opponents.past, *self.opponents.fixed.values()))
        if self.opponents.mirror and kinds > 1 and self.ppo.games < 2:
            raise ValueError("ppo.games=1 leaves no game for one of opponents.mirror and the others; give it 2")
        return self
