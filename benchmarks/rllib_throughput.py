"""How throughput grows with the number of RLlib runners, on this machine or on a Ray cluster.

    python -m benchmarks.rllib_throughput --config configs/rllib.yaml --runners 1,2
    python -m benchmarks.rllib_throughput --config configs/rllib.yaml --runners 1,8,32 --address auto

Every number of runners has an algorithm of its own, and all of them stay through the measurement, those idle whose turn
it is not. They have their turns alternately, so that whatever else the machines do meets all alike; figures are medians
over rounds, ratios those of the ratio within a round. An update's batch grows with the runners, as it does in training.
"""

import contextlib
import statistics
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mozaic_env.arena.cluster import LOCAL, connect
from mozaic_env.arena.report.console import make_console
from mozaic_env.arena.report.tables import Figures
from mozaic_env.cli.parser import Parser
from mozaic_env.core.extras import MissingExtra, need
from mozaic_env.core.text.numbers import is_number
from training.command import run_script
from training.config import load_config
from training.rllib.config import RLlibConfig
from training.rllib_train import MODULES


@dataclass(frozen=True)
class Turn:
    """What some updates took.

    Attributes:
        decisions: that were played and trained on.
        playing: seconds in which the runners played.
        learning: seconds in which the learner learnt.
        whole: seconds of everything, the weights' way to the runners included.
        processor: seconds that the runners' processors worked, all together.
    """

    decisions: int
    playing: float
    learning: float
    whole: float
    processor: float

    @property
    def played(self) -> float:
        """Decisions per second of playing."""
        return self.decisions / self.playing

    @property
    def per_processor(self) -> float:
        """Decisions per second of a runner's processor: what it would play with a core to itself."""
        return self.decisions / self.processor

    @property
    def trained(self) -> float:
        """Decisions per second of everything."""
        return self.decisions / self.whole


def take_turn(algorithm: Any, updates: int) -> Turn:
    """Has an algorithm make some updates."""
    processor, before = processor_seconds(algorithm), algorithm.decisions
    began, playing, learning = time.perf_counter(), 0.0, 0.0
    for _ in range(updates):
        timers = algorithm.train()["timers"]
        playing += float(timers["env_runner_sampling_timer"])
        learning += float(timers["learner_update_timer"])
    whole = time.perf_counter() - began
    return Turn(algorithm.decisions - before, playing, learning, whole, processor_seconds(algorithm) - processor)


def processor_seconds(algorithm: Any) -> float:
    """That the runners' processes have had so far."""
    return sum(algorithm.env_runner_group.foreach_env_runner(lambda _: time.process_time(), local_env_runner=False))


def measure(algorithms: Mapping[int, Any], rounds: int, updates: int) -> dict[int, list[Turn]]:
    """Turns of each algorithm, one for each round; every second round goes through them backwards.

    Args:
        algorithms: by their number of runners; each makes an update before the rounds, which compiles what has to be.
        rounds: how often each has its turn.
        updates: of a turn.
    """
    turns: dict[int, list[Turn]] = {number: [] for number in algorithms}
    for algorithm in algorithms.values():
        algorithm.train()
    for turn in range(rounds):
        for number in list(algorithms)[:: -1 if turn % 2 else 1]:
            turns[number].append(take_turn(algorithms[number], updates))
    return turns


def make_table(turns: Mapping[int, Sequence[Turn]], title: str) -> Figures:
    """Medians, and the medians of the ratios to the first number of runners, one line for each number."""
    names = "runners", "played / s", "lowest", "highest", "ratio", "/ CPU s", "trained / s", "ratio", "learner's share"
    first = next(iter(turns.values()))
    lines = []
    for number, mine in turns.items():
        played, trained = [turn.played for turn in mine], [turn.trained for turn in mine]
        line = (
            str(number),
            *(f"{figure:,.0f}" for figure in (statistics.median(played), min(played), max(played))),
            f"{statistics.median(turn.played / other.played for turn, other in zip(mine, first, strict=True)):.2f}",
            f"{statistics.median(turn.per_processor for turn in mine):,.0f}",
            f"{statistics.median(trained):,.0f}",
            f"{statistics.median(turn.trained / other.trained for turn, other in zip(mine, first, strict=True)):.2f}",
            f"{statistics.median(turn.learning / turn.whole for turn in mine):.0%}",
        )
        lines.append(line)
    return Figures(title, names, lines, spare=((8,), (2, 3), (5,)))


def run(config: RLlibConfig, numbers: Sequence[int], rounds: int, updates: int) -> Figures:
    """Measures in a process that has Ray already; gives what is to be shown.

    Raises:
        ValueError: the cluster has no room for so many runners.
    """
    import ray

    from training.rllib.algorithm import make_algorithm

    game, room, wanted = config.make_game(), ray.cluster_resources().get("CPU", 0), sum(numbers) * config.runners.cpus
    if room < wanted:
        raise ValueError(f"{sum(numbers)} runners in all take {wanted:g} CPUs, and the Ray cluster has {room:g}")
    with contextlib.ExitStack() as stack:
        algorithms = {}
        for number in numbers:
            mine = with_runners(config, number)
            algorithms[number] = stack.enter_context(make_algorithm(mine, game, (config.seed, number)))
        turns = measure(algorithms, rounds, updates)
    return make_table(
        turns, f"decisions per second, {rounds} rounds of {updates} updates, {config.ppo.games} games each"
    )


def with_runners(config: RLlibConfig, number: int) -> RLlibConfig:
    """The configuration with another number of runners."""
    runners = config.runners.model_copy(update={"number": number})
    return RLlibConfig.model_validate({**config.model_dump(), "runners": runners.model_dump()})


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns the exit status."""
    parser = Parser(
        prog="python -m benchmarks.rllib_throughput", description="Measures how throughput grows with RLlib's runners."
    )
    parser.add_argument("--config", required=True, metavar="FILE", help="what is trained, such as configs/rllib.yaml")
    parser.add_argument("--runners", default="1,2", metavar="N,N", help="numbers to compare; default: 1,2")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="turns of each number; default: 5")
    parser.add_argument("--updates", type=int, default=5, metavar="N", help="of each turn; default: 5")
    parser.add_argument(
        "--address", metavar="HOST:PORT", help="of a Ray cluster, or auto for the one that this machine is part of"
    )
    parser.add_argument("overrides", nargs="*", metavar="KEY=VALUE", help="wins over the file, as in ppo.games=512")
    given = parser.parse_args(arguments)
    try:
        for name in ("rounds", "updates"):
            if getattr(given, name) < 1:
                raise ValueError(f"--{name} {getattr(given, name)}; accepted: a whole number of at least 1")
        numbers = [int(word) if is_number(word) else 0 for word in given.runners.split(",")]
        if 0 in numbers or len(set(numbers)) < len(numbers):
            raise ValueError(f"--runners {given.runners}; accepted: different whole numbers of at least 1, as in 1,2,4")
        config = load_config(given.config, [*given.overrides, f"runners.number={min(numbers)}"], RLlibConfig)
        config.make_game()
        need("this", *MODULES)
        with connect(given.address or LOCAL, cpus=sum(numbers) * config.runners.cpus):
            made = run(config, numbers, given.rounds, given.updates)
    except (ValueError, MissingExtra) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    make_console().print(made)
    return 0


if __name__ == "__main__":
    run_script(main)
