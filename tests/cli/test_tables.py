"""Every table that a command prints: one line for each agent at any width, and what matters is always shown."""

from __future__ import annotations

import functools
import io
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("rich", reason="rich is not installed")
from rich.console import Console

from mozaic_env.agents.specs import make_agent
from mozaic_env.arena.exact.exploit import Exploitability
from mozaic_env.arena.exact.regret import RegretResult, measure_regret
from mozaic_env.arena.match import play_match
from mozaic_env.arena.report import console
from mozaic_env.arena.report.regret_tables import regret_cells
from mozaic_env.arena.report.tables import shortened
from mozaic_env.arena.results import MatchResult
from mozaic_env.arena.statistics.ratings import merge_pairs, rate
from mozaic_env.bench import report
from mozaic_env.bench.measure import DECISIONS, Row
from mozaic_env.cli.exploit import exploit_table
from mozaic_env.games import make_game

LONG = "runs/experiments/of-last-winter/a-name-that-says-it-all/checkpoints/step-{:012d}"
VARIANTS: dict[str, dict[str, Any]] = {
    "mozaic": {"rows": 4, "cols": 4},
    "crystal_mosaic": {"players": 4},
}
Lines = list[list[str]]  # for each line of the table the texts that it has to show


def shown(table: Any, width: int) -> list[str]:
    out = io.StringIO()
    Console(file=out, width=width).print(table)
    return out.getvalue().splitlines()


@functools.cache
def results(name: str) -> tuple[Any, list[MatchResult]]:
    """A round robin of agents with long names, which differ in their last letters alone."""
    game = make_game(name, **VARIANTS[name])
    agents = [make_agent(spec, game) for spec in ("greedy", "random", "random", "random")]
    for number, agent in enumerate(agents[1:]):
        agent.name = LONG.format(number)
    return game, [play_match(one, two, 40, seed=1) for one in agents for two in agents if one is not two]


def matches(name: str) -> tuple[Any, Lines]:
    game, played = results(name)
    table = console.match_table("Matches", played[:3], game.seat_names)
    points = [console.percent_with_interval(result.points, result.interval) for result in played[:3]]
    return table, [[point, console.margin_text(result)] for point, result in zip(points, played)]


def ladder(name: str) -> tuple[Any, Lines]:
    ratings = rate(merge_pairs(results(name)[1]), samples=5)
    return console.ladder_table("Ladder", ratings), [[console.ladder_cells(rating)[1]] for rating in ratings]


def cross(name: str) -> tuple[Any, Lines]:
    names = ["greedy", *(LONG.format(number) for number in range(3))]
    cells = console.cross_cells(names, merge_pairs(results(name)[1]))
    return console.cross_table("Points", names, merge_pairs(results(name)[1])), [line[1:3] for line in cells]


@functools.cache
def measured() -> RegretResult:
    agent = make_agent("random", make_game("mozaic", rows=2, cols=4))
    agent.name = LONG.format(1)
    return measure_regret(agent, 20)


def regret() -> tuple[Any, Lines]:
    return console.regret_tables(measured())[0], [[regret_cells(measured())[1]]]


def regret_by(place: int) -> tuple[Any, Lines]:
    table = console.regret_tables(measured())[place]
    return table, [[line[3]] for line in table.lines]


def exploitability() -> tuple[Any, Lines]:
    found = Exploitability((1.23456, -1e-9), (0.5, -0.5))
    table = exploit_table("title", ("yellow", "blue"), found)
    return table, [["+0.7346"], ["+0.5000"], ["+0.6173"]]


def bench() -> tuple[Any, Lines]:
    names = [f"{number} games of a kind that takes many words to describe, and a few more" for number in (1, 2)]
    rows = [Row("vector", name, 123_456.0, 1e5, 2e5, DECISIONS, 9, 1, 1.2, "an observation") for name in names]
    return report.table("title", rows), [[report.number(row.value, row.unit)] for row in rows]


def throughput() -> tuple[Any, Lines]:
    made = pytest.importorskip("benchmarks.throughput", reason="needs the extra train")
    speeds = {"own": [1234.5], "stock, minibatches of 64": [617.25], "stock, minibatches of 1024": [411.5]}
    return made.make_table("title", speeds, dict.fromkeys(speeds, 16)), [["1,234", "1.00"], ["617", "2.00"], ["412"]]


def rllib_throughput() -> tuple[Any, Lines]:
    made = pytest.importorskip("benchmarks.rllib_throughput", reason="needs the extra train")
    turns = {number: [made.Turn(10_000 * number, 2.0, 6.0, 10.0, 40.0)] for number in (1, 2)}
    return made.make_table(turns, "title"), [["5,000", "1,000"], ["10,000", "2,000"]]


def sweep() -> tuple[Any, Lines]:
    made = pytest.importorskip("training.sweeps.report", reason="needs the extra sweep")
    optuna = pytest.importorskip("optuna")
    keys = ["ppo.learning_rate", "warm_start.learning_rate", "network.value_hidden", "opponents.priority.power"]
    trials = []
    for number in (2, 1):
        trial = optuna.trial.create_trial(
            value=0.1 * number,
            params=dict.fromkeys(keys, 0.01234 * number),
            distributions=dict.fromkeys(keys, optuna.distributions.FloatDistribution(0, 1)),
            user_attrs={"interval": [0.05, 0.95]},
        )
        trial.number = number
        trials.append(trial)
    return made.table(trials, keys, "pattern"), [["20.0 [5.0, 95.0]"], ["10.0 [5.0, 95.0]"]]


def timing() -> tuple[Any, Lines]:
    made = pytest.importorskip("training.runs.timing", reason="needs the extra train")
    clock = made.Stopwatch()
    for phase in (made.WARM_START, made.SELF_PLAY):
        with clock.phase(phase):
            pass
    return clock.table(), []


TABLES: dict[str, Callable[[], tuple[Any, Lines]]] = {
    **{
        f"{make.__name__} of {name}": functools.partial(make, name)
        for make in (matches, ladder, cross)
        for name in VARIANTS
    },
    **{f"regret by group {place}": functools.partial(regret_by, place) for place in (1, 2)},
    **{make.__name__: make for make in (regret, exploitability, bench, throughput, rllib_throughput, sweep, timing)},
}


@pytest.mark.parametrize("width", [60, 80, 120, console.PIPE_WIDTH])
@pytest.mark.parametrize("name", TABLES)
def test_a_table_fits_with_one_line_for_each_agent(name: str, width: int) -> None:
    table, needed = TABLES[name]()
    text = shown(table, width)
    assert max(map(len, text)) <= width
    for texts in needed:
        assert any(all(cell in line for cell in texts) for line in text), texts
    if needed:
        rule = next(number for number, line in enumerate(text) if set(line.strip()) == {"─"})
        lines = text[rule + 1 : rule + 1 + len(needed)]
        assert len({line.split("  ")[0] for line in lines}) == len(needed)  # the names are distinct
        assert all(texts[0] in line for texts, line in zip(needed, lines, strict=True))
        columns, heads = table.columns[1:], " ".join(" ".join(text[1:rule]).split())
        left_out = " ".join(" ".join(text[rule + 1 + len(needed) :]).split())
        for column in columns:  # each is in the heading, or said to be missing
            assert all(word in heads for word in column.split()) or "".join(column.split("\n")) in left_out
        if width == console.PIPE_WIDTH:
            assert "…" not in "".join(text)
            assert left_out == ""


def test_no_zero_is_negative() -> None:
    found = Exploitability((-1e-9, -0.00006), (0.0, -0.0))
    lines = exploit_table("title", ("yellow", "blue"), found).lines
    assert lines[0] == ("yellow", "+0.0000", "+0.0000", "+0.0000")
    assert lines[1] == ("blue", "-0.0001", "+0.0000", "-0.0001")


@pytest.mark.parametrize(
    ("names", "width", "short"),
    [
        (["greedy", "pattern"], 8, ["greedy", "pattern"]),
        (["runs/a-long-name/step-1", "greedy"], 11, ["runs/…tep-1", "greedy"]),
        (["aaaa1bbbb", "aaaa2bbbb"], 6, ["aaaa1…", "aaaa2…"]),
        (["aaaaaaaa1bbbbbbbb", "aaaaaaaa2bbbbbbbb"], 6, ["aaaa…1", "aaaa…2"]),
        (["the same name"] * 2, 6, ["the…me"] * 2),
    ],
)
def test_shortened_names_stay_distinct(names: list[str], width: int, short: list[str]) -> None:
    assert shortened(names, width) == short


@pytest.mark.parametrize(("columns", "width"), [(None, console.PIPE_WIDTH), ("60", 60), ("", console.PIPE_WIDTH)])
def test_columns_in_the_environment_is_the_width_where_there_is_no_terminal(
    monkeypatch: pytest.MonkeyPatch, columns: str | None, width: int
) -> None:
    if columns is None:
        monkeypatch.delenv("COLUMNS", raising=False)
    else:
        monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setattr("sys.stdout", io.StringIO())
    assert console.make_console().width == width
