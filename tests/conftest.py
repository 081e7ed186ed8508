"""What holds for the whole suite."""

import os

# The machines that run this have few cores. Torch with several threads on a busy one is many times
# slower, and it reads this when it is first imported, in processes that tests start as well.
os.environ.setdefault("OMP_NUM_THREADS", "1")
