"""Self-play training, run from a clone; see `training.train`."""

import os

# OpenMP's threads wait for each other by spinning. Where another program wants the same cores, that turns a step of
# milliseconds into one of seconds: on two shared cores two spinning threads were up to 100 times slower than sleeping
# ones. It has to be said before torch is imported.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
