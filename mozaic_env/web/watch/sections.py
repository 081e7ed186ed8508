"""What the sections of the page on a training run have in common."""

from collections.abc import Sequence
from html import escape

from mozaic_env.web.watch.run_data import Metrics

DECISIONS = "decisions trained on"
MOST_POINTS = 240  # of a curve; more are averaged


def section(title: str, *content: str) -> str:
    """A section with its title; its content is HTML."""
    return f"<section><h2>{title}</h2>{''.join(content)}</section>"


def note(*sentences: str) -> str:
    """Paragraphs of small print, empty ones left out; escapes them."""
    return "".join(f'<p class="note">{escape(sentence)}</p>' for sentence in sentences if sentence)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table that scrolls sideways; escapes its cells."""

    def line(cells: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    body = "".join(line(row, "td") for row in rows)
    return f'<div class="scroll"><table><thead>{line(head, "th")}</thead><tbody>{body}</tbody></table></div>'


def beginnings(metrics: Metrics) -> list[tuple[float, str]]:
    """Marks where self-play begins, for charts over decisions."""
    return [(metrics.warm_start, "self-play begins")] if 0 < metrics.warm_start < metrics.decisions else []
