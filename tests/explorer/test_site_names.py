"""The search of a site in a browser finds authors and reviewers as the explorer does."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from asked_releases import publish_release
from chromium import IN_CHROMIUM
from invented_tables import invented, keep
from named_people import NAMES, PSEUDONYMS, venues
from peercorpus.explorer.site.write_site import write_site
from peercorpus.release.folder import open_release

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

QUOTED = [
    ('"Alba Romero"', {"Names006"}),
    ('"Reviewer xY3z"', {"Names001"}),
    ('"Gómez, Ana"', {"Names001"}),
    ("\u201cAna María Gómez\u201d", {"Names001"}),
]
SEARCH = """async (words) => {
    location.hash = `#${new URLSearchParams({ q: words })}`;
    const total = document.getElementById("total");
    const isDone = () => {
        const found = /^([0-9,]+) papers?$/.exec(total.textContent);
        return found && document.querySelectorAll("#results h2").length === Number(found[1]);
    };
    await new Promise((resolve) => setTimeout(resolve));
    while (!isDone()) await new Promise((resolve) => setTimeout(resolve, 10));
    const titles = [...document.querySelectorAll("#results h2")].map((title) => title.textContent);
    return { titles, isAny: !document.getElementById("missed").hidden };
}"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("people")
    with invented(folder / "corpus", venues()) as workspace:
        keep(workspace)
        publish_release(workspace, folder / "release")
    write_site(open_release(folder / "release"), folder / "site")
    return folder / "site"


@pytest.fixture(scope="module")
def page(browser: "Browser", site: Path) -> Iterator["Page"]:
    opened = browser.new_page()
    opened.goto(f"{site.as_uri()}/index.html")
    yield opened
    opened.close()


class TestInChromium:
    pytestmark = IN_CHROMIUM

    @pytest.mark.parametrize(("words", "expected"), [*NAMES, *PSEUDONYMS, *QUOTED])
    def test_names_find_the_papers_that_the_explorer_finds(self, page: "Page", words: str, expected: set[str]) -> None:
        page.set_default_timeout(20_000)
        found = page.evaluate(SEARCH, words)
        assert ([] if found["isAny"] else sorted(found["titles"])) == sorted(f"Kites {paper}" for paper in expected)

    @pytest.mark.parametrize("words", ['"Names003"', "(https://openreview.net/forum?id=Names003)."])
    def test_an_id_or_an_address_may_be_quoted(self, browser: "Browser", site: Path, words: str) -> None:
        opened = browser.new_page()
        opened.goto(f"{site.as_uri()}/index.html")
        opened.fill("#q", words)
        opened.press("#q", "Enter")
        opened.wait_for_url("**/paper/**")
        opened.close()
