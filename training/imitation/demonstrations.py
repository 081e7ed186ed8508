"""What a teacher has to show: games that it plays against itself, its values of all actions, how the games ended.

The games do not depend on the student, so a thread of their own plays them ahead of the training, and the same seed
gives the same demonstrations whatever the machine does.
"""

import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from mozaic_env.agents.specs import make_agent
from mozaic_env.core.game import Game, Rows
from mozaic_env.core.stream import keys_from_seeds
from mozaic_env.simulation.batch import Batch
from mozaic_env.simulation.queries import seat_margins, seat_outcomes
from training.config import RewardSection, WarmStartSection

WAIT = 0.2  # seconds between two looks at whether anyone still wants demonstrations

Array = npt.NDArray[Any]
Decision = tuple[int, int, float]  # its step, its seat, and by how much that seat leads


class Teacher(Protocol):
    """An agent that can say what it thinks of every action."""

    name: str

    def action_values(self, states: Rows) -> npt.NDArray[np.float64]:
        """Values of all actions for the seat that decides; NaN for those that are illegal or were not tried."""


def make_teacher(spec: str, game: Game) -> Teacher:
    """The teacher of a spec.

    Raises:
        ValueError: the spec is none, or its agent has no action values.
    """
    agent = make_agent(spec, game)
    if not hasattr(agent, "action_values"):
        accepted = f"expectimax, paranoid, maxn, {', '.join(game.heuristics)}, or a checkpoint with search=1"
        raise ValueError(f"warm_start.teacher: {spec!r} has no action values; accepted: {accepted}")
    return agent


@dataclass
class Demonstrations:
    """A segment of all games: `steps` decisions of each.

    Attributes:
        observation: the entries of the game's observation, each of shape (steps, games, *its shape).
        masks: legal actions, bool, shape (steps, games, actions).
        targets: probabilities that the policy is to learn, float16, the same shape.
        best: the teacher's best action, int64, shape (steps, games).
        returns: for decisions of games that have ended by now: number of the decision's step since the beginning,
            game, discounted rewards from there to the end. Shape (n,) each.
    """

    observation: dict[str, Array]
    masks: Array
    targets: Array
    best: Array
    returns: tuple[Array, Array, Array]


class TeacherGames:
    """Games in which the teacher holds all seats and now and then a random move is made."""

    def __init__(
        self, config: WarmStartSection, teacher: Teacher, game: Game, reward: RewardSection, discount: float, seed: int
    ) -> None:
        """Begins the games.

        Args:
            config: how many games, how many steps in a segment, the share of random moves, the temperature.
            teacher: asked about every decision.
            game: what is played.
            reward: of the decisions.
            discount: of rewards, from one decision of a seat to its next.
            seed: of the games and of the random moves.
        """
        self.config, self.teacher, self.reward, self.discount = config, teacher, reward, discount
        self._seats = game.num_players
        self._batch = Batch(game, config.games)
        self._batch.begin(np.arange(config.games), keys_from_seeds(list(range(seed, seed + config.games))), None, None)
        self._random = np.random.default_rng(seed)
        self._step = 0
        self._story: list[list[Decision]] = [[] for _ in range(config.games)]

    def next_segment(self) -> Demonstrations:
        """Plays on by one segment."""
        config, batch, everyone = self.config, self._batch, np.arange(self.config.games)
        observations, masks, targets, best = [], [], [], []
        ended: list[tuple[int, int, float]] = []
        leads = np.zeros((config.games, self._seats))
        for _ in range(config.segment):
            values, legal = self.teacher.action_values(batch.rows.copy()), batch.buffers.masks.astype(np.bool_)
            seat_margins(batch.rows, leads)
            for i, seat in enumerate(batch.buffers.seats.tolist()):
                self._story[i].append((self._step, seat, float(leads[i, seat])))
            observations.append({key: entry.copy() for key, entry in batch.buffers.observation.items()})
            masks.append(legal)
            chosen = np.where(np.isnan(values), -np.inf, values)
            actions = chosen.argmax(1)
            best.append(actions)
            targets.append(_softmax(chosen / config.temperature))
            astray = everyone[self._random.random(config.games) < config.random_moves]
            dice = self._random.random((len(astray), legal.shape[1]))
            actions = actions.copy()
            actions[astray] = np.where(legal[astray], dice, -1).argmax(1)
            if batch.step(actions):
                ended += self._end_games()
            self._step += 1
        numbers: Any = np.array(ended, np.float64).reshape(-1, 3).T
        return Demonstrations(
            {key: np.stack([observation[key] for observation in observations]) for key in observations[0]},
            np.stack(masks),
            np.stack(targets),
            np.stack(best),
            (numbers[0].astype(np.int64), numbers[1].astype(np.int64), numbers[2].astype(np.float32)),
        )

    def _end_games(self) -> Iterator[tuple[int, int, float]]:
        """Step, game and return of all decisions of the games that have ended; the next games begin."""
        batch = self._batch
        over = np.flatnonzero(batch.buffers.terminated | batch.buffers.truncated)
        leads, results = np.zeros((2, len(over), self._seats))
        seat_margins(batch.rows[over], leads)
        finished = np.flatnonzero(batch.buffers.terminated[over])  # the others have no result
        known = np.zeros((len(finished), self._seats))
        seat_outcomes(batch.rows[over[finished]], known)
        results[finished] = known
        for i, lead, result in zip(over.tolist(), leads.tolist(), results.tolist()):
            for step, value in returns(self._story[i], lead, result, self.reward, self.discount):
                yield step, i, value
            self._story[i] = []
        batch.begin(over, None, None, None)


def returns(
    story: list[Decision], leads: Sequence[float], outcomes: Sequence[float], reward: RewardSection, discount: float
) -> Iterator[tuple[int, float]]:
    """Backwards through a game: at each decision the discounted rewards of its seat from then on.

    Args:
        story: for each decision its step, its seat and by how much that seat led.
        leads: by how much each seat led at the end.
        outcomes: each seat's result.
        reward: the weights of leads and the outcome.
        discount: from one decision of a seat to its next.

    Yields:
        The decision's step and the sum.
    """
    after = list(leads)
    total = [reward.outcome * result for result in outcomes]
    factor = [1.0] * len(after)  # the last reward and the outcome come together
    for step, seat, lead in reversed(story):
        total[seat] = reward.margin * (after[seat] - lead) + factor[seat] * total[seat]
        after[seat], factor[seat] = lead, discount
        yield step, total[seat]


def _softmax(scores: Array) -> npt.NDArray[np.float16]:
    powers = np.exp(scores - scores.max(1, keepdims=True))
    return (powers / powers.sum(1, keepdims=True)).astype(np.float16)


class Ahead:
    """Calls a function again and again in a thread of its own, one result ahead of who takes them; a context."""

    def __init__(self, make: Callable[[], Demonstrations]) -> None:
        """Takes the function; the thread begins with the context."""
        self._make = make
        self._ready: queue.Queue[Demonstrations | BaseException] = queue.Queue(1)
        self._enough = threading.Event()
        self._thread = threading.Thread(target=self._work, name="teacher", daemon=True)

    def __enter__(self) -> "Ahead":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._enough.set()
        self._thread.join()

    def _work(self) -> None:
        while not self._enough.is_set():
            made: Demonstrations | BaseException
            try:
                made = self._make()
            except BaseException as error:
                made = error
                self._put(made)
                return
            self._put(made)

    def _put(self, made: Demonstrations | BaseException) -> None:
        while not self._enough.is_set():
            try:
                return self._ready.put(made, timeout=WAIT)
            except queue.Full:
                continue

    def take(self, waiting: Callable[[], None]) -> Demonstrations:
        """The next result.

        Args:
            waiting: called now and then until there is one; may raise.

        Raises:
            Exception: what the function raised.
        """
        while True:
            waiting()
            try:
                made = self._ready.get(timeout=WAIT)
            except queue.Empty:
                continue
            if isinstance(made, BaseException):
                raise made
            return made
