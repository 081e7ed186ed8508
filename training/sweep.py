"""Searches the configuration's keys for what trains best in a given time, with Optuna.

    python -m training.sweep --config configs/quick.yaml --space configs/sweep.yaml --study runs/sweep \
        --trials 40

Every trial is a run in a process of its own, with values that the sampler (TPE) has chosen. What counts are the points
against the strongest evaluation opponent, the last of `evaluation.against`: in the matches at its end, or if
`evaluation.games` is 0 in the last match on the way. The matches on the way, looked at after each tenth of the budget,
tell which trials are not worth going on with: these are pruned.

The study's folder holds:

    study.db            all trials, an SQLite file that Optuna reads
    config.yaml         what all trials have in common
    trials/N, N.log     the run folder of a trial, and what it printed
    best.yaml           the configuration with the best trial's values, its budget as configured
    sweep.txt, .svg     what has come of it

Ctrl-C or SIGTERM ends a sweep in good order. The same command goes on with its study, also after it was killed; the
trial that was under way is then tried once more. A trial that fails is noted as failed, and the study goes on.
"""

import sys
from collections.abc import Sequence

from mozaic_env.cli.parser import Parser
from mozaic_env.core.extras import MissingExtra, need
from mozaic_env.core.storage.outputs import check_names
from mozaic_env.core.text.files import user_path
from training.command import run_script, shell_command


def main(arguments: Sequence[str] | None = None) -> int:
    """The command.

    Returns:
        The exit status: 0, 1 if no trial has come to its end, 2 for bad input.
    """
    parser = Parser(prog="python -m training.sweep", description="Searches for a good configuration.")
    parser.add_argument("--config", required=True, metavar="FILE", help="what all trials have in common; see configs/")
    parser.add_argument("--space", required=True, metavar="FILE", help="what they vary, such as configs/sweep.yaml")
    parser.add_argument("--study", required=True, metavar="FOLDER", type=user_path, help="where to keep it: runs/sweep")
    parser.add_argument("--trials", required=True, type=int, metavar="N", help="of the study, earlier ones included")
    parser.add_argument(
        "--minutes-each",
        type=float,
        metavar="M",
        help="of training, shared between warm start and self-play as in the configuration; default: as configured",
    )
    parser.add_argument("--pruner", choices=("median", "hyperband", "none"), default="median")
    parser.add_argument("overrides", nargs="*", metavar="KEY=VALUE", help="for all trials, as in game.options.rows=4")
    given = parser.parse_args(arguments)
    words = sys.argv[1:] if arguments is None else arguments
    try:
        check_names(words)
        if given.trials < 1:
            raise ValueError(f"--trials {given.trials}; accepted: a whole number of at least 1")
        need("a sweep", "optuna")
        from training.sweeps.study import Sweep

        with Sweep(given.study, given.config, given.space, given.overrides, given.minutes_each, given.pruner) as sweep:
            return sweep.run(given.trials, shell_command("training.sweep", *words))
    except (OSError, ValueError, MissingExtra) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    run_script(main)
