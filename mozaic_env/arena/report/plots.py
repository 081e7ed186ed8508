"""The pictures of a report, by matplotlib without a display. Each function writes one PNG file."""

from collections.abc import Sequence
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mozaic_env.arena.results import MatchResult
from mozaic_env.arena.statistics.ratings import PairCounts, Rating, points_between
from mozaic_env.core.extras import importing

with importing("a report"):
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch
    from matplotlib.ticker import MaxNLocator


INK, GREY, BLUE, ORANGE = "#222222", "#8a8a8a", "#1f5fa8", "#d55e00"
ENDINGS = (BLUE, GREY, ORANGE)  # won, drawn, lost
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
    """Elo points of all rated agents with their intervals, and the lead of each on the next one."""
    rated = [(rating, rating.elo, rating.interval) for rating in ratings if rating.elo is not None and rating.interval]
    figure = _figure(8, 1.6 + 0.55 * len(rated), f"Elo points above {anchor}, with 95% intervals")
    axes = figure.add_subplot()
    axes.grid(axis="x", color="#e4e4e4")
    axes.set_axisbelow(True)
    places = np.arange(len(rated))[::-1]
    for place, (rating, elo, interval) in zip(places, rated, strict=True):
        axes.plot(interval, [place, place], color=BLUE, linewidth=3, solid_capstyle="butt")
        axes.plot(elo, place, "o", color=INK, markersize=5)
        texts = [(f"{elo:.0f}", 7, 9, INK)]
        if rating.lead is not None and rating.lead_interval is not None:
            low, high = rating.lead_interval
            texts.append((f"{rating.lead:+.0f} [{low:+.0f}, {high:+.0f}] on the next", -14, 8, GREY))
        for text, up, size, colour in texts:
            axes.annotate(
                text,
                (elo, place),
                xytext=(0, up),
                textcoords="offset points",
                ha="center",
                fontsize=size,
                color=colour,
            )
    axes.set_yticks(places, [_short(rating.name) for rating, _, _ in rated])
    axes.set_ylim(-0.6, len(rated) - 0.3)
    axes.margins(x=0.08)
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


def margins_picture(path: Path, results: Sequence[MatchResult], unit: str) -> None:
    """Histograms of the final margins, one panel for each match whose games are known, all to one scale."""
    shown = [(result, result.details) for result in results if result.details is not None][:MOST_PANELS]
    rows = ceil(len(shown) / 3)
    figure = _figure(max(4 * min(3, len(shown)), 6), 1.4 + 2.9 * rows, "How the games ended for the first named agent")
    everything = np.concatenate([[0.0], *(games.margins[:, 0] for _, games in shown)])
    low, high = everything.min(), everything.max()
    step = max(1, ceil((high - low) / 60))  # margins are whole numbers in most games
    ahead = 0.5 + step * np.arange(ceil(max(high - 0.5, 0) / step) + 1)  # 0 has a bar of its own
    behind = -0.5 - step * np.arange(ceil(max(-low - 0.5, 0) / step) + 1)
    edges = np.concatenate([behind[::-1], ahead])
    for axes, (result, games) in zip(_panels(figure, len(shown), sharex=True), shown, strict=True):
        ends, margins = np.sign(games.results[:, 0]), games.margins[:, 0]
        parts = [margins[ends == end] for end in (1, 0, -1)]  # who is level may have won: ties are broken, wins shared
        axes.hist(parts, edges, stacked=True, color=ENDINGS)
        axes.axvline(result.margin, color=INK, linewidth=1.5, linestyle=":")
        first, second = (_short(name, 30) for name in result.players)
        won = f"won {result.wins:,}, drawn {result.draws:,}, lost {result.losses:,}"
        axes.set_title(f"{first} against {second}\n{won}; mean {result.margin:+.1f}", fontsize=9)
        axes.set_xlim(edges[0], edges[-1])
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlabel(f"lead at the end, in {unit}", fontsize=8)
        axes.set_ylabel("games", fontsize=8)
        axes.tick_params(labelsize=8, labelbottom=True)
    marks = [*(Patch(color=colour) for colour in ENDINGS), Line2D([], [], color=INK, linestyle=":")]
    names = ("won", "drawn", "lost", "mean")
    figure.legend(marks, names, loc="outside lower center", ncols=4, fontsize=8, frameon=False)
    _save(figure, path)


def course_picture(path: Path, title: str, curves: Sequence[tuple[str, Array]], unit: str, panels: bool) -> None:
    """Mean lead over the course of the game.

    Args:
        path: of the file.
        title: of the picture.
        curves: label and leads of each line; see `mozaic_env.arena.report.replayed.courses`.
        unit: of the leads.
        panels: one for each curve, with the middle 80% and the middle half of the games; else all in one picture.
    """
    shown = curves[: MOST_PANELS if panels else len(PALETTE)]
    decisions = np.arange(max(leads.shape[1] for _, leads in shown))
    if panels:
        columns = min(3, len(shown))
        figure = _figure(max(4 * columns, 6), 1.2 + 2.9 * ceil(len(shown) / 3), title)
        places = _panels(figure, len(shown), sharex=True, sharey=True)
    else:
        figure = _figure(9.5, 5, title)
        places = [figure.add_subplot()] * len(shown)
    for index, (axes, (label, leads)) in enumerate(zip(places, shown, strict=True)):
        leads = np.pad(leads, ((0, 0), (0, len(decisions) - leads.shape[1])), mode="edge")
        colour, mean = BLUE if panels else PALETTE[index], leads.mean(axis=0)
        if panels:
            for share, opacity in ((0.8, 0.15), (0.5, 0.25)):
                ends = np.quantile(leads, [(1 - share) / 2, (1 + share) / 2], axis=0)
                axes.fill_between(decisions, *ends, color=colour, alpha=opacity, linewidth=0)
            axes.set_title(f"{_short(label, 34)}: {mean[-1]:+.1f} at the end", fontsize=9)
            axes.tick_params(labelsize=8, labelbottom=True)
        axes.plot(decisions, mean, color=colour, linewidth=2, label=f"{mean[-1]:+.1f}  {_short(label)}")
        axes.axhline(0, color=GREY, linewidth=1, linestyle="--")
        axes.set_xlim(0, decisions[-1])
    figure.supxlabel("decisions of all seats so far", fontsize=9)
    figure.supylabel(f"lead, in {unit}", fontsize=9)
    if not panels:  # named in the order in which the lines end
        lines, labels = places[0].get_legend_handles_labels()
        order = np.argsort([-leads[:, -1].mean() for _, leads in shown], kind="stable")
        figure.legend(
            [lines[i] for i in order], [labels[i] for i in order], loc="outside right upper", fontsize=9, frameon=False
        )
    _save(figure, path)


def openings_picture(path: Path, title: str, boards: Sequence[tuple[str, Array]]) -> None:
    """Heat maps of where agents place first, one panel for each agent.

    Args:
        path: of the file.
        title: of the picture.
        boards: label and counts on the tiles, row 0 the lowest.
    """
    shown = boards[:MOST_PANELS]
    figure = _figure(3.5 * min(4, len(shown)) + 1, 1.0 + 3.4 * ceil(len(shown) / 4), title)
    panels = _panels(figure, len(shown), 4)
    for axes, (label, counts) in zip(panels, shown, strict=True):
        ratio = counts / max(counts.sum(), 1) * counts.size
        colours = np.log2(np.clip(ratio, 1 / 8, 8))
        image = axes.imshow(colours, origin="lower", cmap="PuOr_r", vmin=-3, vmax=3)
        for (rank, file), value in np.ndenumerate(ratio):
            colour = "white" if abs(colours[rank, file]) > 1.6 else INK
            text = f"{value:.2g}" if value < 9.95 else f"{value:.0f}"
            axes.text(file, rank, text, ha="center", va="center", fontsize=6, color=colour)
        axes.set_title(f"{_short(label, 30)}, {counts.sum():,.0f} placements", fontsize=9)
        axes.set_xticks(range(ratio.shape[1]), [chr(97 + file) for file in range(ratio.shape[1])])
        axes.set_yticks(range(ratio.shape[0]), range(1, ratio.shape[0] + 1))
        axes.tick_params(labelsize=8, length=0)
    bar = figure.colorbar(image, ax=panels, label="how often, 1 = as by chance", shrink=0.8)
    bar.set_ticks(range(-3, 4), labels=["1/8", "1/4", "1/2", "1", "2", "4", "8"])
    _save(figure, path)
