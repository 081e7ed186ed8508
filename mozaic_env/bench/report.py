"""The figures as a table and as a picture, and the machine that they are from."""

import os
import platform
import textwrap
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from mozaic_env import __version__
from mozaic_env.bench.measure import DECISIONS, Row
from mozaic_env.core.text.files import user_path

PICTURES = (".png", ".svg", ".pdf")
UNITS = ((1e6, "M"), (1e3, "k"))


def machine() -> dict[str, Any]:
    """The processor and what else may matter; no names of hosts, users or folders."""
    name = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        name = next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):  # another system
        pass
    load = round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None
    return {
        "processor": name,
        "cores": os.cpu_count(),
        "system": platform.system(),
        "load": load,  # mean number of other programs that wanted to run, before the benchmark
    }


def versions(others: Mapping[str, str]) -> dict[str, str]:
    """What the figures were measured with."""
    found = {"python": platform.python_version(), "mozaic_env": __version__}
    for name in ("numpy", "numba", "gymnasium", "stable_baselines3"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return {**found, **others}


def heading(machine: Mapping[str, Any], versions: Mapping[str, str]) -> str:
    """One line for each."""
    load = "" if machine["load"] is None else f", load {machine['load']} before the run"
    packages = ", ".join(f"{name} {number}" for name, number in versions.items())
    return f"{machine['processor']}, {machine['cores']} cores, {machine['system']}{load}\n{packages}"


def number(value: float, unit: str) -> str:
    """A figure with three digits that count: ``18.3 M``, ``0.27``."""
    if unit == DECISIONS:
        for size, letter in UNITS:
            if value >= size:
                return f"{value / size:.3g} {letter}" if value < 999.5 * size else f"{value / size:,.0f} {letter}"
    return f"{value:,.0f}" if value >= 999.5 else f"{value:#.3g}".rstrip(".")


def table(title: str, rows: Sequence[Row]) -> Any:
    """One line for each row of a part, as a rich renderable."""
    from mozaic_env.arena.report.tables import Figures

    lines = []
    for row in rows:
        spread = "" if row.repetitions == 1 else f"{number(row.low, row.unit)}..{number(row.high, row.unit)}"
        whole = "" if row.cores is None else f"{row.repetitions}/{row.repetitions + row.left_out}"
        cores = "" if row.cores is None else f"{row.cores:.1f}"
        lines.append((row.name, number(row.value, row.unit), spread, row.unit, whole, cores, row.produces))
    columns = ("what runs", "median", "min..max", "unit", "from", "cores", "what each step gives")
    return Figures(title, columns, lines, spare=((2,), (4, 5), (6,)), left=(3, 6))


def write_plot(path: str | Path, rows: Sequence[Row], caption: str) -> None:
    """All decision rates on a logarithmic scale: medians as points, lines from the smallest to the largest."""
    from matplotlib.figure import Figure

    shown = [row for row in rows if row.unit == DECISIONS][::-1]
    figure = Figure(figsize=(10, 1.6 + 0.26 * len(shown)), layout="constrained")
    axes = figure.add_subplot()
    for group in dict.fromkeys(row.group for row in rows):
        mine = [(place, row) for place, row in enumerate(shown) if row.group == group]
        axes.errorbar(
            [row.value for _, row in mine],
            [place for place, _ in mine],
            xerr=[[row.value - row.low for _, row in mine], [row.high - row.value for _, row in mine]],
            fmt="o",
        )
    axes.set_yticks(range(len(shown)), [f"{row.group}: {row.name}" for row in shown], fontsize=8)
    axes.set_xscale("log")
    axes.set_xlabel("decisions per second")
    axes.grid(axis="x", alpha=0.3)
    figure.suptitle("\n".join(textwrap.fill(line, 130) for line in caption.splitlines()), fontsize=8)
    file = user_path(path)
    temporary = file.with_name(f".{file.stem}.part{file.suffix}")
    try:
        figure.savefig(temporary, dpi=150)
        os.replace(temporary, file)
    finally:
        temporary.unlink(missing_ok=True)
