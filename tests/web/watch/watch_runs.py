"""Run folders for the tests of `mozaic watch`, as a training leaves them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from mozaic_env.games import make_game

GAME = make_game("mozaic", rows=4, cols=4)
ANCHORS = ("random", "pattern")


def update(number: int, warm_start: int = 0) -> dict[str, Any]:
    """What is noted after an update of self-play."""
    steps = 1000 * number
    line = {
        "games/finished": 40,
        "opponents/mirror/score": 0.5,
        "opponents/mirror/games": 30,
        "opponents/greedy/score": min(0.1 * number, 1.0),
        "opponents/greedy/games": 10,
        "time/elapsed": 2.0 * number,
        "time/steps": steps,
        "train/approx_kl": 0.01 / number,
        "evaluation/decisions": warm_start + steps,
    }
    for place, name in enumerate(ANCHORS):
        points = max(0.0, min(0.04 * number + 0.5 - 0.3 * place, 0.95))
        line |= {
            f"evaluation/{name}/points": points,
            f"evaluation/{name}/low": points - 0.05,
            f"evaluation/{name}/high": points + 0.05,
            f"evaluation/{name}/margin": 10 * points - 5,
        }
    return line


def imitation(decisions: int) -> dict[str, Any]:
    """What is noted in the warm start."""
    return {
        "warm_start/decisions": decisions,
        "warm_start/policy_loss": 1e3 / decisions,
        "warm_start/agreement": 0.4,
        "warm_start/decisions_per_second": 5000.0,
    }


def write_lines(run: Path, *lines: dict[str, Any] | str, mode: str = "a") -> None:
    """Adds lines to the metrics; texts as they are."""
    texts = [line if isinstance(line, str) else json.dumps(line) + "\n" for line in lines]
    with (run / "metrics.jsonl").open(mode, encoding="utf-8") as file:
        file.write("".join(texts))


def make_run(folder: Path, *lines: dict[str, Any] | str, status: str = "running", **facts: Any) -> Path:
    """A run's folder without checkpoints."""
    folder.mkdir(parents=True)
    noted = {"status": status, "seed": 7, "device": "cpu", "started": "2026-01-02T03:04:05+00:00"} | facts
    (folder / "run.json").write_text(json.dumps(noted))
    write_lines(folder, *lines)
    return folder


def save_checkpoint(folder: Path, steps: int, seed: int = 0, results: dict[str, Any] | None = None) -> None:
    """A small network's checkpoint."""
    import torch

    from mozaic_env.agents.policy.checkpoint import save
    from mozaic_env.agents.policy.network import BoardNetwork, NetworkConfig, layout_of

    torch.manual_seed(seed)
    network = BoardNetwork(layout_of(GAME), NetworkConfig(channels=4, blocks=1, value_hidden=4))
    folder.parent.mkdir(parents=True, exist_ok=True)
    save(folder, network, GAME, steps=steps, seed=seed, results=results)


def watching(run: Path) -> Any:
    """The application that shows a run."""
    from mozaic_env.web.server.app import application
    from mozaic_env.web.watch.routes import WATCH, watch_routes
    from mozaic_env.web.watch.run_data import RunFolder
    from mozaic_env.web.watch.watcher import Watcher

    return application([WATCH], watch_routes(Watcher(RunFolder(run))), host="127.0.0.1")
