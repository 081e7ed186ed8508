"""What is measured of this package: the bare loops, and each way in that is built on them."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt

from mozaic_env.agents.baselines import greedy_agent
from mozaic_env.bench import loops, moves_loop
from mozaic_env.bench.measure import MICROSECONDS, Case, Ratio
from mozaic_env.core.game import Game
from mozaic_env.envs.gymnasium.single import GameEnv
from mozaic_env.envs.gymnasium.vector import GameVectorEnv
from mozaic_env.simulation.batch import Buffers

Plan = tuple[list[Case], list[Ratio]]  # what is measured in turn, and what is divided

GAMES = 1024  # of the bare loops, and of the vector environment where the number is not the point
SIZES = (1, 64, 1024, 4096)
GAMES_OF_STABLE_BASELINES = 256
STATE = "the next state"
SHOWN = "state, observation, mask"
STEP = f"{SHOWN}, reward, flags, info"
SAMPLED = f"{STEP}; sampler: compiled, timed with it"
BARE, CEILING = "random, observation and mask written", "reference: 640 bytes written from a table"


class _Counter:
    """Numbers the steps of a loop, which its random actions are a function of."""

    def __init__(self, loop: Callable[[int, int], None], steps: int, games: int) -> None:
        self._loop, self._steps, self._games, self._next = loop, steps, games, 0

    def __call__(self) -> float:
        self._loop(self._next, self._steps)
        self._next += self._steps
        return self._steps * self._games


def _fresh_rows(game: Game, seed: int) -> npt.NDArray[Any]:
    rows = game.rows(GAMES)
    rows["key"] = np.random.default_rng(seed).integers(2**64, size=GAMES, dtype=np.uint64)
    loops.begin(rows)
    loops.play_states(rows, 0, 500)  # until the games stand at different points
    return rows


def bare_loop(game: Game, shown: bool = True) -> Case:
    """Random legal play with observation and mask, in one compiled loop."""
    rows, buffers = _fresh_rows(game, 0), Buffers(game, GAMES)
    loop = _Counter(lambda first, steps: loops.play_shown(rows, first, steps, buffers.frames, buffers.masks), 10, GAMES)
    return Case(BARE, SHOWN, loop, shown=shown)


def ceiling(shown: bool = True) -> Case:
    """What this machine can do at most without vector instructions; see `loops.fill_boards`."""
    boards = np.zeros((GAMES, loops.PLANES + loops.MASKED), np.uint64)
    frames, masks = (np.zeros((GAMES, 8 * size), np.uint64) for size in (loops.PLANES, loops.MASKED))
    loop = _Counter(lambda first, steps: loops.fill_boards(boards, first, steps, loops.WORDS, frames, masks), 10, GAMES)
    return Case(CEILING, "4 x 64 bytes of planes, 384 of mask; no rules", loop, shown=shown)


def kernels(game: Game) -> Plan:
    """The bare loops, over 1,024 games."""
    rows = _fresh_rows(game, 1)
    cases = [
        Case("random, state alone", STATE, _Counter(lambda first, n: loops.play_states(rows, first, n), 10, GAMES)),
        bare_loop(game),
        ceiling(),
    ]
    cases += [_agent_loop(game, name) for name in game.heuristics]
    if game.max_moves:
        cases.append(_moves_loop(game))
    return cases, []


def _moves_loop(game: Game) -> Case:
    """Whole moves made and taken back, as a search does: every move from some random states, one after the other."""
    rows, moves = _fresh_rows(game, 3)[:64], np.zeros(game.max_moves, np.int64)
    produces = "the moves of a state listed, each made and taken back"
    return Case("whole moves", produces, lambda: float(moves_loop.make_all(rows, moves)))


def _agent_loop(game: Game, heuristic: str) -> Case:
    rows, policy = _fresh_rows(game, 2), greedy_agent(game, heuristic).policy_spec()
    scratch = np.zeros(game.num_actions, np.int64), np.zeros(game.num_actions)
    loop = _Counter(lambda _, steps: loops.play_agent(rows, policy, steps, *scratch), 2, GAMES)
    return Case(f"{heuristic} on both seats", f"{STATE}; the agent's choice included", loop)


def vector_name(size: int, copy: bool, threads: int = 1, opponent: str | None = None) -> str:
    """How a case of the vector environment is called."""
    words = ["1 game" if size == 1 else f"{size:,} games", f"copy={copy}", f"threads={threads}"]
    return ", ".join(words if opponent is None else [*words, f"opponent {opponent}"])


def vector_case(game: Game, size: int, copy: bool, threads: int = 1, opponent: str | None = None) -> Case:
    """`sample_actions` and `step` of the vector environment; counts decisions, not steps that only begin a game."""
    env = GameVectorEnv(size, game, opponent=opponent, copy=copy, threads=threads)
    env.reset(seed=0)
    steps, ended = max(500, 20_000 // size), 0
    for _ in range(steps):  # also until the games stand at different points
        _, _, terminated, truncated, _ = env.step(env.sample_actions())
        ended += int(np.count_nonzero(terminated | truncated))
    decided = size * (1 - ended / (steps * size))
    length = max(1, min(100, 2_000 // size))

    def work() -> float:
        for _ in range(length):
            env.step(env.sample_actions())
        return length * decided

    return Case(vector_name(size, copy, threads, opponent), SAMPLED, work, threads=threads)


def vector(game: Game) -> Plan:
    """The vector environment in all its sizes, on one thread."""
    cases = [vector_case(game, size, copy) for size in SIZES for copy in (False, True)]
    cases += [vector_case(game, GAMES, False, opponent=name) for name in ("random", *game.heuristics)]
    cases += [bare_loop(game, shown=False), ceiling(shown=False)]
    usual = vector_name(GAMES, False)
    ratios = [
        Ratio("vector environment / bare loop", usual, BARE),
        Ratio("vector environment / reference", usual, CEILING),
    ]
    return cases, ratios


def threads(game: Game) -> Plan:
    """The vector environment on two threads; apart from the others, for idle threads go on waiting for a while."""
    cases = [vector_case(game, size, copy, 2) for size in SIZES if size > 1 for copy in (False, True)]
    large = SIZES[-1]
    one, two = vector_name(large, False), vector_name(large, False, 2)
    cases.append(replace(vector_case(game, large, False), shown=False))
    return cases, [Ratio(f"2 threads / 1 thread, {large:,} games", two, one)]


class _Replay:
    """Games whose actions were noted, played again: steps without the choosing."""

    def __init__(self, env: gym.Env[Any, Any], games: int = 8) -> None:
        self._env, self._next = env, -1
        self._games = [self._note(seed) for seed in range(games)]

    def _note(self, seed: int) -> list[np.int64]:
        rng, actions, over = np.random.default_rng(seed), [], False
        _, info = self._env.reset(seed=seed)
        while not over:
            actions.append(rng.choice(np.flatnonzero(info["action_mask"])))
            _, _, terminated, truncated, info = self._env.step(actions[-1])
            over = terminated or truncated
        return actions

    def reset(self) -> None:
        self._next = (self._next + 1) % len(self._games)
        self._env.reset(seed=self._next)

    def __call__(self) -> float:
        step, actions = self._env.step, self._games[self._next]
        for action in actions:
            step(action)
        return len(actions)


def single(game: Game) -> Plan:
    """The single environment, `step` alone."""
    bare = _Replay(GameEnv(game, opponent=None))
    wrapped = _Replay(gym.make(f"mozaic_env:{type(game).__name__}-v0", opponent=None, **game.options))
    return [
        Case("GameEnv.step", STEP, bare, bare.reset, MICROSECONDS),
        Case("the same from gymnasium.make, with its wrappers", STEP, wrapped, wrapped.reset, MICROSECONDS),
    ], []


class _NotedSteps:
    """Steps of a stable-baselines3 environment, by noted actions from the same beginning."""

    def __init__(self, env: Any, noted: npt.NDArray[np.int64]) -> None:
        self._env, self._noted, self._next = env, noted, len(noted)

    def prepare(self) -> None:
        if self._next == len(self._noted):
            self._env.seed(0)
            self._env.reset()
            self._next = 0

    def __call__(self) -> float:
        self._env.step(self._noted[self._next])
        self._next += 1
        return self._noted.shape[1]


def sb3(game: Game) -> Plan:
    """GameVecEnv and DummyVecEnv of the same games, both given the same noted random legal actions."""
    from stable_baselines3.common.vec_env import DummyVecEnv

    from mozaic_env.envs.sb3 import GameVecEnv

    size = GAMES_OF_STABLE_BASELINES
    options: dict[str, Any] = {"opponent": None, "illegal": "raise"}
    native = GameVecEnv(size, game, **options)
    rng = np.random.default_rng(0)
    native.seed(0)
    native.reset()
    noted = np.zeros((100, size), np.int64)  # most games end on the way, and others begin
    for chosen in noted:
        chosen[:] = (rng.random((size, game.num_actions)) * native.action_masks()).argmax(axis=1)
        native.step(chosen)

    cases = []
    for env in (native, DummyVecEnv([lambda: GameEnv(game, **options)] * size)):
        steps = _NotedSteps(env, noted)
        produces = "state, observation, mask (not fetched), reward, done, infos"
        cases.append(Case(f"{type(env).__name__}, {size} games", produces, steps, steps.prepare))
    return cases, [Ratio("GameVecEnv / DummyVecEnv", cases[0].name, cases[1].name)]
