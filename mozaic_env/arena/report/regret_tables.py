"""Regret as texts: the cells of tables, for the terminal and for reports."""

from collections.abc import Sequence

from mozaic_env.arena.exact.regret import GroupRegret, RegretResult
from mozaic_env.arena.statistics.intervals import Interval
from mozaic_env.core.exact import MARGIN
from mozaic_env.core.text.numbers import not_minus_zero

GROUP_COLUMNS = ("decisions", "of all %", "regret a decision", "of all regret %", "not best %")
GROUP_SPARE = ((4,), (5,), (1,), (2,))  # columns of the group tables that may go, the first last
REGRET_SPARE = ((3,), (4,), (2,), (5,))  # of `regret_columns`


def regret_title(result: RegretResult) -> str:
    """The title of the table."""
    return f"{result.player} against perfect play, {result.games:,} games"


def regret_columns(result: RegretResult) -> list[str]:
    """What the cells of `regret_cells` are."""
    lead = "margin" if result.objective == MARGIN else "result"
    return [
        "agent",
        f"regret in {result.unit} a game ± 95%",
        "a decision",
        "not best %",
        f"{lead} ± 95%",
        "decisions",
    ]


def regret_cells(result: RegretResult) -> list[str]:
    """The figures of an agent as texts."""
    return [
        result.player,
        with_half_width(result.regret, result.interval),
        f"{result.decision_regret:.4f}",
        f"{100 * result.mistakes:.1f}",
        with_half_width(result.lead, result.lead_interval, sign="+"),
        f"{result.decisions:,}",
    ]


def group_cells(result: RegretResult, groups: Sequence[GroupRegret]) -> list[list[str]]:
    """For each group of decisions its name and the `GROUP_COLUMNS`."""
    return [
        [
            group.name,
            f"{group.decisions:,}",
            f"{100 * group.decisions / max(result.decisions, 1):.1f}",
            f"{group.regret:.4f}",
            f"{100 * group.share:.1f}",
            f"{100 * group.mistakes:.1f}",
        ]
        for group in groups
    ]


def regret_note(result: RegretResult) -> str:
    """What a reader of the tables has to know."""
    lead = "the margin" if result.objective == MARGIN else "the result"
    note = (
        "Regret is the exact value of the best action less that of the chosen one. Over a game it adds up to what the "
        f"agent loses in expectation: {lead} is minus the regret, plus luck."
    )
    return note if result.residual == 0 else f"{note} Values are exact to {result.residual:.0e}."


def with_half_width(value: float, interval: Interval | None, sign: str = "") -> str:
    """A mean and half the width of its interval, as in ``0.60 ± 0.02``."""
    text = f"{not_minus_zero(value, 2):{sign}.2f}"
    return text if interval is None else f"{text} ± {(interval[1] - interval[0]) / 2:.2f}"
