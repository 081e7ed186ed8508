"""The page on a training run, all but its game: its parts as HTML made of the run's numbers."""

import time
from dataclasses import dataclass
from html import escape

from mozaic_env.web.watch.charts import number
from mozaic_env.web.watch.run_data import Json, RunFolder
from mozaic_env.web.watch.sections import DECISIONS
from mozaic_env.web.watch.strength import strength
from mozaic_env.web.watch.training import learner, training

STALE_S = 600  # without news, after which a run that says it is running may not be; matches on the way take a while


@dataclass(frozen=True)
class Parts:
    """The page's parts as HTML."""

    head: str
    strength: str
    more: str


def parts(run: RunFolder) -> Parts:
    """What there is to show of a run now."""
    run.metrics.read()
    facts = run.facts()
    return Parts(_head(run, facts), strength(run), training(run) + learner(run.metrics))


def _head(run: RunFolder, facts: Json) -> str:
    metrics = run.metrics
    status = str(facts.get("status", "unknown"))
    said = [f"{number(metrics.decisions)} {DECISIONS}"]
    if metrics.warm_start:
        said.append(f"{number(metrics.warm_start)} of them a teacher's")
    elapsed = metrics.get("time/elapsed")
    if elapsed:
        said.append(f"{_clock(elapsed[-1][1])} of self-play")
    said += [f"{name} {facts[name]}" for name in ("seed", "device", "precision") if name in facts]
    if "started" in facts:
        said.append(f"started {str(facts['started'])[:16].replace('T', ' ')}")
    warnings = []
    modified = run.modified()
    quiet = 0.0 if modified is None else time.time() - modified
    if status == "running" and quiet > STALE_S:
        warnings.append(f"No new numbers for {_clock(quiet)}: the run may have been killed.")
    if "error" in facts:
        warnings.append(str(facts["error"]))
    if metrics.damaged:
        warnings.append(f"{metrics.damaged:,} lines of the metrics are damaged and left out.")
    kind = status if status in ("running", "finished", "interrupted", "failed") else "unknown"
    return (
        f'<h1>{escape(run.name)} <span class="status {kind}">{escape(status)}</span></h1>'
        f"<p>{escape(' · '.join(said))}</p>" + "".join(f'<p class="warning">{escape(text)}</p>' for text in warnings)
    )


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
