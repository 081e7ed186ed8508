"""Self-play training, run from a clone; see `training.train`."""

import os
import sys

from mozaic_env.core.extras import EXTRAS, MissingExtra, need

# Before torch is imported anywhere; `mozaic_env.agents.policy.network` says why.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

try:
    need("training", *EXTRAS["train"])
except MissingExtra as error:
    if sys.argv[:1] != ["-m"]:  # which it is while Python looks for the module of `python -m`
        raise
    print(f"error: {error}", file=sys.stderr)
    raise SystemExit(2) from None
