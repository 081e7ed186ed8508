"""Where a run's wall time goes: torch, everything else, and what is no training; printed and noted at its end.

A part's time is what passes in it and in no part inside it. The parts:

    update        forward, backward and the optimizer's steps on minibatches
    policy        the learner's forward passes in the games
    opponents     those of its copies that it plays against
    environment   rules, observations, and opponents but for their forward passes
    masks         fetching the legal actions
    buffers       keeping decisions, advantages, drawing minibatches
    teacher       waiting for the warm start's lessons
    logging       metrics, progress, the league
    rest          all that is not named
    evaluation    matches on the way
    saving        checkpoints and states

On a GPU a call returns before its work is done; its time is counted where the results are waited for.
"""

import functools
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from rich.table import Table

from training.imitation.imitation import WarmStart
from training.ppo.environment import PaidEnv
from training.ppo.league import League
from training.ppo.learner import SelfPlayPPO
from training.runs.saving import Saver

TORCH = ("update", "policy", "opponents")
OTHER = ("environment", "masks", "buffers", "teacher", "logging", "rest")
APART = ("evaluation", "saving")
WARM_START, SELF_PLAY = "warm_start", "self_play"

Parts = Mapping[str, float]


class Stopwatch:
    """Counts the seconds of one thread.

    Attributes:
        seconds: so far, for each phase those of its parts.
    """

    def __init__(self) -> None:
        """Stands still until a phase begins."""
        self.seconds: dict[str, dict[str, float]] = {}
        self._parts: dict[str, float] = {}
        self._inside: list[str] = []
        self._since = 0.0

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Counts what happens inside as a phase of the run; phases follow each other."""
        self._parts = self.seconds.setdefault(name, dict.fromkeys((*TORCH, *OTHER, *APART), 0.0))
        self._inside, self._since = ["rest"], time.perf_counter()
        try:
            yield
        finally:
            self._turn()
            self._inside = []

    def _turn(self) -> None:
        now = time.perf_counter()
        self._parts[self._inside[-1]] += now - self._since
        self._since = now

    def watch(self, part: str, owner: object, *methods: str) -> None:
        """From now on the calls of an object's methods are a part, while a phase lasts."""
        for method in methods:
            setattr(owner, method, self._timed(getattr(owner, method), part))

    def _timed(self, plain: Callable[..., Any], part: str) -> Callable[..., Any]:
        @functools.wraps(plain)
        def timed(*arguments: Any, **options: Any) -> Any:
            if not self._inside:
                return plain(*arguments, **options)
            self._turn()
            self._inside.append(part)
            try:
                return plain(*arguments, **options)
            finally:
                self._turn()
                self._inside.pop()

        return timed

    def facts(self) -> dict[str, Any]:
        """What run.json notes: seconds, and which share of training was not torch's."""
        seconds = {
            phase: {name: round(value, 3) for name, value in parts.items() if value}
            for phase, parts in self.seconds.items()
        }
        return {"seconds": seconds, "share_outside_torch": round(share_outside(together(self.seconds.values())), 4)}

    def table(self) -> Table:
        """Shares of the training time for each phase and altogether; evaluation and saving beside that."""
        columns = {**self.seconds, "altogether": together(self.seconds.values())}
        trained = [_sum(parts, TORCH + OTHER) for parts in columns.values()]
        table = Table(title="where the time went, % of what training took")
        table.add_column("part")
        for name in columns:
            table.add_column(name.replace("_", " "), justify="right")

        def row(label: str, *names: str, end_section: bool = False) -> None:
            shares = [_sum(parts, names) / (of or 1.0) for parts, of in zip(columns.values(), trained, strict=True)]
            table.add_row(label, *(f"{100 * share:.1f}" for share in shares), end_section=end_section)

        for group, label in ((TORCH, "torch"), (OTHER, "everything else")):
            for name in group:
                row(name, name)
            row(label, *group, end_section=True)
        for name in APART:
            row(f"besides: {name}", name)
        table.add_row("seconds of training", *(f"{seconds:,.1f}" for seconds in trained))
        return table


def share_outside(parts: Parts) -> float:
    """The share of the training time that was not torch's, evaluation and saving left out."""
    return _sum(parts, OTHER) / (_sum(parts, TORCH + OTHER) or 1.0)


def together(phases: Any) -> dict[str, float]:
    """The parts of all phases added up."""
    return {name: sum(parts[name] for parts in phases) for name in TORCH + OTHER + APART}


def _sum(parts: Parts, names: tuple[str, ...]) -> float:
    return sum(parts[name] for name in names)


def watch_run(
    clock: Stopwatch, model: SelfPlayPPO, env: PaidEnv, league: League, warm: WarmStart, saver: Saver
) -> None:
    """Has a stopwatch watch all parts of a run."""
    clock.watch("update", model, "train")
    clock.watch("update", warm, "_update")
    clock.watch("policy", model.policy, "forward", "predict_values")
    for slot in league.slots:
        clock.watch("opponents", slot.agents["mirror"].network, "forward")
    clock.watch("environment", env, "step_wait", "reset")
    clock.watch("masks", env, "env_method")
    clock.watch("teacher", warm, "_take")
    clock.watch("buffers", warm.memory, "add", "draw")
    clock.watch("buffers", model.rollout_buffer, "reset", "add", "compute_returns_and_advantage", "_get_samples")
    clock.watch("logging", model, "dump_logs")
    clock.watch("logging", warm, "_log")
    clock.watch("evaluation", saver.anchors, "measure")
    clock.watch("saving", saver, "save_checkpoint", "save_state")
