"""`python -m mozaic_env` is the `mozaic` command."""

import sys

from mozaic_env.cli import main

if __name__ == "__main__":
    sys.exit(main())
