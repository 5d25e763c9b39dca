"""The configurations `posts`, `meta_reviews`, `texts` and `changes`: what they contain, and what they never do."""

import json
from collections.abc import Iterable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from asked_releases import Row, publish_verified
from invented_tables import ICLR, NOON, a_forum, invented, paper, post, review, score, text, version
from peercorpus.corpus.text_choice import TextChoice
from peercorpus.records.documents import PAGE_BREAK, Change, PaperText, TextHeading
from peercorpus.records.enums import (
    Aspect,
    ChangeKind,
    Grade,
    PostKind,
    Role,
    SectionKind,
    Status,
    VersionMoment,
)
from peercorpus.records.papers import Evidence, Paper, PaperVersion
from peercorpus.records.reviews import MetaReview, Section
from peercorpus.release.request import Profile, SplitRequest

LATER = VersionMoment.CAMERA_READY


def later(forum_id: str, sha256: str, moment: VersionMoment | None = LATER, **other: Any) -> PaperVersion:
    values: dict[str, Any] = {
        "forum_id": forum_id,
        "venue_id": ICLR,
        "edit_id": f"edit-{sha256}",
        "created_at": NOON,
        "modified_at": NOON,
        "path": f"/pdf/{sha256}.pdf",
        "sha256": sha256,
        "is_initial": False,
        "grade": None,
        "evidence": Evidence(NOON, "the call", "later", None),
        "moment": moment,
    }
    return PaperVersion(**(values | other))


def change(forum_id: str, number: int, before: str, after: str, right: str = "late", **other: Any) -> Change:
    values: dict[str, Any] = {
        "left_sha256": f"sha-{forum_id}",
        "right_sha256": right,
        "changes": 2,
        "section": "1 Kites",
    }
    values |= {"forum_id": forum_id, "venue_id": ICLR, "number": number, "kind": ChangeKind.CHANGED} | other
    return Change(**values, before=before, after=after)


def meta(post_id: str, forum_id: str = "f1", answers: MetaReview | None = None, **other: Any) -> Any:
    chair = {"kind": PostKind.META_REVIEW, "role": Role.AREA_CHAIR, "signature": "Area_Chair_X"}
    return post(post_id, forum_id, **(chair | {"meta_review": answers} | other))


def published(
    tmp_path: Path,
    records: Iterable[object],
    takedown: str = "",
    *,
    no_authors: bool = False,
    texts: TextChoice = TextChoice.BEST,
) -> dict[str, list[Row]]:
    """The rows of every configuration after publishing one venue; the release is checked."""
    with invented(tmp_path / "corpus", {ICLR: list(records)}) as workspace:
        (tmp_path / "corpus" / "takedown.txt").write_text(takedown)
        splits = SplitRequest(Profile.RE2)
        return publish_verified(workspace, tmp_path / "out", splits=splits, no_authors=no_authors, texts=texts)


def with_later(forum_id: str = "f1") -> list[object]:
    """A paper with an initial version and a camera-ready one, and two changes between them."""
    headings = (TextHeading(1, "1 Kites", 1), TextHeading(2, "1.1 Strings", 2))
    camera = PaperText("late", ICLR, "pdfium-text", "1", f"By Ada Example{PAGE_BREAK}Late.", 2, 9.0, (), headings)
    changes = [change(forum_id, 1, "They fly.", "They soar."), change(forum_id, 2, "", "We thank Bo Ek.")]
    forum = [record for record in a_forum(forum_id) if not isinstance(record, type(paper("x")))]
    return [
        paper(forum_id, authors=("Ada Example", "Bo Ek"), licence="CC BY 4.0"),
        *forum,
        later(forum_id, "late"),
        camera,
        *changes,
    ]


@pytest.mark.slow
def test_posts_are_all_but_the_reviews(tmp_path: Path) -> None:
    extra = json.dumps({"mail": "ada@example.org"})
    records = [
        *a_forum("f1"),
        post("public", "f1", text="I am ada@example.org", extra=extra, licence="CC BY 4.0", consent="Yes"),
    ]
    rows = published(tmp_path, records)
    assert [row["post_id"] for row in rows["posts"]] == ["f1-answer", "f1-to-all", "public"]
    assert rows["posts"][0]["reply_to"] == "f1-R1"
    last = rows["posts"][2]
    assert (last["text"], last["extra"]) == ("I am [e-mail]", '{"mail": "[e-mail]"}')
    assert (last["licence"], last["consent"], last["forum_id"], last["year"]) == ("CC BY 4.0", "Yes", "f1", 2020)
    (full,) = rows["papers_full"]
    columns = ("forum_id", "venue_id", "conference", "year")
    assert full["posts"] == [{name: row[name] for name in row if name not in columns} for row in rows["posts"]]


def test_a_meta_review_is_typed_or_null(tmp_path: Path) -> None:
    sections = (Section(SectionKind.OTHER, "justification", "For it flies."),)
    scores = (
        score("recommendation", 2.0, "2: Weak accept", Aspect.RECOMMENDATION),
        score("confidence", 4.0, "4: sure", Aspect.CONFIDENCE),
    )
    answers = MetaReview("recommendation", "2: Weak accept", Status.ACCEPTED, scores, sections)
    records = [
        *a_forum("f1"),
        meta("m1", answers=answers, licence="CC BY 4.0"),
        meta("m2", answers=MetaReview(None, None, None, (), ())),
        meta("m3"),
        meta("m4", answers=MetaReview(None, None, None, (), sections), kind=PostKind.DECISION),
        post("m5", "f1", kind=PostKind.DECISION),
    ]
    rows = {row["post_id"]: row for row in published(tmp_path, records)["meta_reviews"]}
    assert list(rows) == ["m1", "m2", "m3", "m4"]
    first = rows["m1"]
    assert (first["recommendation"], first["recommendation_value"], first["recommends"]) == (
        "2: Weak accept",
        2.0,
        "accepted",
    )
    assert (first["confidence"], first["confidence_low"], first["confidence_high"]) == (4.0, 1.0, 10.0)
    assert first["confidence_label"] == "4: sure"
    assert first["justifications"] == [{"kind": "other", "field": "justification", "text": "For it flies."}]
    assert (first["licence"], first["text"], first["kind"]) == ("CC BY 4.0", "Words of m1.", "meta_review")
    for name in ("m2", "m3"):
        unknown = ("recommendation", "recommends", "recommendation_value", "confidence", "confidence_label")
        assert [rows[name][column] for column in unknown] == [None] * 5
        assert (rows[name]["justifications"], rows[name]["scores"]) == ([], [])
    assert rows["m4"]["kind"] == "decision"


@pytest.mark.slow
@pytest.mark.parametrize("hidden", [{"readers_public": False}, {"deleted": True}])
def test_hidden_posts_are_in_no_configuration(tmp_path: Path, hidden: dict[str, Any]) -> None:
    answers = MetaReview("recommendation", "SECRET", None, (), ())
    records = [
        *a_forum("f1"),
        meta("m1", answers=answers, text="SECRET", **hidden),
        post("p", "f1", text="SECRET", **hidden),
    ]
    assert "SECRET" not in json.dumps(published(tmp_path, records), default=str)


def test_texts_hold_every_version(tmp_path: Path) -> None:
    rows = published(tmp_path, with_later())
    first, last = rows["texts"]
    assert (first["is_initial"], first["grade"], first["markdown"], first["headings"]) == (
        True,
        "exact",
        "# Text of f1",
        [],
    )
    assert (last["is_initial"], last["grade"], last["moment"]) == (False, None, "camera_ready")
    assert (last["edit_id"], last["sha256"], last["licence"], last["pages"]) == ("edit-late", "late", "CC BY 4.0", 2)
    assert last["headings"] == [
        {"level": 1, "title": "1 Kites", "page": 1},
        {"level": 2, "title": "1.1 Strings", "page": 2},
    ]
    assert last["markdown_chars"] == len(last["markdown"])
    for config in ("papers", "papers_full", "review_sft", "rebuttal"):
        assert {row["markdown"] for row in rows[config]} == {"# Text of f1"}, config


def test_only_proven_versions_have_texts(tmp_path: Path) -> None:
    records: list[object] = []
    shown: set[str] = set()
    for number, (grade, moment) in enumerate(product([None, *Grade], [None, *VersionMoment])):
        forum_id, first, second = (f"{letter}{number:02}" for letter in "fab")
        versions = [version(forum_id, first, grade), later(forum_id, second, moment)]
        records += [paper(forum_id), *versions, text(first, first), text(second, second)]
        proven = grade in {Grade.EXACT, Grade.EXACT_ATTACHMENT, Grade.UNREVISED, Grade.ONLY_BEFORE_REVIEW}
        shown |= {first, second} if proven else set()
        if moment in {VersionMoment.DISCUSSION, VersionMoment.CAMERA_READY}:
            shown |= {second}
    found = published(tmp_path, records, texts=TextChoice.INITIAL)
    assert {row["markdown"] for row in found["texts"]} == shown


@pytest.mark.slow
def test_addresses_in_texts_headings_and_changes_are_masked(tmp_path: Path) -> None:
    words = "Write to ada@example.org"
    camera = PaperText("late", ICLR, "e", "1", words, 1, 9.0, (), (TextHeading(1, words, 1),))
    records = [*a_forum("f1"), later("f1", "late"), camera, change("f1", 1, words, words, section=words)]
    rows = published(tmp_path, records)
    assert "ada@" not in json.dumps([rows["texts"], rows["changes"]], default=str)


@pytest.mark.slow
def test_without_authors_texts_naming_one_are_counted(tmp_path: Path) -> None:
    rows = published(tmp_path, with_later(), no_authors=True)
    assert [row["is_initial"] for row in rows["texts"]] == [True]
    assert [(row["number"], row["changes"]) for row in rows["changes"]] == [(1, 2)]
    assert "Bo Ek" not in json.dumps(rows, default=str)
    card = (tmp_path / "out" / "README.md").read_text()
    assert "1 texts that name an author" in card
    assert "1 changes that name an author" in card


def test_the_reviewed_file_is_no_later_text(tmp_path: Path) -> None:
    again = later("f1", "sha-f1", edit_id="edit-again")
    rows = published(tmp_path, [*with_later(), again])
    assert [(row["edit_id"], row["is_initial"]) for row in rows["texts"]] == [
        ("edit-sha-f1", True),
        ("edit-late", False),
    ]
    assert {row["left_grade"] for row in rows["changes"]} == {"exact"}


@pytest.mark.parametrize("grade", [Grade.UNREVISED_LIKELY, Grade.BEFORE_FIRST_REVIEW, Grade.UNAVAILABLE])
def test_a_possibly_read_file_is_no_later_text(tmp_path: Path, grade: Grade) -> None:
    versions = [version("f1", "aa", grade), later("f1", "aa", VersionMoment.DISCUSSION, edit_id="edit-again")]
    assert "texts" not in published(tmp_path, [paper("f1"), *versions, text("aa", "A")], texts=TextChoice.INITIAL)


@pytest.mark.parametrize(
    ("authors", "byline"),
    [
        (("Ada Example",), "ADA M. EXAMPLE¹ and others"),
        (("Ada Marie Example",), "Ada Example"),
        (("Ada Exámple",), "Ada Exa\u0301mple\u2217"),
        (("Ada Example",), "Example, Ada"),
        (("Ada\u00a0Example", "Bo Ek"), "Ada\nExample"),
        ((), "Ada Example"),
        (("Ada",), "Ada"),
    ],
)
def test_without_authors_no_later_text_names_one(tmp_path: Path, authors: tuple[str, ...], byline: str) -> None:
    camera = PaperText("late", ICLR, "pdfium-text", "1", f"{byline}{PAGE_BREAK}Late.", 2, 9.0, ())
    forum = [replace(one, authors=authors) if isinstance(one, Paper) else one for one in a_forum("f1")]
    records = [*forum, later("f1", "late"), camera, change("f1", 1, "Anonymous", byline)]
    rows = published(tmp_path, records, no_authors=True)
    assert [row["markdown"] for row in rows["texts"]] == ["# Text of f1"]
    assert "changes" not in rows
    card = (tmp_path / "out" / "README.md").read_text()
    why = "that name an author" if authors and authors != ("Ada",) else "of authors who are not known"
    assert f"1 texts {why}" in card
    assert f"1 changes {why}" in card


@pytest.mark.slow
@pytest.mark.parametrize(
    ("listed", "left"),
    [
        ("f1", {"posts": [], "meta_reviews": [], "texts": ["# Text of f2"], "changes": 0}),
        ("m1", {"posts": ["f1-answer", "f1-to-all"], "meta_reviews": [], "texts": None, "changes": 2}),
    ],
)
def test_no_configuration_contains_what_is_taken_down(tmp_path: Path, listed: str, left: dict[str, Any]) -> None:
    answers = MetaReview("recommendation", "Reject", Status.REJECTED, (), ())
    rows = published(tmp_path, [*with_later(), meta("m1", answers=answers), *a_forum("f2")], f"{listed}\n")
    of = {config: [row for row in found if row["forum_id"] == "f1"] for config, found in rows.items()}
    assert [row["post_id"] for row in of["posts"]] == left["posts"]
    assert of.get("meta_reviews", []) == []
    assert len(of.get("changes", [])) == left["changes"]
    assert len(of["texts"]) == (0 if listed == "f1" else 2)


@pytest.mark.slow
def test_a_taken_down_file_gives_no_text(tmp_path: Path) -> None:
    records = [*with_later("f1"), paper("f2"), version("f2", "late", Grade.EXACT), review("f2")]
    rows = published(tmp_path, records, "f2\n")
    assert [row["sha256"] for row in rows["texts"]] == ["sha-f1"]
    assert "changes" not in rows
    assert "2 changes that were taken down" in (tmp_path / "out" / "README.md").read_text()


@pytest.mark.slow
def test_a_shared_later_text_joins_splits(tmp_path: Path) -> None:
    forums = [record for number in range(12) for record in a_forum(f"p{number:02d}")]
    same = [later(f"p{number:02d}", "same") for number in range(0, 12, 2)]
    order = sorted([*forums, *same], key=lambda record: getattr(record, "forum_id", ""))
    published(tmp_path, [*order, text("same", "The same text.")])
    (path,) = (tmp_path / "out" / "splits").iterdir()
    splits = json.loads(path.read_text())["splits"]
    assert sum(any(f"p{number:02d}" in ids for number in range(0, 12, 2)) for ids in splits.values()) == 1
