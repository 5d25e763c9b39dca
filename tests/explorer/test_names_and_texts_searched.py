"""Names of authors and reviewers in every form, phrases and beginnings in papers' texts, and words of AI reviews."""

import re
import unicodedata
from collections.abc import Iterator
from html import unescape
from urllib.parse import urlencode

import pytest
from starlette.testclient import TestClient

from explored import explored
from invented_tables import ICLR, ai_review, paper, post, review, text, version
from peercorpus.records.enums import Grade, PostKind, Role, SectionKind
from peercorpus.records.reviews import Section

PAPER = re.compile(r'<h2><a href="/paper/([^"]+)">')
TAG = re.compile(r"<[^>]+>")
SNIPPET = re.compile(
    r'<p class="snippet">(?:<a class="field" href="([^"]*)">|<span class="field">)(.*?)</(?:a|span)>(.*?)</p>'
)
AUTHORS = {
    "Names001": ("Ana María Gómez", "Zoë Li"),
    "Names002": ("Łukasz Müller", "Søren Ångström"),
    "Names003": ("Jean-Luc O'Neil", "Li Wei"),
    "Names004": ("Carlos Gomez", "A. B. Castelli"),
    "Names005": (unicodedata.normalize("NFD", "José Núñez"), "García, Elena"),
}
BODY = "# Kites\n\nWe improve on the state of the art by regularising. The art of the state is another matter."


def venues() -> dict[str, list[object]]:
    records: list[object] = []
    for forum_id, authors in AUTHORS.items():
        records.append(paper(forum_id, title=f"Kites {forum_id}", authors=authors, keywords=(), abstract="A study."))
    for forum_id, reviewer in (
        ("Names001", "Reviewer_xY3z"),
        ("Names002", "AnonReviewer2"),
        ("Names003", "Reviewer_Q9ab"),
    ):
        criticism = (Section(SectionKind.WEAKNESSES, "weaknesses", "A reviewer sees two flaws."),)
        records.append(review(forum_id, reviewer, sections=criticism))
        by = (PostKind.REVIEW, Role.REVIEWER, "A reviewer sees two flaws.")
        shown = post(f"{forum_id}-{reviewer}", forum_id, kind=by[0], role=by[1], signature=reviewer, text=by[2])
        records.append(shown)
    records += [ai_review("Names004"), version("Names005", "sha-body", Grade.EXACT), text("sha-body", BODY)]
    return {ICLR: sorted(records, key=lambda record: str(getattr(record, "forum_id", "")))}


@pytest.fixture(scope="module")
def asking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with explored(tmp_path_factory.mktemp("names") / "corpus", venues()) as client:
        yield client


def ask(client: TestClient, words: str) -> str:
    answer = client.get(f"/papers?{urlencode({'q': words})}")
    assert answer.status_code == 200
    return answer.text


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
        ("Gómez", {"Names001", "Names004"}),
        ("Gomez", {"Names001", "Names004"}),
        ("Gómez, Ana", {"Names001"}),
        ("gomez ana", {"Names001"}),
        ("Ana Gomez", {"Names001"}),
        ("A. Gomez", {"Names001"}),
        ("A Gómez", {"Names001"}),
        ("Gomez A.", {"Names001"}),
        ("Gómez, A. M.", {"Names001"}),
        ("A.M. Gomez", {"Names001"}),
        ("M. Gomez", {"Names001"}),
        ("C. Gomez", {"Names004"}),
        ("B. Gomez", set()),
        ("A. Castelli", {"Names004"}),
        ("B. Castelli", {"Names004"}),
        ("Z. Li", {"Names001"}),
        ("L. Wei", {"Names003"}),
        ("Wei Li", {"Names003"}),
        ("zoe", {"Names001"}),
        ("Lukasz Muller", {"Names002"}),
        ("Łukasz Müller", {"Names002"}),
        ("Mueller", {"Names002"}),
        ("L. Mueller", {"Names002"}),
        ("Soren Angstrom", {"Names002"}),
        ("soeren", {"Names002"}),
        ("Muller, Łukasz", {"Names002"}),
        ("Jean Luc O'Neil", {"Names003"}),
        ("J.-L. O'Neil", {"Names003"}),
        ("oneil jean-luc", {"Names003"}),
        ("Jose Nunez", {"Names005"}),
        ("José Núñez", {"Names005"}),
        (unicodedata.normalize("NFD", "José Núñez"), {"Names005"}),
        ("J. Núñez", {"Names005"}),
        ("Elena García", {"Names005"}),
        ("E. Garcia", {"Names005"}),
        ("garc*", {"Names005"}),
        ('"Gómez Ana"', {"Names001"}),
        ('"Gomez Ana Maria"', {"Names001"}),
        ("authors:gómez", {"Names001", "Names004"}),
        ("authors:Müller", {"Names002"}),
        ('authors:"Gómez, Ana"', {"Names001"}),
        ('authors:"Lukasz Müller"', {"Names002"}),
        ("a study", set(AUTHORS)),
    ],
)
def test_an_author_is_found_by_every_form_of_the_name(asking: TestClient, words: str, expected: set[str]) -> None:
    assert found(asking, words) == expected


def test_the_name_is_shown_as_the_paper_has_it_and_an_initial_is_marked_nowhere(asking: TestClient) -> None:
    assert passages(asking, "A. Gomez") == [("Authors", "", ["Gómez"])]
    assert passages(asking, "muller lukasz") == [("Authors", "", ["Łukasz", "Müller"])]
    assert "Did you mean castelli?" in TAG.sub("", ask(asking, "castely"))
    assert "Did you mean" not in ask(asking, "agomes")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("Reviewer xY3z", {"Names001"}),
        ("reviewer xy3z", {"Names001"}),
        ("Reviewer_xY3z", {"Names001"}),
        ("xY3z", {"Names001"}),
        ("xY3z flaws", {"Names001"}),
        ("reviewer:xY3z", {"Names001"}),
        ("reviewer:Reviewer_xY3z", {"Names001"}),
        ("AnonReviewer2", {"Names002"}),
        ("Reviewer2", {"Names002"}),
        ("Reviewer Q9ab kites", {"Names003"}),
        ("Reviewer Q9ab xY3z", set()),
        ("reviewer", {"Names001", "Names002", "Names003"}),
        ("flaws", {"Names001", "Names002", "Names003"}),
    ],
)
def test_a_reviewer_is_found_by_the_pseudonym(asking: TestClient, words: str, expected: set[str]) -> None:
    assert found(asking, words) == expected


def test_a_pseudonym_leads_to_its_review_and_is_shown_only_if_it_was_asked_for(asking: TestClient) -> None:
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
def test_phrases_and_beginnings_are_searched_in_the_texts_of_papers(
    asking: TestClient, words: str, expected: set[str]
) -> None:
    assert found(asking, words) == expected


def test_a_phrase_of_a_text_is_marked_there_as_a_whole(asking: TestClient) -> None:
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
def test_ai_reviews_are_searched_only_if_the_search_names_them(
    asking: TestClient, words: str, expected: set[str]
) -> None:
    assert found(asking, words) == expected


def test_a_passage_of_an_ai_review_is_marked_as_one_and_never_shown_for_other_words(asking: TestClient) -> None:
    assert passages(asking, "ai:seeds") == [("In an AI review", "/paper/Names004?at=Names004-ai-answer", ["seeds"])]
    assert passages(asking, "castelli claims kites") == [("Authors", "", ["Castelli"])]
    assert "Did you mean" not in ask(asking, "claimz")
    place = asking.get("/paper/Names004?at=Names004-ai-answer").headers["location"]
    assert place == "/paper/Names004#post-Names004-ai-answer"
