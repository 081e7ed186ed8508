"""What a teacher has to show: games that it plays against itself, its values of all actions, how the games ended.

The games do not depend on the pupil, so a thread of their own plays them ahead of the learning, and the same seed gives
the same lessons whatever the machine does.
"""

import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from mozaic_env.agents.specs import make_agent
from mozaic_env.core.contract import apply, deal, margin, mover, outcome
from mozaic_env.core.game import Game, Rows
from mozaic_env.core.jit import jit
from mozaic_env.envs.sb3 import GameVecEnv
from training.config import RewardSection, WarmStartSection

WAIT = 0.2  # seconds between two looks at whether anyone still wants lessons

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
class Lessons:
    """A stretch of all games: `steps` decisions of each.

    Attributes:
        observation: the entries of the game's observation, each of shape (steps, games, *its shape).
        masks: legal actions, bool, shape (steps, games, actions).
        targets: probabilities that the policy is to learn, float16, the same shape.
        best: the teacher's best action, int64, shape (steps, games).
        returns: for decisions of games that have ended by now: number of the decision's step since the first lesson,
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
            config: how many games, how many steps in a stretch, the share of random moves, the temperature.
            teacher: asked about every decision.
            game: what is played.
            reward: what a learner is paid for such a game.
            discount: of rewards, from one decision of a seat to its next.
            seed: of the games and of the random moves.
        """
        self.config, self.teacher, self.reward, self.discount = config, teacher, reward, discount
        self._seats = game.num_players
        self._env = GameVecEnv(config.games, game, opponent=None, reward="margin")
        self._env.seed(seed)
        self._random = np.random.default_rng(seed)
        self._observation: Any = self._env.reset()
        self._step = 0
        self._story: list[list[Decision]] = [[] for _ in range(config.games)]

    def next_lessons(self) -> Lessons:
        """Plays on by one stretch."""
        config, games = self.config, self.config.games
        observations, masks, targets, best = [], [], [], []
        ended: list[tuple[int, int, float]] = []
        everyone, seats, leads = np.arange(games), np.empty(games, np.int64), np.empty(games)
        for _ in range(config.stretch):
            states, legal = self._env.states, self._env.action_masks()
            values = self.teacher.action_values(states)
            _look(states, seats, leads)
            for i in range(games):
                self._story[i].append((self._step, int(seats[i]), float(leads[i])))
            observations.append(self._observation)
            masks.append(legal)
            chosen = np.where(np.isnan(values), -np.inf, values)
            actions = chosen.argmax(1)
            best.append(actions)
            targets.append(_softmax(chosen / config.temperature))
            astray = everyone[self._random.random(games) < config.random_moves]
            dice = self._random.random((len(astray), legal.shape[1]))
            actions = actions.copy()
            actions[astray] = np.where(legal[astray], dice, -1).argmax(1)
            self._observation, _, dones, infos = self._env.step(actions)
            for i in np.flatnonzero(dones):
                leads_then, results = _ending(states[i : i + 1], actions[i], self._seats)
                if infos[i]["TimeLimit.truncated"]:
                    results[:] = 0.0
                values_since = returns(self._story[i], leads_then, results, self.reward, self.discount)
                ended += [(step, int(i), value) for step, value in values_since]
                self._story[i] = []
            self._step += 1
        numbers: Any = np.array(ended, np.float64).reshape(-1, 3).T
        return Lessons(
            {key: np.stack([observation[key] for observation in observations]) for key in observations[0]},
            np.stack(masks),
            np.stack(targets),
            np.stack(best),
            (numbers[0].astype(np.int64), numbers[1].astype(np.int64), numbers[2].astype(np.float32)),
        )


def returns(
    story: list[Decision], leads: Sequence[float], outcomes: Sequence[float], reward: RewardSection, discount: float
) -> Iterator[tuple[int, float]]:
    """Backwards through a game: at each decision the discounted rewards that its seat got from then on.

    Args:
        story: for each decision its step, its seat and by how much that seat led.
        leads: by how much each seat led at the end.
        outcomes: each seat's result.
        reward: how leads and the outcome are paid.
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


@jit(cached=False)
def _look(rows: Rows, seats: Array, leads: Array) -> None:
    """Who decides, and by how much that seat leads."""
    for i in range(len(rows)):
        seats[i] = mover(rows[i])
        leads[i] = margin(rows[i], seats[i])


def _ending(states: Rows, action: int, seats: int) -> tuple[Array, Array]:
    """Every seat's lead and result after the last action of a game."""
    leads, results = np.empty(seats), np.empty(seats)
    _finish(states.copy(), action, leads, results)
    return leads, results


@jit(cached=False)
def _finish(rows: Rows, action: int, leads: Array, results: Array) -> None:
    apply(rows[0], action)
    deal(rows[0])
    for seat in range(len(leads)):
        leads[seat] = margin(rows[0], seat)
        results[seat] = outcome(rows[0], seat)


def _softmax(scores: Array) -> npt.NDArray[np.float16]:
    powers = np.exp(scores - scores.max(1, keepdims=True))
    return (powers / powers.sum(1, keepdims=True)).astype(np.float16)


class Ahead:
    """Calls a function again and again in a thread of its own, one result ahead of who takes them; a context."""

    def __init__(self, make: Callable[[], Lessons]) -> None:
        """Takes the function; the thread begins with the context."""
        self._make = make
        self._ready: queue.Queue[Lessons | BaseException] = queue.Queue(1)
        self._enough = threading.Event()
        self._thread = threading.Thread(target=self._work, name="lessons", daemon=True)

    def __enter__(self) -> "Ahead":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._enough.set()
        self._thread.join()

    def _work(self) -> None:
        while not self._enough.is_set():
            made: Lessons | BaseException
            try:
                made = self._make()
            except BaseException as error:
                made = error
                self._put(made)
                return
            self._put(made)

    def _put(self, made: Lessons | BaseException) -> None:
        while not self._enough.is_set():
            try:
                return self._ready.put(made, timeout=WAIT)
            except queue.Full:
                continue

    def take(self, waiting: Callable[[], None]) -> Lessons:
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
