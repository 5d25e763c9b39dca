"""Conditions typed among the words of a search, and outcomes that plain words name."""

import re
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from typing import Any
from urllib.parse import urlencode

import pytest
from starlette.testclient import TestClient

from explored import explored
from invented_tables import ICLR, ICML, paper, version
from peercorpus.explorer.index_documents import FIELDS_SEARCHED
from peercorpus.explorer.querying.typed_query import CONDITIONS, read_query
from peercorpus.records.enums import Grade, Status

PAPER = re.compile(r'<h2><a href="/paper/([^"]+)">')
TAG = re.compile(r"<[^>]+>")
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


def ask(client: TestClient, words: str, **more: str) -> str:
    return client.get(f"/papers?{urlencode({'q': words} | more)}").text


def found(client: TestClient, words: str, **more: str) -> set[str]:
    return set(PAPER.findall(ask(client, words, **more)))


def words_of(page: str) -> str:
    return " ".join(unescape(TAG.sub(" ", page)).split())


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
def test_a_condition_typed_among_the_words_selects_papers(asking: TestClient, words: str, expected: set[str]) -> None:
    assert found(asking, words) == expected


def test_a_typed_condition_and_one_of_the_form_must_both_be_met(asking: TestClient) -> None:
    assert found(asking, "decision:rejected", status="withdrawn") == set()
    assert found(asking, "decision:rejected", year="2023") == {"Pump0001"}


@pytest.mark.parametrize("words", ["", "kites", "pumps"])
def test_a_typed_condition_finds_as_many_as_the_facet_says(asking: TestClient, words: str) -> None:
    facets = dict.fromkeys(("Accepted", "Rejected", "Withdrawn", "Desk rejected", "Under review"), 0)
    facets |= {label: int(count) for _, label, count in VALUE.findall(ask(asking, words)) if label in facets}
    assert facets["Rejected"] == {"": 3, "kites": 2, "pumps": 1}[words]
    counted = {label: len(found(asking, f'{words} decision:"{label}"')) for label in facets}
    assert counted == facets


def test_a_page_of_a_typed_condition_is_narrowed_by_it_and_links_keep_it(asking: TestClient) -> None:
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
def test_what_is_no_condition_is_named_as_it_can_be_typed(asking: TestClient, words: str, hint: str) -> None:
    said = words_of(ask(asking, words))
    assert hint in said
    assert not re.search(r"did you mean '(?:discussed|rating_unit|venue_id|forum_id)'", said)


def test_every_name_that_a_hint_suggests_can_be_typed() -> None:
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
def test_plain_words_that_name_an_outcome_offer_its_papers(
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
def test_words_that_name_no_outcome_offer_none(asking: TestClient, words: str) -> None:
    assert OUTCOME.findall(ask(asking, words)) == []


def test_an_outcome_is_not_offered_once_more_where_papers_are_selected_by_it(asking: TestClient) -> None:
    assert OUTCOME.findall(ask(asking, "rejected", status="withdrawn")) == []
