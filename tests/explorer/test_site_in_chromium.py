"""A site in a browser, from a plain file server and from disk: searches, links, and no requests to other servers."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from chromium import IN_CHROMIUM, assert_accessible, assert_injected_blocked, assert_nothing_runs, served, watched
from explored import LIVELY, hostile
from peercorpus.explorer.site.render import paper_file, venue_file

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = IN_CHROMIUM
PHONE: Any = {"width": 360, "height": 740}
PAGES = (
    *("index.html", "index.html#q=kites", "index.html#q=nowhere", "venues.html", "about.html"),
    *(paper_file(LIVELY), venue_file("ICLR.cc/2020/Conference")),
)


@pytest.fixture(scope="module")
def address(known_site: Path) -> Iterator[str]:
    with served(known_site) as opened:
        yield opened


@pytest.fixture(scope="module")
def whole_address(whole_site: Path) -> Iterator[str]:
    with served(whole_site) as opened:
        yield opened


@pytest.fixture(scope="module")
def hostile_address(hostile_static_site: Path) -> Iterator[str]:
    with served(hostile_static_site) as opened:
        yield opened


def wait_until_found(page: "Page", text: str | re.Pattern[str] = re.compile("paper|load")) -> None:
    """Wait without evaluating a string in the page, which its policy forbids."""
    page.locator("#total").filter(has_text=text).wait_for()


def search(page: "Page", words: str) -> list[str]:
    page.fill("#q", words)
    page.keyboard.press("Enter")
    wait_until_found(page)
    page.wait_for_timeout(200)
    return page.locator("#results h2").all_inner_texts()


@pytest.mark.slow
@pytest.mark.parametrize("is_served", [True, False])
def test_searches_lead_there_and_back(browser: "Browser", address: str, known_site: Path, *, is_served: bool) -> None:
    """Also from disk, where a page may load scripts beside it, but not fetch."""
    page = browser.new_page()
    seen = watched(page)
    start = address if is_served else f"{known_site.as_uri()}/"
    page.goto(f"{start}index.html")
    assert sorted(search(page, "kite")) == ["Kites in strong wind", "Kites, a first try"]
    assert search(page, "WINDSOCK") == ["Kites in strong wind"]
    page.click("#results h2 a")
    page.wait_for_url(f"**/{paper_file(LIVELY)}")
    assert page.locator("#c-R1").is_visible()
    page.go_back()
    page.wait_for_selector("#results h2")
    assert page.input_value("#q") == "WINDSOCK"
    assert seen.errors == []
    assert all(asked.startswith((start, "data:,")) for asked in seen.asked)
    page.close()


@pytest.mark.slow
def test_filters_combine_with_words_and_alone(browser: "Browser", address: str) -> None:
    page = browser.new_page()
    page.goto(f"{address}index.html")
    search(page, "kites")
    page.select_option("select[name=status]", label="Rejected")
    wait_until_found(page, "1 paper")
    assert page.locator("#results h2").all_inner_texts() == ["Kites, a first try"]
    page.fill("#q", "")
    page.select_option("select[name=status]", label="Withdrawn")
    page.locator("#results").get_by_text("Nobody reviewed this").wait_for()
    assert search(page, "kites") == []
    assert "No paper with these filters has kites" in page.locator("#missed").inner_text()
    page.close()


@pytest.mark.slow
def test_pages_work_without_scripts(browser: "Browser", address: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{address}index.html")
    assert page.get_by_text("Searching needs scripts").is_visible()
    assert not page.locator("#q").is_visible()
    page.click("#browse a >> text=ICLR.cc/2020/Conference")
    page.click("text=Kites in strong wind")
    assert page.locator("h1").inner_text() == "Kites in strong wind"
    context.close()


@pytest.mark.slow
@pytest.mark.parametrize("place", PAGES)
def test_pages_are_accessible_and_narrow(browser: "Browser", address: str, place: str) -> None:
    # axe inspects the page from outside, which the page's policy forbids.
    context = browser.new_context(viewport=PHONE, bypass_csp=True)
    page = context.new_page()
    page.goto(address + place)
    if "#" in place:
        wait_until_found(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert_accessible(page)
    context.close()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["paper", "changes", "text"])
def test_extras_are_accessible_and_narrow(browser: "Browser", whole_address: str, kind: str) -> None:
    context = browser.new_context(viewport=PHONE, bypass_csp=True)
    page = context.new_page()
    page.goto(whole_address + paper_file(LIVELY, kind))
    for unfolded in page.locator("details.as-points > summary").all():
        unfolded.click()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert_accessible(page)
    context.close()


def test_points_lead_on_without_scripts(browser: "Browser", whole_address: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    seen = watched(page)
    page.goto(whole_address + paper_file(LIVELY))
    points = page.locator("details.as-points")
    assert not points.locator(".point").first.is_visible()
    points.locator("> summary").click()
    assert points.locator(".point").count() == 3
    points.locator(".answer .facts a").first.click()
    anchor = page.url.partition("#")[2]
    assert page.locator(f"[id='{anchor}']").is_visible()
    points.locator("a", has_text="may be wrong").click()
    page.wait_for_url("**/about.html#points")
    page.goto(whole_address + paper_file(LIVELY))
    points.locator("> summary").click()
    page.locator("details.as-points .note a[href*='changes/']").first.click()
    page.wait_for_url("**/changes/**#change-1")
    assert page.locator("#change-1 ins").first.is_visible()
    page.click("p.back a")
    page.wait_for_url(f"**/{paper_file(LIVELY)}")
    assert seen.errors == []
    assert all(asked.startswith((whole_address, "data:,")) for asked in seen.asked)
    context.close()


def hostile_pages() -> list[str]:
    found = ["index.html#q=pwned", "index.html#q=%3Cscript%3Ewindow.pwned%3D1%3C%2Fscript%3E", "venues.html"]
    for number, (venue_id, records) in enumerate(list(hostile().items())[:-1]):
        forum_id = records[0].forum_id  # type: ignore[attr-defined]
        found += [paper_file(forum_id), paper_file(forum_id, "text") if number % 2 else venue_file(venue_id)]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("place", hostile_pages())
def test_a_hostile_release_executes_nothing(browser: "Browser", hostile_address: str, place: str) -> None:
    assert_nothing_runs(browser, hostile_address + place, hostile_address)


@pytest.mark.slow
def test_policies_apply_without_a_server(browser: "Browser", address: str) -> None:
    page = browser.new_page()
    page.goto(address + paper_file(LIVELY))
    assert_injected_blocked(page)
    refused = page.evaluate("fetch('../../search/words.js').then(() => 'fetched', () => 'refused')")
    assert refused == "refused"
    page.close()
