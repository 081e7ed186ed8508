"""Writes the golden playthroughs anew: ``python -m tests.golden.regenerate`` or ``make golden``.

Read the diff before it is committed: every changed line is a changed behaviour.
"""

from __future__ import annotations

import os

from tests.golden.playthrough import FOLDER, files, write


def main() -> None:
    kept = files()
    for path, variant in kept.items():
        temporary = path.with_suffix(".tmp")
        temporary.write_text(write(*variant), encoding="utf-8", newline="\n")
        os.replace(temporary, path)
        print(f"wrote {path.relative_to(FOLDER.parent.parent)}")
    for path in FOLDER.glob("*.txt"):
        if path not in kept:
            print(f"{path.relative_to(FOLDER.parent.parent)} belongs to no variant; remove it")


if __name__ == "__main__":
    main()
