"""A run of the n-tuple learner: batches of games until the decisions are used up, saved and evaluated on the way.

What a run learns is a function of its configuration and seed alone. A state (resume/state.safetensors) holds the
tables, Adam's means, and how far the run is, at the end of a batch; so a run that was killed learns what it would have
learnt.
"""

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy

from mozaic_env.agents.ntuple import tables
from mozaic_env.agents.ntuple.agent import NTupleAgent
from mozaic_env.agents.policy.folders import BEST, CHECKPOINTS, FINAL
from mozaic_env.agents.specs import make_agent
from mozaic_env.arena.evaluate import append_evaluation, evaluate
from mozaic_env.arena.exact.regret import measure_regret
from mozaic_env.core.afterstates import WEIGHT, features_of
from mozaic_env.core.game import Game
from mozaic_env.core.storage.files import append_lines, write_bytes
from mozaic_env.core.stream import keys_from_seeds
from mozaic_env.core.text.files import read_text
from training.ntuple.config import NTupleConfig, StageSection
from training.ntuple.learner import SETTINGS, TOTALS, make_scratch, play_batch, step_policy
from training.ntuple.parts import Play, merge, split
from training.runs.folder import METRICS, RunFolder, write_atomically

STATE = Path("resume") / "state.safetensors"
NOTE_EVERY = 20  # seconds of processor time between two lines of metrics


class Run:
    """A run under way."""

    def __init__(self, config: NTupleConfig, game: Game, folder: RunFolder) -> None:
        """Prepares a run that has yet to begin; `restore` takes up one that has begun."""
        self.play_parts: Play | None = None  # who plays the parts of a batch; None: the games are played one by one
        self.clock = time.process_time  # of what learning takes
        self.config, self.game, self.folder = config, game, folder
        self.weights = features_of(game).start()
        if config.start is not None:
            self.weights = tables.load(tables.resolve(config.start), game).weights
        self.gradient, self.mean, self.square = (np.zeros(len(self.weights), np.float32) for _ in range(3))
        self.scratch, self.settings = make_scratch(game), np.zeros(1, SETTINGS)
        self.totals, self.key = np.zeros(1, TOTALS), keys_from_seeds([config.seed])[0]
        self.decisions = self.games = self.updates = 0
        self.seconds, self.measured = 0.0, 0.0  # of processor time, learning; decisions at the last match
        self.best: dict[str, Any] = {}

    def learn(self) -> None:
        """Learns until the decisions are used up; writes metrics, states and checkpoints."""
        noted, saved = self.seconds, self.decisions
        times = self.config.evaluation.times
        while self.decisions < self.config.budget:
            self._learn_batch()
            if self.seconds - noted >= NOTE_EVERY or self.decisions >= self.config.budget:
                self._note()
                noted = self.seconds
            due = times and self.decisions * times // self.config.budget > self.measured * times // self.config.budget
            if due:
                self.measure()
            if due or self.decisions - saved >= self.config.save_every or self.decisions >= self.config.budget:
                self.save()
                saved = self.decisions

    def _learn_batch(self) -> None:
        began, batch = self.clock(), self._set_rates().policy.batch
        totals, before = self.totals[0], int(self.totals[0]["decisions"])
        games = self.games, self.games + batch
        if self.play_parts is None:
            play_batch(self.key, *games, self.weights, self.gradient, self.settings[0], self.scratch, totals)
        else:
            parts = self.play_parts(self.key, split(*games, self.config.parts), self.weights, self.settings)
            merge(parts, self.weights, self.gradient)
            for part in parts:
                for name in TOTALS.names or ():
                    totals[name] += part.totals[0][name]
        self.games += batch
        self.updates += 1
        step_policy(self.weights, self.gradient, self.mean, self.square, self.updates, self.settings[0])
        self.decisions += int(totals["decisions"]) - before
        self.seconds += self.clock() - began

    def _set_rates(self) -> StageSection:
        """Sets the rates for the decisions so far; returns the stage that these are in."""
        begin, stages = 0, self.config.stages
        while len(stages) > 1 and self.decisions >= begin + stages[0].decisions:
            begin += stages.pop(0).decisions
        stage, settings = stages[0], self.settings[0]
        used, policy, critic = min((self.decisions - begin) / stage.decisions, 1.0), stage.policy, stage.critic
        settings["temperature"] = _between(policy.temperature, policy.temperature_end, used)
        settings["policy_rate"] = _between(policy.learning_rate, policy.learning_rate_end, used)
        settings["critic_rate"] = _between(critic.learning_rate, critic.learning_rate_end, used)
        settings["random_share"], settings["trace"] = policy.random_moves, critic.trace
        settings["beta_mean"], settings["beta_square"] = policy.beta_mean, policy.beta_square
        settings["epsilon"] = policy.epsilon
        return stage

    def _note(self) -> None:
        totals = self.totals[0]
        states = max(int(totals["states"]), 1)
        variance = float(totals["squared_return"]) / states
        self._write(
            {
                "time/steps": self.decisions,
                "time/games": self.games,
                "time/processor_minutes": self.seconds / 60,
                "time/decisions_per_second": self.decisions / max(self.seconds, 1e-9),
                "train/critic_error": float(np.sqrt(totals["squared_error"] / states)),
                "train/return_size": float(np.sqrt(variance)),
                "train/temperature": float(self.settings[0]["temperature"]),
                "train/policy_rate": float(self.settings[0]["policy_rate"]),
                "train/critic_rate": float(self.settings[0]["critic_rate"]),
            }
        )
        self.totals[:] = 0

    def _write(self, line: dict[str, Any]) -> None:
        append_lines(self.folder.path / METRICS, [json.dumps(line)])

    @property
    def agent(self) -> NTupleAgent:
        """The tables as they are, taking their best action."""
        return NTupleAgent(self.game, self.weights, temperature=float(self.settings[0]["temperature"]))

    def measure(self) -> None:
        """Plays the matches on the way, writes them down, and keeps the tables if they are the best."""
        settings, seed = self.config.evaluation, int(np.random.SeedSequence([self.config.seed, 1]).generate_state(1)[0])
        self.measured = self.decisions
        opponents = [make_agent(spec, self.game) for spec in settings.against]
        line: dict[str, Any] = {"evaluation/decisions": self.decisions, "evaluation/minutes": self.seconds / 60}
        score = -np.inf
        for spec, result in zip(settings.against, evaluate(self.agent, opponents, settings.games, seed)):
            low, high = result.interval
            figures = {"points": result.points, "low": low, "high": high, "margin": result.margin}
            line |= {f"evaluation/{spec}/{name}": value for name, value in figures.items()}
            score = result.points
        if settings.regret:
            regret = measure_regret(self.agent, settings.games, seed)
            low, high = regret.interval or (regret.regret, regret.regret)
            figures = {"mean": regret.regret, "low": low, "high": high, "mistakes": regret.mistakes}
            line |= {f"evaluation/regret/{name}": value for name, value in figures.items()}
            score = -regret.regret
        self._write(line)
        if score > self.best.get("score", -np.inf):
            self.best = {"score": float(score), "decisions": self.decisions}
            self._save_tables(BEST)

    def save(self) -> None:
        """Writes a checkpoint, and the state from which the run can go on."""
        self._save_tables(f"{CHECKPOINTS}/step-{self.decisions:012d}")
        self.folder.thin()
        progress = {
            name: getattr(self, name) for name in ("decisions", "games", "updates", "seconds", "measured", "best")
        }
        tensors = {name: np.ascontiguousarray(self.weights[name]) for name in WEIGHT.names or ()}
        tensors |= {"mean": self.mean, "square": self.square}
        (self.folder.path / STATE).parent.mkdir(exist_ok=True)
        write_bytes(self.folder.path / STATE, safetensors.numpy.save(tensors, {"progress": json.dumps(progress)}))

    def _save_tables(self, name: str) -> None:
        tables.save(
            self.folder.path / name,
            self.weights,
            self.game,
            temperature=float(self.settings[0]["temperature"]),
            decisions=self.decisions,
            seed=self.config.seed,
            training=self.config.model_dump(mode="json"),
            results=self.best if name == BEST else None,
        )

    def restore(self) -> None:
        """Takes up the run in the folder; one that was killed before its first state begins anew.

        Raises:
            ValueError: its state is damaged.
        """
        file = self.folder.path / STATE
        metrics = self.folder.path / METRICS
        if file.exists():
            try:
                with safetensors.safe_open(file, "numpy") as state:
                    progress = json.loads(state.metadata()["progress"])
                    for name in WEIGHT.names or ():
                        self.weights[name] = state.get_tensor(name)
                    self.mean[:], self.square[:] = state.get_tensor("mean"), state.get_tensor("square")
                for name, value in progress.items():
                    setattr(self, name, value)
            except (safetensors.SafetensorError, OSError, ValueError, KeyError, TypeError) as error:
                raise ValueError(f"{file} is damaged ({error}); start another run") from None
        if metrics.exists():  # what was noted later than the state goes
            kept = [
                line for line in read_text(metrics, errors="replace").splitlines(keepends=True) if self._is_past(line)
            ]
            write_atomically(metrics, "".join(kept))

    def _is_past(self, line: str) -> bool:
        try:
            noted = json.loads(line)
            return max(noted.get("time/steps", 0), noted.get("evaluation/decisions", 0)) <= self.decisions
        except (ValueError, AttributeError, TypeError):  # cut short when the run was killed
            return False

    def finish(self) -> None:
        """Keeps the last tables, and plays the matches at the end against the agents of the configuration."""
        self._save_tables(FINAL)
        self.folder.note(steps=self.decisions, processor_seconds=round(self.seconds, 1))
        settings = self.config.evaluation
        if not settings.final_games:
            return
        agent = NTupleAgent.load(self.folder.path, self.game)
        opponents = [make_agent(spec, self.game) for spec in settings.against]
        results = evaluate(agent, opponents, settings.final_games, self.config.seed)
        regret = measure_regret(agent, settings.final_games, self.config.seed) if settings.regret else None
        append_evaluation(self.folder.path, results, regret)
        for result in results:
            low, high = result.interval
            print(f"{result.players[1]}: {100 * result.points:.1f}% of points [{100 * low:.1f}, {100 * high:.1f}]")
        if regret is not None:
            print(f"regret: {regret.regret:.3f} {regret.unit} a game")


def _between(begin: float, end: float, used: float) -> float:
    """Geometrically from one value to another."""
    return float(begin * (end / begin) ** used)
