"""A review is shown as its points, each with the public posts about it, and nothing hidden or taken down."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from explored import ATTACKS, LIVELY, QUIET, explored, known_with_points, split_into_points, words_of
from invented_points import WEAKNESSES, answer, reaction, split
from invented_tables import ICLR, a_forum, review
from peercorpus.explorer.points_of_paper import point_anchor
from peercorpus.explorer.rendering import Prose
from peercorpus.records.enums import SectionKind
from peercorpus.records.points import Point
from peercorpus.records.reviews import Review, Section

REVIEW = f"{LIVELY}-R1"


def point_on(page: str, number: int) -> str:
    """Return the HTML of a point on the page of its paper."""
    start = page.index(f'<div class="point" id="{point_anchor(REVIEW, number)}">')
    ends = (page.find(end, start + 1) for end in ('<div class="point"', "</details>", '<p class="side-name">'))
    return page[start : min(end for end in ends if end > 0)]


def test_a_review_reads_as_points(client: TestClient) -> None:
    page = client.get(f"/paper/{LIVELY}").text
    of_review = page[page.index('<article class="turn reviewer"') :].partition("</article>")[0]
    verbatim, _, as_points = of_review.partition('<details class="as-points" >')
    assert f"Words of {REVIEW}." in verbatim
    assert "Read as 3 points: 2 ask for an answer, 1 has one" in words_of(as_points)
    shown = words_of(as_points)
    places = [
        shown.index(words) for words in ("summary Summary", "They invent.", "The gale baseline", "Why no ablation")
    ]
    assert places == sorted(places)


def test_all_about_a_point_is_shown(client: TestClient) -> None:
    page = client.get(f"/paper/{LIVELY}").text
    drawn = point_on(page, 2)
    assert words_of(drawn) == (
        "Weakness 1 Experiments #2 , link to this point The gale baseline is missing."
        " Authors very likely, 0.93 names the point's label 2 January 2020 , the post We bought a stronger tether."
        " Authors, to several or all reviewers uncertain, 0.41 known only from its place among the answers"
        " 2 January 2020 , the post We thank all reviewers for the windsock."
        " Reviewer: resolved said of this point 2 January 2020 , the post Thank you. rating 5 → changed to 6"
        " Changes of the paper: 1 (shares the words firm, tether)"
    )
    assert 'title="The kind is known from the form: the field is for this kind only."' in drawn
    links = re.findall(r'href="([^"]+)"', drawn)
    assert links[-1] == f"/changes/{LIVELY}#change-1"
    ids = set(re.findall(r' id="([^"]*)"', page))
    assert len(links) == 5
    assert {link[1:] for link in links[:-1]} <= ids
    assert 'id="change-1"' in client.get(f"/changes/{LIVELY}").text


def test_hidden_posts_are_beside_no_point(client: TestClient) -> None:
    page = client.get(f"/paper/{LIVELY}").text
    assert words_of(point_on(page, 3)) == "Question 2 #3 , link to this point Why no ablation of the tail?"
    for address in (f"/paper/{LIVELY}", f"/record/{LIVELY}", "/points?kind=all"):
        assert "balloons" not in client.get(address).text


def test_hits_link_to_points_without_scripts(client: TestClient) -> None:
    (link,) = re.findall(r'<h2><a href="([^"]+)">', client.get("/points?q=ablation").text)
    assert link == f"/paper/{LIVELY}?points={REVIEW}#point-{REVIEW}-3"
    page = client.get(link).text
    assert '<details class="as-points" open>' in page
    assert f'id="{link.partition("#")[2]}"' in page


def test_venues_without_points_mention_none(client: TestClient) -> None:
    assert "as-points" not in client.get(f"/paper/{QUIET}").text
    assert "points" not in json.loads(client.get(f"/record/{QUIET}").text)
    assert "Which review a change answers is not known." in client.get(f"/changes/{QUIET}").text
    assert "/points?venue=" not in client.get("/venue/ICML.cc%2F2023%2FConference").text


def test_only_public_points_are_counted(client: TestClient) -> None:
    points = json.loads(client.get(f"/record/{LIVELY}").text)["points"]
    assert [len(point["answers"]) for point in points] == [0, 2, 0]
    assert [[change["number"] for change in point["changes"]] for point in points] == [[], [1], []]
    assert [point["reaction"] and point["reaction"]["reaction"] for point in points] == [None, "resolved", None]
    assert "Points 3" in words_of(client.get("/venue/ICLR.cc%2F2020%2FConference").text)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("taken", "gone", "kept"),
    [
        (f"{LIVELY}-answer", ("stronger tether",), ("windsock", "Reviewer: resolved")),
        (f"{LIVELY}-all", ("windsock",), ("stronger tether", "Reviewer: resolved")),
        (f"{LIVELY}-thanks", ("Thank you", "Reviewer: resolved"), ("stronger tether", "windsock")),
        (REVIEW, ("gale baseline", "as-points", "very likely"), ()),
        (LIVELY, ("gale baseline", "stronger tether"), ()),
    ],
)
def test_takedowns_remove_answers_of_points(
    tmp_path: Path, taken: str, gone: Sequence[str], kept: Sequence[str]
) -> None:
    folder = tmp_path / "corpus"
    with explored(folder, known_with_points(), (taken,)) as client:
        page = client.get(f"/paper/{LIVELY}").text + client.get(f"/record/{LIVELY}").text
        found = client.get("/points?kind=all&q=gale").text + client.get("/points?kind=all").text
    assert [words for words in gone if words in page + found] == []
    assert [words for words in kept if words not in page] == []
    stored = [path.read_bytes() for path in (folder / "explorer").rglob("*") if path.is_file()]
    if taken in (REVIEW, LIVELY):
        assert not any(b"gale baseline" in content for content in stored)


@pytest.mark.slow
def test_points_of_other_texts_are_hidden(tmp_path: Path) -> None:
    """A review may have changed since its points were made, which may contain what its reviewer removed."""
    records = [
        replace(record, sections=record.sections[:1]) if isinstance(record, Review) else record
        for record in split_into_points()
    ]
    with explored(tmp_path / "corpus", {ICLR: records}) as client:
        assert "gale baseline" not in client.get(f"/paper/{LIVELY}").text
        assert "as-points" not in client.get(f"/paper/{LIVELY}").text
        assert "gale" not in client.get("/points?q=baseline").text


def test_points_show_the_first_text(tmp_path: Path) -> None:
    removed = Section(SectionKind.WEAKNESSES, "weaknesses", "None is left.")
    records = [
        replace(record, sections=(*record.sections[:1], removed), initial_sections=(WEAKNESSES,))
        if isinstance(record, Review)
        else record
        for record in split_into_points()
    ]
    with explored(tmp_path / "corpus", {ICLR: records}) as client:
        assert "The gale baseline is missing." in client.get(f"/paper/{LIVELY}").text


@pytest.mark.slow
def test_added_words_are_a_reaction(
    tmp_path: Path,
) -> None:
    def with_reaction(record: object) -> object:
        if isinstance(record, Review):
            return replace(record, final_justification="Now convinced.")
        if isinstance(record, Point) and record.number == 3:
            return replace(record, reaction=reaction(REVIEW, "Now convinced."))
        return record

    with explored(tmp_path / "corpus", {ICLR: [with_reaction(record) for record in split_into_points()]}) as client:
        page = client.get(f"/paper/{LIVELY}").text
    drawn = point_on(page, 3)
    assert "Reviewer: resolved said of this point" in words_of(drawn)
    (place,) = re.findall(r'<a href="#(conversation[^"]+)"', drawn)
    assert "Now convinced." in page[page.index(f'id="{place}"') :].partition("</article>")[0]


def test_points_without_conversation_are_shown(tmp_path: Path) -> None:
    lonely = review("Lonely01", "R7")
    records: list[object] = [*a_forum("Lonely01"), lonely, *split(lonely)]
    with explored(tmp_path / "corpus", {ICLR: records}) as client:
        page = client.get("/paper/Lonely01").text
    assert f'id="{point_anchor(lonely.review_id, 1)}"' in page
    assert "<h3>R7</h3>" in page


def test_nested_items_are_no_code(tmp_path: Path) -> None:
    nested = Section(SectionKind.WEAKNESSES, "weaknesses", "1. Why **this**?\n        2. And a nested wish.")
    one = review(LIVELY, sections=(nested,))
    records = [record for record in split_into_points() if not isinstance(record, Review | Point)]
    with explored(tmp_path / "corpus", {ICLR: [*records, one, *split_by_lines(one)]}) as client:
        page = client.get(f"/paper/{LIVELY}").text
    assert "<code>" not in point_on(page, 2)
    assert "<strong>this</strong>" in point_on(page, 1)
    assert "class" in Prose(str, 3)("**this**")
    assert "plain" not in Prose(str, 8)("**this**")


def split_by_lines(one: Review) -> list[Point]:
    return split(one)


@pytest.mark.slow
def test_hostile_points_are_on_pages(hostile_client: TestClient) -> None:
    """Otherwise the tests would cover no points."""
    found = hostile_client.get("/points?kind=all").text
    assert words_of(found).count("very likely") == 0
    assert f"{2 * (len(ATTACKS) + 1)} points" in words_of(found)
    for link in re.findall(r'<h2><a href="([^"]+)">', found):
        page = hostile_client.get(unescape(link)).text
        assert page.count('<div class="answer">') == 2
        assert '<div class="reaction">' in page


@pytest.mark.slow
def test_answers_of_changed_posts_are_hidden(tmp_path: Path) -> None:
    records = [
        replace(record, answers=(answer(f"{LIVELY}-answer", "We promised the earth."),))
        if isinstance(record, Point)
        else record
        for record in split_into_points()
    ]
    with explored(tmp_path / "corpus", {ICLR: records}) as client:
        assert "promised the earth" not in client.get(f"/paper/{LIVELY}").text + client.get(f"/record/{LIVELY}").text
