"""Mosaic Chess under the names that PettingZoo expects of a module; the arguments are `GameAEC`'s."""

from functools import partial

from mozaic_env.envs.pettingzoo.aec import GameAEC, make_env

__all__ = ["env", "raw_env"]

env = partial(make_env, "mosaic_chess")
raw_env = partial(GameAEC, "mosaic_chess")
