"""Wrappers of the games' environments, where Gymnasium has none that does it.

Here for single environments, in `mozaic_env.envs.wrappers.vector` under the same names for the native vector
environment. Most of Gymnasium's own work (docs/guides/wrappers.md), single and vector, such as
`RecordEpisodeStatistics`, `RecordVideo`, `TransformReward`, and `FlattenObservation`, which gives one vector of all
numbers.
"""

from mozaic_env.envs.wrappers.records import RecordGames
from mozaic_env.envs.wrappers.regret import ExactRegret
from mozaic_env.envs.wrappers.shaping import PotentialReward
from mozaic_env.envs.wrappers.symmetry import RandomSymmetry

__all__ = ["ExactRegret", "PotentialReward", "RandomSymmetry", "RecordGames"]
