"""What has come of a sweep: a table of its trials, and Optuna's picture of points over each key."""

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import optuna
from optuna.trial import FrozenTrial, TrialState

from mozaic_env.arena.report.tables import Figures

STATES = {TrialState.COMPLETE: "", TrialState.PRUNED: "pruned", TrialState.FAIL: "failed"}


def table(trials: Sequence[FrozenTrial], keys: Sequence[str], opponent: str) -> Figures:
    """The trials, the best first, those that were pruned or failed below."""
    ranked = sorted(trials, key=lambda one: (list(STATES).index(one.state), -(one.value or 0.0), one.number))
    lines = []
    for trial in ranked:
        points = "" if trial.value is None else f"{100 * trial.value:.1f}"
        if "interval" in trial.user_attrs:
            points += " [{:.1f}, {:.1f}]".format(*(100 * end for end in trial.user_attrs["interval"]))
        values = [_short(trial.params.get(key)) for key in keys]
        lines.append((str(trial.number), points, STATES[trial.state], *values))
    title = f"{len(trials)} trials, points in % against {opponent} with 95% intervals"
    places = range(3, 3 + len(keys))
    columns = ("trial", "points", "", *(key.replace(".", ".\n") for key in keys))
    return Figures(title, columns, lines, spare=[(place,) for place in places], left=(2, *places))


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else "" if value is None else str(value)


def draw(study: optuna.Study, file: Path, opponent: str) -> None:
    """Draws points over each key, if a trial has come to its end; later trials are darker."""
    import matplotlib  # slow to import, and only needed here
    from matplotlib import pyplot

    if not study.get_trials(deepcopy=False, states=[TrialState.COMPLETE]):
        return
    matplotlib.use("agg")  # whatever the machine has to show windows with
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # experimental in Optuna; a single trial has no range for its axis
        optuna.visualization.matplotlib.plot_slice(
            study, target=lambda trial: 100 * (trial.value or 0.0), target_name=f"points against {opponent}, %"
        )
        pyplot.savefig(file, format="svg", bbox_inches="tight")
        pyplot.close()
