from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from .served import Served, serving

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")]
FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update"
    " --disable-sync --disable-dev-shm-usage"
).split()
SIZES = {"phone": (390, 844), "desktop": (1280, 800)}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as started:
        running = started.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield running
        running.close()


@pytest.fixture(params=SIZES)
def page(request: pytest.FixtureRequest, browser: Any, served: Served) -> Iterator[Any]:
    """A page at each size; what its console says or a script throws fails the test."""
    width, height = SIZES[request.param]
    context = browser.new_context(viewport={"width": width, "height": height}, locale="en-US", base_url=served.url)
    opened = context.new_page()
    trouble: list[str] = []
    opened.on("pageerror", lambda error: trouble.append(str(error)))
    opened.on("console", lambda message: trouble.append(message.text) if message.type == "error" else None)
    yield opened
    context.close()
    assert [line for line in trouble if "404" not in line] == []


def found(page: Any, query: str) -> None:
    page.fill("#query", query)
    page.wait_for_selector("a.hit")
    page.wait_for_selector("#main:not([aria-busy])")


def test_what_is_typed_is_found_opened_and_left_again(page: Any) -> None:
    page.goto("/")
    found(page, "crane containers")
    assert page.url.endswith("/?q=crane+containers")
    assert page.locator("a.hit mark").first.inner_text().lower() in ("crane", "containers")
    page.locator("a.hit").first.click()
    page.wait_for_selector("article h1")
    assert "/section/" in page.url
    assert page.locator("article .prose").inner_text() != ""
    page.go_back()
    page.wait_for_selector("a.hit")
    assert page.locator("#query").input_value() == "crane containers"


def test_an_unfinished_word_finds_what_it_begins_and_a_misspelt_one_is_corrected(page: Any) -> None:
    page.goto("/")
    found(page, "contai")
    assert page.locator("a.hit mark").first.inner_text().lower().startswith("contai")
    assert page.locator(".notice").count() == 0
    found(page, "contaimers")
    page.wait_for_selector(".notice")
    assert "containers" in page.locator(".notice").first.inner_text()


def test_a_section_can_be_read_in_its_other_languages(page: Any) -> None:
    page.goto("/section/H.1%40docs")
    page.wait_for_selector("article h1")
    assert page.locator("article h1").inner_text().endswith("Harbour")
    page.locator(".variants a", has_text="ru").click()
    page.wait_for_selector("article h1:has-text('Гавань')")
    assert page.locator(".variants a[aria-current]").inner_text().lower() == "ru"
    assert page.locator(".prose").get_attribute("lang") == "ru"
    page.reload()
    page.wait_for_selector("article h1")
    assert "Гавань" in page.locator("article h1").inner_text()


def test_all_of_it_works_from_the_keyboard(page: Any) -> None:
    page.goto("/section/H.1")
    page.wait_for_selector("article h1")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "query"
    page.keyboard.type("crane")
    page.wait_for_selector("a.hit")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("[...document.querySelectorAll('a.hit')].indexOf(document.activeElement)") == 1
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    assert page.evaluate("document.activeElement.id") == "query"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_selector("article h1")
    page.keyboard.press("Escape")
    page.wait_for_selector("a.hit")
    assert page.locator("#query").input_value() == "crane"


def test_a_hostile_section_runs_nothing_and_loads_nothing(page: Any, served: Served) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto("/section/hostile.md%40docs")
    page.wait_for_selector("article h1")
    page.get_by_text("press").first.click()
    assert page.evaluate("window.hacked") is None
    assert "Delete everything" in page.locator(".prose").inner_text()
    assert page.locator(".prose script, .prose img, .prose [style], .prose [onclick], .prose [href^=javascript]").count() == 0
    assert all(url.startswith(served.url) for url in asked)


def test_a_table_of_a_megabyte_scrolls_in_its_own_frame(page: Any) -> None:
    page.goto("/section/table.md%40docs")
    page.wait_for_selector("article table")
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    page.get_by_role("button", name="Show all of it").click()
    page.wait_for_selector("article td:has-text('row 13999')", state="attached", timeout=60_000)
    assert page.locator("article tr").count() == 14001
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


def test_asking_by_meaning_shows_why_it_could_not_be_had(page: Any) -> None:
    page.goto("/?q=crane")
    page.wait_for_selector("a.hit")
    page.locator("label.switch").click()
    page.wait_for_selector(".notice.warn")
    assert (
        "fell back to keyword" in page.locator(".notice.warn").inner_text()
        or "KB_SIMILARITY_DISABLED" in page.locator(".notice.warn").inner_text()
    )
    assert "semantic=1" in page.url
    page.reload()
    page.wait_for_selector(".notice.warn")
    assert page.locator("#semantic").is_checked()


@pytest.mark.parametrize(("code", "word"), [("ru", "Оглавление"), ("de", "Gliederung"), ("en", "Outline")])
def test_the_interface_speaks_three_languages(page: Any, code: str, word: str) -> None:
    page.goto("/")
    page.select_option("#language", code)
    assert page.locator("#side").get_attribute("aria-label") == word
    assert page.evaluate("document.documentElement.lang") == code
    page.reload()
    assert page.locator("#language").input_value() == code


def test_light_and_dark_can_be_chosen_and_stay(page: Any) -> None:
    page.goto("/")
    before = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.click("#theme")
    after = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert before != after
    page.reload()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == after


def test_the_outline_opens_branch_by_branch_and_shows_where_one_is(page: Any) -> None:
    page.goto("/section/harbour%23crane-rope%40docs")
    page.wait_for_selector("article h1")
    page.wait_for_selector("#tree a[aria-current=page]", state="attached")
    assert page.locator("#tree a[aria-current=page]").get_attribute("title") == "Crane rope"
    if page.locator("#menu").is_visible():
        page.click("#menu")
    page.locator("#tree a", has_text="Lighthouse").click()
    page.wait_for_selector("article h1:has-text('Lighthouse')")


def test_an_unknown_section_offers_the_nearest(page: Any) -> None:
    page.goto("/section/H.2")
    page.wait_for_selector("main ul a")
    assert page.locator("main ul a", has_text="H.1").count() >= 1


def test_nothing_on_the_page_is_wider_than_the_page(page: Any) -> None:
    for address in ("/", "/?q=crane", "/?q=xyzzyqwv", "/section/H.1", "/section/hostile.md%40docs"):
        page.goto(address)
        page.wait_for_selector("main > *")
        page.wait_for_load_state("networkidle")
        assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"), address


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_serious_violation(page: Any, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed").Axe()
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    for address in ("/", "/?q=crane", "/?q=xyzzyqwv", "/section/H.1%40docs", "/section/hostile.md%40docs", "/section/H.2"):
        page.goto(address)
        page.wait_for_selector("main > *")
        page.wait_for_load_state("networkidle")
        violations = axe.run(page).response["violations"]
        serious = [
            (found["id"], [node["html"] for node in found["nodes"]][:3])
            for found in violations
            if found["impact"] in ("serious", "critical")
        ]
        assert serious == [], address


def test_a_base_with_a_token_asks_for_it_once(browser: Any, place: Any) -> None:
    token = "a-secret-of-some-length"
    with serving(place, KB_TOKEN=token) as guarded:
        context = browser.new_context(base_url=guarded.url, locale="en-US")
        page = context.new_page()
        page.goto("/section/H.1")
        page.wait_for_selector("#token[open]")
        page.fill("#token-value", token)
        page.keyboard.press("Enter")
        page.wait_for_selector("article h1")
        page.reload()
        page.wait_for_selector("article h1")
        assert page.locator("#token[open]").count() == 0
        context.close()
