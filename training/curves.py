"""Learning curves of runs: points against the anchors, drawn from the runs' metrics.

python -m training.curves runs/first runs/second
    draws curves.svg into each folder: all anchors, with the 95% intervals of the matches.
python -m training.curves --compare both=runs/0,runs/1,runs/2 imitation=runs/3 --x minutes --out strength.svg
    draws several runs into one picture. Runs of one label, such as seeds, are averaged, each run interpolated between
    its matches; the band then reaches from the lowest of them to the highest. A label's only run has its 95% intervals.
"""

import argparse
import json
import os
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mozaic_env.arena.files import check_names, check_output_file
from mozaic_env.core.text import read_lines, user_path
from training.command import run_script
from training.run_folder import METRICS

CURVES, COMPARISON = "curves.svg", "comparison.svg"
PREFIX, SUFFIX = "evaluation/", "/points"
NO_MATCHES = "{} has no matches on the way; evaluation.share in its configuration is 0"
AXES = {"decisions": "decisions learnt from", "minutes": "minutes since the start of the run"}


class Measurement(NamedTuple):
    """One match on the way.

    Attributes:
        points: share of them, 0 to 1.
        low, high: the 95% interval.
        decisions: learnt from until then.
        minutes: of wall-clock time until then; None in runs that did not note it.
    """

    points: float
    low: float
    high: float
    decisions: int
    minutes: float | None


def read_curves(folder: Path) -> dict[str, list[Measurement]]:
    """The matches of a run on the way, for each anchor; none if it played none.

    Raises:
        ValueError: the folder has no metrics.
    """
    try:
        lines = [json.loads(line) for _, line in read_lines(folder / METRICS)]
    except (OSError, ValueError) as error:
        raise ValueError(f"{folder / METRICS} can't be read: {error}; it is in the folder of a run") from None
    curves: dict[str, list[Measurement]] = {}
    for line in lines:
        for key in line:
            if key.startswith(PREFIX) and key.endswith(SUFFIX):
                name = key[len(PREFIX) : -len(SUFFIX)]
                low, high = line[f"{PREFIX}{name}/low"], line[f"{PREFIX}{name}/high"]
                decisions, minutes = line[f"{PREFIX}decisions"], line.get(f"{PREFIX}minutes")
                curves.setdefault(name, []).append(Measurement(line[key], low, high, decisions, minutes))
    return curves


class Curve(NamedTuple):
    """Points over decisions or minutes, each of shape (n,), with the band around them."""

    x: npt.NDArray[np.float64]
    points: npt.NDArray[np.float64]
    low: npt.NDArray[np.float64]
    high: npt.NDArray[np.float64]


def make_curve(runs: Sequence[Sequence[Measurement]], axis: str) -> Curve:
    """One run with the intervals of its matches, or the mean of several with the lowest and the highest.

    Args:
        runs: each at least one measurement, in their order.
        axis: "decisions" or "minutes"; the mean is taken where all runs have been measured.

    Raises:
        ValueError: the runs did not note minutes, or have no stretch in common.
    """
    if axis == "minutes" and any(measurement.minutes is None for run in runs for measurement in run):
        raise ValueError("a run has not noted its minutes; accepted: --x decisions")
    columns = [np.array(run, np.float64).T for run in runs]
    along = [column[4 if axis == "minutes" else 3] for column in columns]
    if len(runs) == 1:
        return Curve(along[0], *columns[0][:3])
    first, last = max(x[0] for x in along), min(x[-1] for x in along)
    if first > last:
        raise ValueError(f"the runs have no {axis} in common: some end at {last:,.6g}, others begin at {first:,.6g}")
    x = np.unique(np.concatenate(along))
    x = x[(first <= x) & (x <= last)]
    points = np.array([np.interp(x, xs, column[0]) for xs, column in zip(along, columns)])
    return Curve(x, points.mean(0), points.min(0), points.max(0))


def draw_curves(folder: Path) -> bool:
    """Draws a run's curves into its folder; returns whether there was anything to draw.

    Raises:
        ValueError: as `read_curves`.
        OSError: the picture can't be written.
    """
    curves = {name: make_curve([measured], "decisions") for name, measured in read_curves(folder).items()}
    if curves:
        _draw(folder / CURVES, curves, "decisions", folder.name, "against")
    return bool(curves)


def _folders(text: str) -> list[Path]:
    """The folders in ``RUN,RUN,...``; what is a folder as it stands is one, whatever its name holds."""
    if text and user_path(text).is_dir():
        return [user_path(text)]
    return [user_path(path) for path in text.split(",") if path]


def compare(file: Path, groups: Sequence[str], against: str | None = None, axis: str = "decisions") -> list[str]:
    """Draws the curves of several runs, or groups of them, against one anchor.

    Args:
        file: the picture; its suffix tells the format.
        groups: ``LABEL=RUN,RUN,...`` or ``RUN``.
        against: the anchor; None: the strongest, which is the last, of the first run.
        axis: "decisions" or "minutes".

    Returns:
        One line for each label: its last points.

    Raises:
        ValueError: a label is given twice, or a run can't be read or has not played the anchor.
        OSError: the picture can't be written.
    """
    curves: dict[str, Curve] = {}
    lines = []
    for group in groups:
        label, equals, paths = ("", "", group) if group and user_path(group).is_dir() else group.partition("=")
        folders = _folders(paths if equals else group)
        label = label if equals else folders[0].name if folders else ""
        if not label or not folders or label in curves:
            raise ValueError(f"{group!r} is no group of runs of its own label; accepted: LABEL=RUN,RUN,... or RUN")
        runs = []
        for folder in folders:
            measured = read_curves(folder)
            if not measured:
                raise ValueError(NO_MATCHES.format(folder))
            against = against or list(measured)[-1]
            if against not in measured:
                raise ValueError(f"{folder} has no matches against {against!r}; accepted: {', '.join(measured)}")
            runs.append(measured[against])
        try:
            curve = curves[label] = make_curve(runs, axis)
        except ValueError as error:
            raise ValueError(f"{label}: {error}") from None
        low, points, high = (100 * float(values[-1]) for values in (curve.low, curve.points, curve.high))
        what = f"mean of {len(runs)} runs, lowest and highest" if len(runs) > 1 else "one run, 95% interval"
        lines.append(f"{label}: {points:.1f} [{low:.1f}, {high:.1f}] after {curve.x[-1]:,.6g} {axis} ({what})")
    _draw(file, curves, axis, f"against {against}", None)
    return lines


def _draw(file: Path, curves: dict[str, Curve], axis: str, title: str, legend: str | None) -> None:
    from matplotlib.figure import Figure  # slow to import, and only needed here

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes: Any = figure.subplots()
    for name, curve in curves.items():
        marker = "." if len(curve.x) < 100 else None
        axes.plot(curve.x, 100 * curve.points, marker=marker, label=name)
        axes.fill_between(curve.x, 100 * curve.low, 100 * curve.high, alpha=0.2, linewidth=0)
    axes.axhline(50, color="grey", linewidth=0.8)
    axes.set(xlabel=AXES[axis], ylabel="points, %", ylim=(0, 101), title=title)
    axes.legend(title=legend)
    new = file.with_name(f".{file.name}.new")
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph .* missing")  # a run's name in letters that the font lacks
            figure.savefig(new, format=file.suffix[1:] or "svg")
        os.replace(new, file)
    finally:
        new.unlink(missing_ok=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m training.curves", description="Draws learning curves of runs.")
    parser.add_argument(
        "runs", nargs="+", metavar="RUN", help="folders of runs; with --compare: LABEL=RUN,RUN,... or RUN"
    )
    parser.add_argument("--compare", action="store_true", help="draw all into one picture")
    parser.add_argument(
        "--out", metavar="FILE", type=user_path, help=f"the picture with --compare; default: {COMPARISON}"
    )
    parser.add_argument("--against", metavar="NAME", help="the anchor to compare by; default: the strongest")
    parser.add_argument("--x", choices=AXES, help="along which to compare; default: decisions")
    given = parser.parse_args(arguments)
    try:
        check_names(sys.argv[1:] if arguments is None else arguments)
        if not given.compare:
            if given.against or given.x or given.out:
                raise ValueError("--against, --x and --out belong to --compare, which is not given")
            for run in given.runs:
                if not draw_curves(user_path(run)):
                    raise ValueError(NO_MATCHES.format(run))
                print(user_path(run) / CURVES)
        else:
            file = given.out or Path(COMPARISON)
            check_output_file(file)
            for line in compare(file, given.runs, given.against, given.x or "decisions"):
                print(line)
            print(file)
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    run_script(main)
