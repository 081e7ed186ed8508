"""Stands in for a trial of a sweep: no learning, and points that follow from what was chosen.

Points are those of `ppo.clip`. With ppo.epochs=3 it fails, with ppo.epochs=4 it writes half of its matches and waits to
be stopped.
"""

import json
import sys
import time
from pathlib import Path

arguments = sys.argv[1:]
folder = Path(arguments[arguments.index("--run-dir") + 1])
values = dict(word.split("=") for word in arguments[4:])
points, epochs = float(values["ppo.clip"]), int(values.get("ppo.epochs", 1))
folder.mkdir()
if epochs == 3:
    sys.exit("error: the run failed: out of luck")
with (folder / "metrics.jsonl").open("w") as file:
    for step in range(100, 600 if epochs == 4 else 1100, 100):
        values = {"points": points * step / 1000, "low": 0.0, "high": 1.0}
        line = {f"evaluation/greedy/{key}": value for key, value in values.items()}
        file.write(json.dumps({**line, "evaluation/decisions": step, "evaluation/minutes": 0.1}) + "\n")
if epochs == 4:
    sys.stdin.read()
    time.sleep(60)
(folder / "run.json").write_text(json.dumps({"status": "finished"}))
