"""What the commands show: tables on stdout, progress on stderr while it is a terminal.

Needs rich, which the `train` extra installs.
"""

import contextlib
import io
import os
from collections.abc import Callable, Iterator, Sequence

from mozaic_env.arena.exact.regret import RegretResult
from mozaic_env.arena.report.regret_tables import (
    GROUP_COLUMNS,
    GROUP_SPARE,
    REGRET_SPARE,
    group_cells,
    regret_cells,
    regret_columns,
    regret_note,
    regret_title,
)
from mozaic_env.arena.report.tables import Figures
from mozaic_env.arena.results import MatchResult
from mozaic_env.arena.statistics.intervals import Interval
from mozaic_env.arena.statistics.ratings import PairCounts, Rating, points_between
from mozaic_env.core.extras import importing
from mozaic_env.core.game import Game
from mozaic_env.core.text.numbers import not_minus_zero
from mozaic_env.games import game_class

with importing("a table"):
    from rich.console import Console, RenderableType
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

PIPE_WIDTH = 10_000  # columns where the output is no terminal and nothing needs to fit


def make_console(stderr: bool = False) -> Console:
    """A console without colour codes and line breaks where its output is not a terminal.

    COLUMNS in the environment is the width, there too.
    """
    console = Console(stderr=stderr, highlight=False)
    if not console.is_terminal and not os.environ.get("COLUMNS", "").isdigit():
        console.width = PIPE_WIDTH
    return console


def whole_text(shown: RenderableType) -> str:
    """What a console prints where nothing needs to fit, for files."""
    out = io.StringIO()
    Console(file=out, width=PIPE_WIDTH).print(shown)
    return out.getvalue()


@contextlib.contextmanager
def progress_bar(text: str, total: float) -> Iterator[Callable[[float], None]]:
    """A function to call with how much is done; a bar with an estimate if stderr is a terminal."""
    console = make_console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(
        *columns,
        console=console,
        transient=True,
        redirect_stdout=False,
        disable=not console.is_terminal,
    ) as bar:
        task = bar.add_task(text, total=total)
        yield lambda done: bar.update(task, completed=int(done))


@contextlib.contextmanager
def waiting(text: str) -> Iterator[None]:
    """Says what is going on while stderr is a terminal."""
    console = make_console(stderr=True)
    if not console.is_terminal:
        yield
        return
    with console.status(text):
        yield


def percent(share: float) -> str:
    """A share as a percentage with one decimal."""
    return f"{100 * share:.1f}"


def percent_with_interval(share: float, interval: Interval) -> str:
    """A share and its interval, as in ``52.3 [50.1, 54.4]``."""
    return f"{percent(share)} [{percent(interval[0])}, {percent(interval[1])}]"


def margin_text(result: MatchResult) -> str:
    """The mean margin and half the width of its interval."""
    margin = not_minus_zero(result.margin, 2)
    if result.margin_interval is None:
        return f"{margin:+.2f}"
    low, high = result.margin_interval
    return f"{margin:+.2f} ± {(high - low) / 2:.2f}"


def match_columns(seat_names: Sequence[str], margin_unit: str) -> list[str]:
    """What the cells of `match_cells` are."""
    figures = ["wins", "draws", "losses", "points % [95%]", f"margin in {margin_unit} ± 95%"]
    return ["against", *figures, *(f"% as {name}" for name in seat_names), "distinct games"]


def match_cells(result: MatchResult) -> list[str]:
    """The figures of a match as texts."""
    return [
        result.players[1],
        *(f"{number:,}" for number in (result.wins, result.draws, result.losses)),
        percent_with_interval(result.points, result.interval),
        margin_text(result),
        *(percent_with_interval(seat.points, seat.interval) for seat in result.seats),
        f"{result.distinct:,} of {result.games:,}",
    ]


def match_table(title: str, results: Sequence[MatchResult], seat_names: Sequence[str]) -> Figures:
    """One line for each match of one game, seen from its first player."""
    columns = match_columns(seat_names, game_class(results[0].game).margin_unit)
    seats = range(6, len(columns) - 1)
    spare = ((1, 2, 3), seats, (len(columns) - 1,))
    return Figures(title, columns, [match_cells(result) for result in results], spare=spare)


def match_notes(results: Sequence[MatchResult]) -> list[str]:
    """What a reader of the table has to know as well, one sentence each."""
    notes = []
    if any(len(result.seats) > 2 for result in results):
        notes.append(
            "At more than two seats the second agent holds all but one; points are the share of its seats that the "
            "first agent was placed above."
        )
    for result in results:
        first, second = result.players
        if result.verdict == "undecided":
            notes.append(f"{first} against {second}: undecided, the interval includes 50%.")
        if result.truncated:
            notes.append(
                f"{first} against {second}: games that reached the limit of {result.max_decisions:,} decisions and "
                f"count as draws: {result.truncated:,}."
            )
        for name, number in zip(result.players, result.forfeits, strict=True):
            if number:
                notes.append(f"{name} lost {number:,} games by an illegal action.")
        if result.distinct < result.games // 2:
            notes.append(f"{first} against {second}: many games are copies of each other.")
    return notes


def regret_tables(result: RegretResult) -> list[Figures]:
    """The regret of an agent, and that of its decisions by group, a table for each way to sort them."""
    tables = [Figures(regret_title(result), regret_columns(result), [regret_cells(result)], spare=REGRET_SPARE)]
    for by, groups in result.groups.items():
        columns, cells = [by, *GROUP_COLUMNS], group_cells(result, groups)
        tables.append(Figures(f"by {by}", columns, cells, spare=GROUP_SPARE))
    return tables


def print_evaluation(
    title: str, game: Game, results: Sequence[MatchResult], regret: RegretResult | None = None
) -> None:
    """Prints the matches of an agent and, if it was measured, its regret.

    Args:
        title: above the tables.
        game: what was played.
        results: the matches, without the one against perfect play.
        regret: of the same agent.
    """
    out = make_console()
    played = results if regret is None else [*results, regret.match]
    out.print(match_table(title, played, game.seat_names))
    for note in match_notes(played):
        out.print(note, markup=False)
    if regret is not None:
        for table in regret_tables(regret):
            out.print(table)
        out.print(regret_note(regret), markup=False)


LADDER_COLUMNS = ("agent", "Elo [95%]", "above the next [95%]", "points %", "games")


def ladder_cells(rating: Rating) -> list[str]:
    """The `LADDER_COLUMNS` of an agent."""
    return [
        rating.name,
        elo_text(rating.elo, rating.interval),
        elo_text(rating.lead, rating.lead_interval),
        percent(rating.points),
        f"{rating.games:,}",
    ]


def ladder_table(title: str, ratings: Sequence[Rating]) -> Figures:
    """One line for each agent, the strongest first."""
    return Figures(title, LADDER_COLUMNS, [ladder_cells(rating) for rating in ratings], spare=((3,), (2,), (4,)))


def elo_text(elo: float | None, interval: Interval | None) -> str:
    """A rating or a lead and its interval, as in ``+343 [+320, +366]``."""
    if elo is None or interval is None:
        return "–"
    if interval == (elo, elo):  # the anchor
        return f"{elo:.0f}"
    return f"{elo:+.0f} [{interval[0]:+.0f}, {interval[1]:+.0f}]"


def cross_cells(names: Sequence[str], pairs: PairCounts) -> list[list[str]]:
    """For each agent its name and its share of points against each."""
    lines = []
    for name in names:
        shares = [points_between(pairs, name, other) for other in names]
        lines.append([name, *("–" if share is None else percent(share) for share in shares)])
    return lines


def cross_table(title: str, names: Sequence[str], pairs: PairCounts) -> Figures:
    """Who scored how much against whom; the columns have the numbers of the lines, the first are the last to go."""
    places = [str(place) for place in range(1, len(names) + 1)]
    lines = [[f"{place} {line[0]}", *line[1:]] for place, line in zip(places, cross_cells(names, pairs), strict=True)]
    return Figures(title, ["agent", *places], lines, spare=[(column,) for column in range(1, len(lines) + 1)])
