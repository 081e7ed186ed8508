"""A batch of games behind every interface: options checked, buffers kept, Python opponents asked in batches."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from mozaic_env.agents.base import Agent
from mozaic_env.agents.kernels import PYTHON, RANDOM, policy_specs
from mozaic_env.agents.specs import AgentSpec, make_agent
from mozaic_env.core.checks import check_choice, check_whole_number
from mozaic_env.core.game import Game
from mozaic_env.core.jit import entry_point
from mozaic_env.simulation import state, step
from mozaic_env.simulation.ask import ask_agents
from mozaic_env.simulation.queries import next_keys
from mozaic_env.simulation.state import Outputs, Simulation
from mozaic_env.simulation.threads import call_in_threads

# The fewest games for a thread; with fewer, to share costs more than it saves.
LEAST_GAMES = 1024  # where agents that think play along
LEAST_QUICK_GAMES = 8192  # where the rules are all that runs, at tens of millions of decisions a second
ILLEGAL = ("lose", "raise")
MAX_LOG = 2**16  # decisions of a game that its record can tell
MOST_OPPONENTS = int(np.iinfo(state.EPISODE["opponent"]).max)

Opponent = AgentSpec | None
Integers = npt.NDArray[np.int64]


class Buffers:
    """What a step writes, and the observations as named entries."""

    def __init__(self, game: Game, size: int) -> None:
        self.game = game
        self.outputs = Outputs(
            frames=np.empty((size, game.frame.itemsize), np.uint8),
            masks=np.empty((size, game.num_actions), np.int8),
            seats=np.empty(size, np.int64),
            rewards=np.empty(size),
            terminated=np.empty(size, np.bool_),
            truncated=np.empty(size, np.bool_),
        )
        self.frames, self.masks, self.seats, self.rewards, self.terminated, self.truncated = self.outputs
        entries = self.frames.view(game.frame)[:, 0]
        self.observation = {field.key: entries[field.key] for field in game.fields}

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles keep the entries views of the frames."""
        return _restore_buffers, (self.game, self.outputs)


def _restore_buffers(game: Game, outputs: Outputs) -> Buffers:
    buffers = Buffers(game, len(outputs.seats))
    for mine, theirs in zip(buffers.outputs, outputs, strict=True):
        mine[:] = theirs
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
        autoreset: int = state.DISABLED,
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
            autoreset: when a finished game is replaced; one of `mozaic_env.simulation.state`.
            threads: how many threads step the games.
            log: whether to note every action, for records.

        Raises:
            ValueError: an option is none of these.
        """
        self.game = game
        self.size = check_whole_number("num_envs", size, 1)
        self.threads = min(check_whole_number("threads", threads, 1), self.size)
        self.opponents: tuple[Agent, ...] = ()
        self._compiled: dict[Any, Callable[..., Any]] = {}  # see _call
        settings = np.zeros(1, state.SETTINGS)
        limit = game.max_decisions if max_decisions is None else max_decisions
        settings["limit"] = min(check_whole_number("max_decisions", limit, 1), np.iinfo(np.int32).max)
        self._reward = check_choice("reward", reward, tuple(game.rewards))
        settings["margin_weight"], settings["outcome_weight"] = game.rewards[self._reward]
        settings["raises"] = check_choice("illegal", illegal, ILLEGAL) == "raise"
        settings["autoreset"] = autoreset
        self._seat = check_choice("seat", seat, ("random", *range(game.num_players)))
        self.buffers = Buffers(game, self.size)
        self.final = Buffers(game, self.size if autoreset == state.SAME_STEP else 0)
        self.simulation = state.make_simulation(
            game.rows(self.size),
            np.full((self.size, game.num_players), state.CALLER),
            policy_specs(()),
            settings,
            game.num_actions,
            columns=min(int(settings["limit"][0]), MAX_LOG) if log else 0,
            finals=(self.final.frames, self.final.masks),
        )
        self.rows, self.episodes, self.settings = self.simulation.rows, self.simulation.episodes, settings
        self.log, self.final_episodes = self.simulation.log, self.simulation.final_episodes
        self.set_opponents(opponents, shares)
        self.forfeited = 0  # games that the last step ended by an illegal action; unknown in SAME_STEP mode
        self.broken = False  # an opponent failed in the middle of a step, say; only a reset of all games helps

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the compiled code, so copies and pickles carry the games in progress."""
        return {**self.__dict__, "_compiled": {}}

    def set_opponents(self, opponents: Sequence[AgentSpec], shares: Sequence[float] | None = None) -> bool:
        """Changes who holds the other seats, from each game's next one on.

        Args:
            opponents: agents' names or agents; none: `step` decides for every seat.
            shares: their relative probabilities; None: equal ones.

        Returns:
            Whether games under way can go on: their opponents are in the list, where they were before. Else every game
            has to be reset before the next step.

        Raises:
            ValueError: an unknown agent, or shares that are no probabilities; then nothing has changed.
        """
        if isinstance(opponents, str) or not isinstance(opponents, Sequence) or len(opponents) > MOST_OPPONENTS:
            raise ValueError(
                f"opponents={opponents!r}; accepted: a list of agents' names or agents, such as ['random', 'greedy']"
            )
        agents = tuple(make_agent(opponent, self.game) for opponent in opponents)
        policies = policy_specs(agents)
        if agents:
            policies["share"] = _thresholds(shares, len(agents))
        elif shares is not None and np.size(shares):
            raise ValueError(f"shares={shares!r}; accepted: none without opponents")

        before, names = [agent.name for agent in self.opponents], [agent.name for agent in agents]
        self.opponents, self.opponent_names = agents, np.array(names, object)
        self._has_python_opponents = bool(agents) and bool(np.any(policies["kind"] == PYTHON))
        self.simulation = self.simulation._replace(policies=policies)
        thinking = bool(np.any((policies["kind"] != PYTHON) & (policies["kind"] != RANDOM)))
        self._parts = self._divide(LEAST_GAMES if thinking else LEAST_QUICK_GAMES)
        self._quick_parts = self._divide(LEAST_QUICK_GAMES)
        if not agents:
            self.settings["seat"] = state.ALL_SEATS
        else:
            self.settings["seat"] = state.ANY_SEAT if self._seat == "random" else self._seat
        used = np.unique(self.episodes["opponent"]) if before else ()
        return bool(before) == bool(names) and all(names[i : i + 1] == [before[i]] for i in used)

    def _divide(self, least: int) -> list[tuple[Simulation, int, int]]:
        """The slices of games that threads work on: with a workspace of their own, from where to where."""
        sim, size, number = self.simulation, self.size, max(1, min(self.threads, self.size // least))
        return [
            (
                sim._replace(actions=sim.actions.copy(), values=sim.values.copy()),
                size * part // number,
                size * (part + 1) // number,
            )
            for part in range(number)
        ]

    @property
    def description(self) -> str:
        """How the games are played, for the `repr` of environments."""
        opponents = ", ".join(agent.name for agent in self.opponents) or None
        return f"opponent={opponents!r}, seat={self._seat!r}, reward={self._reward!r}"

    def _call(self, function: Any, *arguments: Any) -> Any:
        """Calls a function compiled for our arrays, whose types never change."""
        entry = self._compiled.get(function)
        if entry is None:
            entry = self._compiled[function] = entry_point(function, *arguments)
        return entry(*arguments)

    def begin(
        self, games: Integers, keys: npt.NDArray[np.uint64] | None, start: np.void | None, seat: int | None
    ) -> None:
        """Begins a game in each of the listed places.

        Args:
            games: places in the batch.
            keys: their random streams' keys; None: each goes on from the key of the game before.
            start: the row to start from, its key ignored; None: the start of the game.
            seat: the seat that `step` decides for in these games; None: as the options say.

        Raises:
            ValueError: the seat does not decide in what follows. If a start or a seat was given, nothing has changed
                then; else the options allow no game, and only a reset of all games helps.
        """
        games = np.ascontiguousarray(games, np.int64)
        if start is not None or seat is not None:
            with self.unchanged_if_refused(games):
                self._begin_all(games, keys, start, seat)
            return
        try:
            self._begin_all(games, keys, start, seat)
        except ValueError:  # to keep what was there would double the cost of every reset
            self.episodes["status"] = state.TERMINATED
            self.broken = True
            raise

    @contextmanager
    def unchanged_if_refused(self, games: Integers) -> Iterator[None]:
        """Brings the listed games and what they show back if a ValueError says that no game can begin."""
        changed: tuple[npt.NDArray[Any], ...] = (
            self.rows,
            self.episodes,
            self.simulation.seating,
            self.log,
            *self.buffers.outputs,
        )
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
            next_keys(keys)
        usual = int(self.settings["seat"][0])
        seats = [usual if seat is None or not self.opponents else seat]
        if start is not None and seats == [state.ANY_SEAT]:
            seats += range(self.game.num_players)  # close to the end there may be only one that still decides
        try:
            for taken in seats:
                self.settings["seat"] = taken
                self._begin(games, keys, start)
                ended = self.episodes["status"][games] != state.READY
                games, keys = games[ended], keys[ended]
                if not len(games):
                    return
        finally:
            self.settings["seat"] = usual
        raise ValueError(
            "the game ends before the agent's seat has anything to decide"
            + ("" if start is None else f" from position {self.game.format_position(start)!r}")
            + "; choose another position, seat, board or max_decisions"
        )

    def _begin(self, games: Integers, keys: npt.NDArray[np.uint64], start: np.void | None) -> None:
        if start is not None:
            self.rows[games] = start
        self.rows["key"][games] = keys
        self._call(step.begin_games, self.simulation, self.buffers.outputs, games, start is None)
        self._ask_opponents()

    def step(self, actions: Integers) -> int:
        """One decision for each game; the results are in `buffers`.

        Args:
            actions: int64, shape (size,), contiguous.

        Returns:
            How many games ended.

        Raises:
            ValueError: an action is out of range, or illegal where that raises; then nothing has happened.
        """
        sim, outputs = self.simulation, self.buffers.outputs
        if len(self._parts) == 1:
            refused, ended, self.forfeited = self._call(step.step_all, sim, outputs, actions)
        else:
            refused, ended, self.forfeited = self._step_in_threads(actions)
        if refused >= 0:
            raise ValueError(self._refusal(refused, int(actions[refused])))
        if self._has_python_opponents:
            self._ask_opponents()
            ended = int(np.count_nonzero(outputs.terminated | outputs.truncated))
        return ended

    def _step_in_threads(self, actions: Integers) -> tuple[int, int, int]:
        refused = self._call(step.first_refused, self.simulation, actions)
        if refused >= 0:
            return refused, 0, 0
        calls = [(step.step_games, sim, self.buffers.outputs, actions, low, high) for sim, low, high in self._parts]
        ended, forfeited = zip(*call_in_threads(self._call, calls), strict=True)
        return -1, sum(ended), sum(forfeited)

    def sample(self, counter: int, chosen: Integers) -> None:
        """Writes a random legal action for each game, a function of its key and the counter; 0 where none is due."""
        calls = [(step.sample_games, sim, counter, chosen, low, high) for sim, low, high in self._quick_parts]
        if len(calls) == 1:
            self._call(*calls[0])
        else:
            call_in_threads(self._call, calls)

    def _ask_opponents(self) -> None:
        """Lets Python opponents move until no game waits."""
        if not self._has_python_opponents:
            return
        try:
            ask_agents(self.simulation, self.opponents, self._answer)
        except BaseException:  # the agent's own, or Ctrl-C: some games have moved and some can't go on
            self.episodes["status"] = state.TERMINATED
            self.broken = True
            raise

    def _answer(self, agent: Agent, games: Integers, answers: Integers) -> None:
        wrong = step.answer_games(self.simulation, self.buffers.outputs, games, answers)
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
