"""Self-play training, run from a clone; see `training.train`."""

import os

# Before torch is imported anywhere; `mozaic_env.agents.network` says why.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
