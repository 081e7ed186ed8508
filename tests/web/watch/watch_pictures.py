"""Writes docs/pictures/watch.png and learning-curve.svg: python -m tests.web.watch.watch_pictures RUN. Look at them.

Needs Chromium, and a run with matches on the way.
"""

import re
import shutil
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1])]

from PIL import Image  # noqa: E402
from playwright.sync_api import sync_playwright  # noqa: E402

from mozaic_env.web.watch.run_data import METRICS, RunFolder  # noqa: E402
from mozaic_env.web.watch.watcher import Watcher, snapshot  # noqa: E402
from tests.web.browsers import chromium  # noqa: E402
from training.curves import CURVES, draw_curves  # noqa: E402

FOLDER = HERE.parents[1] / "docs" / "pictures"
SCREEN = {"width": 1320, "height": 1000}


def write_page(run: Path, folder: Path) -> None:
    """The page with its game in the middle."""
    page, picture = folder / "page.html", folder / "watch.png"
    page.write_text(snapshot(Watcher(RunFolder(run))), "utf-8")
    with sync_playwright() as playwright, chromium(playwright) as browser:
        tab = browser.new_page(viewport=SCREEN)
        tab.goto(page.as_uri())
        place = tab.locator("#place")
        place.fill(str(int(place.get_attribute("max") or 0) * 2 // 3))
        place.blur()
        tab.mouse.move(5, 5)
        tab.screenshot(path=picture)
    with Image.open(picture) as image:
        image.convert("RGB").save(FOLDER / "watch.png", optimize=True)


def write_curves(run: Path, folder: Path) -> None:
    """The learning curves, drawn beside the run, which stays as it is."""
    beside = folder / run.resolve().name
    beside.mkdir()
    shutil.copy(run / METRICS, beside)
    draw_curves(beside)
    text = (beside / CURVES).read_text("utf-8")
    (FOLDER / "learning-curve.svg").write_text(
        re.sub(r"\s*<metadata>.*?</metadata>", "", text, flags=re.DOTALL), "utf-8"
    )


def main() -> None:
    run = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        write_page(run, Path(folder))
        write_curves(run, Path(folder))


if __name__ == "__main__":
    main()
