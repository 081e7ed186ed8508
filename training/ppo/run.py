"""The parts of a run of `training.train`, how they play and train, and what is kept of them to go on."""

import contextlib
import copy
from pathlib import Path

from stable_baselines3.common.logger import Logger

from mozaic_env.agents.policy.league import League, Weights, admit, scores_by_strategy
from mozaic_env.agents.policy.networks import Network
from mozaic_env.core.game import Game
from mozaic_env.simulation.advantages import Array
from mozaic_env.simulation.self_play import Observation, SelfPlayGames
from training.config import Config
from training.evaluation import Evaluator
from training.imitation.imitation import WarmStart
from training.ppo.learner import make_learner
from training.ppo.policy import Player
from training.runs import state
from training.runs.budget import Budget
from training.runs.folder import RunFolder
from training.runs.metrics import UpdateMetrics
from training.runs.progress import ARGMAX, SAMPLED, ProgressBar
from training.runs.saving import Saver
from training.runs.timing import Stopwatch


class Run:
    """A run: a learner, its opponents, its warm start, and what measures and saves it.

    Attributes:
        past: weights of earlier selves by their age in steps.
    """

    suffix = state.SUFFIX

    def __init__(
        self, config: Config, game: Game, folder: RunFolder, budget: Budget, device: str, bfloat16: bool
    ) -> None:
        """Makes the parts; nothing is played yet."""
        self.config, self.game, self.budget = config, game, budget
        self.clock = clock = Stopwatch()
        self.learner = make_learner(config, game, budget, device, bfloat16)
        self.opponents = config.opponents.as_opponents()
        self.league = League(
            game,
            self.opponents,
            lambda: copy.deepcopy(self.network),
            config.seed,
            lambda network: Player(network, bfloat16, lambda: clock.part("opponents")),
        )
        self.past: dict[int, Weights] = {}
        self.updates = 0
        self.warm = WarmStart(config, game, self.network, budget, clock, device, bfloat16)
        self.evaluator = Evaluator(config, game, self.network, budget, bfloat16)
        self.saver = Saver(config, game, folder, self)

    @property
    def network(self) -> Network:
        """The learner's."""
        return self.learner.network

    @property
    def steps(self) -> int:
        """The learner's decisions in self-play so far."""
        return self.learner.num_timesteps

    @property
    def decisions(self) -> int:
        """Trained on so far, those of the warm start included."""
        return self.warm.decisions + self.steps

    def imitate(self, logger: Logger) -> None:
        """The warm start; afterwards self-play stays close to what was imitated, if configured.

        Raises:
            Stopped: by a signal.
            FloatingPointError: the weights are not numbers any more.
        """
        with contextlib.closing(self.warm.run(logger, self.evaluator.latest)) as segments:
            for _ in segments:
                self.measure_and_save(logger)
        if self.config.warm_start.kl_coefficient:
            self.learner.stay_close_to(self.network)

    def play(self, logger: Logger) -> None:
        """Trains by self-play until the budget is used up.

        Raises:
            Stopped: by time or signal.
            FloatingPointError: the weights are not numbers any more.
        """
        clock, learner, games = self.clock, self.learner, None
        metrics = UpdateMetrics(logger, self.budget, self.steps)
        learner.set_logger(logger)
        with ProgressBar(self.budget) as progress:
            while self.budget.used(self.steps) < 1:
                if self.decisions:
                    self.measure_and_save(logger)
                with clock.part("league"):
                    shares = self._next_opponents(games)
                with clock.part("environment"):
                    games = games or self._begin_games(shares)
                    games.set_shares(shares)
                    fragment = games.play(self._choose)
                with clock.part("update"):
                    learner.learn_from(fragment, games.steps * games.size)
                with clock.part("logging"):
                    self.league.note(games.endings)
                    metrics.record(scores_by_strategy(games.endings), self.steps)
                    games.endings.clear()
                    for name, value in self.league.metrics().items():
                        logger.record(name, value)
                    logger.dump(self.decisions)
                self.saver.check_weights()
                progress.show(self.steps, {ARGMAX: self.evaluator.latest, SAMPLED: metrics.scores})

    def _next_opponents(self, games: SelfPlayGames | None) -> list[float]:
        """Makes the learner an earlier self if it is time; the shares of the opponents in games that begin now."""
        if self.updates % self.opponents.past_every == 0 and self.league.slots:
            weights = {key: tensor.detach().cpu().clone() for key, tensor in self.network.state_dict().items()}
            self.past = admit(self.past, self.steps, weights, self.opponents.past_size)
        self.updates += 1
        return self.league.update(self.past, set() if games is None else games.opponents_in_use)

    def _begin_games(self, shares: list[float]) -> SelfPlayGames:
        """New games, with other luck than those had that were played before."""
        mirror, versus = self.opponents.split(self.config.ppo.games)
        return SelfPlayGames(
            self.game,
            mirror=mirror,
            versus=versus,
            opponents=self.league.agents,
            shares=shares,
            steps=self.config.ppo.rollout,
            rewards=self.config.rewards,
            seed=[self.config.seed, self.decisions],
        )

    def _choose(self, observation: Observation, masks: Array) -> tuple[Array, Array, Array]:
        self.budget.check()
        with self.clock.part("policy"):
            return self.learner.act(observation, masks)

    def measure_and_save(self, logger: Logger, now: bool = False) -> None:
        """What is done while nothing is trained: matches and saving, each if it is time, or matches in any case."""
        with self.clock.part("evaluation"):
            is_best = (now or self.evaluator.is_due()) and self.evaluator.measure(logger, self.decisions)
        with self.clock.part("saving"):
            if is_best:
                self.saver.save_best(self.evaluator.best)
            if not now:
                self.saver.save_if_time()

    def write_state(self, path: Path) -> None:
        """Writes all that `restore` needs."""
        learner, reference = self.learner, self.learner.reference
        whole: state.State = {
            "steps": self.steps,
            "updates": self.updates,
            "epochs": learner._n_updates,
            "elapsed": self.budget.elapsed if self.warm.is_over else 0.0,
            "network": self.network.state_dict(),
            "reference": None if reference is None else reference.state_dict(),
            "optimizer": learner.policy.optimizer.state_dict(),
            "warm_start": self.warm.state(),
            "past": self.past,
            "league": self.league.state(),
            "best": self.evaluator.best,
            "minutes": self.evaluator.minutes,
            "random": state.random_states(),
        }
        state.save_tensors(whole, path)

    def restore(self, whole: state.State) -> None:
        """Makes everything as it was, but for the games under way: new ones begin.

        Args:
            whole: what `training.runs.state.read` gave.
        """
        learner = self.learner
        if whole["reference"] is not None:
            self.network.load_state_dict(whole["reference"])
            learner.stay_close_to(self.network)
        self.network.load_state_dict(whole["network"])
        learner.policy.optimizer.load_state_dict(whole["optimizer"])
        learner.num_timesteps, learner._n_updates, self.updates = whole["steps"], whole["epochs"], whole["updates"]
        self.warm.restore(whole["warm_start"])
        self.past = whole["past"]
        self.league.restore(whole["league"], self.past)
        self.budget.start(whole["elapsed"])
        self.evaluator.best = whole["best"]
        self.evaluator.start(whole["minutes"])
        state.set_random_states(whole["random"])
