"""The search of a site: its files, and queries and names of every kind in a browser."""

import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asked_releases import publish_release
from chromium import IN_CHROMIUM, served, watched
from explored import LIVELY
from invented_tables import invented, keep
from named_people import NAMES, PSEUDONYMS, venues
from peercorpus.explorer.site.render import paper_file, venue_file
from peercorpus.explorer.site.search_files import SearchIndex, choose_file, encode_entry, encode_lists
from peercorpus.explorer.site.search_words import read_words, split, stem
from peercorpus.explorer.site.write_site import write_site
from peercorpus.release.folder import open_release

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

MANY, FILES = 4_000, 1_024
"""Papers, and the files of words that so many have."""
Paper = tuple[str, str, str]
"""Title, abstract, and reviews."""


def write_words(papers: Sequence[Paper], scratch: Path) -> dict[str, bytes]:
    """The files of words of a site with these papers."""
    files: dict[str, bytes] = {}
    scratch.mkdir(exist_ok=True)
    index = SearchIndex(scratch, MANY)
    for number, texts in enumerate(papers):
        index.add(number, read_words(texts, [set()] * len(texts)), {}, ())
    index.write(files.__setitem__)
    return {name: content for name, content in files.items() if name.startswith("search/w/")}


def is_found(word: str, papers: Sequence[Paper], scratch: Path, first: str | None = None) -> bool:
    """Whether the file of a word has it, or that of the first part as which a word with hyphens is typed."""
    place = choose_file(stem(first or word), FILES)
    content = write_words(papers, scratch)[f"search/w/{place // 1_000}/{place}.js"]
    return stem(word) in json.loads(content.partition(b",")[2].rpartition(b")")[0])


@pytest.mark.parametrize(
    ("paper", "expected"),
    [
        (("On wind", "", "They call it KiteNet, or Kite-Net."), True),
        (("On wind", "KiteNet flies.", "Is Kite-Net new?"), True),
        (("KiteNet", "", "Is Kite-Net new?"), True),
        (("Kite-Net", "", ""), True),
        (("On wind", "Kite-Net flies.", ""), True),
        (("On wind", "", "Is Kite-Net new?"), False),
        (("On kites", "", ""), False),
    ],
)
def test_rare_names_without_their_hyphen(paper: Paper, tmp_path: Path, *, expected: bool) -> None:
    assert is_found("kitenet", [paper, ("Another", "", "")], tmp_path) is expected


def test_compounds_of_two_papers(tmp_path: Path) -> None:
    papers = [("On wind", "", "Is Kite-Net new?"), ("On rain", "", "Kite-Net again")]
    assert is_found("kitenet", papers, tmp_path)
    assert is_found("kitenet", papers, tmp_path, first="kite")


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0)])
def test_compounds_with_several_hyphens(tmp_path: Path, order: Sequence[int]) -> None:
    written = [("A multi-task-learning", "", ""), ("A multitask-learning", "", ""), ("A multitasklearning", "", "")]
    papers = [written[number] for number in order]
    for first in ("multi", "multitask", "multitasklearning"):
        assert is_found("multitasklearning", papers, tmp_path, first)


def test_word_files_are_deterministic(tmp_path: Path) -> None:
    code = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); from {__name__} import *; print_digest()"

    def run_with(seed: int) -> str:
        env = os.environ | {"PYTHONHASHSEED": str(seed), "PYTHONPATH": os.pathsep.join(sys.path)}
        return subprocess.check_output([sys.executable, "-c", code, str(tmp_path / "scratch")], env=env, text=True)

    assert len({run_with(seed) for seed in range(1, 7)}) == 1


def print_digest() -> None:
    """Print a digest of the files of words of papers with compounds that are written in several ways."""
    many = "multi-task-learning multitask-learning pre-training-free pretraining-free co-design-space codesign-space"
    files = write_words([(many, "", ""), ("", many, ""), ("", "", many)], Path(sys.argv[1]))
    sys.stdout.write(hashlib.sha256(repr(sorted(files.items())).encode()).hexdigest())


DOCS = Path(__file__).parents[2] / "docs"
ODD = [
    *("naïve", "Schrödinger's", "ﬁnal", "KİTES", "straße", "ΣΟΦΟΣ", "日本語", "x²", "½", "e\u0301tude", "GPT-4", "ⅷ"),
    *(
        "evening",
        "past",
        "pasted",
        "added",
        "organization",
        "university",
        "skies",
        "dying",
        "geologist",
        "syzygy",
        "x" * 45,
    ),
]
LIVELY_TITLE, FIRST_TRY = "Kites in strong wind", "Kites, a first try"


@pytest.fixture(scope="module")
def address(known_site: Path) -> Iterator[str]:
    with served(known_site) as opened:
        yield opened


def ask(page: "Page", address: str, words: str) -> list[str]:
    """Ask on a new page, and return the titles that are found."""
    page.goto("about:blank")
    page.goto(f"{address}index.html")
    page.fill("#q", words)
    page.press("#q", "Enter")
    page.locator("#total").filter(has_text=re.compile("paper")).wait_for()
    page.wait_for_timeout(150)
    return page.locator("#results h2").all_inner_texts()


@given(st.lists(st.integers(0, 3), min_size=1, max_size=300))
def test_entries_have_three_lists(fields: list[int]) -> None:
    postings = [4 * number + field for number, field in enumerate(fields) if field < 3]
    entry = encode_entry(postings, len(fields))
    assert entry.startswith("~") == (2 * len(postings) > len(fields))
    assert re.fullmatch(r"~?[A-Za-z0-9_-]+", entry)


def test_long_gaps_are_encoded() -> None:
    assert encode_lists([[10**6], [], []])[:3] == "BAA"
    assert len(encode_lists([list(range(64_000)), [], []])) < 64_000 / 5


def test_files_depend_on_words_alone() -> None:
    assert choose_file("straße", 16_384) == choose_file("straße", 32_768) % 16_384


@pytest.mark.usefixtures("known_site")
class TestInChromium:
    pytestmark = IN_CHROMIUM

    def test_words_are_split_as_in_python(self, browser: "Browser") -> None:
        texts = [path.read_text(encoding="utf-8") for path in sorted(DOCS.rglob("*.md"))]
        written = sorted({word for text in texts for word in re.findall(r"[^\W_]+", text.lower())} | set(ODD))
        assert len(written) > 3_000
        page = browser.new_page()
        script = (files("peercorpus.explorer.site") / "static" / "words.js").read_text(encoding="utf-8")
        found = page.evaluate(
            f"all => {{ {script}\n return all.map((one) => [words.split(one), words.split(one).map(words.stem)]); }}",
            written,
        )
        page.close()
        wrong = [
            (word, parts, stems)
            for word, (parts, stems) in zip(written, found, strict=True)
            if [parts, stems] != [list(split(word)), [stem(part) for part in split(word)]]
        ]
        assert wrong == []

    @pytest.mark.parametrize(
        ("words", "titles"),
        [
            ("windsock", {LIVELY_TITLE}),
            ("WINDSOCKS", {LIVELY_TITLE}),
            ("wíndsock", {LIVELY_TITLE}),
            ("wind-sock", {LIVELY_TITLE}),
            ("wind sock", {LIVELY_TITLE}),
            ("kite", {LIVELY_TITLE, FIRST_TRY}),
            ("kites strong wind", {LIVELY_TITLE}),
            ("strong kites", {LIVELY_TITLE}),
            ("first try kites", {FIRST_TRY}),
            ('"kites"', {LIVELY_TITLE, FIRST_TRY}),
            ("windso*", {LIVELY_TITLE}),
            ("WINDSO* kites", {LIVELY_TITLE}),
            ("kit*", {LIVELY_TITLE, FIRST_TRY}),
            ("ki* windsock", {LIVELY_TITLE}),
            ("ICLR kites", {LIVELY_TITLE}),
            ("kites iclr2020", {LIVELY_TITLE}),
            ("kites ICML.cc/2023/Conference", {FIRST_TRY}),
            ("kites!", {LIVELY_TITLE, FIRST_TRY}),
            ("windsock zeppelin", {LIVELY_TITLE}),
            ("constructor", set()),
            ("__proto__ hasOwnProperty", set()),
            ("<img src=x onerror=window.pwned=1>", set()),
            ("%", set()),
            ("!!!", set()),
            ("zeppelin", set()),
            ("kites " * 60, {LIVELY_TITLE, FIRST_TRY}),
        ],
    )
    def test_queries_find_their_papers(self, browser: "Browser", address: str, words: str, titles: set[str]) -> None:
        page = browser.new_page()
        seen = watched(page)
        assert set(ask(page, address, words)) == titles
        assert page.evaluate("window.pwned") is None
        assert seen.errors == []
        assert all(asked.startswith((address, "data:,", "about:blank")) for asked in seen.asked)
        page.close()

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            ('"strong kites"', "Quotes have no meaning here: all words were searched for"),
            ('"kites" OR windsock', "Quotes, OR have no meaning here"),
            ("kites -windsock", "A minus sign has no meaning here"),
            ("title:kites", "The name of a field has no meaning here"),
            ("windso*", "windso* was searched for as windsock."),
            ("k*tes", "k*tes was searched for without *"),
            ("kites - a first try", ""),
            ("kites", ""),
        ],
    )
    def test_what_signs_mean_is_said(self, browser: "Browser", address: str, words: str, said: str) -> None:
        page = browser.new_page()
        ask(page, address, words)
        assert page.locator("#signs").is_visible() == bool(said)
        assert said in page.locator("#signs").inner_text()
        page.close()

    @pytest.mark.parametrize(
        ("words", "venue_ids"),
        [
            ("ICLR", ["ICLR.cc/2020/Conference"]),
            ("iclr 2020 kites", ["ICLR.cc/2020/Conference"]),
            ("icml2023", ["ICML.cc/2023/Conference"]),
            ("iclr 2019", []),
            ("kites", []),
        ],
    )
    def test_venue_names_lead_to_pages(
        self, browser: "Browser", address: str, words: str, venue_ids: list[str]
    ) -> None:
        page = browser.new_page()
        ask(page, address, words)
        links = page.locator("#named a")
        assert links.all_inner_texts() == venue_ids
        assert page.locator("#named").is_visible() == bool(venue_ids)
        if venue_ids:
            links.first.click()
            page.wait_for_url(f"**/{venue_file(venue_ids[0])}")
        page.close()

    def test_missing_words_are_named(self, browser: "Browser", address: str) -> None:
        page = browser.new_page()
        ask(page, address, "windsock zeppelin")
        assert "No paper has zeppelin; these have other words" in page.locator("#missed").inner_text()
        page.close()

    @pytest.mark.parametrize(("words", "suggested"), [("windsokc", "windsock"), ("kitse", "kites")])
    def test_a_misspelt_word_is_corrected(self, browser: "Browser", address: str, words: str, suggested: str) -> None:
        page = browser.new_page()
        ask(page, address, words)
        page.locator("#spelling").wait_for()
        assert page.locator("#spelling").inner_text() == f"Did you mean {suggested}?"
        page.click("#spelling a")
        page.wait_for_selector("#results h2")
        assert page.input_value("#q") == suggested
        page.close()

    @pytest.mark.parametrize(
        "asked", [LIVELY, f"https://openreview.net/forum?id={LIVELY}", f"openreview.net/pdf?id={LIVELY}"]
    )
    def test_ids_and_addresses_open_papers(self, browser: "Browser", address: str, asked: str) -> None:
        page = browser.new_page()
        page.goto(f"{address}index.html")
        page.fill("#q", asked)
        page.press("#q", "Enter")
        page.wait_for_url(f"**/{paper_file(LIVELY)}")
        page.close()

    def test_addresses_of_posts_open_turns(self, browser: "Browser", address: str, known_site: Path) -> None:
        held = [
            json.loads(path.read_bytes().partition(b",")[2].rpartition(b")")[0])
            for path in known_site.glob("search/i/*/*.js")
        ]
        posts = {note_id: found[1] for ids in held for note_id, found in ids.items() if isinstance(found, list)}
        assert posts
        page = browser.new_page()
        for note_id, anchor in posts.items():
            page.goto("about:blank")
            page.goto(f"{address}index.html")
            page.fill("#q", f"https://openreview.net/forum?id=any&noteId={note_id}")
            page.press("#q", "Enter")
            page.wait_for_url(f"**/paper/**#{anchor}")
            assert page.locator(f"[id='{anchor}']").count() == 1
        page.close()

    def test_facets_count_and_narrow(self, browser: "Browser", address: str) -> None:
        page = browser.new_page()
        ask(page, address, "kites")
        facets = page.locator("#facets")
        assert {"Venue", "Year", "Decision"} == set(facets.locator("h2").all_inner_texts())
        facets.get_by_role("link", name="Rejected").click()
        page.locator("#total").filter(has_text="1 paper").wait_for()
        page.wait_for_selector("#results h2")
        assert page.locator("#results h2").all_inner_texts() == [FIRST_TRY]
        page.close()

    @pytest.mark.parametrize(
        ("asked", "said"),
        [
            ("venue=None/2024", "This site has no venue “None/2024”; choose another one above."),
            ("q=kites&year=1999", "This site has no year “1999”; choose another one above."),
            ("q=kites&status=loved", "This site has no decision “loved”; choose another one above."),
            ("q=kites&venue=<img src=x>", "This site has no venue “<img src=x>”; choose another one above."),
        ],
    )
    def test_links_to_nothing_say_so(self, browser: "Browser", address: str, asked: str, said: str) -> None:
        page = browser.new_page()
        page.goto(f"{address}index.html#{asked}")
        page.locator("#total").filter(has_text="This site has no").wait_for()
        assert page.locator("#total").inner_text() == said
        assert page.locator("#results h2").count() == 0
        page.evaluate("location.hash = '#q=kites&year=2020'")
        page.locator("#total").filter(has_text="1 paper").wait_for()
        page.close()

    def test_failed_files_are_asked_again(self, browser: "Browser", address: str) -> None:
        page = browser.new_page()
        page.route("**/search/w/**", lambda route: route.fulfill(body="", content_type="text/javascript"))
        page.goto(f"{address}index.html")
        page.fill("#q", "kites")
        page.press("#q", "Enter")
        page.locator("#total").filter(has_text="could not load its file").wait_for()
        page.unroute("**/search/w/**")
        page.press("#q", "Enter")
        page.wait_for_selector("#results h2")
        assert set(page.locator("#results h2").all_inner_texts()) == {LIVELY_TITLE, FIRST_TRY}
        page.close()


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


class TestNamesInChromium:
    pytestmark = IN_CHROMIUM

    @pytest.mark.parametrize(("words", "expected"), [*NAMES, *PSEUDONYMS, *QUOTED])
    def test_names_find_as_the_explorer(self, page: "Page", words: str, expected: set[str]) -> None:
        page.set_default_timeout(20_000)
        found = page.evaluate(SEARCH, words)
        assert ([] if found["isAny"] else sorted(found["titles"])) == sorted(f"Kites {paper}" for paper in expected)

    @pytest.mark.parametrize("words", ['"Names003"', "(https://openreview.net/forum?id=Names003)."])
    def test_ids_and_addresses_may_be_quoted(self, browser: "Browser", site: Path, words: str) -> None:
        opened = browser.new_page()
        opened.goto(f"{site.as_uri()}/index.html")
        opened.fill("#q", words)
        opened.press("#q", "Enter")
        opened.wait_for_url("**/paper/**")
        opened.close()
