"""Optional libraries: which extra of the package brings them, and one way to say that it is missing.

The core needs none of them. Whatever does says so by name, before any work is done: `need` in front of the work,
`importing` around imports at the top of a module that is of no use without them.
"""

import contextlib
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import chain, combinations

# The modules that an extra of pyproject.toml brings, the extra that is quickest to install first.
EXTRAS = {
    "play": ("rich", "starlette", "uvicorn", "pygame"),
    "train": (
        "stable_baselines3",
        "sb3_contrib",
        "torch",
        "tensorboard",
        "rich",
        "matplotlib",
        "pydantic",
        "yaml",
        "safetensors",
        "choix",
        "filelock",
    ),
    "sweep": ("optuna",),
    "pettingzoo": ("pettingzoo",),
    "openspiel": ("pyspiel", "open_spiel"),
    "ray": ("ray",),
    "rllib": ("ray", "tree", "torch", "safetensors"),  # tree comes with ray[rllib] alone
}


class MissingExtra(ModuleNotFoundError):
    """A library is missing that an extra of the package brings; the message says which."""


def is_installed(module: str) -> bool:
    """Whether a module could be imported; imports nothing."""
    try:
        return find_spec(module) is not None
    except (ModuleNotFoundError, ValueError):  # of a package that is not there; of one that is half imported
        return module in sys.modules


def need(what: str, *modules: str) -> None:
    """Looks whether all modules are installed; imports nothing.

    Args:
        what: needs them, as the message begins.
        *modules: their names, each in `EXTRAS`.

    Raises:
        MissingExtra: some are not; says which, and how to install them.
    """
    missing = [module for module in modules if not is_installed(module)]
    if missing:
        raise _missing(what, missing, modules)


@contextlib.contextmanager
def importing(what: str, *modules: str) -> Iterator[None]:
    """Around imports of modules that need an extra.

    Args:
        what: needs them, as the message begins.
        *modules: more than is imported, where that tells which extra is meant.

    Raises:
        MissingExtra: one is not installed.
    """
    try:
        yield
    except MissingExtra:
        raise
    except ModuleNotFoundError as error:
        top = (error.name or "").partition(".")[0]
        if top not in set(chain(*EXTRAS.values())):
            raise
        raise _missing(what, [error.name or top], [*modules, top]) from None


def _missing(what: str, missing: list[str], modules: tuple[str, ...] | list[str]) -> MissingExtra:
    tops = {module.partition(".")[0] for module in missing}
    extras = [extra for extra in extras_for(modules) if tops & set(EXTRAS[extra])]  # others are installed already
    bring = f"the extra {extras[0]!r} brings" if len(extras) == 1 else f"the extras {' and '.join(extras)} bring"
    return MissingExtra(
        f"{what} needs {' and '.join(missing)}, which {bring}: pip install 'mozaic_env[{','.join(extras)}]'",
        name=missing[0],
    )


def extras_for(modules: tuple[str, ...] | list[str]) -> tuple[str, ...]:
    """The fewest extras that bring all of these modules."""
    for count in range(1, len(EXTRAS) + 1):
        for extras in combinations(EXTRAS, count):
            if set(modules) <= set(chain(*(EXTRAS[extra] for extra in extras))):
                return extras
    raise ValueError(f"no extra brings all of {', '.join(modules)}; accepted: {', '.join(chain(*EXTRAS.values()))}")
