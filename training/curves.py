"""A run's learning curves: points against each anchor with their 95% intervals, drawn from its metrics.

python -m training.curves runs/first runs/second    draws curves.svg into each folder
"""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from training.run_folder import METRICS

CURVES = "curves.svg"
PREFIX, SUFFIX = "evaluation/", "/points"


def read_curves(folder: Path) -> dict[str, list[tuple[float, float, float, float]]]:
    """For each anchor its measurements: decisions learnt from, points, low and high end of the interval.

    Raises:
        ValueError: the folder has no metrics.
    """
    try:
        lines = [json.loads(line) for line in (folder / METRICS).read_text("utf-8").splitlines()]
    except (OSError, ValueError) as error:
        raise ValueError(f"{folder / METRICS} can't be read: {error}; it is in the folder of a run") from None
    curves: dict[str, list[tuple[float, float, float, float]]] = {}
    for line in lines:
        for key in line:
            if key.startswith(PREFIX) and key.endswith(SUFFIX):
                name = key[len(PREFIX) : -len(SUFFIX)]
                low, high = line[f"{PREFIX}{name}/low"], line[f"{PREFIX}{name}/high"]
                curves.setdefault(name, []).append((line[f"{PREFIX}decisions"], line[key], low, high))
    return curves


def draw_curves(folder: Path) -> bool:
    """Draws a run's curves into its folder; returns whether there was anything to draw.

    Raises:
        ValueError: as `read_curves`.
        OSError: the picture can't be written.
    """
    curves = read_curves(folder)
    if not curves:
        return False
    from matplotlib.figure import Figure  # slow to import, and only needed here

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes: Any = figure.subplots()
    for name, measured in curves.items():
        decisions, points, low, high = zip(*measured, strict=True)
        axes.plot(decisions, [100 * value for value in points], marker=".", label=name)
        axes.fill_between(decisions, [100 * value for value in low], [100 * value for value in high], alpha=0.2)
    axes.axhline(50, color="grey", linewidth=0.8)
    axes.set(xlabel="decisions learnt from", ylabel="points, %, with 95% intervals", ylim=(0, 101), title=folder.name)
    axes.legend(title="against")
    new = folder / f".{CURVES}.new"
    figure.savefig(new, format="svg")
    os.replace(new, folder / CURVES)
    return True


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m training.curves", description="Draws learning curves of runs.")
    parser.add_argument("runs", nargs="+", metavar="RUN", type=Path)
    for run in parser.parse_args(arguments).runs:
        try:
            if not draw_curves(run):
                raise ValueError(f"{run} has no matches on the way; evaluation.share in its configuration is 0")
        except (OSError, ValueError) as error:
            print(f"error: {error}", file=sys.stderr)
            return 2
        print(run / CURVES)
    return 0


if __name__ == "__main__":
    sys.exit(main())
