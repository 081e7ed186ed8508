"""Writes the pictures of the page into docs/pictures: python -m tests.web.play.pictures. Needs Chromium. Look."""

import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1])]

from playwright.sync_api import sync_playwright  # noqa: E402

from mozaic_env.games import make_game  # noqa: E402
from tests.web.browsers import Tab, chromium, serving  # noqa: E402

FOLDER = HERE.parents[1] / "docs" / "pictures"
AGENTS = ("expectimax:depth=2", "pattern", "greedy", "random")
SEED, DECISIONS = 12, 44
DESKTOP = {"viewport": {"width": 1240, "height": 940}}
PHONE = {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 2, "is_mobile": True, "has_touch": True}


def middle_game(tab: Tab, seats: list[str]) -> None:
    """A game between agents, stopped after so many decisions, then with other seats and the human to play."""
    tab.new_game(["expectimax:depth=2", "pattern"], SEED)
    tab.decisions(DECISIONS)
    tab.page.click("#pause")
    tab.page.wait_for_timeout(1000)
    while tab.page.locator("#log li").count() > DECISIONS:  # it went on until it was stopped
        tab.page.click("#undo")
        tab.page.wait_for_timeout(500)
    for number, name in enumerate(seats):
        tab.page.locator("#players select").nth(number).select_option(name)
        tab.page.wait_for_timeout(300)


def with_mind(tab: Tab) -> None:
    """The agent's mind open, and what it needs to fill its curve waited for."""
    tab.page.click("#analysis-card summary")
    tab.page.locator("#analysis-values polyline").wait_for()
    tab.page.wait_for_timeout(3000)
    tab.page.mouse.move(5, 5)


def shoot(browser: Any, url: str, name: str, mind: bool, full: bool = False, **options: Any) -> None:
    """One picture."""
    tab = Tab(browser, url, **options)
    middle_game(tab, ["human", "pattern"])
    if mind:
        with_mind(tab)
    tab.page.evaluate("() => window.scrollTo(0, 0)")
    tab.page.screenshot(path=FOLDER / f"{name}.png", full_page=full)
    assert not tab.complaints, tab.complaints
    tab.close()


def main() -> None:
    """All pictures."""
    game = make_game("mozaic")
    with serving(game, *AGENTS) as url, sync_playwright() as playwright, chromium(playwright) as browser:
        shoot(browser, url, "page", mind=True, **DESKTOP)
        shoot(browser, url, "page-dark", mind=False, color_scheme="dark", **DESKTOP)
        shoot(browser, url, "page-phone", mind=False, **PHONE)


if __name__ == "__main__":
    main()
