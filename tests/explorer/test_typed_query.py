"""What is typed into a search: conditions, outcomes, fields, quotes, accents, and searches that are too long."""

import re
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from starlette.testclient import TestClient

from explored import PAPER, ask, explored, found, words_of
from invented_tables import ICLR, ICML, paper, version
from peercorpus.errors import PeercorpusError
from peercorpus.explorer.index_documents import FIELDS_SEARCHED, MAX_TEXT_CHARACTERS, cut_text
from peercorpus.explorer.point_search import read_point_selection
from peercorpus.explorer.querying.names import list_pseudonym_words
from peercorpus.explorer.querying.typed_query import CONDITIONS, read_query
from peercorpus.explorer.selection import require_selection
from peercorpus.records.enums import Grade, Status

VALUE = re.compile(r'<li><a href="/papers\?([^"]*)">(.*?)</a> <span class="n">([\d,]+)<')
OUTCOME = re.compile(r'<p class="named outcome">(.*?): <a href="/papers\?([^"]*)">(.*?)</a>, (\d+) papers?</p>')
STATUSES = {
    "Kite0001": Status.ACCEPTED,
    "Kite0002": Status.REJECTED,
    "Kite0003": Status.REJECTED,
    "Kite0004": Status.DESK_REJECTED,
    "Kite0005": Status.WITHDRAWN,
}


def venues() -> dict[str, list[object]]:
    def one(forum_id: str, venue_id: str, **fields: Any) -> object:
        about = {"title": f"Kites of {forum_id}", "keywords": (), "abstract": "Nothing.", "decision": None}
        return replace(paper(forum_id, venue_id), **(about | fields))

    of_iclr = [one(name, ICLR, status=status) for name, status in STATUSES.items()]
    return {
        ICLR: [*of_iclr, version("Kite0002", None, Grade.UNAVAILABLE)],
        ICML: [
            one("Pump0001", ICML, title="Pumps optimised", status=Status.REJECTED),
            one("Pump0002", ICML, title="Rejection sampling for pumps", status=Status.UNDER_REVIEW),
        ],
    }


@pytest.fixture(scope="module")
def asking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with explored(tmp_path_factory.mktemp("conditions") / "corpus", venues()) as client:
        yield client


REJECTED = {"Kite0002", "Kite0003", "Pump0001"}
EVERY = {*STATUSES, "Pump0001", "Pump0002"}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("decision:Reject", REJECTED),
        ("decision:rejected", REJECTED),
        ("Decision:REJECTED", REJECTED),
        ("decision: rejected", REJECTED),
        ('decision:"Rejected"', REJECTED),
        ("status:rejected", REJECTED),
        ("outcome:reject", REJECTED),
        ("decision:desk-rejected", {"Kite0004"}),
        ('decision:"desk rejected"', {"Kite0004"}),
        ('decision: "Desk Reject"', {"Kite0004"}),
        ("status:desk_rejected", {"Kite0004"}),
        ("decision:withdrawn", {"Kite0005"}),
        ('status:"under review"', {"Pump0002"}),
        ("decision:rejected decision:withdrawn", {*REJECTED, "Kite0005"}),
        ("kites decision:rejected", {"Kite0002", "Kite0003"}),
        ("decision:rejected pumps optimised", {"Pump0001"}),
        ("-decision:rejected", EVERY - REJECTED),
        ("kites -decision:rejected -status:withdrawn", {"Kite0001", "Kite0004"}),
        ("decision:rejected OR sampling", {*REJECTED, "Pump0002"}),
        ("kites AND (decision:withdrawn OR Decision:accept)", {"Kite0001", "Kite0005"}),
        ("kites NOT status:rejected", {"Kite0001", "Kite0004", "Kite0005"}),
        ("year:2023", {"Pump0001", "Pump0002"}),
        ("year:>=2021", {"Pump0001", "Pump0002"}),
        ("-year:>=2021", set(STATUSES)),
        ("year:<2021 decision:rejected", {"Kite0002", "Kite0003"}),
        ("year:[2021 TO 2024]", {"Pump0001", "Pump0002"}),
        ("year:2023 OR withdrawn", {"Pump0001", "Pump0002"}),
        ("conference:ICML", {"Pump0001", "Pump0002"}),
        ("conference:ICML OR nothingness", {"Pump0001", "Pump0002"}),
        ("version:unavailable", {"Kite0002"}),
        ("has_rebuttal:no kites", set(STATUSES)),
        ('"decision:rejected"', set()),
    ],
)
def test_typed_conditions_select_papers(asking: TestClient, words: str, expected: set[str]) -> None:
    assert found(asking, words) == expected


def test_typed_and_form_conditions_combine(asking: TestClient) -> None:
    assert found(asking, "decision:rejected", status="withdrawn") == set()
    assert found(asking, "decision:rejected", year="2023") == {"Pump0001"}


@pytest.mark.parametrize("words", ["", "kites", "pumps"])
def test_typed_conditions_find_what_facets_count(asking: TestClient, words: str) -> None:
    facets = dict.fromkeys(("Accepted", "Rejected", "Withdrawn", "Desk rejected", "Under review"), 0)
    facets |= {label: int(count) for _, label, count in VALUE.findall(ask(asking, words)) if label in facets}
    assert facets["Rejected"] == {"": 3, "kites": 2, "pumps": 1}[words]
    counted = {label: len(found(asking, f'{words} decision:"{label}"')) for label in facets}
    assert counted == facets


def test_links_keep_typed_conditions(asking: TestClient) -> None:
    page = ask(asking, "kites decision:rejected")
    assert "<span>Rejected</span>" in page
    links = [unescape(link) for link, label, _ in VALUE.findall(page) if label == "2020"]
    assert links == ["q=kites&status=rejected&year=2020"]
    misspelt = ask(asking, "ki" + "tse decision:rejected")
    assert "Did you mean kites decision:rejected ?" in words_of(misspelt)


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ("decision:loved", "'loved' is not a decision; use one of: accepted, rejected, withdrawn, desk_rejected"),
        ("status:loved", "'loved' is not a status; use one of: accepted"),
        ("year:soon", "'year' must be compared with a finite number, got 'soon'"),
        ("decision:>rejected", "compares values that have no order"),
        ("deci" + "son:rejected", "There is no field 'deci" + "son:'; did you mean 'decision'?"),
        ("discusse:3", "There is no field 'discusse:'"),
        ("colour:red", "use one of: abstract,"),
    ],
)
def test_unreadable_conditions_are_named(asking: TestClient, words: str, hint: str) -> None:
    said = words_of(ask(asking, words))
    assert hint in said
    assert not re.search(r"did you mean '(?:discussed|rating_unit|venue_id|forum_id)'", said)


def test_suggested_names_can_be_typed() -> None:
    values = {
        "year": "2020",
        "track": "main",
        "conference": "iclr",
        "grade": "exact",
        "version": "exact",
        "keyword": "a",
    }
    values |= dict.fromkeys(("status", "decision", "outcome"), "accepted")
    values |= dict.fromkeys(("has_rebuttal", "score_changed"), "yes")
    for name in CONDITIONS:
        read = read_query(f"{name}:{values.get(name, '1')}", FIELDS_SEARCHED)
        assert (read.text, len(read.conditions), read.hints) == ("", 1, [])


@pytest.mark.parametrize(
    ("words", "title", "label", "expected"),
    [
        ("rejected papers 2023", "Decision and year", "Rejected, 2023", {"Pump0001"}),
        ("papers that were rejected in 2023", "Decision and year", "Rejected, 2023", {"Pump0001"}),
        ("rejected ICLR 2020", "Decision and year", "Rejected, iclr, 2020", {"Kite0002", "Kite0003"}),
        ("rejected", "Decision", "Rejected", REJECTED),
        ("rejection", "Decision", "Rejected", REJECTED),
        ("accepted papers about kites", "Decision", "Accepted, with “kites”", {"Kite0001"}),
        ("desk rejected", "Decision", "Desk rejected", {"Kite0004"}),
        ("desk-rejected papers", "Decision", "Desk rejected", {"Kite0004"}),
        ("withdrawn submissions", "Decision", "Withdrawn", {"Kite0005"}),
        ("papers under review", "Decision", "Under review", {"Pump0002"}),
    ],
)
def test_plain_words_offer_an_outcome(
    asking: TestClient, words: str, title: str, label: str, expected: set[str]
) -> None:
    ((shown_title, link, shown, papers),) = OUTCOME.findall(ask(asking, words))
    assert (shown_title, unescape(shown), int(papers)) == (title, label, len(expected))
    assert set(PAPER.findall(asking.get(f"/papers?{unescape(link)}").text)) == expected


@pytest.mark.parametrize(
    "words",
    [
        *("rejection sampling", "kites", "", "accepted or rejected papers", '"rejected papers"', "unknown papers"),
        *("rejected papers 1999 zzyzx", "decision:rejected rejected papers", "accept everything"),
    ],
)
def test_other_words_offer_no_outcome(asking: TestClient, words: str) -> None:
    assert OUTCOME.findall(ask(asking, words)) == []


def test_a_chosen_outcome_is_not_offered(asking: TestClient) -> None:
    assert OUTCOME.findall(ask(asking, "rejected", status="withdrawn")) == []


TITLES = {
    "Kite0001": "Kites in the wind",
    "Kite0002": "Na\xefve Bayes for Erd\u0151s graphs",
    "Kite0003": "Poincare\u0301 embeddings of e\u0301tudes",
    "Kite0004": "Track: main results on pumps",
    "Kite0005": "Strong kites",
}


@pytest.fixture(scope="module")
def asking_odd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    def one(forum_id: str, **fields: Any) -> object:
        return replace(paper(forum_id, ICLR), title=TITLES[forum_id], keywords=(), abstract="Nothing.", **fields)

    venues: dict[str, list[object]] = {
        ICLR: [one(forum_id) for forum_id in TITLES],
        ICML: [replace(paper("Pump0001", ICML), title="Pumps", keywords=(), abstract="Nothing.")],
    }
    with explored(tmp_path_factory.mktemp("odd") / "corpus", venues) as client:
        yield client


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("naive bayes", {"Kite0002"}),
        ("na\xefve", {"Kite0002"}),
        ("Erdos", {"Kite0002"}),
        ('"erdos graphs"', {"Kite0002"}),
        ("title:naive", {"Kite0002"}),
        ("erdo*", {"Kite0002"}),
        ("poincare", {"Kite0003"}),
        ("Poincar\xe9", {"Kite0003"}),
        ("Poincare\u0301", {"Kite0003"}),
        ("etude", {"Kite0003"}),
        ("\xe9tud*", {"Kite0003"}),
    ],
)
def test_accents_do_not_matter(asking_odd: TestClient, words: str, expected: set[str]) -> None:
    page = ask(asking_odd, words)
    assert set(PAPER.findall(page)) == expected
    assert "<mark>" in page


def test_misspelt_words_without_accents(asking_odd: TestClient) -> None:
    assert "poincare" in words_of(ask(asking_odd, "poincaree"))


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (f'venue:"{ICLR}"', set(TITLES)),
        (f"venue:{ICLR}", set(TITLES)),
        ('Title:"kites"', {"Kite0001", "Kite0005"}),
        ('kites -Title:"strong"', {"Kite0001"}),
        ("Track: main results", {"Kite0004"}),
        ('track: "main" pumps', {"Kite0004", "Pump0001"}),
        ("year:[2000 TO *]", {*TITLES, "Pump0001"}),
        ("kites year>=2000", {"Kite0001", "Kite0005"}),
        ("kites year >= 3000", set()),
        ("pumps OR year>=3000", {"Kite0004", "Pump0001"}),
        ("year:[* TO 2000]", set()),
    ],
)
def test_quoted_fields_and_open_ranges(asking_odd: TestClient, words: str, expected: set[str]) -> None:
    page = ask(asking_odd, words)
    assert set(PAPER.findall(page)) == expected
    assert "could not be understood" not in page
    assert "was searched for without" not in page


def test_long_searches_are_shortened(asking_odd: TestClient) -> None:
    assert "Only the first 500 characters were searched for." in ask(asking_odd, "kites " * 100)
    assert found(asking_odd, "kites " * 100) == {"Kite0001", "Kite0005"}
    of_points = read_point_selection(urlencode({"q": "kites " * 100}))
    assert (of_points.faults, len(of_points.hints)) == ((), 1)
    with pytest.raises(PeercorpusError, match="500 characters"):
        require_selection(urlencode({"q": "kites " * 100}))


def test_too_many_or_long_words(asking_odd: TestClient) -> None:
    many = " ".join(f"w{number}" for number in range(40))
    assert "Only the first 32 words were searched for." in ask(asking_odd, f"{many} kites")
    long = "x" * 45
    page = ask(asking_odd, f"kites {long}")
    assert set(PAPER.findall(page)) == {"Kite0001", "Kite0005"}
    assert long in words_of(page).partition("No paper has")[2]
    assert found(asking_odd, long) == set()


def test_offered_outcomes_name_conditions(asking_odd: TestClient) -> None:
    page = words_of(asking_odd.get(f"/papers?{urlencode({'q': 'accepted papers', 'where': 'conference!=icml'})}").text)
    assert "icml" not in page.partition("Decision")[2].partition("papers")[0]


def test_cut_addresses_are_hidden_whole() -> None:
    for before in range(30):
        text = "a " * ((MAX_TEXT_CHARACTERS - before) // 2) + "mail ada.lovelace@cs.example.org today"
        assert "lovelace" not in cut_text(text)


@pytest.fixture(scope="module")
def by_authors(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    def one(forum_id: str, title: str, author: str) -> object:
        return replace(paper(forum_id, ICLR), title=title, keywords=(), abstract="Nothing.", authors=(author,))

    papers = [
        one("Kite0001", "A short note on kites", "Bo Wu"),
        one("Kite0002", "Kites noted on", "Anna Short"),
        one("Kite0003", "A lina search for pumps", "Bo Wu"),
        one("Kite0004", "Pumps", "Alina Brun"),
        one("Kite0005", "Pumps", "Jun Zhu"),
        one("Kite0006", "Pumps", "Zheng Hu"),
    ]
    with explored(tmp_path_factory.mktemp("authors") / "corpus", {ICLR: papers}) as client:
        yield client


@pytest.mark.parametrize(
    ("words", "first", "expected"),
    [
        ("a short note on kites", None, {"Kite0001", "Kite0002"}),
        ("A lina search for pumps", "Kite0003", {"Kite0003"}),
        ("A. Short", "Kite0002", {"Kite0002"}),
        ("a short", "Kite0002", {"Kite0002"}),
        ("authors:zhu", "Kite0005", {"Kite0005"}),
        ("Z Hu", "Kite0006", {"Kite0006"}),
    ],
)
def test_articles_are_initials_among_names(
    by_authors: TestClient, words: str, first: str | None, expected: set[str]
) -> None:
    listed = PAPER.findall(ask(by_authors, words))
    assert set(listed) == expected
    assert first in {None, listed[0]}


@pytest.mark.parametrize(
    "pseudonym", ["Anonymous_Reviewer_2", "Anon_Reviewer_2", "AnonReviewer2", "Official_Reviewer_2", "Reviewer_2"]
)
def test_numbered_pseudonyms_are_found(pseudonym: str) -> None:
    words = set(list_pseudonym_words(pseudonym))
    assert {"reviewer2", pseudonym.lower().replace("_", "")} <= words


@pytest.mark.parametrize("keyword", ['a "b"', "c\\d", "AND", "*", "[1 TO 2]", "-e", "(f", "year:2020", "é\tg"])
def test_conditions_take_any_word(tmp_path: Path, keyword: str) -> None:
    papers: list[object] = [paper("Kite0001", keywords=(keyword, "kites")), paper("Kite0002", keywords=("kites",))]
    with explored(tmp_path / "corpus", {ICLR: papers}) as client:
        for sign, expected in (("=", "Kite0001"), ("!=", "Kite0002")):
            page = client.get(f"/papers?{urlencode({'where': f'keyword{sign}{keyword}'})}").text
            assert expected in PAPER.findall(page)


@pytest.mark.parametrize("number", [-1e300, -0.0, 5e-324, 1e22])
def test_conditions_take_any_number(asking: TestClient, number: float) -> None:
    for sign in ("<", "<=", "=", "!=", ">=", ">"):
        page = asking.get(f"/papers?{urlencode({'where': f'rating{sign}{number}'})}")
        assert (page.status_code, 'role="alert"' in page.text) == (200, False)
