"""Names of authors and reviewers in every form, phrases and beginnings in papers' texts, and words of AI reviews."""

import re
from collections.abc import Iterator
from html import unescape
from urllib.parse import urlencode

import pytest
from starlette.testclient import TestClient

from explored import PAPER, ask, explored
from named_people import AUTHORS, NAMES, PSEUDONYMS, venues

TAG = re.compile(r"<[^>]+>")
SNIPPET = re.compile(
    r'<p class="snippet">(?:<a class="field" href="([^"]*)">|<span class="field">)(.*?)</(?:a|span)>(.*?)</p>'
)


@pytest.fixture(scope="module")
def asking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with explored(tmp_path_factory.mktemp("names") / "corpus", venues()) as client:
        yield client


def found(client: TestClient, words: str) -> set[str]:
    """The papers that have all words."""
    page = ask(client, words)
    return set() if 'id="missed"' in page else set(PAPER.findall(page))


def passages(client: TestClient, words: str) -> list[tuple[str, str, list[str]]]:
    shown = SNIPPET.findall(ask(client, words).replace("\n", " "))
    return [
        (unescape(name), unescape(link), re.findall("<mark>(.*?)</mark>", marked))
        for link, name, marked in shown
        if name != "Without"
    ]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        *NAMES,
        ("garc*", {"Names005"}),
        ('"Gómez Ana"', {"Names001"}),
        ('"Gomez Ana Maria"', {"Names001"}),
        ("authors:gómez", {"Names001", "Names004"}),
        ("authors:Müller", {"Names002"}),
        ('authors:"Gómez, Ana"', {"Names001"}),
        ('authors:"Lukasz Müller"', {"Names002"}),
        ('"Alba Romero"', {"Names006"}),
        ('"Romero, Alba"', {"Names006"}),
        ('authors:"Alba Romero"', {"Names006"}),
        ('authors:"Romero, A."', {"Names006"}),
        ('"A. Romero"', {"Names006"}),
        ('"Romero A."', {"Names006"}),
        ('"A. Gomez"', {"Names001"}),
        ('"C. Romero"', set()),
        ('"Alba Okafor"', set()),
        ('kites -"Alba Romero"', set(AUTHORS) - {"Names006"}),
        ('"Bo Carl Dahl"', {"Names006"}),
        ('"Xiao-Ming Zhou"', {"Names007"}),
        ('"van der Maaten"', {"Names008"}),
        ('"Maaten, Laurens van der"', {"Names008"}),
        ('"Thomas Müller"', {"Names008"}),
        ('"Thor Rømer"', {"Names009"}),
        ('"Ana Maria Gómez"', {"Names001"}),
        ("\u201cAna María Gómez\u201d", {"Names001"}),
        ("\u201eGómez Ana\u201c", {"Names001"}),
        ('"Ana Gomez"', set()),
        ("a study", set(AUTHORS)),
    ],
)
def test_authors_are_found_by_every_form(asking: TestClient, words: str, expected: set[str]) -> None:
    assert found(asking, words) == expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ('"ICLR 2020"', set(AUTHORS)),
        ('"iclr2020"', set(AUTHORS)),
        ('"ICLR.cc/2020/Conference"', set(AUTHORS)),
        ('venue:"ICLR.cc/2020/Conference"', set(AUTHORS)),
        ('-"ICLR.cc/2020/Conference"', set()),
        ('"ICML.cc/2020/Conference"', set()),
    ],
)
def test_quoted_venues_are_found(asking: TestClient, words: str, expected: set[str]) -> None:
    assert found(asking, words) == expected


@pytest.mark.parametrize(
    "words",
    [
        '"Names003"',
        "\u201cNames003\u201d",
        "(Names003)",
        '"https://openreview.net/forum?id=Names003"',
        "<openreview.net/forum?id=Names003>,",
    ],
)
def test_ids_and_addresses_may_be_quoted(asking: TestClient, words: str) -> None:
    answer = asking.get(f"/papers?{urlencode({'q': words})}")
    assert (answer.status_code, answer.headers.get("location")) == (303, "/paper/Names003")


def test_a_missed_phrase_is_offered_unquoted(asking: TestClient) -> None:
    page = ask(asking, '"Ana Gomez" kites')
    (link,) = re.findall(r'Without quotation marks: <a href="([^"]*)">Ana Gomez kites</a>, 1 paper<', page)
    assert PAPER.findall(asking.get(unescape(link)).text) == ["Names001"]
    for words in ('"Ana Romero" zeppelin', '"Ana María Gómez"', "zeppelin", '""', '"'):
        assert "Without quotation marks" not in ask(asking, words)


def test_whole_first_names_come_first(asking: TestClient) -> None:
    assert PAPER.findall(ask(asking, "Maria Okafor")) == ["Names006"]
    assert PAPER.findall(ask(asking, "Carlos Gomez")) == ["Names004"]
    assert "Did you mean" not in ask(asking, "Berto Dahl")


def test_names_are_shown_as_written(asking: TestClient) -> None:
    assert passages(asking, "A. Gomez") == [("Authors", "", ["Gómez"])]
    assert passages(asking, "muller lukasz") == [("Authors", "", ["Łukasz", "Müller"])]
    assert "Did you mean castelli?" in TAG.sub("", ask(asking, "castely"))
    assert "Did you mean" not in ask(asking, "agomes")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        *PSEUDONYMS,
        ("reviewer:xY3z", {"Names001"}),
        ("reviewer:Reviewer_xY3z", {"Names001"}),
        ('"Reviewer xY3z"', {"Names001"}),
        ('"reviewer_xy3z"', {"Names001"}),
        ('"xY3z"', {"Names001"}),
        ('"Reviewer xY3z" flaws', {"Names001"}),
        ('flaws -"Reviewer xY3z"', {"Names002", "Names003"}),
        ('reviewer:"Reviewer xY3z"', {"Names001"}),
        ('reviewer:"Reviewer Q9ab" OR "Anon Reviewer2"', {"Names002", "Names003"}),
        ('"Reviewer xY4z"', set()),
        ('"reviewer sees two"', {"Names001", "Names002", "Names003"}),
    ],
)
def test_reviewers_are_found_by_pseudonym(asking: TestClient, words: str, expected: set[str]) -> None:
    assert found(asking, words) == expected


def test_a_pseudonym_leads_to_its_review(asking: TestClient) -> None:
    assert passages(asking, "xY3z") == [("Reviewer", "/paper/Names001?at=Names001-Reviewer_xY3z", ["Reviewer_xY3z"])]
    assert {name for name, _, _ in passages(asking, "reviewer")} == {"In a review"}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ('"state of the art"', {"Names005"}),
        ('"the art by regularising"', {"Names005"}),
        ('"art the by"', set()),
        ('text:"state of the art"', {"Names005"}),
        ('abstract:"state of the art"', set()),
        ("state-of-the-art", {"Names005"}),
        ("another-art", set()),
        ("regulari*", {"Names005"}),
        ("anoth* kit*", {"Names005"}),
        ("regular" + "ize", {"Names005"}),
    ],
)
def test_phrases_and_beginnings_in_texts(asking: TestClient, words: str, expected: set[str]) -> None:
    assert found(asking, words) == expected


def test_phrases_are_marked_whole(asking: TestClient) -> None:
    place = "/text/Names005#page-1"
    assert passages(asking, '"state of the art"') == [("In the paper's text", place, ["state of the art"])]
    assert passages(asking, "regulari*") == [("In the paper's text", place, ["regularising"])]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("ai:claims", {"Names004"}),
        ("AI:claims", {"Names004"}),
        ("ai:seeds", {"Names004"}),
        ('ai:"claims hold"', {"Names004"}),
        ("ai:claims kites", {"Names004"}),
        ("ai:claims flaws", set()),
        ("ai:flaws", set()),
        ("claims", set()),
        ("seeds", set()),
        ("claim*", set()),
        ('"claims hold"', set()),
        ("kites -ai:claims", set(AUTHORS) - {"Names004"}),
    ],
)
def test_ai_reviews_are_searched_by_name(asking: TestClient, words: str, expected: set[str]) -> None:
    assert found(asking, words) == expected


def test_passages_of_ai_reviews(asking: TestClient) -> None:
    assert passages(asking, "ai:seeds") == [("In an AI review", "/paper/Names004?at=Names004-ai-answer", ["seeds"])]
    assert passages(asking, "castelli claims kites") == [("Authors", "", ["Castelli"])]
    assert "Did you mean" not in ask(asking, "claimz")
    place = asking.get("/paper/Names004?at=Names004-ai-answer").headers["location"]
    assert place == "/paper/Names004#post-Names004-ai-answer"
