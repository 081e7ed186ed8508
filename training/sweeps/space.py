"""What a sweep may choose from: keys of the configuration and Optuna's distributions of them, from a YAML file.

ppo.learning_rate: {low: 1e-4, high: 3e-3, log: true}   # any number between, even on a logarithmic scale
ppo.epochs: {low: 1, high: 4}                           # whole numbers, since both ends are
ppo.clip: {low: 0.1, high: 0.3, step: 0.05}
network.channels: [16, 32, 64]                          # one of these; any YAML will do
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution

from mozaic_env.core.text.files import read_text
from training.config import Config, override_config, parse_yaml

Space = dict[str, BaseDistribution]


def read_space(path: str | Path) -> Space:
    """The distributions by the keys that a sweep varies; choices are YAML texts.

    Raises:
        ValueError: the file can't be read, or an entry is neither a range nor choices; says which.
    """
    try:
        text = read_text(path)
    except ValueError as error:
        raise ValueError(f"space {path} can't be read: {error}; configs/sweep.yaml is one to start from") from None
    data = parse_yaml(text, f"space {path}")
    if not isinstance(data, dict) or not data:
        raise ValueError(f"space {path} names no keys; accepted: lines such as 'ppo.epochs: {{low: 1, high: 4}}'")
    return {str(key): _distribution(f"space {path}: {key}", entry) for key, entry in data.items()}


def _distribution(where: str, entry: Any) -> BaseDistribution:
    if isinstance(entry, list) and entry:
        texts = [yaml.safe_dump(value, default_flow_style=True, width=10_000).split("\n...")[0] for value in entry]
        if len(set(texts)) < len(texts):
            raise ValueError(f"{where}: a choice is given twice")
        return CategoricalDistribution([text.strip() for text in texts])
    if not isinstance(entry, dict):
        raise ValueError(
            f"{where}: {entry!r}; accepted: {{low: 1, high: 4}}, with log: true or a step, or a list of choices"
        )
    whole = all(isinstance(entry.get(end), int) for end in ("low", "high"))
    try:
        return IntDistribution(**entry) if whole else FloatDistribution(**entry)
    except (TypeError, ValueError) as error:
        reason = str(error).rpartition("__init__() ")[2].rstrip(".")
        raise ValueError(f"{where}: {reason}; accepted: low, high, log and step") from None


def check_space(space: Space, config: Config) -> None:
    """Looks whether the configuration takes both ends of each range, and each choice.

    Raises:
        ValueError: it doesn't; says which and why.
    """
    for key, distribution in space.items():
        if isinstance(distribution, CategoricalDistribution):
            values = list(distribution.choices)
        else:
            values = [repr(getattr(distribution, end)) for end in ("low", "high")]
        for value in values:
            override_config(config, [f"{key}={value}"])


def as_words(params: Mapping[str, Any]) -> list[str]:
    """What was chosen as ``key=value`` words for a configuration."""
    return [f"{key}={value if isinstance(value, str) else repr(value)}" for key, value in params.items()]
