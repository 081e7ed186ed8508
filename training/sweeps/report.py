"""What has come of a sweep: a table of its trials and a picture of points over each key."""

import itertools
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from optuna.trial import FrozenTrial, TrialState

from mozaic_env.arena.report.console import make_console, whole_text
from mozaic_env.arena.report.tables import Figures
from training.runs.folder import write_atomically

TEXT, PICTURE = "sweep.txt", "sweep.svg"
STATES = {TrialState.COMPLETE: "", TrialState.PRUNED: "pruned", TrialState.FAIL: "failed"}
COLUMNS = 3  # of plots in the picture


def write_report(folder: Path, trials: Sequence[FrozenTrial], keys: Sequence[str], anchor: str, show: bool) -> None:
    """Writes table and picture into a study's folder, and shows the table if told.

    Raises:
        OSError: a file can't be written.
    """
    shown = table(trials, keys, anchor)
    if show:
        console = make_console()
        console.print(shown)
        console.print(f"It is kept in {folder}.", markup=False, soft_wrap=True)
    write_atomically(folder / TEXT, whole_text(shown))
    draw(folder / PICTURE, trials, keys, anchor)


def table(trials: Sequence[FrozenTrial], keys: Sequence[str], anchor: str) -> Figures:
    """The trials, the best first, those that were pruned or failed below."""
    order = {TrialState.COMPLETE: 0, TrialState.PRUNED: 1, TrialState.FAIL: 2}
    ranked = sorted(trials, key=lambda trial: (order[trial.state], -(trial.value or 0.0), trial.number))
    lines = []
    for trial in ranked:
        points = "" if trial.value is None else f"{100 * trial.value:.1f}"
        if "interval" in trial.user_attrs:
            points += " [{:.1f}, {:.1f}]".format(*(100 * end for end in trial.user_attrs["interval"]))
        values = [_short(trial.params.get(key)) for key in keys]
        lines.append((str(trial.number), points, STATES[trial.state], *values))
    title = f"{len(trials)} trials, points in % against {anchor} with 95% intervals"
    places = range(3, 3 + len(keys))
    columns = ("trial", "points", "", *(key.replace(".", ".\n") for key in keys))
    return Figures(title, columns, lines, spare=[(place,) for place in places], left=(2, *places))


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else "" if value is None else str(value)


def draw(file: Path, trials: Sequence[FrozenTrial], keys: Sequence[str], anchor: str) -> None:
    """Draws points over the trials' order and over each key, later trials darker, pruned ones hollow."""
    from matplotlib.figure import Figure  # slow to import, and only needed here

    known = [trial for trial in trials if trial.value is not None]
    plots = ["trial", *keys]
    rows = -(-len(plots) // COLUMNS)
    figure = Figure(figsize=(4 * COLUMNS, 3 * rows), layout="constrained")
    grid: Any = figure.subplots(rows, COLUMNS, squeeze=False, sharey=True)
    for axes in grid.flat[len(plots) :]:
        axes.set_visible(False)
    for name, axes in zip(plots, grid.flat):
        for state, faces in ((TrialState.COMPLETE, "face"), (TrialState.PRUNED, "none")):
            some = [trial for trial in known if trial.state == state]
            x = [trial.number if name == "trial" else trial.params[name] for trial in some]
            points, ages = [100 * (trial.value or 0.0) for trial in some], [trial.number for trial in some]
            if some:
                colors = [0.2 + 0.8 * age / max(1, len(trials)) for age in ages]
                marks = axes.scatter(x, points, c=colors, cmap="viridis_r", vmin=0, vmax=1)
                if faces == "none":
                    marks.set(edgecolor=marks.to_rgba(colors), facecolor="none")
        axes.set_xlabel(name)
        if any(getattr(trial.distributions.get(name), "log", False) for trial in known):
            axes.set_xscale("log")
    for row in grid:
        row[0].set_ylabel("points, %")
    complete = [trial for trial in known if trial.state == TrialState.COMPLETE]
    best = list(itertools.accumulate((100 * (trial.value or 0.0) for trial in complete), max))
    grid.flat[0].step([trial.number for trial in complete], best, where="post", color="grey", linewidth=0.8)
    figure.suptitle(f"against {anchor}; hollow: pruned, darker: later")
    new = file.with_name(f".{file.name}.new")
    try:
        figure.savefig(new, format="svg")
        os.replace(new, file)
    finally:
        new.unlink(missing_ok=True)
