"""Regret of agents on a solved board, as a table in Markdown.

    python -m benchmarks.exact_table --games 2000 --results build/exact.jsonl random greedy runs/exact-0

Every agent is played against perfect play. Its figures are added to the results file when they are there, and an agent
that is in it is not played again, so an interrupted table goes on. Then come what the agents get wrong, by group of
decisions, and the positions in which they give most away.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mozaic_env.agents.specs import make_agent
from mozaic_env.arena.exact.regret import RegretResult, measure_regret
from mozaic_env.core.exact import require_exact_values
from mozaic_env.core.game import Game
from mozaic_env.games import make_game

BASELINES = (
    "random",
    "greedy",
    "pattern",
    *(f"expectimax:depth={depth}" for depth in (1, 2, 3, 4)),
    "mcts:simulations=200",
    "perfect",
)
WORST = 3  # positions to show of each agent


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.exact_table", description="Regret of agents.")
    parser.add_argument("agents", nargs="*", default=BASELINES, metavar="AGENT", help="default: those without training")
    parser.add_argument("--rules", default="amethyst")
    parser.add_argument("--rows", type=int, default=4, metavar="N")
    parser.add_argument("--cols", type=int, default=4, metavar="N")
    parser.add_argument("--games", type=int, default=2000, metavar="N", help="default: %(default)s")
    parser.add_argument("--seed", type=int, default=0, metavar="S")
    parser.add_argument("--results", type=Path, metavar="FILE", help="JSON Lines that keep what has been measured")
    given = parser.parse_args(arguments)
    try:
        game = make_game("mozaic", rules=given.rules, rows=given.rows, cols=given.cols)
        lines = [measured(spec, game, given.games, given.seed, given.results) for spec in given.agents]
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(table(lines))
    for by in lines[0]["groups"] if lines else ():
        print(f"\n{groups_table(lines, by)}")
    return 0


def measured(spec: str, game: Game, games: int, seed: int, results: Path | None) -> dict[str, Any]:
    """An agent's figures, from the results file if they are there."""
    what = {"agent": spec, "game": repr(game), "games_played": games, "seed": seed}
    if results is not None and results.exists():
        for text in results.read_text("utf-8").splitlines():
            line = json.loads(text)
            if line.items() >= what.items():
                return line
    result = measure_regret(make_agent(spec, game), games, seed)
    line = {**what, **result.to_json(), "worst": worst(result, game)}
    if results is not None:
        with results.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
    print(f"{spec}: {result.regret:.3f} a game, {result.seconds:.1f} s", file=sys.stderr)
    return line


def worst(result: RegretResult, game: Game) -> list[dict[str, Any]]:
    """The positions in which the agent gave most away, each with what it chose and what is best."""
    found, values, shown = result.details, require_exact_values(game), list[dict[str, Any]]()
    for place in np.argsort(-found.regrets, kind="stable"):
        position = game.format_position(found.states[place])
        if any(position == one["position"] for one in shown):
            continue
        if len(shown) == WORST or found.regrets[place] <= 0:
            break
        worth = values.action_values(found.states[place : place + 1])[0]
        best = np.flatnonzero(worth >= np.nanmax(worth) - 2 * values.residual)
        shown.append(
            {
                "position": position,
                "chosen": game.format_action(int(found.actions[place])),
                "best": [game.format_action(int(action)) for action in best],
                "value": float(np.nanmax(worth)),
                "regret": float(found.regrets[place]),
            }
        )
    return shown


def table(lines: Sequence[dict[str, Any]]) -> str:
    """Regret, decisions that are not best, and the margin beside it, the most regret first."""
    head = ["agent", "regret", "not best", "margin", "margin's interval wider by"]
    cells = []
    for line in sorted(lines, key=lambda line: -line["regret"]):
        width, lead_width = (half_width(line[name]) for name in ("interval", "lead_interval"))
        cells.append(
            [
                f"`{line['agent']}`",
                f"{line['regret']:.3f} ± {width:.3f}",
                f"{100 * line['mistakes']:.1f}%",
                f"{line['lead']:+.2f} ± {lead_width:.2f}",
                f"{lead_width / width:.1f}" if width else "–",
            ]
        )
    return markdown(head, cells)


def groups_table(lines: Sequence[dict[str, Any]], by: str) -> str:
    """For each group of decisions, its share of all and each agent's regret a decision there."""
    names = [group["name"] for group in lines[0]["groups"][by]]
    cells = []
    for line in sorted(lines, key=lambda line: -line["regret"]):
        groups = line["groups"][by]
        cells.append(
            [f"`{line['agent']}`", *(f"{group['regret']:.3f} ({100 * group['share']:.0f}%)" for group in groups)]
        )
    shares = [f"{100 * group['decisions'] / lines[0]['decisions']:.0f}%" for group in lines[0]["groups"][by]]
    return markdown([by, *names], [[f"decisions of `{lines[0]['agent']}`", *shares], *cells])


def half_width(interval: Sequence[float] | None) -> float:
    """Half the width of an interval; 0 if there is none."""
    return 0.0 if interval is None else (interval[1] - interval[0]) / 2


def markdown(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A table in Markdown, all columns but the first aligned to the right."""
    rows = [head, ["---", *["---:"] * (len(head) - 1)], *lines]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


if __name__ == "__main__":
    sys.exit(main())
