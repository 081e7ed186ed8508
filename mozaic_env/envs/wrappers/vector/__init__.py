"""The wrappers of `mozaic_env.envs.wrappers` for the native vector environment, in every autoreset mode.

With equal seeds and actions each game is to the bit what the single environment gives in the single wrapper.
"""

from mozaic_env.envs.wrappers.vector.flat import FlattenObservation
from mozaic_env.envs.wrappers.vector.records import RecordGames
from mozaic_env.envs.wrappers.vector.regret import ExactRegret
from mozaic_env.envs.wrappers.vector.shaping import PotentialReward
from mozaic_env.envs.wrappers.vector.symmetry import RandomSymmetry

__all__ = ["ExactRegret", "FlattenObservation", "PotentialReward", "RandomSymmetry", "RecordGames"]
