"""What a run of `training.rllib_train` is to do: a YAML file, checked key by key, for one machine or a cluster."""

from typing import Annotated

from pydantic import Field, model_validator

from training.config import Count, Positive, RunConfig, Section, Share


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


class RLlibConfig(RunConfig):
    """A run of `training.rllib_train`; the learning rate follows the steps, not the minutes."""

    runners: RunnersSection = RunnersSection()
    learners: LearnersSection = LearnersSection()

    @property
    def batch(self) -> int:
        """Decisions between two updates, of all runners together."""
        return max(self.runners.number, 1) * self.ppo.games * self.ppo.rollout

    @model_validator(mode="after")
    def _whole_minibatch(self) -> "RLlibConfig":
        if self.ppo.minibatch > self.batch:
            raise ValueError(
                f"ppo.minibatch={self.ppo.minibatch} is more than the {self.batch} decisions of a whole batch: "
                "runners.number * ppo.games * ppo.rollout"
            )
        return self
