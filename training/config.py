"""What a run is to do: a YAML file, checked key by key.

`training.rllib.config` shares the sections. Every field's meaning stands beside it; `configs/` holds
files to start from.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, TypeVar, get_origin

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from mozaic_env.agents.policy.league import Opponents, Priority
from mozaic_env.agents.policy.network import NetworkConfig
from mozaic_env.agents.policy.networks import check_network
from mozaic_env.agents.specs import make_agent
from mozaic_env.core.game import Game
from mozaic_env.core.text.files import read_text, user_path
from mozaic_env.core.text.suggest import did_you_mean
from mozaic_env.games import make_game
from mozaic_env.simulation.self_play import Rewards

Share = Annotated[float, Field(ge=0)]
Positive = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(ge=1)]


class Section(BaseModel):
    """A part of the configuration: unknown keys, wrong types and values that are not numbers are errors."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)
    renamed: ClassVar[Mapping[str, str]] = {}  # keys of earlier versions, and what they are called now


class GameSection(Section):
    """What is played."""

    name: str = "mozaic"
    options: dict[str, Any] = {}  # the game's own, such as rules, rows, cols


class NetworkSection(Section):
    """The size of the network, see `mozaic_env.agents.policy.network.NetworkConfig`."""

    channels: Annotated[int, Field(ge=1, le=1024)] = 32
    blocks: Annotated[int, Field(ge=0, le=64)] = 1
    value_hidden: Annotated[int, Field(ge=1, le=1024)] = 64
    symmetric: bool = False  # build the game's symmetries in; channels, value_hidden: multiples of their number


class RewardSection(Section):
    """The reward of a decision: a sum of two terms."""

    margin: Share = 0.25  # for each square by which the lead grows
    outcome: Share = 0.0  # for winning, at the end; as much is lost by losing


class WarmStartSection(Section):
    """Imitation of a teacher before the learner plays for itself; ends with the first of `decisions` and `minutes`."""

    renamed: ClassVar[Mapping[str, str]] = {"keep": "kl_coefficient", "stretch": "segment"}

    teacher: str | None = None  # the spec of an agent with action values, as expectimax:depth=2; null: no warm start
    decisions: Count = 1_000_000  # of the teacher's
    minutes: Positive | None = None  # of wall-clock time, beside those of the training that follows
    games: Count = 256  # in parallel
    segment: Count = 16  # decisions of each game between two updates
    memory: Count = 16  # segments from which minibatches are drawn
    random_moves: Annotated[float, Field(ge=0, le=1)] = 0.1  # share of moves that are not the teacher's
    temperature: Positive = 0.5  # of its values, in their unit: points in Mozaic
    passes: Positive = 1.0  # how often a decision is trained on, on average
    minibatch: Annotated[int, Field(ge=2)] = 512
    learning_rate: Positive = 3e-3
    learning_rate_end: Share = 1e-4  # reached linearly at the end of the warm start
    value_weight: Share = 0.5
    max_grad_norm: Positive = 1.0
    kl_coefficient: Share = 0.0  # weight of the divergence from the imitated policy in the loss of PPO afterwards


class PPOSection(Section):
    """Proximal policy optimisation, as in sb3-contrib's MaskablePPO."""

    games: Count = 256  # in parallel
    rollout: Count = 64  # decisions of each game between two updates; of all seats that the learner holds together
    minibatch: Annotated[int, Field(ge=2)] = 1024  # the last of an update takes up to half as many more
    epochs: Count = 3
    learning_rate: Positive = 3e-3
    learning_rate_end: Share = 3e-4  # reached linearly at the end of the budget
    discount: Annotated[float, Field(ge=0, le=1)] = 0.99
    gae_lambda: Annotated[float, Field(ge=0, le=1)] = 0.9
    clip: Positive = 0.2
    entropy: Share = 0.003
    value_weight: Share = 0.5
    max_grad_norm: Positive = 0.5


class PrioritySection(Section):
    """How `prioritised` draws an earlier self, from the share p of points that the learner gets against it."""

    by: Literal["hard", "even"] = "hard"  # hard: weights (1 - p) ** power; even: p (1 - p)
    power: Share = 2.0
    prior: Positive = 10.0  # so many even games are taken as played before the first
    decay: Annotated[float, Field(ge=0, le=1)] = 0.95  # at each update earlier games count so many times as much


class OpponentsSection(Section):
    """Who the learner plays: relative shares of the games; `mozaic_env.agents.policy.league` says more."""

    mirror: Share = 0.7  # itself; it is trained on the decisions of all seats
    past: Share = 0.2  # an earlier self, each as likely
    prioritised: Share = 0.0  # an earlier self, the likelier the harder it is to beat
    priority: PrioritySection = PrioritySection()
    fixed: dict[str, Share] = {"greedy": 0.1}  # agents by their specs
    past_size: Count = 8  # how many earlier selves are kept; of more, the one goes that is closest to its neighbours
    past_every: Count = 5  # updates between two that are kept

    @model_validator(mode="after")
    def _someone(self) -> "OpponentsSection":
        if self.mirror + self.past + self.prioritised + sum(self.fixed.values()) <= 0:
            raise ValueError("all shares are 0; give mirror, past, prioritised or a fixed agent a share")
        return self

    def as_opponents(self) -> Opponents:
        """The same for the league."""
        data = self.model_dump()
        return Opponents(**{**data, "priority": Priority(**data["priority"])})


class MatchesSection(Section):
    """The matches at the end of the run, in which the policy plays its argmax action."""

    against: list[str] = ["random", "greedy", "pattern"]  # the evaluation opponents, the strongest last
    games: Annotated[int, Field(ge=0, multiple_of=2)] = 1000  # at the end, against each; 0: no evaluation


class EvaluationSection(MatchesSection):
    """The matches at the end of the run and on the way."""

    share: Annotated[float, Field(ge=0, le=1)] = 0.0  # of the time, for matches on the way; 0: none
    share_games: Annotated[int, Field(ge=2, multiple_of=2)] = 400  # of each such match
    regret: bool = False  # against perfect play too: at the end, and by `share` on the way; on a board that is solved


class RunConfig(Section):
    """What runs of both trainers have. A run ends when the first of `steps` and `minutes` is reached."""

    game: GameSection = GameSection()
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 0
    steps: Count = 1_000_000  # the learner's decisions, in mirror games those of all seats
    minutes: Positive | None = None  # of wall-clock time for training, evaluation not included
    checkpoint_minutes: Positive = 2.0  # between two checkpoints
    network: NetworkSection = NetworkSection()
    reward: RewardSection = RewardSection()
    ppo: PPOSection = PPOSection()
    opponents: OpponentsSection = OpponentsSection()
    evaluation: MatchesSection = MatchesSection()

    @model_validator(mode="after")
    def _possible(self) -> "RunConfig":
        if self.reward.margin + self.reward.outcome <= 0:
            raise ValueError("reward.margin and reward.outcome are both 0; there would be nothing to learn from")
        opponents = self.opponents
        others = opponents.past + opponents.prioritised + sum(opponents.fixed.values())
        if opponents.mirror and others and self.ppo.games < 2:
            raise ValueError("ppo.games=1 leaves no game for one of opponents.mirror and the others; give it 2")
        return self

    @property
    def rewards(self) -> Rewards:
        """The same for self-play."""
        return Rewards(self.reward.margin, self.reward.outcome, self.ppo.discount, self.ppo.gae_lambda)

    def make_game(self) -> Game:
        """The configured game.

        Raises:
            ValueError: a value that no single key can tell: the game's options, its network, or an agent.
        """
        game = make_game(self.game.name, **self.game.options)
        check_network(game, NetworkConfig(**self.network.model_dump()))
        for spec in (*self.opponents.fixed, *self.evaluation.against):
            make_agent(spec, game)
        return game


class Config(RunConfig):
    """A run of `training.train`."""

    device: Literal["auto", "cpu", "cuda"] = "auto"
    threads: Annotated[int, Field(ge=1)] | Literal["auto"] = "auto"  # for torch
    precision: Literal["auto", "float32", "bfloat16"] = "auto"  # auto: bfloat16 where it is fast
    warm_start: WarmStartSection = WarmStartSection()
    evaluation: EvaluationSection = EvaluationSection()


class _Loader(yaml.SafeLoader):
    """YAML as people write it: 3e-4 is a number too, no key comes twice, and `!!int x` is said to be none."""

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        """What a node means."""
        try:
            return super().construct_object(node, deep)
        except (ValueError, TypeError, KeyError, AttributeError, IndexError):  # of the constructor of its type
            kind = node.tag.rpartition(":")[2]
            problem = f"{str(node.value)[:40]!r} is no {kind}"
            raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark) from None

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """A mapping, its keys in order."""
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        twice = [key for key in keys if keys.count(key) > 1]
        if twice:
            raise yaml.constructor.ConstructorError(None, None, f"key {twice[0]!r} is given twice", node.start_mark)
        return super().construct_mapping(node, deep)


_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"^[-+]?\d+(\.\d*)?[eE][-+]?\d+$"), list("-+0123456789")
)


_Kind = TypeVar("_Kind", bound=Section)


def load_config(path: str | Path, overrides: Sequence[str] = (), kind: type[_Kind] = Config) -> _Kind:
    """Reads a configuration.

    Args:
        path: of a YAML file.
        overrides: ``key=value`` words that win over the file; dots lead into sections, as in
            ``ppo.epochs=4``.
        kind: what it is to be, a training run if not said.

    Raises:
        ValueError: the file can't be read, or a key is unknown, of a wrong type or out of range;
            says which.
    """
    path = user_path(path)
    try:
        text = read_text(path)
    except ValueError as error:
        raise ValueError(f"config {path} can't be read: {error}; configs/ holds some to start from") from None
    data = parse_yaml(text, f"config {path}")
    if data is None:
        data = {}
    if not isinstance(data, dict):
        raise ValueError(f"config {path} is a {type(data).__name__}; accepted: 'key: value' lines")
    keys = [word.partition("=")[0] for word in overrides]
    for word, key in zip(overrides, keys):
        if keys.count(key) > 1:
            raise ValueError(f"override {word!r}: {key} is given twice; accepted: each key once")
        _override(data, word)
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        raise ValueError(f"config {path}: {_explain(error, kind)}") from None


def override_config(config: Config, overrides: Sequence[str]) -> Config:
    """A configuration with ``key=value`` words that win over it; ValueError as `load_config`."""
    data = config.model_dump(mode="json")
    for word in overrides:
        _override(data, word)
    try:
        return Config.model_validate(data)
    except ValidationError as error:
        raise ValueError(_explain(error, Config)) from None


def parse_yaml(text: str, where: str) -> Any:
    """What a YAML text says, read as a configuration is; ValueError begins with `where`."""
    try:
        return yaml.load(text, _Loader)
    except yaml.MarkedYAMLError as error:
        line = "" if error.problem_mark is None else f" in line {error.problem_mark.line + 1}"
        raise ValueError(f"{where} is not YAML{line}: {error.problem}") from None
    except yaml.YAMLError as error:
        raise ValueError(f"{where} is not YAML: {error}") from None


def _override(data: dict[str, Any], word: str) -> None:
    key, equals, value = word.partition("=")
    if not equals or not all(key.split(".")):
        raise ValueError(f"override {word!r}; accepted: key=value, such as steps=100000 or ppo.epochs=4")
    *sections, last = key.split(".")
    for section in sections:
        inner = data.setdefault(section, {})
        if not isinstance(inner, dict):
            raise ValueError(f"override {word!r}: {section} is no section of the config")
        data = inner
    data[last] = parse_yaml(value, f"override {word!r}")


def _explain(error: ValidationError, kind: type[Section]) -> str:
    """The first thing that is wrong as one line, and how many more there are."""
    errors = error.errors()
    first = errors[0]
    key = _key(first["loc"], kind)
    if first["type"] == "extra_forbidden":
        section, name = _section(first["loc"][:-1], kind), str(first["loc"][-1])
        names = section.model_fields
        if name in section.renamed:
            text = f"{key} is called {key.removesuffix(name)}{section.renamed[name]} now; rename it"
        else:
            text = f"{key}: unknown key; accepted: {', '.join(names)}{did_you_mean(name, names)}"
    elif first["type"] == "value_error":
        text = f"{key}: {first['ctx']['error']}" if first["loc"] else str(first["ctx"]["error"])
    elif first["type"] == "model_type":
        text = f"{key} is a section of 'key: value' lines; got {first['input']!r}"
    else:
        wanted = "; or: ".join(e["msg"] for e in errors if _key(e["loc"], kind) == key)
        text = f"{key}: {wanted}; got {first['input']!r}"
    more = len({_key(e["loc"], kind) for e in errors}) - 1
    return text + (f" (and {more} more)" if more else "")


def _key(location: Sequence[int | str], section: type[Section]) -> str:
    """Where an error is, without the names that pydantic gives to the members of a union."""
    for depth, part in enumerate(location, 1):
        field = section.model_fields.get(str(part))
        if field is not None and get_origin(field.annotation) is dict:
            depth = len(location)
        elif field is not None and isinstance(field.annotation, type) and issubclass(field.annotation, Section):
            section = field.annotation
            continue
        return ".".join(map(str, location[:depth]))
    return ".".join(map(str, location))


def _section(location: Sequence[int | str], section: Any) -> Any:
    for part in location:
        section = section.model_fields[part].annotation
    return section


def as_yaml(config: Section) -> str:
    """The whole configuration, defaults included, as a file that `load_config` reads."""
    data: Mapping[str, Any] = config.model_dump(mode="json")
    return yaml.safe_dump(data, sort_keys=False, allow_unicode=True)
