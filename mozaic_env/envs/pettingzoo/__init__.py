"""The games as PettingZoo AEC environments; needs the extra `pettingzoo`.

```python
from mozaic_env.envs.pettingzoo import crystal_mosaic_v0, mosaic_chess_v0, mozaic_v0

env = mozaic_v0.env(rules="onyx", rows=4, cols=4)
```

Importing this registers them with PettingZoo as well: ``pettingzoo.make("aec", "mozaic_env/mozaic-v0")``.
"""

import sys
from functools import partial
from types import ModuleType
from typing import Any

from mozaic_env.core.extras import importing

with importing("mozaic_env.envs.pettingzoo"):
    from pettingzoo.env_registry.registration import aec_registry, register

from mozaic_env.envs.pettingzoo.aec import GameAEC, make_env, version_of
from mozaic_env.games import GAMES

env, raw_env = make_env, GameAEC  # for any game: the first argument is its name

__all__ = ["GameAEC", "env", "raw_env"]

# PettingZoo expects a module for each game, with `env` and `raw_env` in it; the arguments are `GameAEC`'s.
for _game in GAMES:
    _version = version_of(_game)
    _module: Any = ModuleType(f"{__name__}.{_game}_v{_version}", f"{_game} as PettingZoo expects a module of a game.")
    _module.env, _module.raw_env = partial(make_env, _game), partial(GameAEC, _game)
    sys.modules[_module.__name__] = globals()[f"{_game}_v{_version}"] = _module
    _id = f"mozaic_env/{_game}-v{_version}"
    if _id not in aec_registry:
        register("aec", _id, entry_point=f"{_module.__name__}:env")


def __getattr__(name: str) -> ModuleType:
    """For type checkers: the games' modules are made above."""
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
