"""Which texts a release contains: the best available one, with its grade; and in tasks only accepted grades."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from asked_releases import Row, publish_release, publish_verified
from commands import Run
from invented_tables import ICLR, NOON, a_forum, invented, text, version, what_follows
from naming import Naming
from peercorpus.corpus.text_choice import TextChoice, TextRule
from peercorpus.records.documents import PAGE_BREAK, PaperText
from peercorpus.records.enums import PUBLISHABLE_GRADES, Grade, VersionMoment
from peercorpus.records.papers import Paper, PaperVersion
from peercorpus.release.dated_releases import is_up_to_date
from peercorpus.release.folder import open_release
from peercorpus.release.provenance import check_worst_grade, read_inputs
from peercorpus.release.request import Profile, ReleaseRequest, SplitRequest
from peercorpus.release.verify.verify import verify_release

RE2 = SplitRequest(Profile.RE2)
TEXT_GRADES: list[Grade] = [grade for grade in Grade if grade is not Grade.UNAVAILABLE]


def graded(forum_id: str, grade: Grade | None, moment: VersionMoment | None = None, **other: Any) -> PaperVersion:
    """A version whose file is named after its grade or its moment."""
    sha256 = f"{forum_id}-{grade or moment or 'unplaced'}"
    is_initial = grade not in {None, Grade.UNSTATED, Grade.UNAVAILABLE}
    values = {"is_initial": is_initial, "moment": moment, "path": f"/pdf/{sha256}.pdf"} | other
    return replace(version(forum_id, sha256, grade), **values)


def with_versions(forum_id: str, *versions: PaperVersion) -> list[object]:
    """A paper with a review and an answer, and versions whose text is the name of their file."""
    rest = [record for record in a_forum(forum_id) if not isinstance(record, PaperVersion | PaperText)]
    texts = [text(str(one.sha256), f"Text {one.sha256}") for one in versions]
    return [*rest, *versions, *texts]


def reading(records: Iterable[object], sha256: str, markdown: str) -> list[object]:
    """Return records in which the text of a file is replaced."""
    return [
        replace(one, markdown=markdown) if isinstance(one, PaperText) and one.sha256 == sha256 else one
        for one in records
    ]


def published(
    tmp_path: Path, forums: Iterable[Sequence[object]], takedown: str = "", **options: Any
) -> dict[str, list[Row]]:
    """Return the rows of every configuration of a verified release."""
    records = [record for forum in forums for record in forum]
    with invented(tmp_path / "corpus", {ICLR: records}) as workspace:
        (tmp_path / "corpus" / "takedown.txt").write_text(takedown)
        return publish_verified(workspace, tmp_path / "out", splits=RE2, **options)


def one_of_each() -> list[list[object]]:
    """A paper for each grade and for each moment without a grade, in the order of their ids."""
    of_grade = {f"g-{grade}": (grade, None) for grade in Grade}
    of_moment = {f"m-{moment or 'unplaced'}": (None, moment) for moment in (*VersionMoment, None)}
    every = sorted((of_grade | of_moment).items())
    return [with_versions(forum_id, graded(forum_id, *what)) for forum_id, what in every]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("choice", "worst"),
    [
        (TextChoice.INITIAL, Grade.EXACT),
        (TextChoice.BEST, Grade.ONLY_BEFORE_REVIEW),
        (TextChoice.ALL, Grade.STATED),
        (TextChoice.INITIAL, Grade.UNSTATED),
    ],
)
def test_tasks_have_texts_of_accepted_grades(tmp_path: Path, choice: TextChoice, worst: Grade) -> None:
    rows = published(tmp_path, one_of_each(), texts=choice, grade=worst)
    accepted = {f"g-{grade}" for grade in TEXT_GRADES[: TEXT_GRADES.index(worst) + 1]}
    with_text = {row["forum_id"]: row for row in rows["papers_full"] if row["markdown"]}
    assert with_text.keys() == (
        accepted if choice is TextChoice.INITIAL else {row["forum_id"] for row in rows["papers"]}
    )
    for forum_id, row in with_text.items():
        kind, _, name = forum_id.partition("-")
        assert row["grade"] == (name if kind == "g" else None)
        assert row["text_moment"] == (name if kind == "m" and name != "unplaced" else None)
        assert (row["text_sha256"], row["text_engine"]) == (f"{forum_id}-{name}", "pdfium-text 1")
    assert {row["forum_id"] for row in rows["papers"] if row["markdown"]} == with_text.keys()
    for task in ("review_sft", "rebuttal"):
        assert {row["forum_id"]: row["grade"] for row in rows[task]} == {
            forum_id: forum_id.removeprefix("g-") for forum_id in accepted
        }
    assert with_text.keys() <= {row["forum_id"] for row in rows["texts"]}


def test_the_best_text_has_the_best_grade() -> None:
    day = timedelta(days=1)
    ordered = [
        *(graded("f", grade) for grade in TEXT_GRADES),
        graded("f", None, VersionMoment.BEFORE_REVIEWS),
        graded("f", None, VersionMoment.BEFORE_DEADLINE, created_at=NOON - day),
        graded("f", None, VersionMoment.BEFORE_DEADLINE, created_at=NOON - 2 * day),
        graded("f", None, VersionMoment.DISCUSSION, created_at=NOON + day),
        graded("f", None, VersionMoment.DISCUSSION, created_at=NOON + 2 * day),
        graded("f", None, VersionMoment.CAMERA_READY),
        graded("f", None),
        graded("f", None, VersionMoment.CURRENT),
    ]
    for first, second in permutations(range(len(ordered)), 2):
        ranked = TextRule().rank_versions([ordered[first], ordered[second]])
        assert ranked[0] is ordered[min(first, second)]
    late = graded("f", Grade.UNAVAILABLE, VersionMoment.CURRENT)
    assert TextRule().rank_versions([late, ordered[-3]])[0] is ordered[-3]


def test_an_empty_text_is_replaced(tmp_path: Path) -> None:
    versions = [graded("f", Grade.EXACT), graded("f", None, VersionMoment.CAMERA_READY)]
    rows = published(tmp_path, [reading(with_versions("f", *versions), "f-exact", f"{PAGE_BREAK} ")])
    assert [(row["markdown"], row["grade"]) for row in rows["papers_full"]] == [("Text f-camera_ready", None)]
    assert "review_sft" not in rows


@pytest.mark.slow
@pytest.mark.parametrize("choice", list(TextChoice))
def test_a_takedown_removes_every_text_of_a_paper(tmp_path: Path, choice: TextChoice) -> None:
    gone = with_versions("a", graded("a", Grade.STATED), graded("a", None, VersionMoment.CAMERA_READY))
    kept = with_versions("b", graded("b", Grade.STATED), graded("b", None, VersionMoment.CAMERA_READY))
    shared = replace(graded("b", None, VersionMoment.DISCUSSION), sha256="a-stated")
    rows = published(tmp_path, [gone, [*kept, shared]], "a\n", texts=choice, grade=Grade.STATED)
    assert "Text a" not in str(rows)
    assert [row["markdown"] for row in rows["review_sft"]] == ["Text b-stated"]
    assert {row["forum_id"] for row in rows["texts"]} == {"b"}


@pytest.mark.slow
@pytest.mark.parametrize("grade", [Grade.STATED, Grade.UNSTATED, Grade.UNREVISED_LIKELY, None])
def test_without_authors_a_text_naming_one_is_replaced(tmp_path: Path, grade: Grade | None) -> None:
    versions = [graded("f", grade), graded("f", None, VersionMoment.CURRENT)]
    forum = with_versions("f", *versions)
    named = [
        replace(one, authors=("Ada Example",))
        if isinstance(one, Paper)
        else replace(one, markdown="By Ada Example")
        if isinstance(one, PaperText) and one.sha256 == versions[0].sha256
        else one
        for one in forum
    ]
    options: dict[str, Any] = {"no_authors": True, "grade": Grade.UNSTATED}
    rows = published(tmp_path / "out", [named], **options)
    assert [(row["markdown"], row["grade"]) for row in rows["papers_full"]] == [("Text f-current", None)]
    assert "Ada Example" not in str(rows)
    assert "1 texts that name an author" in (tmp_path / "out" / "out" / "README.md").read_text()
    rows = published(tmp_path / "blind", [forum], **options)
    assert [row["markdown"] for row in rows["papers_full"]] == [""]
    assert "2 texts of authors who are not known" in (tmp_path / "blind" / "out" / "README.md").read_text()


@pytest.mark.slow
def test_a_release_records_its_text_rule(tmp_path: Path) -> None:
    out, stated = tmp_path / "out", ReleaseRequest(splits="none", grade="stated")
    with invented(tmp_path / "corpus", {ICLR: a_forum("f1")}) as workspace:
        publish_release(workspace, out, grade="stated")
        inputs = read_inputs(out)
        assert inputs is not None
        assert inputs.request == stated
        for asked in (stated, ReleaseRequest(splits="none"), replace(stated, texts=TextChoice.ALL)):
            assert is_up_to_date(out, workspace, asked) is (asked is stated)


@pytest.mark.slow
def test_a_text_below_the_grade_is_a_fault(tmp_path: Path) -> None:
    published(tmp_path, one_of_each(), grade=Grade.UNSTATED)
    inputs = tmp_path / "out" / "inputs.json"
    inputs.write_text(inputs.read_text().replace('"grade": "unstated"', '"grade": "stated"'))
    checks = {check.name: check for check in verify_release(open_release(tmp_path / "out", is_whole=False)).checks}
    assert {one.record_id for one in checks["leaks"].breaches} == {"g-unstated"}
    assert checks["leaks"].breaches[0].what == Naming("grade", "'stated' or better")
    assert checks["sums"].found == 1


def test_an_unpublished_grade_is_refused(tmp_path: Path, run: Run) -> None:
    out = tmp_path / "out"
    with invented(tmp_path / "corpus", {ICLR: a_forum("f1")}) as workspace:
        publish_release(workspace, out, splits=RE2)
    ended = run("bench", "acceptance", "--release", out, "--grade", "stated", "--logs", tmp_path / "logs")
    assert ended.code == 2
    assert ended.err.strip() == Naming("--grade only_before_review", "'stated'")
    assert len(ended.err.strip().splitlines()) == 1
    for grade in PUBLISHABLE_GRADES:
        check_worst_grade(out, grade)


@pytest.mark.slow
def test_a_later_text_is_never_initial(tmp_path: Path) -> None:
    rows = published(tmp_path, [[*a_forum("f1"), *what_follows("f1")]], texts=TextChoice.ALL, grade=Grade.UNSTATED)
    assert [(row["is_initial"], row["moment"]) for row in rows["texts"]] == [(True, None), (False, "camera_ready")]
    assert [row["markdown"] for row in rows["review_sft"]] == ["# Text of f1"]
