"""Learning curves of runs: points against the evaluation opponents, regret against perfect play.

python -m training.curves runs/first runs/second
    draws curves.svg into each folder: all opponents, with the 95% intervals of the matches, and the regret below.
python -m training.curves --compare both=runs/0,runs/1,runs/2 imitation=runs/3 --x minutes --out strength.svg
    draws several runs into one picture. Runs of one label, such as seeds, are averaged, each run interpolated between
    its matches; the band then reaches from the lowest of them to the highest. A label's only run has its 95% intervals.
python -m training.curves --compare --regret runs/0,runs/1,runs/2 --out regret.svg
    the same of the regret.
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

from mozaic_env.core.storage.outputs import check_names, check_output_file
from mozaic_env.core.text.files import read_lines, user_path
from training.command import run_script
from training.runs.folder import METRICS

CURVES, COMPARISON = "curves.svg", "comparison.svg"
PREFIX, SUFFIX = "evaluation/", "/points"
REGRET, MEAN = "regret", "/mean"
NO_MATCHES = "{} has no matches on the way; evaluation.share in its configuration is 0"
NO_REGRET = "{} has no regret on the way; evaluation.regret and evaluation.share in its configuration turn it on"
AXES = {"decisions": "decisions trained on", "minutes": "minutes since the start of the run"}


class Measurement(NamedTuple):
    """One match on the way.

    Attributes:
        points: share of them, 0 to 1; or of the regret its mean a game.
        low, high: the 95% interval.
        decisions: trained on until then.
        minutes: of wall-clock time until then; None in runs that did not note it.
    """

    points: float
    low: float
    high: float
    decisions: int
    minutes: float | None


def read_curves(folder: Path) -> dict[str, list[Measurement]]:
    """The matches of a run on the way, for each opponent; none if it played none.

    Raises:
        ValueError: the folder has no metrics.
    """
    return _read(folder, SUFFIX)


def read_regret(folder: Path) -> list[Measurement]:
    """The regret of a run on the way; none if it was not measured.

    Raises:
        ValueError: the folder has no metrics.
    """
    return _read(folder, MEAN).get(REGRET, [])


def _read(folder: Path, suffix: str) -> dict[str, list[Measurement]]:
    """What the matches on the way measured under names of this ending."""
    try:
        lines = [json.loads(line) for _, line in read_lines(folder / METRICS)]
    except (OSError, ValueError) as error:
        raise ValueError(f"{folder / METRICS} can't be read: {error}; it is in the folder of a run") from None
    curves: dict[str, list[Measurement]] = {}
    for line in lines:
        for key in line:
            if key.startswith(PREFIX) and key.endswith(suffix):
                name = key[len(PREFIX) : -len(suffix)]
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
        ValueError: the runs did not note minutes, or have no part in common.
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


class Panel(NamedTuple):
    """A picture's part: curves over one axis.

    Attributes:
        curves: by their labels.
        title: what stands above.
        legend: what stands above the labels, if anything.
        regret: whether the curves are of the regret, and not of points.
    """

    curves: dict[str, Curve]
    title: str
    legend: str | None
    regret: bool


def draw_curves(folder: Path) -> bool:
    """Draws a run's curves into its folder; returns whether there was anything to draw.

    Raises:
        ValueError: as `read_curves`.
        OSError: the picture can't be written.
    """
    curves = {name: make_curve([measured], "decisions") for name, measured in read_curves(folder).items()}
    regret, panels = read_regret(folder), []
    if curves:
        panels.append(Panel(curves, folder.name, "against", False))
    if regret:
        panels.append(Panel({REGRET: make_curve([regret], "decisions")}, "" if curves else folder.name, None, True))
    if panels:
        _draw(folder / CURVES, panels, "decisions")
    return bool(panels)


def _folders(text: str) -> list[Path]:
    """The folders in ``RUN,RUN,...``; what is a folder as it stands is one, whatever its name holds."""
    if text and user_path(text).is_dir():
        return [user_path(text)]
    return [user_path(path) for path in text.split(",") if path]


def compare(
    file: Path,
    groups: Sequence[str],
    against: str | None = None,
    axis: str = "decisions",
    *,
    regret: bool = False,
) -> list[str]:
    """Draws the curves of several runs, or groups of them, against one opponent, or of their regret.

    Args:
        file: the picture; its suffix tells the format.
        groups: ``LABEL=RUN,RUN,...`` or ``RUN``.
        against: the opponent; None: the strongest, which is the last, of the first run.
        axis: "decisions" or "minutes".
        regret: whether to draw the regret, and not points.

    Returns:
        One line for each label: its last points or regret.

    Raises:
        ValueError: a label is given twice, or a run can't be read or has not played the opponent or measured regret.
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
            if regret:
                runs.append(read_regret(folder))
                if not runs[-1]:
                    raise ValueError(NO_REGRET.format(folder))
                continue
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
        scale, digits = (1, 3) if regret else (100, 1)
        low, points, high = (
            f"{scale * float(values[-1]):.{digits}f}" for values in (curve.low, curve.points, curve.high)
        )
        what = f"mean of {len(runs)} runs, lowest and highest" if len(runs) > 1 else "one run, 95% interval"
        lines.append(f"{label}: {points} [{low}, {high}] after {curve.x[-1]:,.6g} {axis} ({what})")
    title = "regret against perfect play" if regret else f"against {against}"
    _draw(file, [Panel(curves, title, None, regret)], axis)
    return lines


def _draw(file: Path, panels: Sequence[Panel], axis: str) -> None:
    from matplotlib.figure import Figure  # slow to import, and only needed here

    figure = Figure(figsize=(7, 0.8 + 3.2 * len(panels)), layout="constrained")
    parts: Any = figure.subplots(len(panels), sharex=True, squeeze=False)[:, 0]
    for axes, panel in zip(parts, panels):
        scale = 1 if panel.regret else 100
        for name, curve in panel.curves.items():
            marker = "." if len(curve.x) < 100 else None
            axes.plot(curve.x, scale * curve.points, marker=marker, label=name)
            axes.fill_between(curve.x, scale * curve.low, scale * curve.high, alpha=0.2, linewidth=0)
        if panel.regret:
            axes.set(ylabel="regret a game", title=panel.title)
            _scale_regret(axes, [curve.points for curve in panel.curves.values()])
        else:
            axes.axhline(50, color="grey", linewidth=0.8)
            axes.set(ylabel="points, %", ylim=(0, 101), title=panel.title)
        axes.legend(title=panel.legend)
    parts[-1].set(xlabel=AXES[axis])
    parts[-1].xaxis.set_major_formatter("{x:,g}")
    new = file.with_name(f".{file.name}.new")
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph .* missing")  # a run's name in letters that the font lacks
            figure.savefig(new, format=file.suffix[1:] or "svg")
        os.replace(new, file)
    finally:
        new.unlink(missing_ok=True)


def _scale_regret(axes: Any, regrets: Sequence[npt.NDArray[np.float64]]) -> None:
    """From 0 on; by ratios where the regret falls to a small part of what it was, or the end would be a flat line."""
    from matplotlib.ticker import LogLocator, NullFormatter

    values = np.concatenate(regrets)
    if 0 < values.min() < values.max() / 4:
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_minor_formatter(NullFormatter())
        axes.grid(axis="y", color="#e4e4e4")
    else:
        axes.set_ylim(0, None)


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
    parser.add_argument("--against", metavar="NAME", help="the opponent to compare by; default: the strongest")
    parser.add_argument("--regret", action="store_true", help="compare the regret against perfect play, not points")
    parser.add_argument("--x", choices=AXES, help="along which to compare; default: decisions")
    given = parser.parse_args(arguments)
    try:
        check_names(sys.argv[1:] if arguments is None else arguments)
        if not given.compare:
            if given.against or given.regret or given.x or given.out:
                raise ValueError("--against, --regret, --x and --out belong to --compare, which is not given")
            for run in given.runs:
                if not draw_curves(user_path(run)):
                    raise ValueError(NO_MATCHES.format(run))
                print(user_path(run) / CURVES)
        else:
            if given.against and given.regret:
                raise ValueError("--against and --regret are two things to draw; give one of them")
            file, axis = given.out or Path(COMPARISON), given.x or "decisions"
            check_output_file(file)
            for line in compare(file, given.runs, given.against, axis, regret=given.regret):
                print(line)
            print(file)
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    run_script(main)
