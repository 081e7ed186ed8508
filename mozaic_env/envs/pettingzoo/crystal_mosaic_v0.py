"""Crystal Mosaic under the names that PettingZoo expects of a module; the arguments are `GameAEC`'s."""

from functools import partial

from mozaic_env.envs.pettingzoo.aec import GameAEC, make_env

__all__ = ["env", "raw_env"]

env = partial(make_env, "crystal_mosaic")
raw_env = partial(GameAEC, "crystal_mosaic")
