"""The warm start: before it plays for itself, the network learns what a teacher thinks of every action.

The policy learns softmax(teacher's values / temperature) over the legal actions by cross-entropy, the value head the
discounted rewards of the seat from there to the end of the game.

Metrics, in metrics.jsonl and TensorBoard, one value for about each `LOG_EVERY` decisions:

    warm_start/decisions      of the teacher's so far, random ones included
    warm_start/policy_loss    cross-entropy, less the entropy of the targets: the Kullback-Leibler divergence
    warm_start/value_loss     mean squared error of the values
    warm_start/agreement      share of decisions for which network and teacher prefer the same action
    warm_start/learning_rate
    warm_start/decisions_per_second
"""

import contextlib
from collections.abc import Generator, Iterator, Mapping
from typing import Any

import numpy as np
import torch
from stable_baselines3.common.logger import Logger
from torch import Tensor
from torch.nn import functional

from mozaic_env.agents.policy.networks import Network
from mozaic_env.core.game import Game
from training.config import Config
from training.imitation.demonstrations import Ahead, Demonstrations, TeacherGames, make_teacher
from training.runs.budget import Budget
from training.runs.progress import ARGMAX, ProgressBar
from training.runs.timing import Stopwatch

LOG_EVERY = 50_000  # decisions
ILLEGAL = -1e8  # logit of illegal actions


class Memory:
    """The latest segments of demonstrations, from which minibatches are drawn."""

    def __init__(self, segments: int) -> None:
        """Makes room for so many."""
        self._size, self._kept = segments, 0
        self._parts: dict[str, Tensor] = {}
        self._known: Any = np.zeros(0)

    def add(self, segment: Demonstrations) -> None:
        """Takes a segment in, for the oldest if there is no room, and notes returns that have become known."""
        steps, games = segment.best.shape
        new = {"masks": segment.masks, "targets": segment.targets, "best": segment.best, **segment.observation}
        if not self._parts:
            for key, array in new.items():
                shape = (self._size * steps, *array.shape[1:])
                self._parts[key] = torch.zeros(shape, dtype=torch.from_numpy(array[:0]).dtype)
            self._returns = torch.full((self._size * steps, games), torch.nan)
        length = self._size * steps
        low = self._kept % length
        for key, array in new.items():
            self._parts[key][low : low + steps] = torch.from_numpy(array)
        self._returns[low : low + steps] = torch.nan
        self._kept += steps
        at, game, value = segment.returns
        fresh = at >= self._kept - length
        self._returns[at[fresh] % length, game[fresh]] = torch.from_numpy(value[fresh])

    def draw(self, size: int, random: np.random.Generator, device: str) -> dict[str, Tensor]:
        """A minibatch; "returns" is NaN where they are not known."""
        steps, games = min(self._kept, len(self._returns)), self._returns.shape[1]
        chosen = torch.from_numpy(random.integers(steps * games, size=size))
        batch = {key: part.flatten(0, 1)[chosen].to(device) for key, part in self._parts.items()}
        batch["returns"] = self._returns.flatten()[chosen].to(device)
        return batch


class WarmStart:
    """The first phase of a run.

    Attributes:
        decisions: of the teacher's, trained on so far.
        is_over: whether all has been learnt that there was to learn.
        budget: its own: decisions and minutes.
    """

    def __init__(
        self,
        config: Config,
        game: Game,
        network: Network,
        main: Budget,
        clock: Stopwatch,
        device: str,
        bfloat16: bool,
    ) -> None:
        """Prepares it.

        Args:
            config: of the run.
            game: what is played.
            network: the student.
            main: the run's budget, of which the signals matter.
            clock: counts its parts.
            device: where the network is.
            bfloat16: compute in mixed precision.
        """
        self.config, self.game, self.network = config, game, network
        self.device, self.bfloat16, self._main, self._clock = device, bfloat16, main, clock
        self.settings = config.warm_start
        self.decisions, self.is_over = 0, self.settings.teacher is None
        self.budget = Budget(self.settings.decisions, self.settings.minutes)
        self.memory = Memory(self.settings.memory)
        self.optimizer = torch.optim.Adam(network.parameters(), self.settings.learning_rate, eps=1e-5, fused=True)

    def state(self) -> dict[str, Any]:
        """How far it is, as tensors and plain data; the weights are not part of it."""
        return {
            "decisions": self.decisions,
            "is_over": self.is_over,
            "elapsed": self.budget.elapsed,
            "optimizer": self.optimizer.state_dict(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """The inverse of `state`."""
        self.decisions, self.is_over = state["decisions"], state["is_over"]
        self.budget.start(state["elapsed"])
        self.optimizer.load_state_dict(state["optimizer"])

    def run(self, logger: Logger, strength: Mapping[str, float] | None = None) -> Generator[None, None, None]:
        """Trains until the budget is used up, and pauses after each segment, where it does no harm to save.

        Args:
            logger: of the run.
            strength: points against the evaluation opponents, to be shown; None: nothing.

        Raises:
            Stopped: a signal came.
            FloatingPointError: the loss is not a number any more.
        """
        settings, ppo = self.settings, self.config.ppo
        # What has been shown is not shown again after an interruption: another stream of games goes on.
        seeds = np.random.SeedSequence([self.config.seed, self.decisions]).generate_state(2)
        teacher = make_teacher(str(settings.teacher), self.game)
        games = TeacherGames(settings, teacher, self.game, self.config.reward, ppo.discount, int(seeds[0]))
        random = np.random.default_rng(seeds[1])
        noted: list[tuple[float, ...]] = []
        since, shown = self.decisions, dict[str, float]()
        with (
            self._one_thread_for_the_teacher(),
            ProgressBar(self.budget, "imitating") as progress,
            Ahead(games.next_segment) as ahead,
        ):
            first: Demonstrations | None = None
            if not self.decisions:  # after an installation these wait for the compiler, which is not counted
                first = self._take(ahead)
                self.budget.start()
            while self.budget.used(self.decisions) < 1:
                segment, first = first or self._take(ahead), None
                with self._clock.part("buffers"):
                    self.memory.add(segment)
                noted += self._learn(random)
                if not self.network.is_finite():
                    raise self._not_finite("weights are")
                self.decisions += settings.games * settings.segment
                if self.decisions - since >= LOG_EVERY or self.budget.used(self.decisions) >= 1:
                    with self._clock.part("logging"):
                        shown = self._log(logger, noted)
                    noted, since = [], self.decisions
                progress.show(self.decisions, {ARGMAX: strength or {}, "teacher": shown})
                yield
        self.is_over = True
        self.memory = Memory(settings.memory)  # gives the room back

    @contextlib.contextmanager
    def _one_thread_for_the_teacher(self) -> Iterator[None]:
        threads = torch.get_num_threads()
        torch.set_num_threads(max(1, threads - 1))
        try:
            yield
        finally:
            torch.set_num_threads(threads)

    def _take(self, ahead: Ahead) -> Demonstrations:
        """Waits for the teacher."""
        with self._clock.part("teacher"):
            return ahead.take(self._main.check_signal)

    def _learn(self, random: np.random.Generator) -> list[tuple[float, ...]]:
        settings, noted = self.settings, []
        left = 1.0 - self.budget.used(self.decisions)
        rate = settings.learning_rate_end + left * (settings.learning_rate - settings.learning_rate_end)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        updates = settings.games * settings.segment * settings.passes / settings.minibatch
        for _ in range(max(1, round(updates))):
            self._main.check_signal()
            with self._clock.part("buffers"):
                batch = self.memory.draw(settings.minibatch, random, self.device)
            with self._clock.part("update"):
                noted.append(self._update(batch))
        return noted

    def _update(self, batch: dict[str, Tensor]) -> tuple[float, ...]:
        """One step of the optimizer; returns policy loss, value loss and agreement."""
        with torch.autocast(torch.device(self.device).type, torch.bfloat16, enabled=self.bfloat16):
            logits, values = self.network(batch)
        logits = torch.where(batch["masks"], logits.float(), ILLEGAL)
        targets = batch["targets"].float()
        divergence = functional.kl_div(functional.log_softmax(logits, 1), targets, reduction="batchmean")
        known = ~batch["returns"].isnan()
        errors = (values.float() - batch["returns"].nan_to_num())[known].square()
        value_loss = errors.mean() if len(errors) else errors.sum()
        loss = divergence + self.settings.value_weight * value_loss
        if not torch.isfinite(loss):
            raise self._not_finite("loss is")
        self.optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), self.settings.max_grad_norm)
        self.optimizer.step()
        agreement = (logits.detach().argmax(1) == batch["best"]).float().mean()
        return divergence.item(), value_loss.item(), agreement.item()

    def _not_finite(self, what: str) -> FloatingPointError:
        return FloatingPointError(
            f"after {self.decisions:,} decisions of the warm start the {what} not finite any more; "
            "a lower warm_start.learning_rate may help"
        )

    def _log(self, logger: Logger, noted: list[tuple[float, ...]]) -> dict[str, float]:
        losses, value_losses, agreements = np.array(noted).T
        logger.record("warm_start/decisions", self.decisions)
        logger.record("warm_start/policy_loss", float(losses.mean()))
        logger.record("warm_start/value_loss", float(value_losses.mean()))
        logger.record("warm_start/agreement", float(agreements.mean()))
        logger.record("warm_start/learning_rate", self.optimizer.param_groups[0]["lr"])
        logger.record("warm_start/decisions_per_second", self.decisions / max(self.budget.elapsed, 1e-9))
        logger.dump(self.decisions)
        return {"agreement": float(agreements.mean())}
