"""Crystal Mosaic under the names that PettingZoo expects, `env` and `raw_env`, with `GameAEC`'s arguments."""

from functools import partial

from mozaic_env.envs.pettingzoo.aec import GameAEC, make_env

__all__ = ["env", "raw_env"]

env = partial(make_env, "crystal_mosaic")
raw_env = partial(GameAEC, "crystal_mosaic")
