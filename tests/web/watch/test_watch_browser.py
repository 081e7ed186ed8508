"""The page on a training run in headless Chromium: it follows the run, steps through a game, and works from a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("playwright", reason="playwright is not installed (extra dev)")
pytest.importorskip("torch", reason="torch is not installed")
from playwright.sync_api import expect, sync_playwright

from mozaic_env.core.record import parse_record
from mozaic_env.web.watch.run_data import RunFolder
from mozaic_env.web.watch.watcher import Watcher, snapshot
from tests.web.browsers import chromium, chromium_path, serving_app
from tests.web.watch.watch_runs import GAME, imitation, make_run, save_checkpoint, update, watching, write_lines

NO_CHROMIUM = "no Chromium on this machine; make test-browser installs one"
pytestmark = pytest.mark.skipif(chromium_path() is None, reason=NO_CHROMIUM)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_playwright() as playwright, chromium(playwright) as started:
        yield started


@pytest.fixture
def run(tmp_path: Path) -> Path:
    made = make_run(tmp_path / "run", imitation(800), *(update(number, 800) for number in range(1, 6)))
    save_checkpoint(made / "final", 5800)
    return made


@pytest.fixture
def open_page(browser: Any) -> Iterator[Callable[..., Any]]:
    """Opens pages; at the end none of them may have complained or asked another server."""
    opened: list[tuple[Any, list[str], list[str]]] = []

    def start(url: str, **options: Any) -> Any:
        context = browser.new_context(accept_downloads=True, **options)
        page = context.new_page()
        complaints: list[str] = []
        requests: list[str] = []
        page.on("console", lambda message: complaints.append(message.text) if message.type != "log" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        opened.append((context, complaints, requests))
        page.goto(url)
        return page

    yield start
    for context, complaints, requests in opened:
        context.close()
        assert [text for text in complaints if "ERR_CONNECTION_REFUSED" not in text] == []
        assert all(url.startswith(("http://127.0.0.1:", "blob:", "data:", "file:")) for url in requests)


def told(page: Any) -> str:
    return page.locator("#told").inner_text()


def test_the_page_follows_the_run(open_page: Callable[..., Any], run: Path) -> None:
    with serving_app(watching(run)) as url:
        page = open_page(url)
        expect(page).to_have_title("run running")
        expect(page.locator("#head")).to_contain_text("5.8k decisions trained on")
        expect(page.locator("#strength svg")).to_have_count(2)
        curve = page.locator("#strength .curve.c0").get_attribute("d")
        write_lines(run, update(6, 800))
        expect(page.locator("#head")).to_contain_text("6.8k decisions trained on", timeout=15_000)
        assert page.locator("#strength .curve.c0").get_attribute("d") != curve
    expect(page.locator("#trouble")).to_contain_text("What is shown is what was known last", timeout=15_000)


def test_a_game_is_stepped_through_by_mouse_and_keyboard(open_page: Callable[..., Any], run: Path) -> None:
    with serving_app(watching(run)) as url:
        page = open_page(url)
        expect(page.locator("#board svg")).to_be_visible(timeout=60_000)
        last = int(page.locator("#place").get_attribute("max"))
        assert told(page).startswith(f"{last} of {last}: ")
        page.click("#first")
        assert told(page).startswith(f"0 of {last}: ")
        empty = page.locator("#board").inner_html()
        for key, place in (("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("End", last), ("Home", 0)):
            page.keyboard.press(key)
            assert told(page).startswith(f"{place} of {last}: ")
            assert page.locator("#lead .here").count() == 1
        assert page.locator("#board").inner_html() == empty
        page.locator("#place").fill("3")
        assert told(page).startswith(f"3 of {last}: ")
        page.select_option("#speed", "150")
        page.click("#run")
        expect(page.locator("#told")).to_contain_text(f"{last} of {last}: ", timeout=30_000)
        expect(page.locator("#run")).to_have_attribute("aria-label", "play")
        with page.expect_download() as downloaded:
            page.click("#record")
        record = parse_record(Path(downloaded.value.path()).read_text())
        assert list(GAME.replay(record))


def test_whoever_looks_at_a_game_is_not_interrupted_by_a_newer_one(open_page: Callable[..., Any], run: Path) -> None:
    with serving_app(watching(run)) as url:
        page = open_page(url)
        expect(page.locator("#board svg")).to_be_visible(timeout=60_000)
        expect(page.locator("#who")).to_contain_text("after 5,800 decisions")
        page.click("#back")
        before = told(page)
        save_checkpoint(run / "final", 6800, seed=1)
        expect(page.locator("#newer")).to_be_visible(timeout=30_000)
        assert told(page) == before
        page.click("#newer")
        expect(page.locator("#who")).to_contain_text("after 6,800 decisions")
        expect(page.locator("#newer")).to_be_hidden()
        seed = page.locator("#who").inner_text()
        page.click("#another")
        expect(page.locator("#another")).to_be_enabled(timeout=30_000)
        assert page.locator("#who").inner_text() != seed


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_the_snapshot_fits_the_screen_and_needs_no_server(
    open_page: Callable[..., Any], run: Path, tmp_path: Path, width: int, scheme: str
) -> None:
    file = tmp_path / "page.html"
    file.write_text(snapshot(Watcher(RunFolder(run))), "utf-8")
    page = open_page(file.as_uri(), viewport={"width": width, "height": 800}, color_scheme=scheme)
    expect(page.locator("#board svg")).to_be_visible()
    expect(page.locator("#another")).to_be_hidden()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.keyboard.press("Home")
    assert told(page).startswith("0 of ")
    heights = "[...document.querySelectorAll('#strength .chart text')].map((it) => it.getBoundingClientRect().height)"
    assert min(page.evaluate(heights)) >= 9.5  # pixels
