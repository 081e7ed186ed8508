"""What a sweep may choose from: keys of the configuration and their ranges or choices, from a YAML file.

ppo.learning_rate: {low: 1e-4, high: 3e-3, log: true}   # any number between, even on a logarithmic scale
ppo.epochs: {low: 1, high: 4}                           # whole numbers, since both ends are
ppo.clip: {low: 0.1, high: 0.3, step: 0.05}
network.channels: [16, 32, 64]                          # one of these; any YAML will do
"""

from pathlib import Path
from typing import Any

import optuna
import yaml
from pydantic import ValidationError, model_validator

from mozaic_env.core.text.files import read_text
from training.config import Config, Positive, Section, override_config, parse_yaml


class Range(Section):
    """Numbers from `low` to `high`, both included."""

    low: int | float
    high: int | float
    log: bool = False
    step: Positive | None = None

    @model_validator(mode="after")
    def _in_order(self) -> "Range":
        if not self.low < self.high:
            raise ValueError(f"low={self.low} is not below high={self.high}")
        if self.log and (self.step is not None or self.low <= 0):
            raise ValueError("with log, low has to be above 0 and there is no step")
        steps = (self.high - self.low) / (self.step or 1)
        if self.step is not None and (abs(steps - round(steps)) > 1e-9 or (self.is_whole and self.step % 1)):
            raise ValueError(f"steps of {self.step} from low={self.low} do not lead to high={self.high}")
        return self

    @property
    def is_whole(self) -> bool:
        """Whether only whole numbers are meant."""
        return isinstance(self.low, int) and isinstance(self.high, int)


class Space:
    """The keys that a sweep varies.

    Attributes:
        keys: for each key its range, or its choices as YAML texts.
    """

    def __init__(self, path: str | Path) -> None:
        """Reads it.

        Raises:
            ValueError: the file can't be read, or an entry is neither a range nor choices; says which.
        """
        self.keys: dict[str, Range | list[str]] = {}
        try:
            text = read_text(path)
        except ValueError as error:
            raise ValueError(f"space {path} can't be read: {error}; configs/sweep.yaml is one to start from") from None
        data = parse_yaml(text, f"space {path}")
        if not isinstance(data, dict) or not data:
            raise ValueError(f"space {path} names no keys; accepted: lines such as 'ppo.epochs: {{low: 1, high: 4}}'")
        for key, entry in data.items():
            self.keys[str(key)] = _read_entry(f"space {path}: {key}", entry)

    def check(self, config: Config) -> None:
        """Looks whether the configuration takes both ends of each range, and each choice.

        Raises:
            ValueError: it doesn't; says which and why.
        """
        for key, entry in self.keys.items():
            values = entry if isinstance(entry, list) else [repr(entry.low), repr(entry.high)]
            for value in values:
                override_config(config, [f"{key}={value}"])

    def suggest(self, trial: optuna.Trial) -> None:
        """Has the sampler choose a value for each key."""
        for key, entry in self.keys.items():
            if isinstance(entry, list):
                trial.suggest_categorical(key, entry)
            elif entry.is_whole:
                trial.suggest_int(key, int(entry.low), int(entry.high), step=int(entry.step or 1), log=entry.log)
            else:
                trial.suggest_float(key, entry.low, entry.high, step=entry.step, log=entry.log)

    def describe(self) -> dict[str, Any]:
        """As plain data, to tell whether two spaces are the same."""
        return {
            key: entry if isinstance(entry, list) else entry.model_dump(mode="json") for key, entry in self.keys.items()
        }


def _read_entry(where: str, entry: Any) -> Range | list[str]:
    if isinstance(entry, list) and entry:
        texts = [
            yaml.safe_dump(value, default_flow_style=True, width=10_000).split("\n...")[0].strip() for value in entry
        ]
        if len(set(texts)) < len(texts):
            raise ValueError(f"{where}: a choice is given twice")
        return texts
    if isinstance(entry, dict):
        try:
            return Range.model_validate(entry)
        except ValidationError as error:
            first = error.errors()[0]
            name = ".".join(str(part) for part in first["loc"] if part in Range.model_fields)
            raise ValueError(f"{where}: {name}{': ' if name else ''}{first['msg']}") from None
    raise ValueError(
        f"{where}: {entry!r}; accepted: {{low: 1, high: 4}}, with log: true or a step, or a list of choices"
    )


def as_words(params: dict[str, Any]) -> list[str]:
    """What was chosen as ``key=value`` words for a configuration."""
    return [f"{key}={value if isinstance(value, str) else repr(value)}" for key, value in params.items()]
