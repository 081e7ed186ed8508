"""The pictures of a report, by matplotlib without a display. Each function writes one PNG file."""

from collections.abc import Sequence
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from mozaic_env.arena.ratings import PairCounts, Rating, points_between
from mozaic_env.arena.results import MatchResult

INK, GREY, BLUE, ORANGE = "#222222", "#8a8a8a", "#1f5fa8", "#d55e00"
# Told apart with any kind of colour vision (M. Okabe, K. Ito, Color universal design, 2008).
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8a8a8a")
MOST_PANELS = 12
Array = npt.NDArray[np.float64]


def _figure(width: float, height: float, title: str) -> Figure:
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    figure.suptitle(title, fontsize=12, color=INK)
    return figure


def _save(figure: Figure, path: Path) -> None:
    figure.savefig(path, dpi=110, facecolor="white")


def _short(name: str, most: int = 30) -> str:
    return name if len(name) <= most else "…" + name[1 - most :]


def points_picture(path: Path, results: Sequence[MatchResult]) -> None:
    """The share of points against each opponent, with its interval."""
    figure = _figure(8, 1.6 + 0.45 * len(results), f"Points of {results[0].players[0]}, with 95% intervals")
    axes = figure.add_subplot()
    axes.axvline(50, color=GREY, linewidth=1, linestyle="--")
    places = np.arange(len(results))[::-1]
    for place, result in zip(places, results, strict=True):
        low, high = 100 * result.interval[0], 100 * result.interval[1]
        axes.plot([low, high], [place, place], color=BLUE, linewidth=3, solid_capstyle="butt")
        axes.plot(100 * result.points, place, "o", color=INK, markersize=5)
        axes.annotate(
            f"{100 * result.points:.1f}",
            (100 * result.points, place),
            xytext=(0, 7),
            textcoords="offset points",
            ha="center",
            fontsize=9,
        )
    axes.set_yticks(places, [f"against {_short(result.players[1])}" for result in results])
    axes.set_ylim(-0.6, len(results) - 0.3)
    axes.set_xlim(-6, 106)
    axes.set_xlabel("points, % (wins + half the draws)")
    _save(figure, path)


def ladder_picture(path: Path, ratings: Sequence[Rating], anchor: str) -> None:
    """Elo points of all rated agents, with their intervals."""
    rated = [(r.name, r.elo, r.interval) for r in ratings if r.elo is not None and r.interval]
    figure = _figure(8, 1.6 + 0.45 * len(rated), f"Elo points above {anchor}, with 95% intervals")
    axes = figure.add_subplot()
    axes.grid(axis="x", color="#e4e4e4")
    axes.set_axisbelow(True)
    places = np.arange(len(rated))[::-1]
    for place, (_, elo, interval) in zip(places, rated, strict=True):
        axes.plot(interval, [place, place], color=BLUE, linewidth=3, solid_capstyle="butt")
        axes.plot(elo, place, "o", color=INK, markersize=5)
        axes.annotate(
            f"{elo:.0f}",
            (elo, place),
            xytext=(0, 7),
            textcoords="offset points",
            ha="center",
            fontsize=9,
        )
    axes.set_yticks(places, [_short(name) for name, _, _ in rated])
    axes.set_ylim(-0.6, len(rated) - 0.3)
    axes.set_xlabel("Elo points")
    _save(figure, path)


def cross_picture(path: Path, names: Sequence[str], pairs: PairCounts) -> None:
    """Who scored how much against whom, as a heat map."""
    size = len(names)
    table = np.full((size, size), np.nan)
    for i, first in enumerate(names):
        for j, second in enumerate(names):
            points = points_between(pairs, first, second)
            table[i, j] = np.nan if points is None else 100 * points
    figure = _figure(3.4 + 0.75 * size, 2.4 + 0.6 * size, "Points % of the row against the column")
    axes = figure.add_subplot()
    image = axes.imshow(table, cmap="RdBu", vmin=0, vmax=100, aspect="auto")
    for i, j in np.ndindex(size, size):
        if np.isnan(table[i, j]):
            continue
        colour = "white" if abs(table[i, j] - 50) > 32 else INK
        axes.text(j, i, f"{table[i, j]:.1f}", ha="center", va="center", color=colour, fontsize=9)
    axes.set_yticks(range(size), [_short(name) for name in names])
    axes.set_xticks(range(size), [_short(name, 18) for name in names], rotation=35, ha="right")
    figure.colorbar(image, ax=axes, label="points, %")
    _save(figure, path)


def _panels(figure: Figure, number: int, columns: int = 3, **options: Any) -> list[Any]:
    columns = min(columns, number)
    grid = figure.subplots(ceil(number / columns), columns, squeeze=False, **options)
    for axes in grid.flat[number:]:
        axes.set_axis_off()
    return list(grid.flat[:number])


def margins_picture(path: Path, results: Sequence[MatchResult]) -> None:
    """Histograms of the final margins, one panel for each match whose games are known."""
    shown = [(r, r.details.margins[:, 0]) for r in results if r.details is not None][:MOST_PANELS]
    size = 4 * min(3, len(shown)), 0.6 + 2.7 * ceil(len(shown) / 3)
    figure = _figure(*size, "Final margin of the first named agent")
    for axes, (result, margins) in zip(_panels(figure, len(shown)), shown, strict=True):
        low, high = min(margins.min(), 0.0), max(margins.max(), 0.0)
        step = max(1, ceil((high - low) / 40))  # margins are whole numbers in most games
        axes.hist(margins, np.arange(low - step / 2, high + step, step), color=BLUE)
        axes.axvline(0, color=GREY, linewidth=1, linestyle="--")
        axes.axvline(result.margin, color=ORANGE, linewidth=1.5)
        first, second = (_short(name, 22) for name in result.players)
        axes.set_title(f"{first} – {second}: mean {result.margin:+.1f}", fontsize=9)
        axes.set_ylabel("games", fontsize=8)
        axes.tick_params(labelsize=8)
    _save(figure, path)


def course_picture(path: Path, title: str, curves: Sequence[tuple[str, Array]], bands: bool) -> None:
    """Mean lead over the course of the game.

    Args:
        path: of the file.
        title: of the picture.
        curves: label and leads of each line; see `mozaic_env.arena.traces.courses`.
        bands: whether to shade the middle 80% of the games.
    """
    figure = _figure(8.5, 4.6, title)
    axes = figure.add_subplot()
    axes.axhline(0, color=GREY, linewidth=1, linestyle="--")
    longest = max(leads.shape[1] for _, leads in curves)
    for index, (label, leads) in enumerate(curves[: len(PALETTE)]):
        colour, decisions = PALETTE[index], np.arange(longest)
        leads = np.pad(leads, ((0, 0), (0, longest - leads.shape[1])), mode="edge")
        if bands:
            low, high = np.quantile(leads, [0.1, 0.9], axis=0)
            axes.fill_between(decisions, low, high, color=colour, alpha=0.15, linewidth=0)
        axes.plot(decisions, leads.mean(axis=0), color=colour, linewidth=2, label=_short(label))
    axes.set_xlim(0, longest - 1)
    axes.set_xlabel("decisions of both seats")
    axes.set_ylabel("lead, in the game's unit")
    axes.legend(loc="upper left", fontsize=9, frameon=False)
    _save(figure, path)


def openings_picture(path: Path, title: str, boards: Sequence[tuple[str, Array]]) -> None:
    """Heat maps of where agents place first, one panel for each agent.

    Args:
        path: of the file.
        title: of the picture.
        boards: label and counts on the tiles, row 0 the lowest.
    """
    shown = boards[:MOST_PANELS]
    figure = _figure(3.3 * min(4, len(shown)) + 1, 0.6 + 3.1 * ceil(len(shown) / 4), title)
    panels = _panels(figure, len(shown), 4)
    for axes, (label, counts) in zip(panels, shown, strict=True):
        ratio = counts / max(counts.sum(), 1) * counts.size
        colours = np.log2(np.clip(ratio, 1 / 8, 8))
        image = axes.imshow(colours, origin="lower", cmap="PuOr_r", vmin=-3, vmax=3)
        axes.set_title(_short(label, 26), fontsize=10)
        axes.set_xticks(range(ratio.shape[1]), [chr(97 + file) for file in range(ratio.shape[1])])
        axes.set_yticks(range(ratio.shape[0]), range(1, ratio.shape[0] + 1))
        axes.tick_params(labelsize=8, length=0)
    bar = figure.colorbar(image, ax=panels, label="times as often as by chance", shrink=0.8)
    bar.set_ticks(range(-3, 4), labels=["1/8", "1/4", "1/2", "1", "2", "4", "8"])
    _save(figure, path)
