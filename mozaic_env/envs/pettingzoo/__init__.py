"""The games as PettingZoo AEC environments; needs the extra `pettingzoo`.

```python
from mozaic_env.envs.pettingzoo import crystal_mosaic_v0, mosaic_chess_v0, mozaic_v0

env = mozaic_v0.env(rules="onyx", rows=4, cols=4)
```

Importing this registers them with PettingZoo as well: ``pettingzoo.make("aec", "mozaic_env/mozaic-v0")``.
"""

from mozaic_env.core.extras import importing

with importing("mozaic_env.envs.pettingzoo"):
    from pettingzoo.env_registry.registration import aec_registry, register

from mozaic_env.envs.pettingzoo import crystal_mosaic_v0, mosaic_chess_v0, mozaic_v0
from mozaic_env.envs.pettingzoo.aec import GameAEC, make_env, version_of
from mozaic_env.games import GAMES

__all__ = ["GameAEC", "crystal_mosaic_v0", "env", "mosaic_chess_v0", "mozaic_v0", "raw_env"]

env, raw_env = make_env, GameAEC  # for any game: the first argument is its name

for _game in GAMES:
    _version = version_of(_game)
    _id = f"mozaic_env/{_game}-v{_version}"
    if _id not in aec_registry:
        register("aec", _id, entry_point=f"{__name__}.{_game}_v{_version}:env")
