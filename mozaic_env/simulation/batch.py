"""A batch of games behind every way in: options checked, buffers kept, Python opponents asked in batches."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from mozaic_env.agents.base import Agent
from mozaic_env.agents.kernels import PYTHON, RECIPE
from mozaic_env.agents.specs import AgentSpec, make_agent
from mozaic_env.core.checks import check_choice, check_whole_number
from mozaic_env.core.game import Game
from mozaic_env.core.jit import entry_point
from mozaic_env.simulation import loops, shared
from mozaic_env.simulation.thread_pool import Work, crew, make_desk

LEAST_GAMES = 1024  # for a thread; with fewer, sharing costs more than it saves
PARTS = 2  # of each thread's games; more share better with a thread that is slow to wake, fewer cost less
ILLEGAL = ("lose", "raise")
MAX_LOG = 2**16  # decisions of a game that its record can tell
MOST_OPPONENTS = int(np.iinfo(loops.SLOT["opponent"]).max)

Opponent = AgentSpec | None
Integers = npt.NDArray[np.int64]


class Buffers:
    """What a step writes: frames, masks, seats, rewards and flags, and the frames as named entries."""

    def __init__(self, game: Game, size: int) -> None:
        self.game = game
        self.frames = np.empty((size, game.frame.itemsize), np.uint8)
        self.masks = np.empty((size, game.num_actions), np.int8)
        self.seats = np.empty(size, np.int64)
        self.rewards = np.empty(size)
        self.flags = np.empty((2, size), np.bool_)
        self.terminated, self.truncated = self.flags
        entries = self.frames.view(game.frame)[:, 0]
        self.tail: tuple[Any, ...] | None = None  # see Batch._tail
        self.observation = {field.key: entries[field.key] for field in game.fields}

    @property
    def results(self) -> loops.Results:
        """The arrays in the order of the compiled loops."""
        return self.frames, self.masks, self.seats, self.rewards, self.flags

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles keep the entries views of the frames."""
        return _restore_buffers, (self.game, len(self.seats), self.results)

    def assign(self, results: loops.Results) -> None:
        """Takes over the contents of other arrays."""
        for mine, theirs in zip(self.results, results, strict=True):
            mine[:] = theirs


def _restore_buffers(game: Game, size: int, results: loops.Results) -> Buffers:
    buffers = Buffers(game, size)
    buffers.assign(results)
    return buffers


class Batch:
    """Games that step together, each as if it were alone."""

    def __init__(
        self,
        game: Game,
        size: int,
        *,
        opponents: Sequence[AgentSpec] = (),
        shares: Sequence[float] | None = None,
        seat: str | int = "random",
        reward: str = "outcome",
        illegal: str = "lose",
        max_decisions: int | None = None,
        autoreset: int = loops.DISABLED,
        threads: int = 1,
        log: bool = False,
    ) -> None:
        """Checks the options and makes room.

        Args:
            game: what is played.
            size: how many games.
            opponents: who holds the other seats, drawn for each game; none: `step` decides for every seat.
            shares: relative probabilities of the opponents; None: equal ones.
            seat: the seat that `step` decides for, or "random": drawn for each game.
            reward: one of the game's `rewards`: "outcome", "margin".
            illegal: "lose" or "raise".
            max_decisions: of all seats together, after which a game is truncated; None: the game's default.
            autoreset: when a finished game is replaced; one of `mozaic_env.simulation.loops`.
            threads: how many threads step the games.
            log: whether to note every action, for records.

        Raises:
            ValueError: an option is none of these.
        """
        self.game = game
        self.size = check_whole_number("num_envs", size, 1)
        self.threads = min(check_whole_number("threads", threads, 1), self.size)
        self.opponents: tuple[Agent, ...] = ()
        self.slots = np.zeros(self.size, loops.SLOT)
        self.slots["status"] = loops.TERMINATED
        self.options = np.zeros(1, loops.OPTIONS)
        limit = game.max_decisions if max_decisions is None else max_decisions
        self.options["limit"] = min(check_whole_number("max_decisions", limit, 1), np.iinfo(np.int32).max)
        self._reward = check_choice("reward", reward, tuple(game.rewards))
        self.options["margin_weight"], self.options["outcome_weight"] = game.rewards[self._reward]
        self.options["raises"] = check_choice("illegal", illegal, ILLEGAL) == "raise"
        self.options["players"], self.options["autoreset"] = game.num_players, autoreset
        self._seat = check_choice("seat", seat, ("random", *range(game.num_players)))
        self.set_opponents(opponents, shares)

        self.rows = game.rows(self.size)
        self.buffers = Buffers(game, self.size)
        finals = self.size if autoreset == loops.SAME_STEP else 0
        self.final = Buffers(game, finals)
        self.final_slots = np.zeros(finals, loops.SLOT)
        columns = min(int(self.options["limit"][0]), MAX_LOG) if log else 0
        self.log = np.zeros((self.size, columns), np.int16)
        unfinished = np.zeros(self.size, np.int64)
        self._scratch = (np.zeros(game.num_actions, np.int64), np.zeros(game.num_actions), unfinished)
        self.workers = max(1, min(self.threads, self.size // LEAST_GAMES))
        shape = (self.workers, game.num_actions)
        self._scratches = (np.zeros(shape, np.int64), np.zeros(shape), unfinished)
        self.illegal_ending = False
        self.broken = False  # an opponent failed in the middle of a step, say; only a reset of all games helps
        self._step: Callable[..., Any] | None = None  # compiled for our arrays, at the first step
        self._sample: Callable[..., Any] | None = None
        self._work: Work | None = None
        self._work_recipes = self.recipes  # that it goes by

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the compiled code, so copies and pickles carry the games in progress."""
        return {**self.__dict__, "_step": None, "_sample": None, "_work": None}

    def set_opponents(self, opponents: Sequence[AgentSpec], shares: Sequence[float] | None = None) -> bool:
        """Changes who holds the other seats, from each slot's next game on.

        Args:
            opponents: agents' names or agents; none: `step` decides for every seat.
            shares: their relative probabilities; None: equal ones.

        Returns:
            Whether games under way can go on: their opponents are in the list, where they were before. Else every slot
            has to be reset before the next step.

        Raises:
            ValueError: an unknown agent, or shares that are no probabilities; then nothing has changed.
        """
        if isinstance(opponents, str) or not isinstance(opponents, Sequence) or len(opponents) > MOST_OPPONENTS:
            raise ValueError(
                f"opponents={opponents!r}; accepted: a list of agents' names or agents, such as ['random', 'greedy']"
            )
        agents = tuple(make_agent(opponent, self.game) for opponent in opponents)
        recipes = np.zeros(max(len(agents), 1), RECIPE)
        recipes["kind"] = PYTHON
        compiled = [agent.recipe() for agent in agents]
        for index, recipe in enumerate(compiled):
            if recipe is not None:
                recipes[index] = recipe
        if agents:
            recipes["share"] = _thresholds(shares, len(agents))
        elif shares is not None and np.size(shares):
            raise ValueError(f"shares={shares!r}; accepted: none without opponents")

        before, names = [agent.name for agent in self.opponents], [agent.name for agent in agents]
        self.opponents, self.recipes = agents, recipes
        self.opponent_names = np.array(names, object)
        self._has_python_opponents = any(recipe is None for recipe in compiled)
        if not agents:
            self.options["seat"] = loops.BOTH
        else:
            self.options["seat"] = loops.ANY_SEAT if self._seat == "random" else self._seat
        used = np.unique(self.slots["opponent"]) if before else ()
        return bool(before) == bool(names) and all(names[i : i + 1] == [before[i]] for i in used)

    @property
    def description(self) -> str:
        """How the games are played, for the `repr` of environments."""
        opponents = ", ".join(agent.name for agent in self.opponents) or None
        return f"opponent={opponents!r}, seat={self._seat!r}, reward={self._reward!r}"

    @property
    def _tail(self) -> tuple[Any, ...]:
        """The arguments that all loops end in, but for the scratch; kept with the buffers, for speed."""
        tail = self.buffers.tail
        if tail is None or tail[1] is not self.recipes:
            final = self.final
            finals = (final.frames, final.masks, self.final_slots)
            tail = (self.options, self.recipes, self.buffers.results, finals, self.log)
            self.buffers.tail = tail
        return tail

    def begin(
        self, games: Integers, keys: npt.NDArray[np.uint64] | None, start: np.void | None, seat: int | None
    ) -> None:
        """Begins a game in each of the listed slots.

        Args:
            games: indices of slots.
            keys: their random streams' keys; None: each goes on from the key of the game before.
            start: the row to start from, its key ignored; None: the start of the game.
            seat: the seat that `step` decides for in these games; None: as the options say.

        Raises:
            ValueError: the seat does not decide in what follows. If a start or a seat was given, nothing has changed
                then; else the options allow no game, and only a reset of all games helps.
        """
        if start is not None or seat is not None:
            with self.unchanged_if_refused(games):
                self._begin_all(games, keys, start, seat)
            return
        try:
            self._begin_all(games, keys, start, seat)
        except ValueError:  # to keep what was there would double the cost of every reset
            self.slots["status"] = loops.TERMINATED
            self.broken = True
            raise

    @contextmanager
    def unchanged_if_refused(self, games: Integers) -> Iterator[None]:
        """Brings the listed slots and what they show back if a ValueError says that no game can begin."""
        frames, masks, seats, rewards, flags = self.buffers.results
        changed = (self.rows, self.slots, self.log, frames, masks, seats, rewards, *flags)
        kept = [array[games] for array in changed]
        try:
            yield
        except ValueError:
            if not self.broken:  # else it is an opponent's that has failed
                for array, values in zip(changed, kept, strict=True):
                    array[games] = values
            raise

    def _begin_all(
        self, games: Integers, keys: npt.NDArray[np.uint64] | None, start: np.void | None, seat: int | None
    ) -> None:
        self.broken = False
        if keys is None:
            keys = self.rows["key"][games]
            loops.advance_keys(keys)
        usual = int(self.options["seat"][0])
        seats = [usual if seat is None or not self.opponents else seat]
        if start is not None and seats == [loops.ANY_SEAT]:
            seats += range(self.game.num_players)  # close to the end there may be only one that still decides
        try:
            for taken in seats:
                self.options["seat"] = taken
                self._begin(games, keys, start)
                ended = self.slots["status"][games] != loops.READY
                games, keys = games[ended], keys[ended]
                if not len(games):
                    return
        finally:
            self.options["seat"] = usual
        raise ValueError(
            "the game ends before the agent's seat has anything to decide"
            + ("" if start is None else f" from position {self.game.format_position(start)!r}")
            + "; choose another position, seat, board or max_decisions"
        )

    def _begin(self, games: Integers, keys: npt.NDArray[np.uint64], start: np.void | None) -> None:
        if start is not None:
            self.rows[games] = start
        self.rows["key"][games] = keys
        loops.begin_rows(games, start is None, self.rows, self.slots, *self._tail, self._scratch)
        self._ask_opponents()

    def step(self, actions: Integers) -> int:
        """One decision for each game; the results are in `buffers`.

        `illegal_ending` says whether a game has ended by an illegal action; in SAME_STEP mode `final_slots` do.

        Args:
            actions: int64, shape (size,), contiguous.

        Returns:
            How many games ended.

        Raises:
            ValueError: an action is out of range, or illegal where that raises; then nothing has happened.
        """
        ended = self._share(shared.STEP, actions) if self.workers > 1 else self._step_alone(actions)
        if ended < 0:
            raise ValueError(self._refusal(-1 - ended, int(actions[-1 - ended])))
        if self._has_python_opponents:
            self._ask_opponents()
            ended = int(np.count_nonzero(self.buffers.terminated | self.buffers.truncated))
        self.illegal_ending = ended >= loops.BY_ILLEGAL
        return ended % loops.BY_ILLEGAL

    def _step_alone(self, actions: Integers) -> int:
        if self._step is None:
            self._step = entry_point(loops.step_rows, self.rows, self.slots, actions, *self._tail, self._scratch)
        ended: int = self._step(self.rows, self.slots, actions, *self._tail, self._scratch)
        return ended

    def _share(self, order: int, actions: Integers) -> int:
        """Has the crew of threads do what `mozaic_env.simulation.shared.share` says."""
        arguments = (self.rows, self.slots, actions, *self._tail, self._scratches)
        if self._work is None or self._work_recipes is not self.recipes:
            # With other opponents on another desk: someone may still be looking at the old one.
            desk = make_desk(self.workers, PARTS)
            self._work = Work(entry_point(shared.share, 0, 0, 0, desk, *arguments), desk, *arguments)
            self._work_recipes = self.recipes
        return crew(self.workers).run(self._work, order, self._work.arguments[0], *arguments)

    def sample(self, counter: int, chosen: Integers) -> None:
        """Writes a random legal action for each game, a function of its key and the counter; 0 where none is due."""
        if self.workers > 1:
            self._share(counter, chosen)
            return
        if self._sample is None:
            self._sample = entry_point(loops.sample_rows, self.rows, self.slots, counter, chosen)
        self._sample(self.rows, self.slots, counter, chosen)

    def _ask_opponents(self) -> None:
        """Lets Python opponents move, each asked once for all its games, until no game waits."""
        games, ends = np.empty(self.size, np.int64), np.empty(len(self.opponents), np.int64)
        while True:
            loops.waiting_rows(self.slots, games, ends)
            if not len(ends) or not ends[-1]:
                return
            low = 0
            try:
                for agent, high in zip(self.opponents, ends.tolist()):
                    if high > low:
                        self._ask(agent, games[low:high])
                    low = high
            except BaseException:  # the agent's own, or Ctrl-C: some games have moved and some can't go on
                self.slots["status"] = loops.TERMINATED
                self.broken = True
                raise

    def _ask(self, agent: Agent, games: Integers) -> None:
        states = self.rows[games]
        masks = np.zeros((len(games), self.game.num_actions), np.int8)
        loops.masks_of(states, masks)
        given = np.asarray(agent.act(states, masks))
        if given.shape != games.shape or given.dtype.kind not in "iu":
            raise ValueError(
                f"agent {agent.name!r} was asked for {len(games)} actions and gave shape {given.shape} "
                f"and dtype {given.dtype}; accepted: ({len(games)},) of whole numbers"
            )
        answers = np.ascontiguousarray(given, np.int64)
        wrong = loops.answer_rows(games, answers, self.rows, self.slots, *self._tail, self._scratch)
        if wrong >= 0:
            raise ValueError(f"agent {agent.name!r}: {self._refusal(games[wrong], int(answers[wrong]))}")

    def _refusal(self, index: int, action: int) -> str:
        which = f" at index {index}" if self.size > 1 else ""
        if not 0 <= action < self.game.num_actions:
            return f"action {action}{which} is not in 0..{self.game.num_actions - 1}"
        return (
            f"action {action}{which} is illegal in position {self.game.format_position(self.rows[index])!r}; "
            "accepted are the actions whose action_mask is 1"
        )


def _thresholds(shares: Any, number: int) -> npt.NDArray[np.float64]:
    """Where each opponent's part of [0, 1) ends; ValueError if the shares are no relative probabilities."""
    try:
        weights = np.ones(number) if shares is None else np.asarray(shares, np.float64)
    except (TypeError, ValueError):
        weights = np.empty(0)
    with np.errstate(over="ignore"):
        total = weights.sum()
    if weights.shape != (number,) or not (np.all(weights >= 0) and 0 < total < np.inf):
        raise ValueError(
            f"shares={shares!r}; accepted: one number of at least 0 for each of {number} opponents, not all 0"
        )
    return np.cumsum(weights) / total
