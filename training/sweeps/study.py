"""The trials of a sweep, one after the other, in an Optuna study; `training.sweep` is the command."""

import contextlib
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

import optuna
import sqlalchemy
from optuna.distributions import distribution_to_json
from optuna.pruners import BasePruner, HyperbandPruner, MedianPruner, NopPruner
from optuna.trial import FrozenTrial, TrialState

from mozaic_env.arena.report.console import make_console, whole_text
from training.config import Config, as_yaml, load_config, override_config
from training.runs.folder import CONFIG, LOCK, locked, write_atomically
from training.runs.state import RESUME
from training.sweeps.report import draw, table
from training.sweeps.space import as_words, check_space, read_space
from training.sweeps.trial import is_finished, last_line, measured, result, used
from training.train import check

DATABASE, TRIALS, BEST, TEXT, PICTURE = "study.db", "trials", "best.yaml", "sweep.txt", "sweep.svg"
MARKS = 10  # times in a trial's budget at which it may be pruned
WARM_UP = 2  # of these that no trial is pruned before
SHARE = 0.1  # of the time for the matches on the way, where the configuration has none
LOOK = 0.5  # seconds between two looks at a trial
TRIAL = ("-m", "training.sweeps.trial")  # what Python runs for a trial
ASKED = "asked"  # the study's attribute with what all its trials have in common
RETRY = "retry of"  # marks the second try of a trial that was cut short
ENDED = (TrialState.COMPLETE, TrialState.PRUNED, TrialState.FAIL)
PRUNERS: dict[str, BasePruner] = {
    "median": MedianPruner(n_warmup_steps=WARM_UP),
    "hyperband": HyperbandPruner(min_resource=WARM_UP, max_resource=MARKS),
    "none": NopPruner(),
}


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
            pruner: one of `PRUNERS`.

        Raises:
            ValueError: a file, a key or a value is no good.
        """
        self.folder, self.space, self._pruner = folder, read_space(space), pruner
        self.config = load_config(config, overrides)  # what best.yaml is made from
        words = split_minutes(self.config, minutes)
        if not self.config.evaluation.share:
            words.append(f"evaluation.share={SHARE}")
        twice = {word.partition("=")[0] for word in words} & set(self.space)
        if twice:
            raise ValueError(f"space {space}: {', '.join(sorted(twice))} is the same in all trials; leave it out")
        self.common = override_config(self.config, words)
        check(self.common)
        if not self.common.evaluation.against:
            raise ValueError("evaluation.against is empty; a sweep needs an opponent to tell what is good")
        self.opponent = self.common.evaluation.against[-1]
        check_space(self.space, self.common)
        self._signal: signal.Signals | None = None

    def __enter__(self) -> "Sweep":
        with contextlib.ExitStack() as stack:
            is_study = (self.folder / DATABASE).is_file()
            if (
                self.folder.exists()
                and not is_study
                and (not self.folder.is_dir() or _has_more_than_trials(self.folder))
            ):
                raise ValueError(f"{self.folder} exists and is no study (it has no {DATABASE}); choose another --study")
            (self.folder / TRIALS).mkdir(parents=True, exist_ok=True)
            busy = "is in use by another sweep; wait for it or choose another --study"
            stack.callback(locked(self.folder, busy).release)
            stack.callback(self._open().dispose)
            for number in (signal.SIGINT, signal.SIGTERM):
                stack.callback(signal.signal, number, signal.signal(number, self._ask_to_stop))
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _ask_to_stop(self, number: int, frame: FrameType | None) -> None:
        self._signal = signal.Signals(number)

    def _open(self) -> sqlalchemy.Engine:
        """Opens the study, and queues what a killed process had under way."""
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        file = (self.folder / DATABASE).absolute()
        url = sqlalchemy.URL.create("sqlite", database=str(file)).render_as_string()
        try:
            storage = optuna.storages.RDBStorage(url)
            self.study = optuna.create_study(
                study_name="sweep",
                storage=storage,
                direction="maximize",
                pruner=PRUNERS[self._pruner],
                load_if_exists=True,
            )
            trials = self.study.trials
        except (sqlalchemy.exc.SQLAlchemyError, RuntimeError) as error:
            raise ValueError(f"{file} can't be read: {str(error).splitlines()[0]}; choose another --study") from None
        asked = {
            "pruner": self._pruner,
            "space": {key: distribution_to_json(distribution) for key, distribution in self.space.items()},
            "config": self.common.model_dump(mode="json"),
        }
        if self.study.user_attrs.get(ASKED, asked if not trials else None) != asked:
            storage.engine.dispose()
            raise ValueError(f"{file} has another configuration, space or pruner; choose another --study")
        self.study.set_user_attr(ASKED, asked)
        write_atomically(self.folder / CONFIG, as_yaml(self.common))
        # Another seed each time, or the sampler would begin with what it has chosen before.
        self.study.sampler = optuna.samplers.TPESampler(seed=self.config.seed + len(trials))
        for trial in trials:
            if trial.state == TrialState.RUNNING:
                self._put_back(trial)
        return storage.engine

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
            trial = self.study.ask(self.space)
            words = as_words(trial.params)
            console.print(f"trial {trial.number} ({len(self.trials) + 1} of {trials}): {' '.join(words)}", markup=False)
            try:
                said = self._try(trial, words)
            except (OSError, ValueError) as error:
                trial.set_user_attr("error", str(error))
                self.study.tell(trial, state=TrialState.FAIL)
                said = f"failed: {error}"
            console.print(f"trial {trial.number}: {said}", markup=False)
            self._report()
        shown = make_console()
        shown.print(table(self.trials, list(self.space), self.opponent))
        shown.print(f"It is kept in {self.folder}.", markup=False, soft_wrap=True)
        if self._signal is not None:
            said = f"stopped by {self._signal.name}; what was tried is kept. To go on: {command}"
            console.print(said, markup=False, soft_wrap=True)
            return 0
        return 0 if any(trial.state == TrialState.COMPLETE for trial in self.trials) else 1

    def _try(self, trial: optuna.Trial, words: list[str]) -> str:
        """One trial from its start to its end; returns what is to be said about it.

        Raises:
            ValueError: it failed.
        """
        config = override_config(self.common, words)
        folder = self.folder / TRIALS / str(trial.number)
        log = folder.with_name(f"{folder.name}.log")
        pruned = self._watch(trial, config, folder, log, words)
        shutil.rmtree(folder / RESUME, ignore_errors=True)  # trials don't go on, and these are their largest files
        if pruned:
            ended = self.study.tell(trial, state=TrialState.PRUNED)
            return f"pruned at {100 * (ended.value or 0.0):.1f} against {self.opponent}"
        if self._signal is not None:
            self._put_back(trial)
            return "stopped"
        if not is_finished(folder):
            raise ValueError(last_line(log) or "it ended without a word")
        points, low, high = result(folder, self.opponent)
        trial.set_user_attr("interval", [low, high])
        self.study.tell(trial, points)
        return f"{100 * points:.1f} [{100 * low:.1f}, {100 * high:.1f}] against {self.opponent}"

    def _watch(self, trial: optuna.Trial, config: Config, folder: Path, log: Path, words: list[str]) -> bool:
        """Runs a trial's process until it ends, is pruned or the sweep is stopped; returns whether it was pruned."""
        common = str(self.folder / CONFIG)
        command = [sys.executable, *TRIAL, "--config", common, "--run-dir", str(folder), *words]
        passed = 0
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
                before, passed = passed, self._report_marks(trial, config, folder, passed)
                pruned = passed > before and trial.should_prune()
                if pruned or self._signal is not None:
                    process.terminate()
                    process.wait()
                    return pruned
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(LOOK)
        self._report_marks(trial, config, folder, passed)
        return False

    def _report_marks(self, trial: optuna.Trial, config: Config, folder: Path, passed: int) -> int:
        """Tells the pruner of marks that have been passed since; returns how many that are altogether."""
        for measurement in measured(folder, self.opponent):
            for mark in range(passed + 1, 1 + min(MARKS, int(MARKS * used(config, measurement) + 1e-9))):
                trial.report(measurement.points, mark)
                passed = mark
        return passed

    def _report(self) -> None:
        """Writes down what has come of the study so far."""
        complete = [trial for trial in self.trials if trial.state == TrialState.COMPLETE]
        try:
            write_atomically(self.folder / TEXT, whole_text(table(self.trials, list(self.space), self.opponent)))
            draw(self.study, self.folder / PICTURE, self.opponent)
            if complete:
                self._write_best(max(complete, key=lambda trial: trial.value or 0.0))
        except OSError as error:  # a full disk: there may be room again later
            print(f"{self.folder}: {error}; the study goes on", file=sys.stderr)

    def _write_best(self, best: FrozenTrial) -> None:
        words = as_words(best.params)
        low, high = best.user_attrs["interval"]
        points = f"{100 * (best.value or 0.0):.1f} [{100 * low:.1f}, {100 * high:.1f}] % against {self.opponent}"
        head = f"# Trial {best.number}, the best of {len(self.trials)}: {points}; what it changes:\n"
        text = head + "".join(f"#   {word}\n" for word in words) + as_yaml(override_config(self.config, words))
        write_atomically(self.folder / BEST, text)


def _has_more_than_trials(folder: Path) -> bool:
    """Whether there is more in a folder than a sweep leaves that was killed at its very start."""
    return any(path.name not in (TRIALS, LOCK) for path in folder.iterdir())


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
