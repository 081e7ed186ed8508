"""The trials of a sweep, one after the other; `training.sweep` is the command."""

import contextlib
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import Any

import optuna
import sqlalchemy
import yaml
from optuna.trial import FrozenTrial, TrialState

from mozaic_env.arena.report.console import make_console
from mozaic_env.core.text.files import read_text
from training.config import Config, as_yaml, load_config, override_config, parse_yaml
from training.runs.folder import CONFIG, write_atomically
from training.runs.state import RESUME
from training.sweeps.report import write_report
from training.sweeps.space import Space, as_words
from training.sweeps.trial import is_finished, last_line, measured, result, used
from training.train import check

STUDY, DATABASE, LOCK, TRIALS, BEST = "study.yaml", "study.db", "lock.db", "trials", "best.yaml"
MARKS = 10  # times in a trial's budget at which it may be pruned
WARM_UP = 2  # of these that no trial is pruned before
SHARE = 0.1  # of the time for the matches on the way, where the configuration has none
LOOK = 0.5  # seconds between two looks at a trial
TRIAL = ("-m", "training.sweeps.trial")  # what Python runs for a trial
RETRY = "retry of"  # marks the second try of a trial that was cut short
ENDED = (TrialState.COMPLETE, TrialState.PRUNED, TrialState.FAIL)


class Sweep:
    """A study in its folder; a context that keeps other processes away from it."""

    def __init__(
        self,
        folder: Path,
        config: str,
        space: str,
        overrides: Sequence[str] = (),
        minutes: float | None = None,
        pruner: str = "median",
    ) -> None:
        """Checks everything before anything is written.

        Args:
            folder: of the study; made if it is not there.
            config: the file with what all trials have in common.
            space: the file with what they vary.
            overrides: ``key=value`` words for all trials.
            minutes: of training in each trial; None: as configured.
            pruner: "median", "hyperband" or "none".

        Raises:
            ValueError: a file, a key or a value is no good.
        """
        self.folder, self.space, self._pruner = folder, Space(space), pruner
        self.config = load_config(config, overrides)  # what best.yaml is made from
        words = split_minutes(self.config, minutes)
        if not self.config.evaluation.share:
            words.append(f"evaluation.share={SHARE}")
        twice = {word.partition("=")[0] for word in words} & set(self.space.keys)
        if twice:
            raise ValueError(f"space {space}: {', '.join(sorted(twice))} is the same in all trials; leave it out")
        self.common = override_config(self.config, words)
        check(self.common)
        if not self.common.evaluation.against:
            raise ValueError("evaluation.against is empty; a sweep needs an anchor to tell what is good")
        self.anchor = self.common.evaluation.against[-1]
        self.space.check(self.common)
        self._signal: signal.Signals | None = None

    def __enter__(self) -> "Sweep":
        file = self.folder / STUDY
        if self.folder.exists() and not file.is_file() and (not self.folder.is_dir() or any(self.folder.iterdir())):
            raise ValueError(f"{self.folder} exists and is no study (it has no {STUDY}); choose another --study")
        (self.folder / TRIALS).mkdir(parents=True, exist_ok=True)
        self._lock = sqlite3.connect(self.folder / LOCK, timeout=0, isolation_level=None)
        try:
            self._lock_folder()
            facts = {
                "pruner": self._pruner,
                "space": self.space.describe(),
                "config": self.common.model_dump(mode="json"),
            }
            if not file.exists():
                write_atomically(self.folder / CONFIG, as_yaml(self.common))
                write_atomically(file, yaml.safe_dump(facts, sort_keys=False))
            elif parse_yaml(read_text(file), str(file)) != facts:
                raise ValueError(f"{file} has another configuration, space or pruner; choose another --study")
            self._open()
        except BaseException:
            self._lock.close()
            raise
        self._before = {number: signal.signal(number, self._asked) for number in (signal.SIGINT, signal.SIGTERM)}
        return self

    def _lock_folder(self) -> None:
        try:
            self._lock.execute("BEGIN EXCLUSIVE")  # the system ends it with this process, however that ends
        except sqlite3.OperationalError:
            raise ValueError(
                f"{self.folder} is in use by another sweep; wait for it or choose another --study"
            ) from None

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._close()
        self._lock.close()

    def _asked(self, number: int, frame: FrameType | None) -> None:
        self._signal = signal.Signals(number)

    def _open(self) -> None:
        """Opens the database, and queues what a killed process had under way."""
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        file = (self.folder / DATABASE).absolute()
        pruners: dict[str, Any] = {
            "median": lambda: optuna.pruners.MedianPruner(n_warmup_steps=WARM_UP),
            "hyperband": lambda: optuna.pruners.HyperbandPruner(min_resource=WARM_UP, max_resource=MARKS),
            "none": optuna.pruners.NopPruner,
        }
        try:
            self._storage = optuna.storages.RDBStorage(
                sqlalchemy.URL.create("sqlite", database=str(file)).render_as_string()
            )
            self.study = optuna.create_study(
                study_name="sweep",
                storage=self._storage,
                direction="maximize",
                pruner=pruners[self._pruner](),
                load_if_exists=True,
            )
            trials = self.study.trials
        except (sqlalchemy.exc.SQLAlchemyError, RuntimeError) as error:
            raise ValueError(f"{file} can't be read: {str(error).splitlines()[0]}; choose another --study") from None
        # Another seed each time, or the sampler would begin with what it has chosen before.
        self.study.sampler = optuna.samplers.TPESampler(seed=self.config.seed + len(trials))
        for trial in trials:
            if trial.state == TrialState.RUNNING:
                self._put_back(trial)

    def _close(self) -> None:
        self._storage.remove_session()
        self._storage.engine.dispose()

    def _put_back(self, trial: FrozenTrial | optuna.Trial) -> None:
        """Gives up a trial that was cut short, and queues it again unless that was its second try."""
        self.study.tell(trial.number, state=TrialState.FAIL)
        if RETRY not in trial.user_attrs:
            self.study.enqueue_trial(trial.params, user_attrs={RETRY: trial.number})

    @property
    def trials(self) -> list[FrozenTrial]:
        """Those that count: ended, and not tried again."""
        trials = self.study.trials
        retried = {trial.user_attrs.get(RETRY) for trial in trials}
        return [trial for trial in trials if trial.state in ENDED and trial.number not in retried]

    def run(self, trials: int, command: str) -> int:
        """Goes on until there are so many trials or a signal comes.

        Args:
            trials: of the study, earlier ones included.
            command: named after a signal as the one that goes on.

        Returns:
            The exit status: 0 if a trial has come to its end or may still do so, else 1.
        """
        console = make_console(stderr=True)
        while len(self.trials) < trials and self._signal is None:
            trial = self.study.ask()
            self.space.suggest(trial)
            words = as_words(trial.params)
            console.print(f"trial {trial.number} ({len(self.trials) + 1} of {trials}): {' '.join(words)}", markup=False)
            try:
                said = self._try(trial, words)
            except (OSError, ValueError) as error:
                said = self._fail(trial, str(error))
            console.print(f"trial {trial.number}: {said}", markup=False)
            self._report()
        self._report(show=True)
        if self._signal is not None:
            said = f"stopped by {self._signal.name}; what was tried is kept. To go on: {command}"
            console.print(said, markup=False, soft_wrap=True)
            return 0
        return 0 if any(trial.state == TrialState.COMPLETE for trial in self.trials) else 1

    def _fail(self, trial: optuna.Trial, why: str) -> str:
        trial.set_user_attr("error", why)
        self.study.tell(trial, state=TrialState.FAIL)
        return f"failed: {why}"

    def _try(self, trial: optuna.Trial, words: list[str]) -> str:
        """One trial from its start to its end; returns what is to be said about it."""
        config = override_config(self.common, words)
        folder = self.folder / TRIALS / str(trial.number)
        log = folder.with_name(f"{folder.name}.log")
        ended = self._watch(trial, config, folder, log, words)
        shutil.rmtree(folder / RESUME, ignore_errors=True)  # trials don't go on, and these are their largest files
        if ended is None:
            self._put_back(trial)
            return "stopped"
        if ended is TrialState.PRUNED:
            self.study.tell(trial, state=TrialState.PRUNED)
            return f"pruned at {100 * self.study.trials[trial.number].value:.1f} against {self.anchor}"
        if not is_finished(folder):
            return self._fail(trial, last_line(log) or "it ended without a word")
        points, low, high = result(folder, self.anchor)
        trial.set_user_attr("interval", [low, high])
        self.study.tell(trial, points)
        return f"{100 * points:.1f} [{100 * low:.1f}, {100 * high:.1f}] against {self.anchor}"

    def _watch(
        self, trial: optuna.Trial, config: Config, folder: Path, log: Path, words: list[str]
    ) -> TrialState | None:
        """Runs a trial's process; returns how it ended, None if it was stopped because the sweep is."""
        common = str(self.folder / CONFIG)
        command = [sys.executable, *TRIAL, "--config", common, "--run-dir", str(folder), *words]
        marks: set[int] = set()
        with (
            log.open("w", encoding="utf-8") as output,
            subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # so that Ctrl-C reaches it by way of us
            ) as process,
        ):
            while process.poll() is None:
                passed = self._report_marks(trial, config, folder, marks)
                if self._signal is not None or (passed and trial.should_prune()):
                    process.terminate()
                    process.wait()
                    return None if self._signal is not None else TrialState.PRUNED
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(LOOK)
        self._report_marks(trial, config, folder, marks)
        return TrialState.COMPLETE

    def _report_marks(self, trial: optuna.Trial, config: Config, folder: Path, marks: set[int]) -> bool:
        """Tells the pruner of marks that have been passed since; returns whether there were any."""
        before = len(marks)
        for measurement in measured(folder, self.anchor):
            for mark in range(1, 1 + min(MARKS, int(MARKS * used(config, measurement) + 1e-9))):
                if mark not in marks:
                    trial.report(measurement.points, mark)
                    marks.add(mark)
        return len(marks) > before

    def _report(self, show: bool = False) -> None:
        """Writes down, and shows if told, what has come of the study so far."""
        complete = [trial for trial in self.trials if trial.state == TrialState.COMPLETE]
        best = max(complete, key=lambda trial: trial.value or 0.0, default=None)
        try:
            write_report(self.folder, self.trials, list(self.space.keys), self.anchor, show)
            if best is not None:
                self._write_best(best)
        except OSError as error:  # a full disk: there may be room again later
            print(f"{self.folder}: {error}; the study goes on", file=sys.stderr)

    def _write_best(self, best: FrozenTrial) -> None:
        words = as_words(best.params)
        low, high = best.user_attrs["interval"]
        points = f"{100 * (best.value or 0.0):.1f} [{100 * low:.1f}, {100 * high:.1f}] % against {self.anchor}"
        head = f"# Trial {best.number}, the best of {len(self.trials)}: {points}; what it changes:\n"
        text = head + "".join(f"#   {word}\n" for word in words) + as_yaml(override_config(self.config, words))
        write_atomically(self.folder / BEST, text)


def split_minutes(config: Config, minutes: float | None) -> list[str]:
    """The words that give a trial so many minutes of training, warm start and self-play in their proportion.

    Raises:
        ValueError: that can't be said.
    """
    if minutes is None:
        return []
    if not 0 < minutes < float("inf"):
        raise ValueError(f"--minutes-each {minutes}; accepted: a number above 0")
    warm = config.warm_start.minutes if config.warm_start.teacher is not None else None
    if warm is None:
        return [f"minutes={minutes}"]
    if config.minutes is None:
        raise ValueError(
            "--minutes-each: the warm start has minutes and self-play has none; give both, as in minutes=1"
        )
    part = minutes / (warm + config.minutes)
    return [f"warm_start.minutes={part * warm}", f"minutes={part * config.minutes}"]
