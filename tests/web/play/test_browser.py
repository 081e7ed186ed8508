"""The page as people use it: by mouse, keyboard and finger, in headless Chromium."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mozaic_env.games import make_game
from mozaic_env.web.play.replay import Replay

pytest.importorskip("playwright", reason="playwright is not installed (extra dev)")
from playwright.sync_api import expect, sync_playwright

from tests.web.browsers import Tab, chromium, chromium_path, serving
from tests.web.play.web_games import Thoughtful

pytestmark = pytest.mark.skipif(chromium_path() is None, reason="no Chromium here; make test-browser installs one")

expect.set_options(timeout=30_000)  # a busy machine is no fault of the page

GAME = make_game("mozaic")
SMALL = make_game("mozaic", rows=4, cols=4)
SEED_OF_ALL = 7  # brings emerald, diamond and double-turn gem within five decisions, played as below


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_playwright() as playwright, chromium(playwright) as started:
        yield started


def first_empty(states: Any) -> list[int]:
    return [next(tile for tile in range(64) if not int(state["gems"].sum()) >> tile & 1) for state in states]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with serving(GAME, "random", "pattern", Thoughtful(first_empty, game=GAME)) as url:
        yield url


@pytest.fixture(scope="module")
def small_address() -> Iterator[str]:
    with serving(SMALL, "random", "pattern") as url:
        yield url


@pytest.fixture
def open_tab(browser, address) -> Iterator[Any]:
    """Opens tabs; at the end none of them may have complained, or asked another server."""
    tabs: list[Tab] = []

    def start(url: str = address, **options: Any) -> Tab:
        tabs.append(Tab(browser, url, **options))
        return tabs[-1]

    yield start
    for tab in tabs:
        tab.close()
        assert tab.complaints == []
        assert all(url.startswith(("http://127.0.0.1:", "blob:", "data:")) for url in tab.requests)


def legal(tab: Tab) -> Any:
    return tab.page.locator(".place.legal")


def my_turn(tab: Tab) -> None:
    expect(tab.text("#status")).to_contain_text("you")
    expect(legal(tab).first).to_be_visible()


def test_a_whole_game_against_random_by_clicks(open_tab, small_address, tmp_path) -> None:
    tab = open_tab(small_address)
    tab.new_game(["human", "random"], 3)
    over = re.compile("wins|A draw")
    for _ in range(200):
        expect(tab.text("#status")).to_have_text(re.compile("you|wins|A draw"))
        if over.search(tab.text("#status").inner_text()):
            break
        made = tab.page.locator("#log li").count()
        legal(tab).first.click()
        if tab.page.locator(".place.chosen").count():
            legal(tab).first.click()
        tab.decisions(made + 1)
    expect(tab.text("#status")).to_have_text(over)
    assert legal(tab).count() == 0
    with tab.page.expect_download() as download:
        tab.page.click("#download")
    path = tmp_path / "record.txt"
    download.value.save_as(path)
    assert download.value.suggested_filename == "mozaic-3.txt"
    film = Replay(path.read_text(), "mozaic")
    assert film.is_over(-1)
    assert (film.header["yellow"], film.header["blue"], film.header["seed"]) == ("human", "random", "3")


def test_three_seats_of_another_game_by_clicks(open_tab) -> None:
    with serving(make_game("crystal_mosaic", players=3), "greedy", "random") as url:
        tab = open_tab(url)
        tab.new_game(["human", "greedy", "random"], 3)
        for _ in range(5):
            my_turn(tab)
            made = tab.page.locator("#log li").count()
            legal(tab).first.click()
            while tab.page.locator(".place.chosen").count():
                legal(tab).first.click()
            tab.decisions(made + 1)
        my_turn(tab)
        assert tab.page.locator("#players .player").count() == 3
        lines = tab.page.locator("#log li").all_text_contents()
        assert {re.search("p[123]", line).group() for line in lines} == {"p1", "p2", "p3"}


def test_a_slide_a_removal_and_a_double_turn(open_tab, small_address) -> None:
    tab = open_tab(small_address)
    tab.new_game(["human", "human"], SEED_OF_ALL)
    seen = set()
    for number in range(12):
        my_turn(tab)
        told = tab.text("#told").inner_text()
        if "double-turn gem" in told:
            seen.add("double turn")
            assert tab.page.locator("#board").get_attribute("aria-label")
        legal(tab).first.click()
        chosen = tab.page.locator(".place.chosen")
        if chosen.count():
            # A slide: the gem is chosen, and only where it can go is possible.
            source = chosen.get_attribute("data-name")
            targets = [place.get_attribute("data-name") for place in legal(tab).all()]
            assert 1 <= len(targets) <= 4
            assert tab.page.locator("#log li").count() == number
            tab.page.keyboard.press("Escape")
            expect(chosen).to_have_count(0)
            tab.page.locator(f'.place[data-name="{source}"]').click()
            tab.page.locator(f'.place[data-name="{targets[0]}"]').click()
            expect(tab.text("#told")).to_contain_text(f"slides the gem on {source} to {targets[0]}")
            seen.add("slide")
        else:
            tab.decisions(number + 1)
            if "removes the gem" in tab.text("#told").inner_text():
                seen.add("removal")
        if seen == {"slide", "removal", "double turn"}:
            break
    assert seen == {"slide", "removal", "double turn"}


def test_an_illegal_click_says_why_and_changes_nothing(open_tab) -> None:
    tab = open_tab()
    tab.new_game(["human", "human"], 1)
    tab.page.locator('.place[data-name="d4"]').click()
    tab.decisions(1)
    asked = len(tab.requests)
    tab.page.locator('.place[data-name="d4"]').click(force=True)  # Playwright else waits until it is possible
    expect(tab.text("#hint")).to_contain_text("d4 holds a yellow gem and can't be chosen now.")
    assert len(tab.requests) == asked
    assert tab.page.locator("#log li").count() == 1
    tab.page.locator('.place[data-name="e5"]').click()
    tab.decisions(2)
    expect(tab.text("#hint")).to_be_empty()
    tab.page.click("#first")
    expect(tab.text("#status")).to_contain_text("After 0 of 2")
    tab.page.locator('.place[data-name="a1"]').click(force=True)
    expect(tab.text("#hint")).to_contain_text("earlier position")
    tab.page.click("#now")
    my_turn(tab)


def test_a_reload_in_mid_game_goes_on_where_it_was(open_tab) -> None:
    tab = open_tab()
    tab.new_game(["human", "pattern"], 21)
    for name in ("d4", "e5"):
        my_turn(tab)
        tab.page.locator(f'.place[data-name="{name}"]').click()
    my_turn(tab)

    def shown() -> list[Any]:
        return [tab.text(part).inner_text() for part in ("#seed", "#log", "#status", "#told")] + [
            tab.text("#board").get_attribute("aria-label")
        ]

    before = shown()
    tab.page.reload()
    my_turn(tab)
    assert shown() == before
    other = open_tab()
    assert other.text("#log").inner_text() == ""


def test_by_keyboard_alone(open_tab) -> None:
    tab = open_tab()
    page = tab.page
    page.focus("#begin")
    page.keyboard.press("Enter")
    page.locator("#new-seed").focus()
    page.keyboard.type("5")
    page.keyboard.press("Enter")
    page.get_by_text("Seed 5", exact=True).wait_for()
    assert page.locator('.place[tabindex="0"]').count() == 1
    page.locator('.place[tabindex="0"]').focus()
    focused = page.locator(".place:focus")
    start = focused.get_attribute("data-name")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowUp")
    expect(focused).to_have_attribute("data-name", f"{chr(ord(start[0]) + 1)}{int(start[1]) + 1}")
    for _ in range(9):
        page.keyboard.press("ArrowLeft")
    expect(focused).to_have_attribute("data-name", re.compile("^a"))
    name = focused.get_attribute("data-name")
    expect(focused).to_have_attribute("aria-label", f"{name}, empty, possible")
    page.keyboard.press("Enter")
    expect(page.locator("#log li").first).to_contain_text(f"yellow {name}")
    my_turn(tab)
    expect(focused).to_have_attribute("data-name", name)
    expect(focused).to_have_attribute("aria-label", f"{name}, yellow gem")
    expect(focused).to_have_attribute("aria-disabled", "true")
    for control in page.locator("button:visible, select:visible, input:visible").all():
        named = control.get_attribute("aria-label") or control.inner_text() or control.evaluate("e => e.labels?.length")
        assert named


def test_undo_the_same_luck_and_agents_among_themselves(open_tab, small_address) -> None:
    tab = open_tab(small_address)
    page = tab.page
    tab.new_game(["pattern", "random"], 8)
    tab.decisions(6)
    page.click("#pause")
    page.wait_for_timeout(300)
    made = page.locator("#log li").count()
    page.wait_for_timeout(300)
    assert page.locator("#log li").count() == made
    course = page.locator("#log li").all_text_contents()
    page.click("#undo")
    expect(page.locator("#log li")).to_have_count(made - 1)
    page.click("#back")
    expect(tab.text("#status")).to_contain_text(f"After {made - 2} of {made - 1}")
    page.locator("#log li").nth(1).click()
    expect(tab.text("#place")).to_have_text(f"2 / {made - 1}")
    page.click("#again")
    tab.decisions(made)
    page.click("#pause")
    assert page.locator("#log li").all_text_contents()[:made] == course
    page.locator("#players select").first.select_option("human")
    expect(tab.text("#pause")).to_be_visible()
    page.locator("#players select").last.select_option("human")
    my_turn(tab)
    expect(tab.text("#pause")).to_be_hidden()


def test_what_is_asked_for_while_an_agent_thinks_is_done_when_it_has_decided(open_tab, small_address) -> None:
    tab = open_tab(small_address)
    page = tab.page
    held: list[Any] = []

    def hold_agents(route: Any) -> None:
        if route.request.post_data_json["do"] == "agent":
            held.append(route)
        else:
            route.continue_()

    page.route("**/message", hold_agents)
    tab.new_game(["pattern", "random"], 8)
    expect(tab.text("#status")).to_contain_text("pattern is thinking")
    page.locator("#players select").first.select_option("human")
    page.locator("#players select").last.select_option("human")
    expect(tab.text("#status")).to_contain_text("pattern is thinking")
    held[0].continue_()
    my_turn(tab)
    assert len(held) == 1
    assert page.locator("#log li").count() == 1
    assert [select.input_value() for select in page.locator("#players select").all()] == ["human", "human"]


def test_an_agents_analysis(open_tab) -> None:
    tab = open_tab()
    page = tab.page
    tab.new_game(["human", "pattern"], 2)
    my_turn(tab)
    assert page.locator(".heat").count() == 0
    page.click("#analysis-card summary")
    page.select_option("#analysis-agent", "odd")
    expect(page.locator(".share")).to_have_text(["75%"])
    expect(page.locator(".place .heat")).to_have_count(1)
    expect(page.locator("#analysis-best")).to_contain_text("a1")
    page.select_option("#analysis-agent", "pattern")
    expect(page.locator(".place .heat")).to_have_count(64)
    page.locator('.place[data-name="d4"]').click()
    tab.decisions(2)
    my_turn(tab)
    expect(page.locator(".place .heat").first).to_be_visible()
    expect(page.locator("#analysis-values polyline")).to_have_count(1)
    expect(page.locator("#odds .number")).to_have_count(6)
    page.click("#analysis-card summary")
    expect(page.locator(".heat")).to_have_count(0)


def test_a_record_is_opened_stepped_through_and_played_on(open_tab, small_address) -> None:
    record = "rules=amethyst board=4x4 first=y yellow=ann blue=ben | y:a1 b:b2 r y:c3"
    tab = open_tab(small_address)
    page = tab.page
    tab.new_game(["human", "human"])
    page.set_input_files("#file", {"name": "game.txt", "mimeType": "text/plain", "buffer": record.encode()})
    expect(tab.text("#film-header")).to_contain_text("yellow=ann")
    expect(page.locator("#log li")).to_have_text([re.compile(word) for word in ("y:a1", "b:b2", "r", "y:c3")])
    expect(tab.text("#place")).to_have_text("0 / 3")
    page.click("#forth")
    page.click("#forth")
    expect(tab.text("#status")).to_have_text("Word 3")
    expect(tab.text("#odds")).to_contain_text("ruby")
    page.click("#continue")
    expect(tab.text("#film")).to_be_hidden()
    my_turn(tab)
    expect(page.locator("#log li")).to_have_count(0)
    for name, holds in (("a1", "yellow gem"), ("b2", "blue gem"), ("c3", "empty")):
        expect(page.locator(f'.place[data-name="{name}"]')).to_have_attribute("aria-label", re.compile(holds))


def test_what_is_no_record_is_said_and_the_game_stays(browser, small_address) -> None:
    tab = Tab(browser, small_address)
    tab.page.set_input_files("#file", {"name": "x.txt", "mimeType": "text/plain", "buffer": b"nonsense"})
    expect(tab.text("#toast")).to_contain_text("a record is one line")
    my_turn(tab)
    # The browser itself notes the refusal, and nothing else is amiss.
    assert all("status of 400" in complaint for complaint in tab.complaints)
    tab.close()


@pytest.mark.parametrize("width", [320, 390])
def test_on_a_phone(open_tab, width) -> None:
    tab = open_tab(viewport={"width": width, "height": 700}, has_touch=True, is_mobile=True, device_scale_factor=2)
    page = tab.page
    tab.new_game(["human", "pattern"], 6)
    my_turn(tab)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width
    box = page.locator(".place").first.bounding_box()
    assert min(box["width"], box["height"]) >= 24
    page.locator('.place[data-name="c3"]').tap()
    tab.decisions(2)
    my_turn(tab)
    expect(page.locator("#told")).to_be_in_viewport()


def test_the_pages_files_are_all_that_it_needs(open_tab, address) -> None:
    """Nothing comes from elsewhere, and after the first load nothing but messages is asked for."""
    tab = open_tab()
    loaded = {url.removeprefix(address) for url in tab.requests}
    files = {f"static/{path.name}" for path in (Path(__file__).parents[3] / "mozaic_env/web/static").iterdir()}
    assert loaded <= files | {"", "message", "pages"}
