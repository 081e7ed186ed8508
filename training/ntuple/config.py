"""What an n-tuple run is to do; `configs/mozaic-ntuple.yaml` is one to start from."""

from typing import Annotated

from pydantic import Field, model_validator

from training.config import Count, GameSection, Positive, Section, Share

Part = Annotated[float, Field(ge=0, le=1)]


class PolicySection(Section):
    """The actor: softmax of gain and preference, learnt by policy gradient with Adam. Rates change geometrically."""

    temperature: Positive = 0.3  # in points
    temperature_end: Positive = 0.1
    random_moves: Part = 0.03  # share of decisions that are uniformly random and not trained on
    batch: Count = 200  # games for each step of Adam
    learning_rate: Positive = 0.01
    learning_rate_end: Positive = 5e-4
    beta_mean: Part = 0.9
    beta_square: Part = 0.99
    epsilon: Positive = 0.02  # as gradients are sums, this is large


class CriticSection(Section):
    """The critic: TD(lambda), its steps normalised by the features' squared counts."""

    trace: Part = 0.95  # lambda
    learning_rate: Positive = 0.05
    learning_rate_end: Positive = 2.5e-3


class StageSection(Section):
    """A stage of a run: so many decisions, with rates of its own from beginning to end."""

    decisions: Count = 180_000_000  # of all seats together
    policy: PolicySection = PolicySection()
    critic: CriticSection = CriticSection()


class EvaluationSection(Section):
    """Matches on the way and at the end; the policy takes its best action."""

    against: list[str] = ["pattern", "expectimax:depth=2"]  # the strongest last
    times: Annotated[int, Field(ge=0)] = 8  # on the way, evenly spread over the budget; 0: none
    games: Annotated[int, Field(ge=0, multiple_of=2)] = 400  # of each match on the way
    final_games: Annotated[int, Field(ge=0, multiple_of=2)] = 1000  # of each at the end; 0: none
    regret: bool = False  # against perfect play too; on a board that is solved


class NTupleConfig(StageSection):
    """A run: so many decisions, however long they take. Its first stage stands at the top, others in `later`."""

    game: GameSection = GameSection()
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 0
    parts: Count = (
        1  # of a batch, played from the same tables, by threads or on a cluster; what is learnt depends on it
    )
    later: list[StageSection] = []  # what follows; each goes on with the tables of the stage before
    start: str | None = None  # the folder of tables to begin with; null: the game's own start
    save_every: Share = 10_000_000  # decisions between two states from which a killed run goes on
    evaluation: EvaluationSection = EvaluationSection()

    @model_validator(mode="after")
    def _check_parts(self) -> "NTupleConfig":
        fewest = min(stage.policy.batch for stage in self.stages)
        if self.parts > fewest:
            raise ValueError(f"parts={self.parts} of batches of {fewest} games; accepted: at most one for each game")
        return self

    @property
    def stages(self) -> list[StageSection]:
        """All stages, the first one included."""
        return [self, *self.later]

    @property
    def budget(self) -> int:
        """Decisions of all stages."""
        return sum(stage.decisions for stage in self.stages)
