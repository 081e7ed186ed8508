"""The registry of what games provide in compiled form: functions on a row, picked by the row's type.

A function of the contract (`mozaic_env.core.contract`, `mozaic_env.core.whole_moves`) is declared with `of_game`.
Called on a row, it runs the function of that name of the row's game. In compiled code Numba picks it while it compiles
the caller (a `typing overload <https://numba.readthedocs.io/en/stable/extending/>`_), so a loop is written once for
all games and costs nothing at run time.
"""

import functools
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba.extending import overload

from mozaic_env.core.jit import depend_on, jit

HEADER = [
    ("key", np.uint64),  # of the game's random stream
    ("draws", np.uint32),  # chance outcomes so far: the position in that stream
    ("decisions", np.uint32),  # decisions so far, all seats together
]
RULES = "rules"  # the group that every game provides

_groups: dict[str, list[str]] = {}  # names of the functions of each group
_defaults: dict[str, Any] = {}
_kernels: dict[np.dtype[Any], dict[str, Any]] = {}  # of each game, by its row type and their names

Function = Callable[..., Any]


def of_game(group: str = RULES, default: bool = False) -> Callable[[Function], Function]:
    """Declares a function of the contract: whoever calls it on a row calls the game's.

    Args:
        group: a game provides all functions of a group or none.
        default: what stands here is what a game has that does not provide it.
    """

    def declare(function: Function) -> Function:
        name = function.__name__
        _groups.setdefault(group, []).append(name)
        if default:
            _defaults[name] = jit(function)

        @functools.wraps(function)
        def call(row: Any, *rest: Any) -> Any:
            return _kernels[row.dtype][name](row, *rest)

        @overload(call, strict=False, jit_options={"forceinline": True, "_nrt": False, "error_model": "numpy"})
        def _pick(row: Any, *rest: Any) -> Any:
            kernel = _kernels[row.dtype][name]

            def forward(row: Any, *rest: Any) -> Any:
                return kernel(row, *rest)

            return forward

        return call

    return declare


def register(dtype: np.dtype[Any], *modules: Any) -> None:
    """Makes a game's compiled functions the ones that run on rows of its type.

    Args:
        dtype: the row type; it contains the fields of `HEADER`.
        *modules: where they stand, under the names and with the parameters that the contract has.

    Raises:
        ValueError: a function is missing or stands there twice, a header field is missing, or the type is taken.
    """
    kernels: dict[str, Any] = {}
    for group, names in _groups.items():
        found = {name: kernel for name in names if (kernel := _find(name, modules)) is not None}
        missing = [name for name in names if name not in found and (group != RULES or name not in _defaults)]
        if missing and (found or group == RULES):
            raise ValueError(f"a game that provides {group} provides {', '.join(names)}; missing: {', '.join(missing)}")
        kernels |= {name: _defaults[name] for name in names if name in _defaults} | found
    for name, kind in HEADER:
        if dtype.names is None or name not in dtype.names or dtype[name] != kind:
            raise ValueError(f"row type {dtype} lacks the header field {name!r} of type {np.dtype(kind)}")
    if dtype in _kernels:
        raise ValueError(f"another game already has the row type {dtype}; name a field differently")
    _kernels[dtype] = kernels
    depend_on(numba.from_dtype(dtype), (kernel.py_func for kernel in kernels.values()))


def _find(name: str, modules: tuple[Any, ...]) -> Any:
    """The compiled function of a name; None if there is none."""
    found = {id(one): one for module in modules if hasattr(one := getattr(module, name, None), "py_func")}
    if len(found) > 1:
        raise ValueError(f"{name} is defined more than once, in {', '.join(one.__module__ for one in found.values())}")
    return next(iter(found.values()), None)
