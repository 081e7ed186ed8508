"""mozaic_env: a board game of placement and luck as fast, exact reinforcement learning environments.

```python
import gymnasium as gym
import mozaic_env

env = gym.make("Mozaic-v0", opponent="greedy")
```

Importing the package registers the environments and compiles nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from gymnasium.envs.registration import register, registry

from mozaic_env.games import GAMES, gym_id

if TYPE_CHECKING:
    from mozaic_env.agents.base import Agent
    from mozaic_env.agents.specs import make_agent
    from mozaic_env.envs.gymnasium.single import GameEnv
    from mozaic_env.games import make_game

__version__ = "0.2.0"

# Imported when first used: importing Numba takes longer than all the rest.
_LAZY = {
    "Agent": "mozaic_env.agents.base",
    "GameEnv": "mozaic_env.envs.gymnasium.single",
    "make_agent": "mozaic_env.agents.specs",
    "make_game": "mozaic_env.games",
}
__all__ = ["Agent", "GameEnv", "make_agent", "make_game"]

for _game in GAMES:
    if gym_id(_game) not in registry:
        register(
            id=gym_id(_game),
            entry_point="mozaic_env.envs.gymnasium.single:GameEnv",
            vector_entry_point="mozaic_env.envs.gymnasium.vector:GameVectorEnv",
            kwargs={"game": _game},
        )


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
