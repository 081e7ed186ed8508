"""Where the numbers of a run go: TensorBoard's files and JSON Lines, under the same names."""

from pathlib import Path

from stable_baselines3.common.logger import JSONOutputFormat, Logger, TensorBoardOutputFormat

from training.run_folder import METRICS, TENSORBOARD


def make_logger(folder: Path) -> Logger:
    """A logger for a run folder."""
    return Logger(
        str(folder),
        [TensorBoardOutputFormat(str(folder / TENSORBOARD)), JSONOutputFormat(str(folder / METRICS))],
    )
