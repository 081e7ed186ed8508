"""`python -m mozaic_env` is the `mozaic` command."""

from mozaic_env.cli import command

if __name__ == "__main__":
    command()
